"""The public address of pages behind a proxy."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from rejoinder.errors import UsageError


def path_of(url: str) -> str:
    """Return the path of the public address of the pages behind a proxy; "" for none.

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
