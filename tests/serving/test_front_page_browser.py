"""The page in a real browser: typed, pasted, compared, by keyboard, on a phone, and when something goes wrong."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import httpx
import numpy as np
import pytest

from chromium import (
    DESK,
    Browser,
    BrowserContext,
    Locator,
    Page,
    Request,
    Route,
    expect,
    faults,
    launched,
    opened,
    served,
)
from rejoinder.example import Example
from rejoinder.scorer import FACTS_NOT_CHECKED, OUT_OF_DOMAIN, Card, Scorer, Scores
from rejoinder.scoring.catalog import load_scorers
from rejoinder.scoring.domain import INSTEAD
from rejoinder.serving.app import make_app
from rejoinder.serving.limits import Limits

pytestmark = pytest.mark.slow
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
    "color_scheme": "dark",
}
ASKED = "Hi, what are you doing this weekend?"
GOOD, BAD = "I am going hiking with my sister. And you?", "The engine of this bus needs new oil."
TOKEN = "a token of some length"
HOSTILE = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
REFUSED = "Failed to load resource"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with served(make_app(load_scorers(["rejoinder", "bleu-2", "length"])), lifespan="on") as base:
        yield base


def box(page: Page, name: str) -> Locator:
    """The box to write into that has a name."""
    return page.get_by_role("textbox", name=name, exact=True)


def reply(page: Page) -> Locator:
    """The box of the one reply."""
    return box(page, "The reply to judge")


def score_of(page: Page, place: int = 0) -> float:
    """The number that is shown of a reply."""
    return float(page.locator(".headline b").nth(place).inner_text())


def rests(page: Page) -> None:
    """Wait until nothing is asked any more."""
    page.wait_for_timeout(250)
    expect(page.locator("body")).not_to_have_class(re.compile("asking|stale"))


def turns(page: Page) -> list[str]:
    """What stands in all boxes, in their order."""
    found: list[str] = page.eval_on_selector_all(".turn textarea, .reply textarea", "all => all.map(one => one.value)")
    return found


def paste(context: BrowserContext, page: Page, text: str) -> None:
    """Paste into the box that has the focus."""
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.keyboard.press("Control+V")


def test_the_score_and_what_moved_it_follow_the_typing(browser: Browser, base: str) -> None:
    asked: list[str] = []
    with opened(browser, **DESK) as (_, page):
        page.on("request", lambda one: asked.append(one.url) if "/v1/score?" in one.url else None)
        page.goto(base)
        box(page, "Turn 1").fill(ASKED)
        reply(page).press_sequentially(BAD, delay=40)
        page.wait_for_selector(".result")
        rests(page)
        assert 1 < len(asked) < len(BAD) / 2, "it asks while the typing goes on, but not at each key"
        bad = score_of(page)
        assert "poor" in page.inner_text(".headline")
        points = [float(text.replace("−", "-")) for text in page.locator(".why tbody .points").all_inner_texts()]
        assert sum(points[:-1]) == pytest.approx(points[-1], abs=0.04)
        reply(page).fill(GOOD)
        expect(page.locator(".headline")).to_contain_text("good")
        rests(page)
        assert score_of(page) > bad + 1
        expect(page.get_by_role("status").last).to_contain_text("Nine in ten ratings")
        reply(page).fill("")
        expect(page.locator("#nothing")).to_be_visible()
        assert page.locator(".result").count() == 0


def test_a_late_answer_to_an_old_question_is_dropped(browser: Browser, base: str) -> None:
    held: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    with opened(browser, **DESK) as (_, page):
        page.route("**/v1/score?*", hold_the_first)
        page.goto(base)
        box(page, "Turn 1").fill(ASKED)
        reply(page).fill(BAD)
        page.wait_for_timeout(600)
        reply(page).fill(GOOD)
        expect(page.locator(".headline")).to_contain_text("good")
        held[0].continue_()
        page.wait_for_timeout(400)
        expect(page.locator(".headline")).to_contain_text("good")


@pytest.mark.parametrize(
    "text",
    [
        f"A: {ASKED}\nB: {GOOD}\nA: I stay at home.",
        json.dumps([{"role": "assistant", "content": ASKED}, {"role": "user", "content": GOOD}])[:-1]
        + ', {"role": "assistant", "content": "I stay at home."}]',
        f"{ASKED}\n{GOOD}\n\nI stay at home.",
    ],
    ids=["names", "chat", "lines"],
)
def test_a_pasted_dialogue_becomes_turns(browser: Browser, base: str, text: str) -> None:
    with opened(browser, **DESK) as (context, page):
        page.goto(base)
        reply(page).focus()
        paste(context, page, text)
        expect(box(page, "Turn 2")).to_have_value(GOOD)
        assert turns(page) == [ASKED, GOOD, "I stay at home."]
        page.wait_for_selector(".result")
        page.get_by_role("button", name="Undo").click()
        assert turns(page)[-1].replace("\n\n", "\n") == text.replace("\n\n", "\n")
        page.get_by_role("button", name="Clear").click()
        reply(page).press_sequentially("a")
        expect(page.get_by_role("button", name="Undo")).to_be_hidden()


def test_lines_pasted_into_a_conversation_stay_a_text_unless_told(browser: Browser, base: str) -> None:
    with opened(browser, **DESK) as (context, page):
        page.goto(base)
        box(page, "Turn 1").fill(ASKED)
        reply(page).focus()
        paste(context, page, "Well.\nNothing.")
        button = page.get_by_role("button", name="Make each a turn")
        button.wait_for()
        assert turns(page) == [ASKED, "Well.\nNothing."]
        button.click()
        assert turns(page) == ["Well.", "Nothing."]


def test_what_cannot_be_split_stays_and_is_said(browser: Browser, base: str) -> None:
    text = '{"question": "q", "answer": "a", "prediction": "p"}'
    with opened(browser, REFUSED, **DESK) as (context, page):
        page.goto(base)
        reply(page).focus()
        paste(context, page, text)
        expect(page.locator("#said")).to_contain_text("answer and prediction could each be the response")
        assert turns(page) == ["", text]


def test_replies_side_by_side_and_going_on_from_one(browser: Browser, base: str) -> None:
    with opened(browser, **DESK) as (_, page):
        page.goto(base)
        box(page, "Turn 1").fill(ASKED)
        reply(page).fill(BAD)
        page.get_by_role("button", name="Compare another reply").click()
        page.keyboard.type(GOOD)
        expect(page.locator("#ahead")).to_contain_text("Reply B is ahead")
        rests(page)
        assert score_of(page, 1) > score_of(page, 0)
        assert "overlap" in page.inner_text("#surely")
        boxes = [page.locator(".result").nth(place).bounding_box() for place in range(2)]
        assert boxes[0] is not None and boxes[1] is not None and boxes[0]["y"] == boxes[1]["y"]
        page.get_by_role("button", name="Go on from here: Reply B").click()
        assert turns(page) == [ASKED, GOOD, ""]
        page.keyboard.type("Me too!")
        expect(page.locator(".result")).to_have_count(1)
        expect(page.locator("#between")).to_be_hidden()


def test_the_worst_turn_of_a_conversation_is_marked(browser: Browser, base: str) -> None:
    with opened(browser, **DESK) as (_, page):
        page.goto(base)
        page.get_by_role("button", name="a lapse in a long talk").click()
        worst = page.locator(".turn .worst")
        worst.wait_for()
        assert (
            page.locator(".turn", has=page.locator(".worst")).locator("textarea").input_value()
            == "The capital of France is Paris."
        )
        assert "the worst is turn 6" in page.inner_text("#whole")


class Marking:
    """A judge that finds every reply as good as the last figure in it says; one with a `!` is out of its domain."""

    card = Card("marking", "a rating", "judge", frozenset(), (1, 5), "a test", domain="calm talk", unread=("facts",))
    options: ClassVar[dict[str, Any]] = {}
    scale = (1.0, 5.0)

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Return the figures; 3 for a reply without one."""
        figures = [re.findall(r"\d", example.response) for example in examples]
        values = np.array([float(found[-1]) if found else 3.0 for found in figures])
        notes = {row: (OUT_OF_DOMAIN, "loud") for row, one in enumerate(examples) if "!" in one.response}
        return Scores(values, warnings=notes, low=values - 1, high=values + 1)


