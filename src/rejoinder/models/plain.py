"""Any function of a context as a responder, and what every adapter whose replies are plain texts needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rejoinder.errors import UsageError
from rejoinder.responder import Answer, Context, Reply, Request


@dataclass(frozen=True)
class FunctionResponder:
    """Answers a context with what a function of it returns.

    Attributes:
        function: from the turns, oldest first, to the reply; None where it has none.
        name: what it is called in tables.
        options: what decides the replies and the name does not tell; goes into the signature.
    """

    function: Callable[[Context], str | None]
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        """One reply to each request, however many are asked for.

        Raises:
            UsageError: the function returned something else than a text.
        """
        return [plain_answer(self._texts(request.context), count, "the function has no reply") for request in requests]

    def _texts(self, context: Context) -> list[str]:
        """What the function replies, as a list of one or none."""
        reply: object = self.function(context)
        if reply is not None and not isinstance(reply, str):
            raise UsageError(f"{self.name} returned a {type(reply).__name__}, expected a text. Return the reply alone")
        return [] if reply is None else [reply]


def plain_answer(texts: Iterable[str], count: int, reason: str) -> Answer:
    """The first `count` different texts as replies without scores; where there are none, `reason`."""
    distinct = list(dict.fromkeys(texts))[:count]
    return Answer(tuple(map(Reply, distinct)), "" if distinct else reason)
