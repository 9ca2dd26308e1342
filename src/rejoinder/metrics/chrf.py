"""chrF and chrF++: n-grams of characters (and words) shared with the references; they read every language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rejoinder.example import Example
from rejoinder.metrics import counting, metric_cards
from rejoinder.metrics.counting import IntArray, TextBatch, Tokens
from rejoinder.scorer import Card, FloatArray, Scores

CHARACTERS, BETA = 6, 2  # the longest n-grams of characters; recall counts four times as much as precision
PROGRAM = "sacrebleu 2.6.0"  # whose values these are
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@dataclass(frozen=True, slots=True)
class Chrf:
    """chrF by sacreBLEU's formula, divided by 100; of several references the best counts.

    Attributes:
        card: the preset's card.
        words: the longest n-grams of words that count too; 0 for chrF, 2 for chrF++.
    """

    card: Card
    words: int

    @property
    def options(self) -> Mapping[str, Any]:
        """Longest n-grams, weight of recall, treatment of short texts and several references, sacreBLEU's version."""
        return {
            "characters": CHARACTERS,
            "words": self.words,
            "beta": BETA,
            "effective-order": "yes",
            "references": "best",
            "program": PROGRAM,
        }

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Return sentence chrF and counts of N examples; 0 for a response without a character.

        A row of the statistics has for each size of n-grams those in the response, in the best reference, in both.
        """
        rows = np.concatenate([self._count(part) for part in TextBatch.of(examples).parts()]).astype(np.float64)
        return Scores(chrf(rows), statistics=rows, combine=_corpus_chrf)

    def _count(self, batch: TextBatch) -> IntArray:
        """Return [N, 3K] the counts of N examples, each with its best reference."""
        counts = _counts(counting.number_characters(batch.texts), batch, CHARACTERS)
        if self.words:
            words = counting.number_tokens([_split(text) for text in batch.texts])
            counts = np.concatenate((counts, _counts(words, batch, self.words)), axis=1)
        rows = counts.reshape(len(counts), 3 * counts.shape[1])
        return rows[counting.best_of(chrf(rows), batch.owners)] if len(rows) > batch.size else rows


def chrf(counts: FloatArray | IntArray) -> FloatArray:
    """Return [N] the scores of counts [N, 3K], of single texts or summed over many: there is one formula for both."""
    response, reference, both = np.moveaxis(counts.reshape(len(counts), -1, 3), 2, 0)
    known = (response > 0) & (reference > 0)
    sizes = np.maximum(known.sum(axis=1), 1)
    precision = (known * both / np.maximum(response, 1)).sum(axis=1) / sizes
    recall = (known * both / np.maximum(reference, 1)).sum(axis=1) / sizes
    weighted = BETA**2 * precision + recall
    return np.where(weighted > 0, (1 + BETA**2) * precision * recall / np.where(weighted > 0, weighted, 1), 0.0)


def _corpus_chrf(totals: FloatArray) -> float:
    """Return the score of summed counts [3K]."""
    return float(chrf(totals[None])[0])


def _counts(tokens: Tokens, batch: TextBatch, longest: int) -> IntArray:
    """Return [M, K, 3] the n-grams in the response, in each reference, in both."""
    totals = counting.ngram_totals(tokens.lengths, longest)
    response, reference = totals[: batch.size][batch.owners], totals[batch.size :]
    shared = counting.shared_ngrams(tokens, batch.owners, longest)
    # sacreBLEU counts none in the response where the reference has none.
    return np.stack((np.where(reference > 0, response, 0), reference, shared), axis=2)


def _split(text: str) -> list[str]:
    """Split a text at white space, and a sign from the end of a word or else from its start."""
    tokens: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in _PUNCTUATION:
            tokens += word[:-1], word[-1]
        elif len(word) > 1 and word[0] in _PUNCTUATION:
            tokens += word[0], word[1:]
        else:
            tokens.append(word)
    return tokens


def load(name: str, vectors: str | Path | None) -> Chrf:  # noqa: ARG001 - every metric's `load` takes vectors
    """Return the chrF scorer called `name`; `vectors` is ignored."""
    return Chrf(metric_cards()[name], 2 if name.endswith("++") else 0)
