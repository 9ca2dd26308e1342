"""The application that shows the pages of one study."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from rejoinder.annotation.study import Study
from rejoinder.errors import MissingExtra
from rejoinder.pages.public_address import path_of
from rejoinder.text.normalize import visible

try:
    from anyio.to_thread import current_default_thread_limiter
    from fastapi import Depends, FastAPI, Request
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import HTMLResponse, Response
    from starlette.datastructures import FormData
    from starlette.exceptions import HTTPException
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    from rejoinder.pages.guard import ROOT, Guarded, Rooted
except ImportError as error:
    raise MissingExtra((error.name or "fastapi").partition(".")[0], "annotate", "The page for raters") from error

_FILES = {"rate.css": "text/css; charset=utf-8", "rate.js": "text/javascript; charset=utf-8"}
_THREADS = 8
_SAID = {
    403: "This form is not one that was shown to you. Open your link again.",
    404: "There is no such page. Look at your link again: it must be whole.",
    413: "That was too much at once. Write less.",
    429: "Too many attempts. Wait a minute.",
}


def make_app(study: Study, hosts: list[str] | None = None, url: str | None = None) -> FastAPI:
    """The application of a study, for any server of ASGI applications.

    Args:
        study: whose pages are shown.
        hosts: names under which it may be asked for; None is any.
        url: under which address raters reach it, where that is not the one it is asked for; it may have a path.

    Raises:
        UsageError: `url` is no such address.
    """
    from rejoinder.pages import admin, rating

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=_begun)
    app.state.study, app.state.url = study, url
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts or ["*"], www_redirect=False)
    app.add_middleware(Guarded)
    app.add_middleware(Rooted, root=path_of(url) if url else "")
    app.add_exception_handler(HTTPException, _problem)
    app.add_exception_handler(RequestValidationError, _no_page)
    app.add_api_route("/", _front, response_class=HTMLResponse)
    app.add_api_route("/static/{name}", _file)
    app.include_router(rating.router)
    app.include_router(admin.router)
    return app


@asynccontextmanager
async def _begun(_app: FastAPI) -> AsyncIterator[None]:
    """Make ready what the first rater would wait for, and let few threads answer: more would wait for each other."""
    current_default_thread_limiter().total_tokens = _THREADS
    for name in ("begin", "rate", "done", "problem"):
        _templates().get_template(f"{name}.html.jinja")
    yield


async def study_of(request: Request) -> Study:
    """The study that is shown."""
    study: Study = request.app.state.study
    return study


async def form_of(request: Request) -> FormData:
    """What a form sends; files are none of it."""
    return await request.form(max_files=0, max_fields=100)


TheStudy = Annotated[Study, Depends(study_of)]
Sent = Annotated[FormData, Depends(form_of)]


def text_in(form: FormData, name: str) -> str:
    """A field of a form as text; "" where it is not there."""
    found = form.get(name)
    return found if isinstance(found, str) else ""


def page(name: str, status: int = 200, **shown: Any) -> HTMLResponse:
    """A page of a template."""
    return HTMLResponse(_templates().get_template(f"{name}.html.jinja").render(root=ROOT.get(), **shown), status)


@cache
def _templates() -> Any:
    """The templates; texts are shown as they are, whatever they hold."""
    from jinja2 import Environment, PackageLoader
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    made = Environment(
        loader=PackageLoader("rejoinder.pages", "."), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    words = MarkdownIt("commonmark", {"html": False}).disable("image")
    made.filters["when"] = lambda at: datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    made.tests["visible"] = visible
    made.filters["marked"] = lambda text: Markup(words.render(text))  # noqa: S704 - it escapes elements
    return made


def _front(study: TheStudy) -> HTMLResponse:
    """What is shown to those who come without a link."""
    return page("problem", title=study.design.title, said="To take part, open the link that you were given.")


def _file(name: str) -> Response:
    """Style and script."""
    if name not in _FILES:
        raise HTTPException(404)
    headers = {"Content-Type": _FILES[name]}
    return Response(_content(name), headers=headers)


@cache
def _content(name: str) -> bytes:
    """A file beside this one."""
    return files("rejoinder.pages").joinpath(name).read_bytes()


def _problem(request: Request, error: Exception) -> Response:
    """What is said where a page cannot be shown."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers: Mapping[str, str] | None = error.headers if isinstance(error, HTTPException) else None
    said = _SAID.get(status, "That did not work. Open your link again; nothing that you sent before is lost.")
    answer = page("problem", status, title=request.app.state.study.design.title, said=said)
    answer.headers.update(headers or {})
    return answer


def _no_page(request: Request, _error: Exception) -> Response:
    """An address that has the form of none."""
    return _problem(request, HTTPException(404))
