"""The pages of a study on an address of this machine, until they are stopped."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from ipaddress import ip_address

from rejoinder.annotation.answers import all_raters
from rejoinder.annotation.study import Study
from rejoinder.errors import MissingExtra, UsageError

HOST, PORT = "127.0.0.1", 8000
_GRACE = 5  # seconds that an answer on its way has when the server is stopped
_LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]


def show(
    study: Study,
    *,
    host: str = HOST,
    port: int = PORT,
    url: str | None = None,
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Show the pages of a study until the process is told to stop. Every answer is kept when it is sent.

    Args:
        study: what `annotate` has made or opened.
        host: address to listen on; only this machine unless it says otherwise.
        port: where to listen; 0 takes a free one.
        url: under which address raters reach the pages, where that is another one.
        ready: is given the address as soon as the pages can be opened.

    Raises:
        UsageError: the address cannot be listened on.
        MissingExtra: the extra `annotate` is not installed.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtra("uvicorn", "annotate", "The page for raters") from error
    from rejoinder.pages.app import make_app

    names = _LOOPBACK if _is_loopback(host) and url is None else None
    settings = uvicorn.Config(
        make_app(study, names, url),
        log_config=None,  # uvicorn's own closes the log handlers of everybody else in the process
        log_level="warning",
        access_log=False,  # it would hold the links
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
    )
    with listening(host, port) as listener:
        ready(url or address(host, listener.getsockname()[1]))
        uvicorn.Server(settings).run(sockets=[listener])


def address(host: str, port: int) -> str:
    """The URL of the pages; a server that listens on all addresses is reached on this machine's name."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - it is compared, not listened on
        host = socket.gethostname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def links(study: Study, base: str) -> dict[str, str]:
    """The link of each rater by name.

    Args:
        study: whose raters.
        base: URL of the pages.
    """
    return {str(row.name): f"{base.rstrip('/')}/r/{row.token}" for row in all_raters(study) if row.token}


def _is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        UsageError: the address is taken, or none of this machine.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=256)
    except (OSError, OverflowError) as error:
        said = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise UsageError(f"{host}:{port} cannot be listened on ({said}). Choose another: --host, --port") from error
    # Where the listener is given, asyncio leaves this out, and each page would wait 40 ms for an acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
