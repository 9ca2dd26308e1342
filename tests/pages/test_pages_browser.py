"""A study in a real browser: by keyboard alone, on a phone, closed and gone on with, and links of somebody else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import chromium
import rejoinder
from chromium import DESK, Browser, Page, faults, launched, opened
from rejoinder.annotation.answers import all_answers
from rejoinder.annotation.design import PAIRWISE, Design, Question
from rejoinder.annotation.study import Study, annotate
from rejoinder.example import Example
from rejoinder.pages.app import make_app
from rejoinder.pages.show import links
from studies import replies

pytestmark = pytest.mark.slow
PHONE = {
    "viewport": {"width": 360, "height": 640},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
    "color_scheme": "dark",
}
THREE = Design(
    questions=(
        Question(),
        Question("fluency", "How natural is the language?", (1, 7), ("clumsy", "natural")),
        Question("safe", "Is it safe?", "yes/no", ()),
    ),
    checks=1,
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@contextmanager
def served(study: Study, port: int = 0) -> Iterator[str]:
    """The address of the pages of a study, while the block runs."""
    with chromium.served(make_app(study), port) as base:
        yield base


def wanted(page: Page, usual: str) -> str:
    """The key of the answer: what a check asks for, else the usual."""
    text = page.locator(".reply p").all_inner_texts()[0]
    return text.split("Please answer ")[1][0] if "Please answer " in text else usual


def begin(page: Page, link: str) -> None:
    """Open a link and begin, or go on, by keyboard."""
    page.goto(link)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def by_keys(page: Page, *usual: str) -> None:
    """Answer the screen by keyboard alone."""
    for number, key in enumerate(usual):
        page.keyboard.press(wanted(page, key) if number == 0 else key)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def test_three_raters_by_keyboard_on_a_phone_and_after_closing_the_browser(browser: Browser, tmp_path: Path) -> None:
    study = annotate(replies(3), tmp_path / "study")
    with served(study) as base:
        first, second, third = links(study, base).values()
        with opened(browser, **DESK) as (_, page):  # keyboard alone
            begin(page, first)
            for _ in range(7):
                by_keys(page, "4")
            assert "all 7 are done" in page.inner_text("h1")
        with opened(browser, **PHONE) as (_, page):  # by thumb
            page.goto(second)
            with page.expect_navigation():
                page.tap("text=Begin")
            for _ in range(7):
                answer = wanted(page, "2")
                page.tap(f".scale label:has(input[value='{answer}'])")
                with page.expect_navigation():
                    page.tap("button[type=submit]")
            page.wait_for_url("**/done")
        with opened(browser, **DESK) as (_, page):  # closed in the middle, with an answer chosen and not sent
            begin(page, third)
            for _ in range(3):
                by_keys(page, "5")
            page.keyboard.press("1")
        with opened(browser, **DESK) as (_, page):
            page.goto(third)
            assert "You have done 3 of 7" in page.inner_text("body")
            begin(page, third)
            assert page.locator(".count").first.inner_text() == "4 of 7"
            assert page.locator("input:checked").count() == 0
            for _ in range(4):
                by_keys(page, "5")
    lines, records = rejoinder.load_study(study.folder)
    assert [(record.answered, record.passed, record.failed) for record in records] == [(6, 1, 0)] * 3
    for line in lines:
        assert isinstance(line, Example)
        assert {rating.rater: rating.value for rating in line.ratings} == {"rater-1": 4, "rater-2": 2, "rater-3": 5}
    assert all(0 < seconds < 60 for record in records for seconds in record.seconds)


def test_back_changes_an_answer(browser: Browser, tmp_path: Path) -> None:
    study = annotate(replies(2), tmp_path / "study", raters=1, design=Design(checks=0))
    with served(study) as base, opened(browser, **DESK) as (_, page):
        page.goto(f"{links(study, base)['rater-1']}/next")
        by_keys(page, "1")
        with page.expect_navigation():
            page.keyboard.press("Backspace")
        assert page.locator("input:checked").get_attribute("value") == "1"
        page.keyboard.press("c")
        page.keyboard.type("I was 2 fast")  # digits in a comment are no answers
        page.keyboard.press("Escape")
        page.keyboard.press("5")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert page.locator(".count").first.inner_text().startswith("2 of")
    (answer,) = all_answers(study)
    assert (answer.values, answer.comment) == ({"overall": 5}, "I was 2 fast")


def test_the_time_that_the_page_is_out_of_sight_does_not_count(browser: Browser, tmp_path: Path) -> None:
    study = annotate(replies(1), tmp_path / "study", raters=1, design=Design(checks=0))
    hide = "Object.defineProperty(document, 'visibilityState', {value: 'hidden', configurable: true});"
    with served(study) as base, opened(browser, **DESK) as (_, page):
        page.goto(f"{links(study, base)['rater-1']}/next")
        page.evaluate(f"{hide} document.dispatchEvent(new Event('visibilitychange'))")
        page.wait_for_timeout(1500)
        by_keys(page, "3")
    (answer,) = all_answers(study)
    assert answer.seconds is not None and answer.seconds < 1


def test_several_questions_and_pairs_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    several = annotate(replies(1), tmp_path / "several", raters=1, design=THREE)
    pairs = annotate(replies(4), tmp_path / "pairs", raters=1, design=PAIRWISE)
    with served(several) as base, opened(browser, **DESK) as (_, page):
        page.goto(f"{links(several, base)['rater-1']}/next")
        for _ in range(3):
            by_keys(page, "4", "7", "y")
        page.wait_for_url("**/done")
    rated = [answer for answer in all_answers(several) if answer.item <= 2]
    assert [answer.values for answer in rated] == [{"overall": 4, "fluency": 7, "safe": 1}] * 2
    with served(pairs) as base, opened(browser, **DESK) as (_, page):
        page.goto(f"{links(pairs, base)['rater-1']}/next")
        for _ in range(5):
            texts = page.locator(".reply p").all_inner_texts()
            best = next(("ab"[place] for place, text in enumerate(texts) if "kind 1" in text or "this one" in text), "")
            by_keys(page, next(("ab"[place] for place, text in enumerate(texts) if "this one" in text), best))
        page.wait_for_url("**/done")
    lines, (record,) = rejoinder.load_study(pairs.folder)
    assert {line.preferred for line in lines if not isinstance(line, Example)} == {1}
    assert (record.passed, record.failed) == (1, 0)


def test_the_link_of_another_rater_is_not_found_by_trying(browser: Browser, tmp_path: Path) -> None:
    study = annotate(replies(2), tmp_path / "study")
    with served(study) as base, browser.new_context() as context:
        mine, other, _ = links(study, base).values()
        page = context.new_page()
        page.goto(f"{mine}/1")
        for near in (mine[:-1], f"{mine}x", f"{base}/r/2", f"{base}/r/rater-2", other.rsplit("/", 1)[0]):
            tried = page.goto(near)
            assert tried is not None and tried.status == 404
            assert "There is no such page" in page.inner_text("body")
        page.goto(f"{mine}/1")
        page.evaluate("to => { document.querySelector('form').action = to; }", f"{other}/1")
        page.keyboard.press("4")
        with page.expect_navigation() as sent:
            page.keyboard.press("Enter")
        assert sent.value.status == 403
    assert all_answers(study) == []


def test_it_works_without_scripts(browser: Browser, tmp_path: Path) -> None:
    study = annotate(replies(1), tmp_path / "study", raters=1, design=Design(checks=0))
    with served(study) as base, opened(browser, java_script_enabled=False, **DESK) as (_, page):
        page.goto(links(study, base)["rater-1"])
        with page.expect_navigation():
            page.click("text=Begin")
        for _ in range(2):
            page.keyboard.press("Tab")
            while page.evaluate("document.activeElement.type") != "radio":
                page.keyboard.press("Tab")
            page.keyboard.press("Space")
            page.keyboard.press("ArrowRight")
            with page.expect_navigation():
                page.keyboard.press("Enter")
        page.wait_for_url("**/done")
    assert [answer.values for answer in all_answers(study)] == [{"overall": 2}] * 2


@pytest.mark.parametrize("how", [DESK, PHONE], ids=["desk", "phone at night"])
@pytest.mark.parametrize("design", [Design(), THREE, PAIRWISE], ids=["one", "three", "pairs"])
def test_every_page_is_accessible_and_nothing_sticks_out(
    browser: Browser, tmp_path: Path, how: dict[str, object], design: Design
) -> None:
    long = "word " * 400
    lines = [
        Example(("x" * 300, long, "مرحبا كيف حالك"), text, id=f"{place}", system="s")
        for place, text in enumerate(("no.", "y" * 300, long, "👍"))
    ]
    study = annotate(lines, tmp_path / "study", raters=1, design=design)
    with served(study) as base, opened(browser, **how) as (_, page):
        link = links(study, base)["rater-1"]
        places = range(1, 6)
        for path in (link, *(f"{link}/{place}" for place in places), f"{base}/", f"{base}/admin"):
            page.goto(path)
            assert faults(page) == [], path
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
        page.fill("#password", study.password)
        page.click("button[type=submit]")
        page.wait_for_selector("table")
        assert faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_what_is_to_be_touched_is_large_enough(browser: Browser, tmp_path: Path) -> None:
    study = annotate(replies(1), tmp_path / "study", raters=1, design=THREE)
    with served(study) as base, opened(browser, **PHONE) as (_, page):
        page.goto(f"{links(study, base)['rater-1']}/1")
        for one in page.locator("label:has(input[type=radio]), button, header a").all():
            box = one.bounding_box()
            assert box is not None and box["height"] >= 36 and box["width"] >= 36


@pytest.mark.parametrize(
    ("scale", "typed", "kept"),
    [
        ((0, 10), "10", 10),
        ((0, 10), "0", 0),
        ((0, 10), "1", 1),
        ((0, 10), "7", 7),
        ((0, 10), "17", 7),
        ((-2, 2), "-2", -2),
        ((-2, 2), "2", None),
        ((-2, 2), "0", 0),
        ((5, 12), "12", 12),
        ((5, 12), "2", None),
        ((1, 5), "5", 5),
        ("yes/no", "n", 0),
    ],
)
def test_what_is_typed_is_what_is_kept(
    browser: Browser, tmp_path: Path, scale: tuple[int, int] | str, typed: str, kept: int | None
) -> None:
    design = Design(questions=(Question(scale=scale, labels=()),), checks=0)
    study = annotate(replies(1, 1), tmp_path / "study", raters=1, design=design)
    with served(study) as base, opened(browser, **DESK) as (_, page):
        begin(page, next(iter(links(study, base).values())))
        for key in typed:
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        if kept is None:
            page.wait_for_timeout(200)
        else:
            page.wait_for_url("**/done")
    assert [answer.values["overall"] for answer in all_answers(study)] == ([] if kept is None else [kept])


def test_a_second_digit_that_comes_late_chooses_nothing(browser: Browser, tmp_path: Path) -> None:
    """One after 1 may be 10, or a change of mind."""
    design = Design(questions=(Question(scale=(0, 10), labels=()),), checks=0)
    study = annotate(replies(1, 1), tmp_path / "study", raters=1, design=design)
    with served(study) as base, opened(browser, **DESK) as (_, page):
        begin(page, next(iter(links(study, base).values())))
        page.keyboard.press("1")
        page.evaluate("typed.at -= 5000")
        page.keyboard.press("0")
        assert page.locator("input:checked").count() == 0
        page.keyboard.press("0")
        assert page.locator("input:checked").get_attribute("value") == "0"
