"""The application, for any server of ASGI applications."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from rejoinder.errors import MissingExtra
from rejoinder.scorer import Scorer
from rejoinder.serving.limits import Limits
from rejoinder.version import __version__

try:
    from fastapi import FastAPI

    from rejoinder.serving import analyses, looking, page, scoring, stream
    from rejoinder.serving.counting import Counted
    from rejoinder.serving.guard import Guarded
    from rejoinder.serving.problems import handled
    from rejoinder.serving.service import Service
except ImportError as error:
    raise MissingExtra((error.name or "fastapi").partition(".")[0], "serve", "The service") from error


def make_app(
    scorers: Mapping[str, Scorer],
    *,
    token: str = "",
    hosts: list[str] | None = None,
    limits: Limits | None = None,
) -> FastAPI:
    """The application that scores by these scorers.

    Args:
        scorers: what a request may ask for, by name; the first is what scores where it names none.
        token: what clients have to know; "" asks for nothing.
        hosts: names under which it may be asked for; None is any.
        limits: how much it takes; None is the usual.
    """
    limits = limits or Limits()
    app = FastAPI(
        title="rejoinder",
        version=__version__,
        summary="How good a person would find the reply of a chatbot",
        docs_url=None,  # these pages would load their script from elsewhere
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.service = service = Service(scorers, limits)
    app.add_middleware(Guarded, token=token, most=limits.requests, hosts=hosts or ["*"])
    app.add_middleware(Counted, counts=service.counts)  # outermost, so that what is refused is counted too
    handled(app)
    for part in (scoring, stream, analyses, looking, page):
        app.include_router(part.router)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Score what comes in for as long as the application runs."""
    service: Service = app.state.service
    with service.scoring, service.asking, service.analysing:
        running = [asyncio.create_task(batcher.run()) for batcher in (service.inside, service.outside)]
        yield
        for task in running:
            task.cancel()
        await asyncio.wait(running)
