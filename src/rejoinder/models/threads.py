"""One thread for products of matrices: more make small products slower, far slower where other programs run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

_LOCK = Lock()
_inside = 0
_before: list[tuple[Any, int]] = []


@contextmanager
def one_thread() -> Iterator[None]:
    """Let the products of matrices in the block, or in the decorated function, run on one thread."""
    # The limit is the process's: of several threads in such blocks the first sets it and the last lifts it.
    global _inside, _before
    with _LOCK:
        if not _inside:
            _before = [(library, library.num_threads) for library in _libraries()]
            for library, _ in _before:
                _set(library, 1)
        _inside += 1
    try:
        yield
    finally:
        with _LOCK:
            _inside -= 1
            if not _inside:
                for library, threads in _before:
                    _set(library, threads)


def _set(library: Any, threads: int) -> None:
    """Set the number of threads that a library uses, whichever thread of the process calls."""
    # Newer versions of threadpoolctl ignore, without an error, every thread but the first that sets a limit.
    if clear := getattr(library, "clear_controlling_thread", None):
        clear(force=True)
    library.set_num_threads(threads)


@cache
def _libraries() -> list[Any]:
    """Return what multiplies matrices in this process; looked for once, since that takes long."""
    from threadpoolctl import ThreadpoolController

    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]
