"""Addresses of the servers on this machine."""

from __future__ import annotations

import os
import socket
from ipaddress import ip_address

from rejoinder.errors import UsageError

LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]
"""The host names of a server that only this machine can reach."""


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        UsageError: the address is taken, or not of this machine.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=256)
    except (OSError, OverflowError) as error:
        why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise UsageError(f"{host}:{port} cannot be listened on ({why}). Choose another: --host, --port") from error
    # asyncio omits this for a socket that it did not make, and each answer would wait 40 ms for an acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def address(host: str, port: int) -> str:
    """Return the URL of a server; one that listens on all addresses has the name of this machine."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - it is compared, not listened on
        host = socket.gethostname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