@pytest.fixture(scope="module")
def marked() -> Iterator[str]:
    scorers: dict[str, Scorer] = {"marking": Marking(), **load_scorers(["length"])}
    with served(make_app(scorers), lifespan="on") as base:
        yield base


def test_every_judgement_says_that_facts_were_not_checked(browser: Browser, marked: str) -> None:
    with opened(browser, **DESK) as (_, page):
        page.goto(marked)
        reply(page).fill("Your refund of 900 dollars is paid in 5")
        expect(page.locator(".headline")).to_contain_text("very good")
        expect(page.locator(".result")).to_contain_text(FACTS_NOT_CHECKED)
        expect(page.locator("#live")).to_contain_text(FACTS_NOT_CHECKED)
        page.get_by_role("button", name="Compare another reply").click()
        page.keyboard.type("It is paid in 2")
        expect(page.locator("#ahead")).to_contain_text("Reply A is ahead")
        expect(page.locator("#between")).to_contain_text(FACTS_NOT_CHECKED)
        page.get_by_label("marking").uncheck()
        page.get_by_label("length").check()
        expect(page.locator(".headline").first).to_contain_text("length")
        rests(page)
        assert FACTS_NOT_CHECKED not in page.inner_text("#verdict")


def test_earlier_turns_say_that_facts_were_not_checked(browser: Browser, marked: str) -> None:
    with opened(browser, **DESK) as (context, page):
        page.goto(marked)
        reply(page).focus()
        paste(context, page, json.dumps(["hi", "Paid in 3", "hi", "Loud! 4", "hi", "So 5!"]))
        expect(page.locator(".own b")).to_have_text(["3.0"])
        rests(page)
        assert [text for text in page.locator(".own").all_inner_texts() if text] == ["3.0 middling", OUT_OF_DOMAIN]
        expect(page.locator("#whole")).to_have_text(FACTS_NOT_CHECKED)


