"""One thread for products of matrices: how many they run on decides the last bits, and for small ones the rest wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def one_thread() -> Iterator[None]:
    """Let the products of matrices in the block run on one thread."""
    with _libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> Any:
    """What multiplies matrices in this process, looked for once: that takes longer than most of what is multiplied."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
