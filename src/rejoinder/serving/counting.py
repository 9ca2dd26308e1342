"""What is counted for Prometheus: requests, how long they took, lines, batches. No text is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_LINES = (1, 2, 4, 8, 16, 32, 64)


class Counts:
    """The counts of one application.

    Args:
        waiting: gives the lines that wait to be scored.
    """

    def __init__(self, waiting: Callable[[], int]) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._requests = Counter(
            "rejoinder_requests", "Requests that were answered.", ("path", "status"), registry=self.registry
        )
        self._seconds = Histogram(
            "rejoinder_request_seconds", "How long they took.", ("path",), buckets=_SECONDS, registry=self.registry
        )
        self._batches = Histogram(
            "rejoinder_batch_lines", "Lines that were scored together.", buckets=_LINES, registry=self.registry
        )
        Gauge("rejoinder_waiting_lines", "Lines that wait to be scored.", registry=self.registry).set_function(waiting)

    def batch(self, lines: int) -> None:
        """Count a batch."""
        self._batches.observe(lines)

    def request(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def text(self) -> bytes:
        """All counts, as Prometheus reads them."""
        return generate_latest(self.registry)


class Counted:
    """An application whose requests are counted.

    Args:
        app: the application.
        counts: where.
    """

    def __init__(self, app: ASGIApp, counts: Counts) -> None:
        self._app, self._counts = app, counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request and count it under its route: paths that nobody made would fill the memory."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 499  # the client went away

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            route = scope.get("route")
            path = route.path if isinstance(route, Route) else "other"
            self._counts.request(path, status, time.perf_counter() - begun)
