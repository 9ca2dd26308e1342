"""What stands before every request: who may ask, and how many at once."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.trustedhost import TrustedHostMiddleware

from rejoinder.serving.problems import BUSY, answered, problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

CLOSED = "/v1/", "/metrics"
"""What needs the token; all else tells nothing of what is scored here."""
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class Guarded:
    """An application that answers those who call it by its name and know the token, and not too many at once.

    Args:
        app: the application.
        token: what `Authorization: Bearer` has to say; "" asks for nothing.
        most: requests at once.
        hosts: names under which it may be asked for; "*" is any.
    """

    def __init__(self, app: ASGIApp, token: str, most: int, hosts: Sequence[str]) -> None:
        self._app, self._token, self._most, self._hosts = app, token.encode(), most, hosts
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

        if not await self._named(scope, receive):
            said = problem(f"the Host header does not name this service. Ask for it as {' or '.join(self._hosts)}")
            await answered(400, said)(scope, receive, covered)
        elif not self._known(scope):
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

    async def _named(self, scope: Scope, receive: Receive) -> bool:
        """Whether a request asks for one of the names: Starlette decides, but would refuse in a shape of its own."""
        named = False

        async def let_in(_scope: Scope, _receive: Receive, _send: Send) -> None:
            nonlocal named
            named = True

        async def unsaid(_message: Message) -> None:
            pass

        await TrustedHostMiddleware(let_in, self._hosts, www_redirect=False)(scope, receive, unsaid)
        return named

    def _known(self, scope: Scope) -> bool:
        """Whether a request may be answered; how long that takes tells nothing of the token."""
        if not self._token or not scope["path"].startswith(CLOSED):
            return True
        kind, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self._token)
