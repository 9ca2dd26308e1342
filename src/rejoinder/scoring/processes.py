"""Processes of this machine that score parts."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

from rejoinder.example import Example
from rejoinder.scoring.parts import Job, Lost, score_there

_PATIENCE = 5.0  # seconds for a process to end


class _Context(SpawnContext):
    """Starts processes, and remembers them."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[SpawnProcess] = []

    def Process(self, *args: Any, **more: Any) -> SpawnProcess:  # type: ignore[override]  # noqa: N802 - as in the library
        process = SpawnProcess(*args, **more)
        self.started.append(process)
        return process


class ProcessPool:
    """Processes of this machine. A pool that lost a process is replaced.

    Args:
        size: how many.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._start()

    def _start(self) -> None:
        self._context = _Context()
        self._pool = ProcessPoolExecutor(self.size, self._context, _begin)

    def submit(self, job: Job, part: list[Example]) -> tuple[Future[Any], ProcessPoolExecutor]:
        """Send a part, and start a process for it if there are fewer than `size`."""
        with _uninterrupted():
            try:
                return self._pool.submit(score_there, job, part), self._pool
            except BrokenProcessPool:
                self._start()
                return self._pool.submit(score_there, job, part), self._pool

    def result(self, ticket: tuple[Future[Any], ProcessPoolExecutor]) -> tuple[Any, ...]:
        """Wait for the result of a part; see `Engine.result`."""
        future, pool = ticket
        try:
            return future.result()  # type: ignore[no-any-return]
        except BrokenProcessPool as error:
            if pool is not self._pool:
                raise Lost from error  # it was told already
            for process in self._context.started:  # the library ends those that are left
                process.join(_PATIENCE)
            killed = any(process.exitcode == -9 for process in self._context.started)
            self._start()
            raise Lost("killed" if killed else "crashed") from error

    def cancel(self, ticket: tuple[Future[Any], ProcessPoolExecutor]) -> None:
        """Leave out a part unless a process works on it."""
        ticket[0].cancel()

    def close(self, *, now: bool) -> None:
        """End the processes."""
        self._pool.shutdown(wait=not now, cancel_futures=True)
        if now:
            for process in self._context.started:
                process.kill()
                process.join()


def _begin() -> None:
    """Leave Ctrl-C to the caller, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when the one that started it has ended; else it would wait for a part for ever."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back for the block, so that a process that starts does not answer it before it can ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
