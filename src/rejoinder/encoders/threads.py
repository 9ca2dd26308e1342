"""One thread for products of matrices: how many they run on decides the last bits, and for small ones the rest wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

_LOCK = Lock()
_inside = 0
_limit: Any = None


@contextmanager
def one_thread() -> Iterator[None]:
    """Let the products of matrices in the block run on one thread."""
    # The limit is the process's: of several threads in such blocks the first sets it and the last lifts it.
    global _inside, _limit
    with _LOCK:
        if not _inside:
            _limit = _libraries().limit(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _LOCK:
            _inside -= 1
            if not _inside:
                _limit.restore_original_limits()


@cache
def _libraries() -> Any:
    """What multiplies matrices in this process, looked for once: that takes longer than most of what is multiplied."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
