"""Lines of many requests scored together, on a worker thread, so that the event loop never scores.

Lines that arrive within a moment and ask for the same scores form one batch. A request has one portion in the queue at
a time, so a request of a thousand lines waits between its portions, and a small request never waits for all of it. No
score depends on what else is in its batch (`scorer.run`).
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.scoring.domain import OutOfDomain
from rejoinder.serving.workers import Workers

PORTION = 16  # lines scored together at most: a large request delays a small one by two portions at most
CHARACTERS = 20_000  # characters scored together at most; a single longer line is a portion of its own
MOMENT = 0.002  # seconds that the first line of a batch waits for others


class Asked(NamedTuple):
    """What a request asks of its lines; lines with equal keys can be scored together.

    Attributes:
        scorers: names of the scorers.
        explain: whether to add what moved each score.
        out_of_domain: whether to leave out scores of replies that a scorer cannot judge.
    """

    scorers: tuple[str, ...]
    explain: bool = False
    out_of_domain: OutOfDomain = "withhold"


Line = str | DataError
"""A line's record as JSON, or why no JSON can hold it."""
Score = Callable[[Asked, Sequence[Example]], list[Line]]
"""Scores lines, in order; called on a worker thread."""


class Busy(Exception):
    """Too many lines wait already, so a new request would only wait too."""


@dataclass(eq=False, slots=True)
class _Ticket:
    """One portion of a request, waiting to be scored."""

    asked: Asked
    examples: Sequence[Example]
    answer: asyncio.Future[list[Line]]
    since: float = field(default_factory=time.monotonic)

    @property
    def characters(self) -> int:
        """Characters of the texts in the portion."""
        return sum(map(characters_of, self.examples))


class Batcher:
    """Scores the lines of all requests.

    Args:
        score: scores lines that ask for the same, in order; runs on the worker thread.
        workers: the worker thread.
        room: lines that may wait before new requests are refused.
        seen: called with the number of lines of each batch.
    """

    def __init__(
        self, score: Score, workers: Workers, room: int = 512, seen: Callable[[int], None] = lambda _: None
    ) -> None:
        self._score, self._workers, self._seen = score, workers, seen
        self.room = room
        self._queue: deque[_Ticket] = deque()
        self._arrived = asyncio.Event()
        self._started: float | None = None

    def require_room(self) -> None:
        """Raise `Busy` where too many lines are queued.

        Queued portions count, not whole requests: a request of a thousand lines counts as one portion, so it never
        causes small requests to be refused.
        """
        if self.queued >= self.room:
            raise Busy

    @property
    def queued(self) -> int:
        """Lines in the queue."""
        return sum(len(ticket.examples) for ticket in self._queue if not ticket.answer.done())

    @property
    def age(self) -> float:
        """Seconds since the oldest portion was queued, or since the batch in work was started; 0 when idle."""
        since = [ticket.since for ticket in self._queue if not ticket.answer.done()]
        since += [] if self._started is None else [self._started]
        return time.monotonic() - min(since) if since else 0.0

    async def results(self, asked: Asked, examples: Sequence[Example], *, admitted: bool = False) -> list[Line]:
        """The records of lines, in order. Cancel it to drop the portions that remain.

        Args:
            asked: what to score them by.
            examples: the lines.
            admitted: whether the request was let in before, as a stream is.

        Raises:
            Busy: too many lines wait already.
        """
        if not admitted:
            self.require_room()
        lines: list[Line] = []
        for portion in portions(examples):
            answer: asyncio.Future[list[Line]] = asyncio.get_running_loop().create_future()
            self._queue.append(_Ticket(asked, portion, answer))
            self._arrived.set()
            lines += await answer
        return lines

    async def run(self) -> None:
        """Score what arrives, until cancelled."""
        while True:
            await self._arrived.wait()
            if self.queued < PORTION:
                await asyncio.sleep(MOMENT)
            await self._answer(self._next_batch())

    def _next_batch(self) -> list[_Ticket]:
        """The oldest ticket, and others that ask for the same while there is room."""
        batch: list[_Ticket] = []
        rest: deque[_Ticket] = deque()
        lines = characters = 0
        for ticket in self._queue:
            if ticket.answer.done():
                continue  # its client left, or its time was up
            lines_with, characters_with = lines + len(ticket.examples), characters + ticket.characters
            fits = ticket.asked == batch[0].asked and lines_with <= PORTION if batch else True
            if fits and (not batch or characters_with <= CHARACTERS):
                batch.append(ticket)
                lines, characters = lines_with, characters_with
            else:
                rest.append(ticket)
        self._queue = rest
        if not rest:
            self._arrived.clear()
        return batch

    async def _answer(self, batch: Sequence[_Ticket]) -> None:
        """Score a batch; where that fails, each ticket alone, so that one bad request fails alone."""
        if not batch:
            return
        examples = [example for ticket in batch for example in ticket.examples]
        self._seen(len(examples))
        self._started = time.monotonic()
        try:
            lines = iter(await self._workers.done(lambda: self._score(batch[0].asked, examples)))
        except Exception as error:  # noqa: BLE001 - it goes to whoever asked
            if len(batch) > 1:
                for ticket in batch:
                    await self._answer([ticket])
            elif not batch[0].answer.done():
                batch[0].answer.set_exception(error)
            return
        finally:
            self._started = None
        for ticket in batch:
            records = [next(lines) for _ in ticket.examples]
            if not ticket.answer.done():
                ticket.answer.set_result(records)


def portions(examples: Sequence[Example]) -> Iterator[list[Example]]:
    """Cut lines into portions of at most `PORTION` lines and `CHARACTERS` characters, each with one line or more."""
    portion: list[Example] = []
    characters = 0
    for example in examples:
        size = characters_of(example)
        if portion and (len(portion) == PORTION or characters + size > CHARACTERS):
            yield portion
            portion, characters = [], 0
        portion.append(example)
        characters += size
    if portion:
        yield portion


def characters_of(example: Example) -> int:
    """Characters of the texts that a scorer reads of a line: reply, context and references."""
    return sum(map(len, (example.response, *example.context, *example.references)))
