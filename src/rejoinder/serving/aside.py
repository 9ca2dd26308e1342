"""Work that takes seconds or minutes, one at a time beside the scoring, on a thread that no ending waits for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from rejoinder.serving.batches import Busy


@dataclass(eq=False)
class Aside:
    """Does one piece of work after the other.

    Attributes:
        room: how many may wait or be at work before more are sent away.
    """

    room: int = 4
    _here: int = 0
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def done(self, work: Callable[[], str]) -> str:
        """What the work comes to. It is finished before the next begins, even where nobody waits for it any more.

        Raises:
            Busy: there is no room.
        """
        if self._here >= self.room:
            raise Busy
        self._here += 1
        task = asyncio.create_task(self._one(work))
        task.add_done_callback(self._left)
        return await asyncio.shield(task)

    async def _one(self, work: Callable[[], str]) -> str:
        """Do it when it is its turn."""
        async with self._turn:
            return await _on_a_daemon(work)

    def _left(self, task: asyncio.Task[str]) -> None:
        """Make room; an error that nobody waits for is nobody's."""
        self._here -= 1
        if not task.cancelled():
            task.exception()


async def _on_a_daemon(work: Callable[[], str]) -> str:
    """Do it on a thread of its own, which ends with the process."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str] = loop.create_future()

    def settle(outcome: str | BaseException) -> None:
        if answer.done():
            return
        if isinstance(outcome, str):
            answer.set_result(outcome)
        else:
            answer.set_exception(outcome)

    def go() -> None:
        try:
            outcome: str | BaseException = work()
        except Exception as error:  # noqa: BLE001 - it is handed to whoever asked
            outcome = error
        with suppress(RuntimeError):  # the service has ended, and nobody waits
            loop.call_soon_threadsafe(settle, outcome)

    threading.Thread(target=go, name="analysing", daemon=True).start()
    return await answer
