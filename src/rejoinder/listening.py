"""Where a server of ours listens: an address of this machine."""

from __future__ import annotations

import os
import re
import socket
from ipaddress import ip_address
from urllib.parse import urlsplit

from rejoinder.errors import UsageError

LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]
"""Under which names a server is asked for that only this machine can reach."""


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
    # Where the listener is given, asyncio leaves this out, and each answer would wait 40 ms for an acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def address(host: str, port: int) -> str:
    """The URL of a server; one that listens on all addresses is reached on this machine's name."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - it is compared, not listened on
        host = socket.gethostname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def path_of(url: str) -> str:
    """Return the path of a public address, under which a proxy shows the pages; "" where it has none.

    Raises:
        UsageError: it is no address of pages.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
        usable = usable and parts.port != 0 and not (parts.query or parts.fragment)
    except ValueError:
        usable = False
    if not usable or not re.fullmatch(r"(?:/[\w.~-]*[\w~-][\w.~-]*)*/?", parts.path, re.ASCII):
        raise UsageError(f"--url: {url!r} is not an address of pages. Write https://rate.example.org, a path behind it")
    return parts.path.rstrip("/")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