def test_a_reply_out_of_the_domain_has_no_verdict_and_no_number(browser: Browser, marked: str) -> None:
    with opened(browser, **DESK) as (_, page):
        page.goto(marked)
        reply(page).fill("A refund! It is 5")
        expect(page.locator(".headline")).to_contain_text("cannot judge this reply")
        rests(page)
        shown = page.inner_text("#results")
        assert "calm talk" in shown and INSTEAD in shown and "loud" in shown
        assert not any(sign.isdigit() for sign in shown)
        assert not any(word in shown for word in ("poor", "weak", "middling", "good", "People"))
        assert FACTS_NOT_CHECKED not in shown, "nothing was judged"
        assert page.locator(".track:visible").count() == 0 and page.locator(".why:visible").count() == 0
        expect(page.locator("#live")).to_contain_text(INSTEAD)
        assert faults(page) == []
        page.get_by_role("button", name="Compare another reply").click()
        page.keyboard.type("Well, 2")
        expect(page.locator(".result")).to_have_count(2)
        expect(page.locator(".headline").nth(1)).to_contain_text("weak")
        expect(page.locator("#between")).to_be_hidden()


@pytest.mark.parametrize(
    "text",
    [
        "Ja, ich habe zwei Hunde und eine Katze zu Hause.",
        "def pets():\n    return dogs[0].name == 'Rex'\n",
        "Here is how:\n\n" + "1. **Open** the settings and look for the section about your devices there.\n" * 15,
    ],
    ids=["German", "code", "markdown"],
)
def test_the_shipped_judge_gives_no_verdict_out_of_its_domain(browser: Browser, base: str, text: str) -> None:
    with opened(browser, **DESK) as (_, page):
        page.goto(base)
        box(page, "Turn 1").fill(ASKED)
        reply(page).fill(text)
        expect(page.locator(".headline")).to_contain_text("cannot judge this reply")
        rests(page)
        shown = page.inner_text(".result")
        assert INSTEAD in shown and "short English chat" in shown and "probably" not in shown
        assert page.locator("#brief b").all_text_contents() == ["–"]


def test_earlier_turns_are_asked_about_once_and_a_long_talk_in_bounds(browser: Browser) -> None:
    sent: list[list[object]] = []

    def note(one: Request) -> None:
        if "/v1/score?" in one.url:
            sent.append(json.loads(one.post_data or ""))

    with served(make_app(load_scorers(["length"])), lifespan="on") as base, opened(browser, **DESK) as (context, page):
        page.on("request", note)
        page.goto(base)
        reply(page).focus()
        paste(context, page, json.dumps(["What is it now?", "It is late."] * 4))
        expect(page.locator(".own b")).to_have_count(3)
        rests(page)
        # on a slow machine the page may ask about the reply alone first
        assert [len(lines) for lines in sent if len(lines) > 1] == [4]
        sent.clear()
        reply(page).fill("It is not late.")
        expect(page.locator(".headline")).to_be_visible()
        rests(page)
        assert {len(lines) for lines in sent} == {1}
        expect(page.locator(".own b")).to_have_count(3)
        page.get_by_role("button", name="Clear").click()
        reply(page).focus()
        paste(context, page, json.dumps(["word " * 100, "It is late."] * 150))
        expect(page.locator(".own b").last).to_be_visible()
        rests(page)
        expect(page.get_by_role("alert")).to_be_hidden()
        assert 2 < len(sent[-1]) < 100 and len(json.dumps(sent[-1])) < Limits().body


