"""What a request waits for: at most as long as its limit, and only while its client is there."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from rejoinder.example import Example
from rejoinder.scorer import Card, Scorer, Scores

Result = TypeVar("Result")
_BETWEEN_CHECKS = 64  # lines that an analysis scores before it checks again whether its client is there


class TooSlow(Exception):
    """A request took longer than its time limit by itself; asking again would not help."""


async def waited_for(request: Request, work: Coroutine[Any, Any, Result], seconds: float, remedy: str) -> Result:
    """The result of `work`, which is cancelled when its time is up or its client leaves.

    Args:
        request: the request; its body was read.
        work: what to wait for.
        seconds: the time limit.
        remedy: what the client can do where it took longer.

    Raises:
        TooSlow: it took longer.
        ClientDisconnect: the client left.
    """
    try:
        async with asyncio.timeout(seconds) as clock:
            return await _while_connected(request, work)
    except TimeoutError as error:
        if not clock.expired():
            raise
        raise TooSlow(f"the request took longer than {seconds:g} seconds. {remedy}") from error


async def _while_connected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`, which is cancelled when the client leaves."""
    task, left = asyncio.create_task(work), asyncio.create_task(_client_left(request))
    try:
        await asyncio.wait((task, left), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        task.cancel()
        left.cancel()
        await asyncio.wait((task, left))


async def _client_left(request: Request) -> None:
    """Return when the client closes the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


class Abandoned(BaseException):
    """Nobody waits for an analysis any more. No `Exception`: an audit goes on after whatever its scorer raises."""


def unless_abandoned(work: Callable[[], str], abandoned: threading.Event) -> Callable[[], str]:
    """`work`, which ends early, with an empty text that nobody reads, once it is abandoned."""

    def call() -> str:
        try:
            return "" if abandoned.is_set() else work()
        except Abandoned:
            return ""

    return call


class StoppableScorer:
    """A scorer under the name that clients use, for an analysis that ends soon after its client left.

    Args:
        scorer: the scorer.
        called: its name here; a judge's own card has another.
        abandoned: is set when nobody waits any more.
    """

    def __init__(self, scorer: Scorer, called: str, abandoned: threading.Event) -> None:
        self._scorer, self.called, self._abandoned = scorer, called, abandoned

    @property
    def card(self) -> Card:
        """The scorer's own, with few examples in one call."""
        card = self._scorer.card
        return replace(card, batch_size=min(card.batch_size or _BETWEEN_CHECKS, _BETWEEN_CHECKS))

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """The scores of examples.

        Raises:
            Abandoned: nobody waits for them.
        """
        if self._abandoned.is_set():
            raise Abandoned
        return self._scorer.score_batch(examples)

    def __getattr__(self, name: str) -> Any:
        """Any other attribute of the scorer."""
        return getattr(self._scorer, name)
