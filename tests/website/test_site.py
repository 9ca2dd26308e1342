"""The site as it is read: every link leads somewhere, nothing comes from elsewhere, search answers from the disk."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import lay_out
import pytest

import rejoinder

pytest.importorskip("mkdocs", reason="needs the extra docs")
pytest.importorskip("mkdocstrings", reason="needs the extra docs")
pytestmark = pytest.mark.slow
# What a browser fetches by itself, as against a link that a reader may follow.
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}


class Links(HTMLParser):
    """What a page fetches, where its links lead, and the places in it that links may lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.led: list[str] = []
        self.anchors = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attrs if value is not None}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.led.append(found["href"])
        elif tag in FETCHED and FETCHED[tag] in found:
            self.fetched.append(found[FETCHED[tag]])


@cache
def links(page: Path) -> Links:
    return Links(page.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as scripts/docs builds it."""
    folder = tmp_path_factory.mktemp("site")
    lay_out.lay_out(folder / "laid")
    text = (folder / "laid" / "mkdocs.yml").read_text(encoding="utf-8")
    (folder / "laid" / "mkdocs.yml").write_text(text.replace("[../../src]", f"[{lay_out.PROJECT / 'src'}]"))
    call = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder / "site")]
    built = subprocess.run(
        [*call, "--config-file", str(folder / "laid" / "mkdocs.yml")],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert (built.returncode, built.stderr) == (0, "")
    return folder / "site"


def test_every_link_leads_to_a_page_and_a_place_in_it(site: Path) -> None:
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]
    assert len(pages) > 60
    followed = 0
    for page in pages:
        for link in links(page).led + links(page).fetched:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = page if not parts.path else (page.parent / unquote(parts.path)).resolve()
            assert target.is_file(), f"{page.relative_to(site)}: {link}"
            if target.suffix == ".html":
                followed += 1
                assert unquote(parts.fragment) in links(target).anchors, f"{page.relative_to(site)}: {link}"
    assert followed > 1_000


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert [link for link in links(page).fetched if urlsplit(link).scheme not in ("", "data")] == [], page
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert "url(http" not in text and "@import" not in text, style


def test_every_public_name_has_its_place_in_the_reference(site: Path) -> None:
    pages = sorted((site / "reference").glob("*.html"))
    there = set().union(*(links(page).anchors for page in pages))
    for name in sorted(set(rejoinder.__all__) - {"__version__"}):
        home = f"{getattr(rejoinder, name).__module__}.{name}"
        assert {f"rejoinder.{name}", home} & there, name
    for page in pages:  # of the same name as a call
        assert "doc-symbol-module" not in page.read_text(encoding="utf-8"), page


def test_search_answers_where_the_site_is_opened_as_files(site: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    if (chromium := shutil.which("chromium")) is None:
        pytest.skip("needs Debian's chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        sheet = browser.new_page()
        asked: list[str] = []
        sheet.on("request", lambda request: asked.append(request.url))
        sheet.goto((site / "index.html").as_uri())
        sheet.locator("input[name=query]").click()
        sheet.keyboard.type("few ratings and a scorer")
        found = sheet.locator(".md-search-result__link")
        found.first.wait_for()
        assert any("estimate.html" in str(one.get_attribute("href")) for one in found.all())
        browser.close()
    assert {urlsplit(url).scheme for url in asked} <= {"file", "data", "about"}, asked
