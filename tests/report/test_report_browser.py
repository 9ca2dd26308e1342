"""A report in a browser: on a desk, a tablet and a phone, by mouse and keyboard, on paper, without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from example_results import results

from chromium import WCAG, Axe, Browser, Page, launched

pytestmark = pytest.mark.slow

# The settings that axe has for its rule on contrast, but single characters count too.
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
# Axe cannot see what is scrolled away or under the sticky column.
SPREAD = """.scroll { overflow: visible; width: max-content; } body { width: max-content; min-width: 100%; }
header, main, footer { max-width: none; } th { position: static !important; }"""
SIZES = [(1280, "light"), (1280, "dark"), (768, "light"), (375, "light"), (375, "dark")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module", params=[5, 20])
def report(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    results("judge-1", request.param, pictures=True).save(path, command_line="rejoinder study a.jsonl -o report.html")
    return path


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}-{size[1]}")
def page(browser: Browser, report: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The report, opened; afterwards, that nothing was written to the console and nothing requested."""
    width, theme = request.param
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=theme)
    heard: list[str] = []
    page.on("console", lambda message: heard.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("request", lambda request: heard.append(request.url))
    page.goto(report.as_uri())
    yield page
    page.close()
    assert heard == [report.as_uri()]


def width_of(page: Page) -> int:
    assert page.viewport_size
    return int(page.viewport_size["width"])


def open_all(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


def test_only_tables_scroll_sideways(page: Page) -> None:
    open_all(page)
    width = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert width[0] <= width[1]
    for table in page.locator(".table").all():
        wide = table.locator(".scroll").evaluate("one => one.scrollWidth - one.clientWidth > 1")
        assert table.locator(".cue").is_visible() == wide
        if wide:
            place = table.locator(".scroll").bounding_box()
            table.locator(".scroll").evaluate("one => { one.scrollLeft = 200; }")
            name = table.locator("tbody th").first.bounding_box()
            assert place and name and abs(name["x"] - place["x"]) < 1, "the first column stays"


def test_axe_finds_no_barrier(page: Page) -> None:
    """The rules of WCAG 2.2, levels A and AA, that a program can check."""
    open_all(page)
    page.add_style_tag(content=SPREAD)
    page.evaluate(Axe().axe_script)
    page.evaluate("options => axe.configure({checks: [{id: 'color-contrast', options}]})", EVERY_TEXT)
    outcome = page.evaluate("runOnly => axe.run({runOnly})", WCAG)
    assert any(rule["id"] == "color-contrast" for rule in outcome["passes"])
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in outcome["violations"]] == []


def test_texts_of_charts_keep_their_size(page: Page) -> None:
    """At least 11 pixels as shown, and all of them inside the window."""
    texts = page.evaluate(
        """[...document.querySelectorAll("svg text")].filter((text) => text.getClientRects().length).map((text) => {
        const {a, b} = text.getScreenCTM(), scale = Math.hypot(a, b), box = text.getBoundingClientRect();
        return [parseFloat(getComputedStyle(text).fontSize) * scale, box.left, box.right]; })"""
    )
    assert len(texts) > 30
    assert min(size for size, _, _ in texts) >= 11
    assert min(left for _, left, _ in texts) >= 0 and max(right for _, _, right in texts) <= width_of(page)


def test_one_drawing_of_each_chart_is_shown(page: Page) -> None:
    figures = page.locator("figure").all()
    assert len(figures) == 5
    for figure in figures:
        assert figure.locator("svg").evaluate_all("all => all.filter((svg) => svg.getClientRects().length).length") == 1
    assert page.locator(".narrow").first.is_visible() == (width_of(page) < 704)


def test_charts_follow_the_theme_and_paper_is_white(page: Page) -> None:
    seen = {}
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        seen[theme] = page.evaluate(
            "[document.body, document.querySelector('svg text')].map((one) => getComputedStyle(one))"
            ".map((style, place) => place ? style.fill : style.backgroundColor)"
        )
    assert seen["light"][0] == "rgb(255, 255, 255)" and seen["dark"][0] == "rgb(20, 23, 27)"
    assert seen["light"][1] != seen["dark"][1]
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.set_viewport_size({"width": 720, "height": 1000})  # A4 without its margins
    for table in page.locator("table").all():
        box = table.bounding_box()
        assert box and box["x"] + box["width"] <= 720


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_a_header_sorts_its_table(page: Page, by: str) -> None:
    """Our script is the one that the content security policy allows."""
    table = page.locator("table").first
    header = table.locator("thead th").nth(1)

    def values() -> list[float]:
        return list(table.evaluate("one => [...one.tBodies[0].rows].map((row) => +row.cells[1].dataset.v)"))

    before = values()
    for order, reverse in (("descending", True), ("ascending", False)):
        button = header.get_by_role("button")
        if by == "mouse":
            button.click()
        else:
            button.focus()
            page.keyboard.press("Enter")
        assert header.get_attribute("aria-sort") == order
        assert values() == sorted(before, reverse=reverse)


def test_everything_is_there_without_scripts(browser: Browser, report: Path) -> None:
    with browser.new_context(java_script_enabled=False, viewport={"width": 375, "height": 800}) as context:
        page = context.new_page()
        page.goto(report.as_uri())
        assert page.locator(".headline").is_visible() and page.locator("table").first.is_visible()
        page.locator("summary").first.click()
        assert page.locator(".case").first.is_visible()


def test_a_foreign_script_does_not_run(browser: Browser, report: Path, tmp_path: Path) -> None:
    """Even where a hole in the escaping let it into the page."""
    path = tmp_path / "report.html"
    foreign = "<script>document.title = 'run'</script><img src='x' onerror=\"document.title = 'run'\">"
    path.write_text(report.read_text(encoding="utf-8").replace("</main>", f"{foreign}</main>"), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.title() == "judge-1"
    page.close()
