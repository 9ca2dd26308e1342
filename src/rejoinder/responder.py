"""Responders: from contexts to replies.

A responder is any object with a `name`, an `options` mapping and a `respond_batch` method, which `answer` alone calls.
Randomness in a reply follows from the seed and the context, so that it does not depend on the other requests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from rejoinder.errors import UsageError
from rejoinder.scorer import Advance, Signature, ignore
from rejoinder.version import __version__

Context = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """A context to answer.

    Attributes:
        context: turns, oldest first; may be empty.
        seed: of the random numbers.
        withheld: the true response, which a retrieval model removes once from its candidates; or None.
    """

    context: Context
    seed: int = 0
    withheld: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply.

    Attributes:
        text: may be empty.
        score: by its responder, on a scale of its own, higher is better; None if it gives none.
        cut: whether it ends at the limit of tokens.
    """

    text: str
    score: float | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The replies to one context.

    Attributes:
        replies: best first; at most the requested number, none if there is a reason.
        reason: why there is no reply, else "".
    """

    replies: tuple[Reply, ...]
    reason: str = ""


class Responder(Protocol):
    """Turns contexts into replies."""

    @property
    def name(self) -> str:
        """Its name in tables (`hred`, `c-tfidf`)."""
        ...

    @property
    def options(self) -> Mapping[str, Any]:
        """Everything that decides the replies (weights digest, decoding), for the signature."""
        ...

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        """Return an answer to each request, of up to `count` different replies; it must not depend on the others."""
        ...


def request(context: Context, seed: int, withheld: str | None = None) -> Request:
    """Return the request for a context; its own seed follows from `seed` and the context.

    Args:
        context: see `Request`.
        seed: of all requests.
        withheld: see `Request`.
    """
    text = json.dumps([seed, *context])
    return Request(context, int.from_bytes(hashlib.sha256(text.encode()).digest()[:6]), withheld)


def answer(
    responder: Responder,
    requests: Iterable[Request],
    *,
    count: int = 1,
    batch_size: int = 64,
    advance: Advance = ignore,
) -> Iterator[Answer]:
    """Yield the answers to requests, in order.

    Args:
        responder: answers them.
        requests: any iterable; at most `batch_size` are in memory.
        count: replies to each.
        batch_size: requests answered together.
        advance: called with the number of requests of each batch when it is done.

    Raises:
        UsageError: `count` or `batch_size` is under 1.
    """
    if count < 1 or batch_size < 1:
        raise UsageError("count and batch_size are expected to be 1 or more")
    waiting = iter(requests)
    while batch := list(islice(waiting, batch_size)):
        yield from responder.respond_batch(batch, count)
        advance(len(batch))


def plain_answer(texts: Iterable[str], count: int, reason: str) -> Answer:
    """Return the first `count` different texts as replies without scores, or no reply and `reason`."""
    distinct = list(dict.fromkeys(texts))[:count]
    return Answer(tuple(map(Reply, distinct)), "" if distinct else reason)


def signature_of(responder: Responder) -> Signature:
    """Return the signature of replies by `responder`."""
    return Signature({"responder": responder.name, **responder.options, "rejoinder": __version__})
