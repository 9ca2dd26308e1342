"""The report in a browser: at a desk and on a phone, by mouse, by keyboard and on paper, nothing from outside."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from chromium import WCAG, Axe, Browser, Locator, Page, launched
from samples import records

pytestmark = pytest.mark.slow

# axe's own settings of its rule on contrast, but that single characters count too.
EVERY_TEXT = {
    "ignoreUnicode": False,
    "ignoreLength": True,
    "ignorePseudo": False,
    "pseudoSizeThreshold": 0.25,
    "boldValue": 700,
    "boldTextPt": 14,
    "largeTextPt": 18,
    "shadowOutlineEmMax": 0.2,
    "textStrokeEmMin": 0.03,
    "contrastRatio": {"normal": {"expected": 4.5}, "large": {"expected": 3}},
}
# What is scrolled away, or lies under what stays in its place, axe cannot see.
SPREAD = """.scroll { overflow: visible; width: max-content; } body { width: max-content; min-width: 100%; }
header, main, footer { max-width: none; } th { position: static !important; }"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module", params=["@dstc7 @conture -s bleu-2", "pairs.jsonl"], ids=["ratings", "pairs"])
def report(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "pairs.jsonl").write_text("".join(f"{json.dumps(pair)}\n" for pair in records(30)))
    call = f"study {request.param} -s context-overlap -s rejoinder --resamples 100 -o report.html"
    subprocess.run([sys.executable, "-m", "rejoinder", *call.split()], check=True, capture_output=True, cwd=folder)
    return folder / "report.html"


