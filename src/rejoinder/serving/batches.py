"""Lines of many requests scored together: what arrives within a moment goes into one batch, on threads of its own.

The event loop reads, waits and writes; it never scores. No score depends on what else is in its batch (`scorer.run`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from rejoinder.errors import DataError
from rejoinder.records import Example
from rejoinder.serving.workers import Workers
from rejoinder.streams.withholding import OutOfDomain

PORTION = 64  # lines scored together at most: with the judge in the box, a sixth of a second
MOMENT = 0.002  # seconds that the first line of a batch waits for others


class Asked(NamedTuple):
    """What is asked of lines; those of which the same is asked can be scored together.

    Attributes:
        scorers: by which.
        explain: whether what moved each score is said too.
        out_of_domain: whether scores of replies that a scorer cannot judge are left out.
    """

    scorers: tuple[str, ...]
    explain: bool = False
    out_of_domain: OutOfDomain = "withhold"


Line = str | DataError
"""A line's record as JSON, or why no JSON can hold it."""
Score = Callable[[Asked, Sequence[Example]], list[Line]]
"""Scores lines, in their order; called on a thread of its own."""


class Busy(Exception):
    """So much waits to be scored already that more would only wait too."""


@dataclass(eq=False, slots=True)
class _Waiting:
    """Lines of one request that wait to be scored."""

    asked: Asked
    examples: Sequence[Example]
    answer: asyncio.Future[list[Line]]


@dataclass(eq=False)
class Batches:
    """Scores the lines of all requests.

    Attributes:
        score: what scores.
        room: lines that may wait at once before requests are sent away.
        workers: the threads that it is done on.
        seen: is told the number of lines of each batch.
        waiting: lines that were let in and are not scored yet.
    """

    score: Score
    room: int
    workers: Workers
    seen: Callable[[int], None] = lambda _: None
    waiting: int = 0
    _queue: deque[_Waiting] = field(default_factory=deque)
    _some: asyncio.Event = field(default_factory=asyncio.Event)

    @contextmanager
    def let_in(self, lines: int) -> Iterator[None]:
        """Count lines as waiting for the length of the block.

        Raises:
            Busy: there is no room. Where there is, a request comes in whole, however many lines it has.
        """
        self.require_room()
        with self.counted(lines):
            yield

    def require_room(self) -> None:
        """Raise `Busy` where so many lines wait that no request is let in."""
        if self.waiting >= self.room:
            raise Busy

    @contextmanager
    def counted(self, lines: int) -> Iterator[None]:
        """Count lines as waiting for the length of the block, room or not: of a stream that was let in."""
        self.waiting += lines
        try:
            yield
        finally:
            self.waiting -= lines

    async def scored(self, asked: Asked, examples: Sequence[Example]) -> list[Line]:
        """The records of lines that were let in; portion after portion, so that no request keeps others waiting."""
        found: list[Line] = []
        for start in range(0, len(examples), PORTION):
            answer: asyncio.Future[list[Line]] = asyncio.get_running_loop().create_future()
            self._queue.append(_Waiting(asked, examples[start : start + PORTION], answer))
            self._some.set()
            found += await answer
        return found

    async def run(self) -> None:
        """Score what comes in, until cancelled."""
        free = asyncio.Semaphore(self.workers.count)
        running: set[asyncio.Task[None]] = set()
        while True:
            await free.acquire()
            await self._some.wait()
            if sum(len(one.examples) for one in self._queue) < PORTION:
                await asyncio.sleep(MOMENT)
            task = asyncio.create_task(self._answer(self._batch()))
            running.add(task)
            task.add_done_callback(running.discard)
            task.add_done_callback(lambda _: free.release())

    def _batch(self) -> list[_Waiting]:
        """What is scored next: the first that waits, and all others that ask for the same while there is room."""
        batch: list[_Waiting] = []
        rest: deque[_Waiting] = deque()
        lines = 0
        for one in self._queue:
            if one.answer.cancelled():
                continue  # its client is gone
            if batch and (one.asked != batch[0].asked or lines + len(one.examples) > PORTION):
                rest.append(one)
            else:
                batch.append(one)
                lines += len(one.examples)
        self._queue = rest
        if not rest:
            self._some.clear()
        return batch

    async def _answer(self, batch: list[_Waiting]) -> None:
        """Score a batch and give each request its own; where that fails, each by itself, so that one fails alone."""
        if not batch:
            return
        examples = [example for one in batch for example in one.examples]
        self.seen(len(examples))
        try:
            found = iter(await self.workers.done(lambda: self.score(batch[0].asked, examples)))
        except Exception as error:  # noqa: BLE001 - it is handed to whoever asked
            if len(batch) == 1:
                with suppress(asyncio.InvalidStateError):
                    batch[0].answer.set_exception(error)
                return
            for one in batch:
                await self._answer([one])
            return
        for one in batch:
            lines = [next(found) for _ in one.examples]
            if not one.answer.done():
                one.answer.set_result(lines)
