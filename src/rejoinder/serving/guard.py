"""What stands before every request: who may ask, and how many at once."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

from rejoinder.serving.problems import BUSY, answered, problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

CLOSED = "/v1/", "/metrics"
"""What needs the token; all else tells nothing of what is scored here."""
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class Guarded:
    """An application that answers those who know the token, and not too many at once.

    Args:
        app: the application.
        token: what `Authorization: Bearer` has to say; "" asks for nothing.
        most: requests at once.
    """

    def __init__(self, app: ASGIApp, token: str, most: int) -> None:
        self._app, self._token, self._most = app, token.encode(), most
        self._now = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def covered(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if not self._known(scope):
            said = problem("no token, or not the right one. Send Authorization: Bearer TOKEN")
            await answered(401, said, {"WWW-Authenticate": "Bearer"})(scope, receive, covered)
        elif self._now >= self._most and scope["path"] != "/health":
            await answered(503, problem(BUSY), {"Retry-After": "1"})(scope, receive, covered)
        else:
            self._now += 1
            try:
                await self._app(scope, receive, covered)
            finally:
                self._now -= 1

    def _known(self, scope: Scope) -> bool:
        """Whether a request may be answered; how long that takes tells nothing of the token."""
        if not self._token or not scope["path"].startswith(CLOSED):
            return True
        kind, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self._token)
