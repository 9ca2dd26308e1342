"""ROUGE-L: the longest common subsequence of words, as plain F1 (rouge-score) or weighted to recall (pycocoevalcap)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from rejoinder.records import Example
from rejoinder.scorer import Card, Outcome, Scorer
from rejoinder.text import tokenizer

BETA = 1.2  # recall counts 1.44 times as much as precision


class Overlap(NamedTuple):
    """What a response shares with one reference, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class RougeL:
    """ROUGE-L F1 by rouge-score, the best over the references.

    Attributes:
        card: the preset's card.
    """

    card: Card

    @property
    def options(self) -> Mapping[str, Any]:
        """Tokenizer and rouge-score's version."""
        return {"tokenizer": "rouge-score", "stemmer": "no", "program": f"rouge-score {version('rouge-score')}"}

    def score_batch(self, examples: Sequence[Example]) -> Outcome:
        """F1 of N examples; unscored where rouge-score's tokenizer keeps nothing of any reference."""
        values, reasons = np.full(len(examples), math.nan), {}
        for place, example in enumerate(examples):
            references = [reference for reference in example.references if _keeps_any(reference)]
            if references:
                values[place] = max(overlap.f1 for overlap in overlaps(example.response, references))
            else:
                reasons[place] = "no reference holds a letter a-z or a digit, the only characters rouge-score reads"
        return Outcome(values, reasons)


@dataclass(frozen=True, slots=True)
class CocoRougeL:
    """ROUGE-L as pycocoevalcap and nlg-eval compute it.

    Attributes:
        card: the preset's card.
    """

    card: Card

    @property
    def options(self) -> Mapping[str, Any]:
        """Tokenizer and the weight of recall."""
        return {"tokenizer": "space-1", "beta": BETA}

    def score_batch(self, examples: Sequence[Example]) -> Outcome:
        """F of N examples, from the largest precision and the largest recall over the references.

        Source: `rouge.py` in pycocoevalcap and nlg-eval; the two maxima may come from different references.
        """
        return Outcome(np.array([self._score(example) for example in examples]))

    def _score(self, example: Example) -> float:
        references = [reference for reference in example.references if reference.strip()] or [""]
        found = overlaps(example.response, references, tokens="space-1")
        precision, recall = max(one.precision for one in found), max(one.recall for one in found)
        if not precision or not recall:
            return 0.0
        return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def overlaps(
    response: str, references: Sequence[str], *, measure: str = "rougeL", tokens: str | None = None
) -> list[Overlap]:
    """What `response` shares with each of the references, by rouge-score.

    Args:
        response: the text to judge.
        references: R texts.
        measure: rouge-score's name of what is counted: `rouge1`, `rouge2`, `rougeL`.
        tokens: name of a tokenizer; None takes rouge-score's own (lower case, runs of a-z and 0-9, nothing else).
    """
    scorer = _rouge_scorer(measure, tokens)
    found = [scorer.score(reference, response)[measure] for reference in references]
    return [Overlap(one.precision, one.recall, one.fmeasure) for one in found]


@cache
def _rouge_scorer(measure: str, tokens: str | None) -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer([measure], tokenizer=tokens and SimpleNamespace(tokenize=tokenizer(tokens)))


def _keeps_any(text: str) -> bool:
    """Whether rouge-score's own tokenizer keeps anything of `text`."""
    return any(character.isascii() and character.isalnum() for character in text.lower())


CARDS: dict[str, Card] = {
    "rouge-l": Card(
        name="rouge-l",
        summary="longest common subsequence of words with the nearest reference, F1",
        kind="metric",
        needs=frozenset({"reference"}),
        range=(0.0, 1.0),
        source="Lin 2004; rouge-score, rougeL fmeasure, no stemmer",
        notes="Lower case. Only a-z and 0-9 make words: letters with accents split them, other scripts and emoji "
        "vanish. Precision and recall weigh the same; pycocoevalcap's do not.",
    ),
    "rouge-l/coco": Card(
        name="rouge-l/coco",
        summary="longest common subsequence of words with the references, weighted to recall",
        kind="metric",
        needs=frozenset({"reference"}),
        range=(0.0, 1.0),
        source="Lin 2004; pycocoevalcap and nlg-eval, rouge.py, beta 1.2",
        notes="Split on single spaces, so two spaces in a row make an empty word that matches others; case counts. "
        "Precision and recall may come from different references. The flavour behind many published tables of dialogue "
        "metrics.",
    ),
}


def load(name: str, vectors: str | Path | None) -> Scorer:  # noqa: ARG001 - every metric's `load` takes vectors
    """The ROUGE scorer called `name`, a name in `CARDS`; `vectors` is ignored."""
    return CocoRougeL(CARDS[name]) if name.endswith("/coco") else RougeL(CARDS[name])
