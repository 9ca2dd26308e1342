"""What a client that leaves has asked for is dropped: portions that wait, and the rest of an analysis."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from rejoinder.example import Example
from rejoinder.scorer import Card, Scores
from rejoinder.serving.app import make_app

LINES = [{"context": [f"what about {n}?"], "response": f"well {n} it is", "id": str(n)} for n in range(200)]


class Gated:
    """Scores when it is let; counts its calls."""

    card = Card("gated", "", "metric", frozenset(), (None, None), "")
    options: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.begun, self.gate = threading.Event(), threading.Event()
        self.calls = 0

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        self.calls += 1
        self.begun.set()
        assert self.gate.wait(10)
        return Scores(np.array([float(len(example.response)) for example in examples]))


async def leave_after_begun(app: Any, path: str, body: Any, scorer: Gated) -> list[int]:
    """Send a request, leave once its scoring has begun; the statuses that were sent."""
    statuses: list[int] = []
    messages = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        while not scorer.begun.is_set():
            await asyncio.sleep(0.001)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    path, _, query = path.partition("?")
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": query.encode()}
    await app({**scope, "headers": headers, "http_version": "1.1", "scheme": "http", "root_path": ""}, receive, send)
    return statuses


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/score", LINES),
        ("/v1/audit?limit=200", LINES),
        ("/v1/compare", {"a": LINES, "b": [{**line, "response": "no"} for line in LINES]}),
    ],
)
def test_no_more_is_scored_for_a_client_that_left(path: str, body: Any) -> None:
    scorer = Gated()
    app = make_app({"gated": scorer})

    async def all_of_it() -> None:
        async with app.router.lifespan_context(app):
            assert await leave_after_begun(app, path, body, scorer) == [499]
            scorer.gate.set()
            service = app.state.service
            while service.age or service.aside.busy:
                await asyncio.sleep(0.001)
            assert service.waiting == 0

    asyncio.run(asyncio.wait_for(all_of_it(), 20))
    assert scorer.calls == 1, "the call in progress when the client left, and no other"
