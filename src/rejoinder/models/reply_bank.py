"""The replies that retrieval models choose from: pairs of context and response from a corpus, grouped by response.

Shapes: P pairs, U different responses.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappush, heapreplace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.dialogues import Dialogue
from rejoinder.data.folders import AGAIN, Parts
from rejoinder.errors import DataError
from rejoinder.models.weights import words_of
from rejoinder.responder import Answer, Context, Reply, Request, Responder
from rejoinder.scorer import FloatArray

PART = "candidates"
"""The name of the bank inside the parts of a responder."""
EMPTY = "the context is empty"
UNKNOWN = "no word of the context is known"
NONE_LEFT = "no candidate is left"
_RESPONSES = "responses.json"
_MOST_PAIRS = 2**28


class Retriever(Responder, Protocol):
    """A responder that also scores responses of the caller."""

    def rank(self, requests: Sequence[Request], candidates: Sequence[Sequence[str]]) -> FloatArray:
        """Return [N, K] scores of K candidates for each of N requests, higher is better; equal ones are undecided."""
        ...


@dataclass(frozen=True)
class ReplyBank:
    """U responses that differ in more than case and white space, and the first pair [U + 1] of each among all P."""

    texts: Sequence[str]
    starts: NDArray[np.int64]

    @property
    def parts(self) -> Parts:
        """Everything that `bank_of` needs to make it again."""
        lines = ",\n".join(json.dumps(text, ensure_ascii=False) for text in self.texts)
        return Parts({}, {"starts": self.starts}, {_RESPONSES: f"[{lines}]\n"})

    @property
    def pairs(self) -> int:
        """P."""
        return int(self.starts[-1])

    @cached_property
    def _places(self) -> dict[str, int]:
        return {_folded(text): place for place, text in enumerate(self.texts)}

    def places(self, pairs: NDArray[np.integer[Any]]) -> list[int]:
        """Return the places of the responses of some pairs."""
        places: list[int] = (np.searchsorted(self.starts, pairs, side="right") - 1).tolist()
        return places

    def group(self, text: str | None) -> slice | None:
        """Return the pairs, of all P, that have the response `text`; None if it is no candidate."""
        place = None if text is None else self._places.get(_folded(text))
        return None if place is None else slice(*self.starts[place : place + 2].tolist())

    def single_source(self, text: str | None) -> int | None:
        """Return the place of the response `text` if a single pair has it: it is gone when that pair is withheld."""
        group = self.group(text)
        return self.places(np.array([group.start]))[0] if group and group.stop - group.start == 1 else None

    def answer(self, places: Iterable[int], scores: Iterable[float | None]) -> Answer:
        """Return the responses at some places, best first, as an answer."""
        replies = tuple(Reply(self.texts[place], score) for place, score in zip(places, scores, strict=True))
        return Answer(replies, "" if replies else NONE_LEFT)


class Sample(NamedTuple):
    """A bank from a corpus, the P contexts of its pairs, and the number of pairs in the corpus, copies included."""

    bank: ReplyBank
    contexts: list[Context]
    seen: int


def bank_of(parts: Parts) -> ReplyBank:
    """Return the bank among the parts of a responder. Raises `DataError` if there is none, or it is damaged."""
    if PART not in parts.config:
        raise DataError("it has no candidates to choose from", "Call rejoinder pretrain again, as it was called")
    inner = parts.inner(PART)
    texts, starts = words_of(inner.files, _RESPONSES), inner.tensors.get("starts")
    if starts is None or starts.dtype != np.int64 or starts.shape != (len(texts) + 1,):
        raise DataError(f"no tensor starts of {len(texts) + 1} whole numbers for {len(texts)} responses", AGAIN)
    if starts[0] or (starts[1:] <= starts[:-1]).any() or starts[-1] > _MOST_PAIRS:
        raise DataError("the tensor starts does not count up from 0", AGAIN)
    return ReplyBank(texts, starts)


def sample(dialogues: Iterable[Dialogue], most: int, seed: int) -> Sample:
    """Return a bank of `most` different pairs of dialogues, or of all pairs if there are fewer.

    Every turn but the first is a response to all turns before it. Each pair has a hash of `seed` and its words, without
    case and white space, and the pairs with the smallest hashes are kept. So every different pair is equally likely,
    one pass is enough, and the order of the corpus does not matter. Raises `DataError` if there is no dialogue.

    Source: Cohen and Kaplan 2007, Summarizing data using bottom-k sketches.
    """
    kept: dict[int, tuple[Dialogue, int]] = {}
    largest: list[int] = []  # negated hashes of the kept pairs, so that the largest comes first
    seen = 0
    for dialogue in dialogues:
        for place, key in enumerate(_hashes(dialogue.turns, seed), start=1):
            seen += 1
            if key in kept or (len(largest) == most and key > -largest[0]):
                continue
            if len(largest) == most:
                del kept[-heapreplace(largest, -key)]
            else:
                heappush(largest, -key)
            kept[key] = dialogue, place
    if not kept:
        remedy = "Give a larger corpus; dialogues with ratings count with --keep-judged alone"
        raise DataError("no dialogue to take responses from", remedy)
    groups: dict[str, list[tuple[Dialogue, int]]] = {}
    for _, (dialogue, place) in sorted(kept.items()):  # hashes decide which of equally good responses comes first
        groups.setdefault(_folded(dialogue.turns[place]), []).append((dialogue, place))
    pairs = [pair for group in groups.values() for pair in group]
    starts = np.cumsum([0, *map(len, groups.values())], dtype=np.int64)
    texts = [dialogue.turns[place] for (dialogue, place), *_ in groups.values()]
    return Sample(ReplyBank(texts, starts), [dialogue.turns[:place] for dialogue, place in pairs], seen)


def top(scores: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Return the places of the `count` highest of N scores, highest first, the first of equal ones; never -inf."""
    count = min(count, len(scores))
    edge = np.partition(scores, len(scores) - count)[len(scores) - count]
    above, level = np.flatnonzero(scores > edge), np.flatnonzero(scores == edge)
    places = np.concatenate([above, level[: count - len(above)]])
    places = places[np.argsort(-scores[places], kind="stable")]
    finite: NDArray[np.int64] = places[scores[places] > -np.inf]
    return finite


def _folded(text: str) -> str:
    """Return a text without differences of case and white space."""
    return " ".join(text.casefold().split())


def _hashes(turns: Sequence[str], seed: int) -> Iterator[int]:
    """Yield the hash of each turn but the first, with all turns before it."""
    total = hashlib.blake2b(str(seed).encode(), digest_size=8)
    for number, turn in enumerate(turns):
        total.update(f"\n{_folded(turn)}".encode())
        if number:
            yield int.from_bytes(total.digest())