@pytest.fixture(params=[(1200, "light"), (375, "dark")], ids=["desk", "phone at night"])
def page(browser: Browser, report: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The report, opened; afterwards, that it has said nothing on the console and asked nobody for anything."""
    width, theme = request.param
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=theme)
    heard: list[str] = []
    page.on("console", lambda said: heard.append(f"{said.type}: {said.text}"))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("request", lambda asked: heard.append(asked.url))
    page.goto(report.as_uri())
    yield page
    page.close()
    assert heard == [report.as_uri()]


def open_all(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


def table_to_sort(page: Page) -> tuple[Locator, int]:
    """The first table in which some column has four or more different numbers, and that column."""
    for table in page.locator("table").all():
        for column in range(table.locator("thead th").count()):
            if len(set(numbers(table, column))) >= 4:
                return table, column
    raise AssertionError("no table with anything to sort")


def numbers(table: Locator, column: int) -> list[float]:
    """The numbers of a column from top to bottom, without the rows that have none."""
    found = table.evaluate(
        "(table, at) => [...table.tBodies[0].rows].map((row) => row.cells[at].dataset.v ?? null)", column
    )
    return [float(value) for value in found if value is not None]


@pytest.mark.parametrize("details", ["closed", "open"])
def test_nothing_scrolls_sideways_but_tables(page: Page, details: str) -> None:
    if details == "open":
        open_all(page)
    width = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert width[0] <= width[1]
    assert page.locator("h1").is_visible()


def test_no_barrier_that_axe_can_find(page: Page) -> None:
    """The rules of WCAG 2.2, levels A and AA, that a program can check."""
    open_all(page)
    page.add_style_tag(content=SPREAD)
    page.evaluate(Axe().axe_script)
    page.evaluate("options => axe.configure({checks: [{id: 'color-contrast', options}]})", EVERY_TEXT)
    found = page.evaluate("runOnly => axe.run({runOnly})", WCAG)
    assert any(one["id"] == "color-contrast" for one in found["passes"])
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
    unsure = [one for one in found["incomplete"] if one["id"] == "color-contrast"]
    assert [(node["html"], node["any"][0]["message"]) for one in unsure for node in one["nodes"]] == []


def test_both_themes_are_themes(page: Page) -> None:
    seen = {}
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        seen[theme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert seen == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"}
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)", "paper is white"


def test_text_in_pictures_can_be_read(page: Page) -> None:
    """Eleven pixels or more, whatever a picture is scaled to."""
    sizes = page.evaluate(
        """[...document.querySelectorAll(".chart *, .panel *")]
        .filter(one => one.textContent && one.getClientRects().length && !one.closest("svg"))
        .map(one => parseFloat(getComputedStyle(one).fontSize))"""
    )
    assert page.locator("svg text").count() == 0
    assert len(sizes) > 15 and min(sizes) >= 11


def test_the_first_screen_holds_answer_key_figures_and_picture(page: Page) -> None:
    height = page.viewport_size["height"] if page.viewport_size else 0
    places = [page.locator(one).first.bounding_box() for one in (".headline", ".keys", ".chart")]
    assert all(place and place["y"] < height for place in places)
    if page.viewport_size and page.viewport_size["width"] > 1000:
        assert all(place and place["y"] + place["height"] <= height for place in places), "all of it, on a desk"


def test_every_picture_says_what_to_see(page: Page) -> None:
    open_all(page)
    figures = page.locator("figure")
    assert figures.count()
    for figure in figures.all():
        assert re.fullmatch(r"\S.{15,}\.", figure.locator("figcaption").inner_text(), re.DOTALL)


def test_a_table_that_scrolls_says_so_and_keeps_its_first_column(page: Page) -> None:
    tables = page.locator(".table").all()
    wide = [one for one in tables if one.locator(".scroll").evaluate("one => one.scrollWidth - one.clientWidth > 1")]
    assert all(one.locator(".cue").is_visible() for one in wide)
    assert all(one.locator(".cue").is_hidden() for one in tables if one not in wide)
    if not wide:
        assert page.viewport_size and page.viewport_size["width"] > 1000, "on a phone some do"
        return
    table = wide[0]
    name, place = table.locator("tbody th").first, table.locator(".scroll").bounding_box()
    table.locator(".scroll").evaluate("one => { one.scrollLeft = 200; }")
    box = name.bounding_box()
    assert place and box and abs(box["x"] - place["x"]) < 1
    assert "more" in (wide[-1].get_attribute("class") or "")
    table.locator(".scroll").evaluate("one => { one.scrollLeft = 1e6; }")
    page.wait_for_function("one => one.className === 'table scrolled'", arg=table.element_handle())


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_a_header_sorts_its_table(page: Page, by: str) -> None:
    table, column = table_to_sort(page)
    header = table.locator("thead th").nth(column)
    names = table.locator("tbody th")
    before, rows = numbers(table, column), sorted(names.all_inner_texts())

    def press() -> None:
        button = header.get_by_role("button")
        if by == "mouse":
            button.click()
        else:
            button.focus()
            page.keyboard.press("Enter")

    press()
    assert header.get_attribute("aria-sort") == "descending"
    assert numbers(table, column) == sorted(before, reverse=True)
    press()
    assert header.get_attribute("aria-sort") == "ascending"
    assert numbers(table, column) == sorted(before) != sorted(before, reverse=True)
    assert sorted(names.all_inner_texts()) == rows, "whole rows move"
    assert table.locator("[aria-sort]").count() == 1


def test_every_interval_says_how_it_was_made(page: Page) -> None:
    """On hover, in the row, or above the table."""
    cells = page.locator("td").filter(has_text=re.compile(r"\[-?[\d.]+, -?[\d.]+\]"))
    said = cells.evaluate_all("all => all.map(cell => cell.parentNode.outerHTML + cell.closest('.table').textContent)")
    assert len(said) >= 8
    assert [text for text in said if "resamples of contexts" not in text] == []
    notes = page.locator("td[title]").evaluate_all("all => all.map(cell => cell.title)")
    assert any(re.search(r"n = \d+", note) for note in notes)
    drawn = page.locator(".chart").first.locator("[title]").evaluate_all("all => all.map(one => one.title)")
    assert any("[" in title for title in drawn), "the picture's points say their intervals too"


def test_paper_shows_every_table_whole(page: Page) -> None:
    open_all(page)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 720, "height": 1000})  # A4 less its margins
    tables = page.locator("table").all()
    assert len(tables) >= 3
    for table in tables:
        box = table.bounding_box()
        assert box and table.locator("tbody tr").last.is_visible()
        assert box["x"] + box["width"] <= 720, table.locator("caption").inner_text()
    assert not page.locator("nav").is_visible()
    assert page.locator("header .chart").is_visible()


def test_headings_go_down_one_step_at_a_time(page: Page) -> None:
    levels = [int(tag[1]) for tag in page.locator("h1, h2, h3, h4").evaluate_all("all => all.map(h => h.tagName)")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
