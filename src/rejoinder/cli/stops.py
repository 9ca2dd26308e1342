"""Interruptions: Ctrl-C, `kill` and a closed terminal all end a command the same way, at any moment."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_STOPS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_AGAIN = 0.02  # seconds


@contextmanager
def stops() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block at each request to end, so that it cleans up; then put all back.

    Not inside an import: a library that is half there says something else than that it was interrupted. Nor is one lost
    that comes while Python cleans up an object, where nothing can be raised.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    hook = sys.unraisablehook
    with _answered(_stop, [*_STOPS, signal.SIGALRM] if hasattr(signal, "SIGALRM") else _STOPS):
        try:
            sys.unraisablehook = _not_lost
            yield
        finally:
            sys.unraisablehook = hook
            if hasattr(signal, "setitimer"):
                signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def unstopped() -> Iterator[None]:
    """Let nothing stop the block."""
    if threading.current_thread() is threading.main_thread():
        with _answered(signal.SIG_IGN, _STOPS):
            yield
    else:
        yield


@contextmanager
def _answered(answer: Any, numbers: list[signal.Signals]) -> Iterator[None]:
    """Let `answer` handle these signals in the block."""
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        for number in numbers:
            signal.signal(number, answer)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(_number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, or a moment later where a module is being imported."""
    if _importing(frame) and hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)
    else:
        raise KeyboardInterrupt


def _importing(frame: FrameType | None) -> bool:
    """Whether an import is under way."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _not_lost(fault: Any) -> None:
    """Ask again where KeyboardInterrupt was raised and could not be carried on."""
    if issubclass(fault.exc_type, KeyboardInterrupt) and hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)
    else:
        sys.__unraisablehook__(fault)
