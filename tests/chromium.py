"""Pages in Debian's Chromium: a browser, a person's window in it, and what an accessibility checker finds."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn
from fastapi import FastAPI

from rejoinder.listening import listening

# A test file that imports this one skips where they are not there.
pytest.importorskip("playwright", reason="needs the extra dev-all")
pytest.importorskip("axe_playwright_python", reason="needs the extra dev-all")

from axe_playwright_python.sync_playwright import Axe as Axe
from playwright.sync_api import (
    Browser as Browser,
)
from playwright.sync_api import (
    BrowserContext as BrowserContext,
)
from playwright.sync_api import (
    Locator as Locator,
)
from playwright.sync_api import (
    Page as Page,
)
from playwright.sync_api import (
    Request as Request,
)
from playwright.sync_api import (
    Route as Route,
)
from playwright.sync_api import (
    expect as expect,
)
from playwright.sync_api import (
    sync_playwright,
)

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
DESK = {"viewport": {"width": 1200, "height": 800}}


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser; the test is skipped where there is none."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("needs the browser Chromium: apt-get install chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program)
        yield browser
        browser.close()


@contextmanager
def served(app: FastAPI, port: int = 0, lifespan: str = "off") -> Iterator[str]:
    """The address of an application, while the block runs."""
    with listening("127.0.0.1", port) as listener:
        server = uvicorn.Server(
            uvicorn.Config(app, log_level="warning", lifespan=lifespan, timeout_graceful_shutdown=1)  # type: ignore[arg-type]
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def opened(browser: Browser, usual: str = "data:,", /, **how: object) -> Iterator[tuple[BrowserContext, Page]]:
    """A browser of one person; afterwards, that it said nothing on the console and asked nobody else for anything.

    Args:
        browser: the program.
        usual: what it may say on the console all the same.
        how: what else its window is.
    """
    heard: list[str] = []
    with browser.new_context(**how) as context:
        context.set_default_timeout(15_000)
        page = context.new_page()
        page.on("console", lambda said: heard.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("request", lambda asked: None if asked.url.startswith("http://127.0.0.1:") else heard.append(asked.url))
        yield context, page
    assert [one for one in heard if "data:," not in one and usual not in one] == []


def faults(page: Page) -> list[str]:
    """What an accessibility checker finds."""
    found = Axe().run(page, options={"runOnly": WCAG}).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found]
