"""Work that takes seconds or minutes, one at a time beside the scoring."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from rejoinder.serving.batching import Busy
from rejoinder.serving.workers import Workers


class Aside:
    """Does one piece of work after the other.

    Args:
        workers: the thread that it is done on.
        room: how many may wait or be at work before more are sent away.
    """

    def __init__(self, workers: Workers, room: int = 4) -> None:
        self._workers, self._room = workers, room
        self._here = 0

    async def done(self, work: Callable[[], str]) -> str:
        """What the work comes to. It keeps its place until it is done, even where nobody waits for it any more.

        Raises:
            Busy: there is no room.
        """
        if self._here >= self._room:
            raise Busy
        self._here += 1
        task = asyncio.ensure_future(self._workers.done(work))
        task.add_done_callback(self._left)
        return await asyncio.shield(task)

    @property
    def busy(self) -> bool:
        """Whether anything waits or is at work."""
        return self._here > 0

    def _left(self, task: asyncio.Future[str]) -> None:
        """Make room; an error that nobody waits for is nobody's."""
        self._here -= 1
        if not task.cancelled():
            task.exception()
