"""What stands before every page: how much may be sent, what a browser may do, and signatures of forms."""

from __future__ import annotations

import hashlib
import hmac
from contextvars import ContextVar
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_FORM = 65_536  # bytes
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",  # a link is a secret
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "X-Robots-Tag": "noindex, nofollow",
}


ROOT: ContextVar[str] = ContextVar("ROOT", default="")
"""The path under which the request's pages are shown, which every link on them begins with."""


class Rooted:
    """An application whose pages are shown under a path, whether the proxy before it takes the path off or not.

    Args:
        app: the application.
        root: the path, without a slash at its end; "" for none.
    """

    def __init__(self, app: ASGIApp, root: str) -> None:
        self._app, self._root = app, root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        ROOT.set(self._root)
        path = scope.get("path", "")
        if self._root and (path == self._root or path.startswith(f"{self._root}/")):
            scope = {**scope, "path": path.removeprefix(self._root) or "/"}
        await self._app(scope, receive, send)


class Guarded:
    """An application whose answers carry headers that keep a browser from anything else than showing the page.

    Args:
        app: the application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; a body that is too large is refused before it is held in memory."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        taken = 0

        async def measured() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > LARGEST_FORM:
                raise HTTPException(413, "That was too much at once.")
            return message

        async def covered(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await self._app(scope, measured, covered)


def signed(secret: str, *parts: object) -> str:
    """A signature of some values, which nobody can make without the secret."""
    text = "\n".join(map(str, parts)).encode()
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()[:40]


def stamped(secret: str, now: float, *parts: object) -> str:
    """A mark for a form: when it was shown, and that it was shown by us, for these values."""
    shown = str(round(now * 1000))
    return f"{shown}.{signed(secret, 'form', shown, *parts)}"


def shown_at(secret: str, mark: str, *parts: object) -> float | None:
    """When the form with this mark was shown, or None where it was not shown by us for these values."""
    shown, _, signature = mark.partition(".")
    right = signed(secret, "form", shown, *parts)
    if not shown.isascii() or not shown.isdigit() or not hmac.compare_digest(signature.encode(), right.encode()):
        return None
    return int(shown) / 1000