def test_other_scorers_and_a_reference(browser: Browser, base: str) -> None:
    with opened(browser, **DESK) as (_, page):
        page.goto(base)
        page.get_by_role("button", name="a good reply").click()
        page.get_by_label("bleu-2").check()
        other = page.locator(".others tbody tr")
        expect(other).to_contain_text("no reference")
        page.get_by_role("button", name="Add a reference").click()
        page.keyboard.type("That sounds lovely! I will stay home and finish my novel.")
        expect(other.locator(".points")).to_have_text(re.compile(r"0\.\d\d"))
        page.get_by_label("rejoinder", exact=True).uncheck()
        expect(page.locator(".headline")).to_contain_text("bleu-2: n-grams")
        expect(page.locator(".why")).to_be_hidden()


def test_by_keyboard_alone(browser: Browser, base: str) -> None:
    def tab_to(name: str) -> None:
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("(document.activeElement.labels?.[0] ?? document.activeElement).textContent") == name:
                return
        raise AssertionError(f"the keyboard does not reach {name}")

    with opened(browser, **DESK) as (_, page):
        page.goto(base)
        tab_to("a good reply")
        page.keyboard.press("Enter")
        page.wait_for_selector(".result")
        tab_to("The reply to judge")
        page.keyboard.press("Control+Enter")
        page.keyboard.type("Which novel?")
        assert len(turns(page)) == 4
        rests(page)
        page.keyboard.press("Control+A")
        page.keyboard.press("Delete")
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Shift+Tab")  # over the button that removes it, to the turn before
        page.keyboard.press("Control+A")
        page.keyboard.press("Delete")
        page.keyboard.press("Backspace")
        assert len(turns(page)) == 3
        tab_to("length")
        page.keyboard.press("Space")
        assert page.get_by_label("length").is_checked()


def test_on_a_phone_nothing_sticks_out_and_the_score_stays_in_sight(browser: Browser, base: str) -> None:
    with opened(browser, **PHONE) as (_, page):
        page.goto(base)
        for name in ("a lapse in a long talk", "two to compare"):
            page.get_by_role("button", name=name).tap()
            page.wait_for_selector(".result")
            rests(page)
            page.evaluate("window.scrollTo(0, 0)")
            expect(page.locator("#brief")).to_have_class(re.compile("away"))
            shown = page.locator("#brief b").all_inner_texts()
            assert [float(text.split()[-1]) for text in shown] == [score_of(page, at) for at in range(len(shown))]
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        box(page, "Reply A").fill("x" * 300)
        rests(page)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        for one in page.locator("button:visible, #scorers label").all():
            size = one.bounding_box()
            assert size is not None and size["height"] >= 36 and size["width"] >= 36, one.inner_text()


@pytest.mark.parametrize("how", [DESK, PHONE], ids=["desk", "phone at night"])
def test_it_is_accessible_in_every_state(browser: Browser, base: str, how: dict[str, object]) -> None:
    with opened(browser, reduced_motion="reduce", **how) as (_, page):
        page.goto(base)
        assert faults(page) == []
        page.get_by_role("button", name="a lapse in a long talk").click()
        page.wait_for_selector(".result")
        rests(page)
        assert faults(page) == []
        page.get_by_role("button", name="two to compare").click()
        page.get_by_label("bleu-2").check()
        page.get_by_role("button", name="Add a reference").click()
        page.wait_for_selector(".others")
        rests(page)
        assert faults(page) == []
        assert page.eval_on_selector(".dot", "dot => getComputedStyle(dot).transitionDuration") == "0s"


def test_whatever_is_written_stays_text(browser: Browser) -> None:
    (scorer,) = load_scorers("length").values()
    with (
        served(make_app({HOSTILE: scorer}), lifespan="on") as base,
        opened(browser, **DESK) as (context, page),
    ):
        page.goto(base)
        reply(page).focus()
        paste(context, page, json.dumps({"context": [HOSTILE, HOSTILE], "response": HOSTILE, "reference": HOSTILE}))
        page.wait_for_selector(".result")
        page.get_by_role("button", name="Compare another reply").click()
        box(page, "Reply B").fill(HOSTILE)
        rests(page)
        assert turns(page) == [HOSTILE] * 4
        assert HOSTILE in page.inner_text("#scorers")
        assert page.locator("img").count() == 0 and "taken" not in page.title()


