"""Two trivial scorers that any metric should beat: the response's length, and the words it shares with the context."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rejoinder.example import Example
from rejoinder.scorer import Card, Scorer, Scores
from rejoinder.text import tokenizer

TOKENS = "words-2"


@dataclass(frozen=True, slots=True)
class Length:
    """The number of words in the response.

    Attributes:
        card: the card.
    """

    card: Card

    @property
    def options(self) -> Mapping[str, Any]:
        """Tokenizer."""
        return {"tokenizer": TOKENS}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """The number of words in each of N responses; 0 for an empty one."""
        return Scores(np.array([len(words(example.response)) for example in examples], dtype=np.float64))


@dataclass(frozen=True, slots=True)
class ContextOverlap:
    """The words that the response shares with the context, as F1.

    Attributes:
        card: the card.
    """

    card: Card

    @property
    def options(self) -> Mapping[str, Any]:
        """Tokenizer."""
        return {"tokenizer": TOKENS}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """F1 of N examples, in [0, 1]; 0 where response or context holds no word."""
        return Scores(np.array([overlap(example.response, example.context) for example in examples], dtype=np.float64))


def words(text: str) -> list[str]:
    """The `words-2` tokens of `text` that are no punctuation: words, numbers, symbols, emoji."""
    return [token for token in tokenizer(TOKENS)(text) if not unicodedata.category(token[0]).startswith("P")]


def overlap(response: str, context: Sequence[str]) -> float:
    """F1 between the words of `response` and those of all turns of `context`, each counted as often as it occurs.

    Source: the F1 of ParlAI (`F1Metric`; Shuster et al. 2021 take it between response and knowledge), with the context
    in the place of the reference; ParlAI also leaves out a, an and the.
    """
    in_response, in_context = Counter(words(response)), Counter(words("\n".join(context)))
    shared = (in_response & in_context).total()
    return 2 * shared / (in_response.total() + in_context.total()) if shared else 0.0


CARDS: dict[str, Card] = {
    "length": Card(
        name="length",
        summary="number of words in the response",
        kind="baseline",
        needs=frozenset(),
        range=(0.0, None),
        source="none; a trivial baseline",
        version=2,
        notes="Punctuation does not count, an emoji does; of scripts without spaces between words, every character. "
        "People often rate longer replies higher: a learned judge that does not beat this may have learned length.",
        higher_is_better=None,
    ),
    "context-overlap": Card(
        name="context-overlap",
        summary="words that the response shares with the context, F1",
        kind="baseline",
        needs=frozenset({"context"}),
        range=(0.0, 1.0),
        source="ParlAI's F1 with the context in the place of the reference",
        version=2,
        notes="All turns of the context count as one text. 1 for a response that repeats the context. The longer the "
        "context, the less of it a response can cover, and the lower the score.",
        higher_is_better=None,
    ),
}


def load(name: str, vectors: str | Path | None) -> Scorer:  # noqa: ARG001 - every metric's `load` takes vectors
    """The baseline called `name`, a name in `CARDS`; `vectors` is ignored."""
    return Length(CARDS[name]) if name == "length" else ContextOverlap(CARDS[name])
