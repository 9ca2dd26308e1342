"""Threads of our own for what would keep the event loop; they end with the process, whatever they are at."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Self, TypeVar

Done = TypeVar("Done")


class Workers:
    """Do calls one after the other, on so many threads.

    The standard pool would do as well, were it not that a process that is told twice to end waits for its threads.

    Args:
        name: of the threads.
        count: how many calls are done at once.
    """

    def __init__(self, name: str, count: int = 1) -> None:
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._name, self.count = name, count

    def __enter__(self) -> Self:
        """Start the threads."""
        for _ in range(self.count):
            threading.Thread(target=self._work, name=self._name, daemon=True).start()
        return self

    def __exit__(self, *_why: object) -> None:
        """Let the threads end when they have done what they were given."""
        for _ in range(self.count):
            self._calls.put(None)

    async def done(self, work: Callable[[], Done]) -> Done:
        """What the call comes to, or its error."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Done] = loop.create_future()

        def settle(settled: Callable[[], None]) -> None:
            if not answer.done():
                settled()

        def call() -> None:
            try:
                settled = partial(answer.set_result, work())
            except Exception as error:  # noqa: BLE001 - it is handed to whoever asked
                settled = partial(answer.set_exception, error)
            with suppress(RuntimeError):  # the loop has ended, and nobody waits
                loop.call_soon_threadsafe(settle, settled)

        self._calls.put(call)
        return await answer

    def _work(self) -> None:
        """Do what comes, until it is told that no more will."""
        while (call := self._calls.get()) is not None:
            call()
