"""The report of score in a browser: filters, keys, on a phone, without scripts, and nothing from outside."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chromium import WCAG, Axe, Browser, Page, expect, launched

pytestmark = pytest.mark.slow

REPLIES = [
    *(f"Reply {n} about {'cats' if n % 3 else 'dogs'} ." for n in range(30)),
    "**Bold** <script>document.title = 'run'</script> ![a](http://x.example/a.png) [link](http://x.example)",
    "=1+1",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    lines = [
        {"context": ["hi", "hello"], "response": reply, "system": "AB"[n % 2], "topic": f"t{n % 3}",
         "time": f"2026-01-{1 + n % 20:02}"}
        for n, reply in enumerate(REPLIES)
    ]  # fmt: skip
    (folder / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    call = "score a.jsonl -s rejoinder -s length --out-of-domain keep --by topic -o report.html"
    subprocess.run([sys.executable, "-m", "rejoinder", *call.split()], check=True, capture_output=True, cwd=folder)
    return folder / "report.html"


@pytest.fixture(params=[(1280, "light"), (375, "dark")], ids=["desk", "phone at night"])
def page(browser: Browser, report: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The report, opened; afterwards, that it wrote nothing on the console and asked for nothing."""
    width, theme = request.param
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=theme)
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("request", lambda request: heard.append(request.url))
    page.goto(report.as_uri())
    yield page
    assert page.title() == "Scores"
    page.close()
    assert heard == [report.as_uri()]


def shown(page: Page) -> list[str]:
    return list(page.locator(".line:not([hidden]) > summary > span").all_inner_texts())


def focused(page: Page) -> int:
    """The place of the line that has the focus."""
    script = "[...document.querySelectorAll('.line:not([hidden]) > summary')].indexOf(document.activeElement)"
    return int(page.evaluate(script))


def test_filters_start_empty_and_narrow_the_lines(page: Page) -> None:
    assert len(shown(page)) == len(REPLIES) and "32 of 32 lines" in page.locator("output").inner_text()
    page.get_by_label("Text").fill("DOGS reply")
    assert len(shown(page)) == 10 and all("dogs" in text for text in shown(page))
    page.locator("select[data-place='0']").select_option("A")
    page.locator("select[data-place='1']").select_option("t0")
    assert len(shown(page)) == 5 and "5 of 32 lines" in page.locator("output").inner_text()
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".line[hidden]")).to_have_count(0)
    scores = page.locator(".line").evaluate_all("all => all.map(line => +line.dataset.score)")
    assert scores == sorted(scores)
    page.get_by_label("Score from").fill(str(scores[5]))
    page.get_by_label("to", exact=True).fill(str(scores[9]))
    assert len(shown(page)) == sum(scores[5] <= score <= scores[9] for score in scores)


def test_keys_move_and_open(page: Page) -> None:
    page.keyboard.press("j")
    assert focused(page) == 0
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert focused(page) == 1
    page.keyboard.press("Enter")
    assert page.locator(".line").nth(1).evaluate("line => line.open")
    page.keyboard.press("/")
    page.keyboard.type("jk cats")
    assert page.get_by_label("Text").input_value() == "jk cats" and shown(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert focused(page) == -1


def test_a_reply_is_shown_as_markdown_and_runs_nothing(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    reply = page.locator(".reply").filter(has_text="Bold")
    assert reply.locator("strong").inner_text() == "Bold" and "<script>" in reply.inner_text()
    assert reply.locator("img").count() == 0 and reply.locator("a").first.get_attribute("rel") == "noreferrer nofollow"


@pytest.mark.parametrize("details", ["closed", "open"])
def test_nothing_scrolls_sideways_and_axe_finds_no_barrier(page: Page, details: str) -> None:
    if details == "open":
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    wide, room = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide <= room
    page.evaluate(Axe().axe_script)
    found = page.evaluate("runOnly => axe.run({runOnly})", WCAG)
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []


def test_everything_is_readable_without_scripts(browser: Browser, report: Path) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(report.as_uri())
        assert page.locator(".filters").is_hidden() and page.locator(".line").count() == len(REPLIES)
        page.locator(".line > summary").first.click()
        assert page.locator(".line .reply").first.is_visible()