def test_a_service_that_stops_in_between_is_waited_for(browser: Browser) -> None:
    app = make_app(load_scorers(["rejoinder"]))
    with opened(browser, REFUSED, **DESK) as (_, page):
        with served(app, lifespan="on") as base:
            page.goto(base)
            page.get_by_role("button", name="a good reply").click()
            page.wait_for_selector(".result")
            rests(page)
            before = score_of(page)
        reply(page).fill(BAD)
        trouble = page.get_by_role("alert")
        expect(trouble).to_have_text("The service does not answer. Asking again…")
        assert faults(page) == []
        assert score_of(page) == before and "stale" in (page.get_attribute("body", "class") or "")
        other = make_app(load_scorers(["length", "rejoinder"]))
        with served(other, port=int(base.rsplit(":", 1)[1]), lifespan="on"):
            expect(trouble).to_be_hidden()
            expect(page.locator(".headline")).to_contain_text("poor")
            assert page.get_by_label("rejoinder").is_checked() and not page.get_by_label("length").is_checked()


def test_a_busy_service_is_asked_again(browser: Browser, base: str) -> None:
    told: list[str] = []

    def busy_once(route: Route) -> None:
        told.append(route.request.url)
        if len(told) == 1:
            route.fulfill(status=503, headers={"Retry-After": "1"}, json={"error": {"message": "busy"}})
        else:
            route.continue_()

    with opened(browser, REFUSED, **DESK) as (_, page):
        page.route("**/v1/score?*", busy_once)
        page.goto(base)
        page.get_by_role("button", name="a good reply").click()
        expect(page.get_by_role("alert")).to_have_text("The service is busy. Asking again…")
        page.wait_for_selector(".result")
        expect(page.get_by_role("alert")).to_be_hidden()


def test_what_is_too_long_is_said_in_the_words_of_the_service(browser: Browser) -> None:
    app = make_app(load_scorers(["length"]), limits=Limits(body=500))
    with served(app, lifespan="on") as base, opened(browser, REFUSED, **DESK) as (_, page):
        page.goto(base)
        reply(page).fill("word " * 200)
        expect(page.get_by_role("alert")).to_contain_text("more than 500 bytes")
        reply(page).fill("a word")
        expect(page.get_by_role("alert")).to_be_hidden()
        assert page.inner_text(".headline b") == "2"


def test_a_token_is_asked_for_and_kept_in_the_tab_alone(browser: Browser) -> None:
    app = make_app(load_scorers(["length"]), token=TOKEN)
    with served(app, lifespan="on") as base, opened(browser, REFUSED, **DESK) as (context, page):
        page.goto(base)
        page.get_by_label("Token of this service").wait_for()
        assert faults(page) == []
        for typed, said in (("not the token at all", "not its token"), ("☂" * 20, "not its token"), (TOKEN, "")):
            page.get_by_label("Token of this service").fill(typed)
            page.keyboard.press("Enter")
            if said:
                expect(page.get_by_role("alert")).to_contain_text(said)
        expect(page.get_by_label("Token of this service")).to_be_hidden()
        reply(page).fill("three words here")
        page.wait_for_selector(".result")
        assert page.evaluate("localStorage.length") == 0 and context.cookies() == []
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy as curl").click()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert TOKEN not in copied and "$REJOINDER_TOKEN" in copied


def test_what_is_copied_gives_what_is_shown(browser: Browser, base: str) -> None:
    with opened(browser, **DESK) as (context, page):
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.goto(base)
        box(page, "Turn 1").fill("Whose is it? It's \"Ann's\".")
        reply(page).fill("I don't know, $HOME \\ it's\nlate.")
        page.wait_for_selector(".result")
        rests(page)
        page.get_by_role("button", name="Copy as JSON").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        record = json.loads(page.evaluate("navigator.clipboard.readText()"))
        assert round(record["scores"]["rejoinder"], 1) == score_of(page)
        page.get_by_role("button", name="Copy as curl").click()
        page.wait_for_timeout(100)
        _, url, _, body = shlex.split(page.evaluate("navigator.clipboard.readText()"))
        assert httpx.post(url, content=body).json()["results"] == [record]


def test_where_nothing_can_be_copied_it_is_shown(browser: Browser, base: str) -> None:
    with opened(browser, **DESK) as (_, page):
        page.add_init_script("delete Navigator.prototype.clipboard")
        page.goto(base)
        page.get_by_role("button", name="a good reply").click()
        page.get_by_role("button", name="Copy as curl").click()
        assert page.get_by_label("To copy").input_value().startswith("curl ")
