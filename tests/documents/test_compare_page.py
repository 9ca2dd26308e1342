"""The page of a comparison in a browser: at a desk and on a phone, without a barrier, and nothing from outside."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_browser import browser

from chromium import WCAG, Axe, Browser
from conftest import Run
from samples import write_weeks

pytestmark = pytest.mark.slow
__all__ = ["browser"]


def test_the_page_reads_anywhere(browser: Browser, run: Run, tmp_path: Path) -> None:
    write_weeks(tmp_path)
    out = tmp_path / "ab.html"
    call = ("compare", tmp_path / "week1.csv", tmp_path / "week2.csv", "-s", "column:judged", "--by", "intent")
    assert run(*call, "-o", out).code == 0
    for width in (1200, 375):
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.route("**", lambda route: route.continue_() if route.request.url == out.as_uri() else route.abort())
        page.goto(out.as_uri())
        assert page.evaluate("performance.getEntriesByType('resource').length") == 0
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert page.locator(".answer p").first.inner_text().startswith("A is better than B by column:judged")
        assert page.locator(".chart .row").count() == 4, "one row over all, one a value"
        found = Axe().run(page, options={"runOnly": WCAG})
        assert [(one["id"], one["nodes"][0]["html"]) for one in found.response["violations"]] == []
        page.close()
