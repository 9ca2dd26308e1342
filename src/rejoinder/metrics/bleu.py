"""BLEU of a sentence and of a corpus, in the flavours of three programs.

All flavours count the same: shared n-grams, clipped by the largest count in any one reference, against the reference of
the closest length (the shorter one of two). They differ in tokens, smoothing and short sentences, and so much that two
BLEU figures cannot be compared before the flavours agree.

Shapes: N examples, K sizes of n-grams. A row of counts has 2 + 2K numbers, see `bleu_counts`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rejoinder.errors import MissingExtra
from rejoinder.example import Example
from rejoinder.metrics import metric_cards
from rejoinder.metrics.baselines import words
from rejoinder.metrics.bleu_tokens import PLAIN, WHITE_SPACE, bleu_counts, split
from rejoinder.metrics.counting import IntArray, TextBatch
from rejoinder.scorer import Card, FloatArray, Scores
from rejoinder.text import unspaced_reason

ORDERS = (1, 2, 3, 4)
SUMMABLE_METHODS = range(5)  # 5 to 7 look at the text of one sentence, so no sum of counts stands for a corpus
WIDE_METHODS = (5, 7)  # they read the precision of 5-grams, whatever the order is
EPSILON, WEIGHT, DIVISOR = 0.1, 5, 5  # nltk's constants of methods 1, 6 and 4
TINY, SMALL = 1e-15, 1e-9  # what pycocoevalcap adds to every numerator and denominator
MECAB, NO_STOP_WORDS = "ja-mecab", "no-stop-words"
SACREBLEU, NLTK = "sacrebleu 2.6.0", "nltk 3.10.4"  # the programs whose values these are
PRESETS = {"Chinese": "zh", "Japanese": MECAB}  # for scripts without spaces; `char` for the others
NO_TRIGRAM = "nltk's smoothing method 6 needs a matching trigram"


class Counts(NamedTuple):
    """Counts of N texts: lengths [N] of responses and closest references, shared and all n-grams [N, K]."""

    response: FloatArray
    reference: FloatArray
    shared: FloatArray
    total: FloatArray

    @classmethod
    def of(cls, rows: FloatArray, order: int) -> Counts:
        """Take rows [N, 2 + 2K] apart, up to n-grams of size `order`."""
        shared, total = np.split(rows[:, 2:], 2, axis=1)
        return cls(rows[:, 0], rows[:, 1], shared[:, :order], total[:, :order])

    @property
    def brevity(self) -> FloatArray:
        """[N] the factor for responses that are shorter than the reference."""
        return np.exp(np.minimum(1 - self.reference / np.maximum(self.response, TINY), 0.0))


@dataclass(frozen=True, slots=True)
class Bleu:
    """BLEU in one of its flavours.

    Attributes:
        card: the preset's card.
        order: the longest n-gram counted.
        options: tokenizer, smoothing, treatment of several references, the program whose values these are.
        program: `sacrebleu`, `coco` or `nltk`.
        tokens: sacreBLEU's name of a tokenizer; `none` splits at white space.
        method: the number of nltk's smoothing method.
        content: whether stop words and punctuation are taken out of responses and references first.
    """

    card: Card
    order: int
    options: Mapping[str, Any]
    program: str
    tokens: str = WHITE_SPACE
    method: int | None = None
    content: bool = False

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Return sentence BLEU of N examples and, for all but methods 5 to 7, counts that may be summed.

        Unscored are texts whose sentences the tokenizer leaves whole, and by method 6, which divides by the precisions
        of neighbouring sizes, those that share words but no trigram.
        """
        examples = [_without_stop_words(example) for example in examples] if self.content else examples
        batch = TextBatch.of(examples)
        rows = self._rows(bleu_counts(batch, 5 if self.method in WIDE_METHODS else 4, self.tokens))
        reasons = {}
        if self.method == 6:
            failing = (rows[:, 2] > 0) & (rows[:, 4] == 0)
            reasons = dict.fromkeys(np.flatnonzero(failing).tolist(), NO_TRIGRAM)
        for row, script in batch.unspaced(lambda text: " ".join(split([text], self.tokens)[0])).items():
            reasons[row] = f"{unspaced_reason(script)}: use bleu-{self.order}/{PRESETS.get(script, 'char')}"
        if self.content:
            bare = [row for row, example in enumerate(examples) if not any(example.references)]
            reasons |= dict.fromkeys(bare, "no reference holds a word that is no stop word")
        values = self._score(rows)
        values[list(reasons)] = math.nan
        if self.method not in (None, *SUMMABLE_METHODS):
            return Scores(values, reasons)
        return Scores(values, reasons, statistics=rows, combine=self._corpus_score)

    def _rows(self, counts: IntArray) -> FloatArray:
        """Return the columns of counts that the formula reads."""
        longest = (counts.shape[1] - 2) // 2
        kept = longest if self.method in WIDE_METHODS else self.order
        rows = counts[:, [0, 1, *range(2, 2 + kept), *range(2 + longest, 2 + longest + kept)]].astype(np.float64)
        if self.method is not None:  # nltk counts at least one n-gram in each sentence, which shows in corpus BLEU
            rows[:, 2 + kept :] = np.maximum(rows[:, 2 + kept :], 1)
        return rows

    def _score(self, rows: FloatArray, *, corpus: bool = False) -> FloatArray:
        """Return BLEU [N] of counts [N, 2 + 2K], of single sentences or of corpora."""
        if self.method is not None:
            return nltk_bleu(rows, self.order, self.method)
        if self.program == "coco":
            return coco_bleu(rows, self.order)
        return sacrebleu(rows, self.order, effective_order=not corpus)

    def _corpus_score(self, totals: FloatArray) -> float:
        """Return corpus BLEU of summed counts."""
        return float(self._score(totals[None], corpus=True)[0])


def sacrebleu(rows: FloatArray, order: int, *, effective_order: bool) -> FloatArray:
    """Return sacreBLEU's score [N] with exponential smoothing, divided by 100; 0 where no n-gram is shared.

    Args:
        rows: [N, 2 + 2K] counts.
        order: the longest n-gram.
        effective_order: leave out the sizes that a text is too short for; otherwise it scores 0. sacreBLEU's
            recommendation for sentences, and never so for a corpus.
    """
    counts = Counts.of(rows, order)
    possible = counts.total > 0
    halvings = np.cumsum(possible & (counts.shared == 0), axis=1)
    precisions = np.where(counts.shared > 0, counts.shared, 0.5**halvings) / np.maximum(counts.total, 1)
    logarithms = np.log(np.where(possible, precisions, 1.0)).sum(axis=1) / np.maximum(possible.sum(axis=1), 1)
    scored = counts.shared.any(axis=1) & (effective_order | possible.all(axis=1))
    return np.where(scored, counts.brevity * np.exp(logarithms), 0.0)


def coco_bleu(rows: FloatArray, order: int) -> FloatArray:
    """Return the score [N] of pycocoevalcap and nlg-eval, with the closest reference length.

    Source: their `bleu_scorer.py`, `compute_score(option="closest")`.
    """
    response, reference, shared, total = Counts.of(rows, order)
    precisions = (shared + TINY) / (total + SMALL)
    brevity = np.exp(np.minimum(1 - (reference + SMALL) / (response + TINY), 0.0))
    score: FloatArray = precisions.prod(axis=1) ** (1 / order) * brevity
    return score


def nltk_bleu(rows: FloatArray, order: int, method: int) -> FloatArray:
    """Return nltk's score [N], 0 where not one word matches.

    Args:
        rows: [N, 2 + 2K] counts with at least 1 n-gram of each size in all; for methods 5 and 7 up to 5-grams.
        order: the longest n-gram.
        method: the number of the smoothing method, 0 to 7 (Chen and Cherry 2014).
    """
    counts = Counts.of(rows, order)
    with np.errstate(divide="ignore", invalid="ignore"):
        precisions = _smooth(counts, method)
    if method in WIDE_METHODS:
        five = Counts.of(rows, 5)
        precisions = _average_neighbours(precisions, five.shared[:, 4] / five.total[:, 4])
    logarithms = np.log(np.where(precisions > 0, precisions, 1.0)).sum(axis=1)
    return np.where(counts.shared[:, 0] > 0, counts.brevity * np.exp(logarithms / order), 0.0)


def _smooth(counts: Counts, method: int) -> FloatArray:
    """Return the precisions [N, K] smoothed by nltk's methods; those of 5 and 7 are not yet averaged."""
    length, _, shared, total = counts
    missing, precisions = shared == 0, shared / total
    halves = 0.5 ** np.cumsum(missing, axis=1)
    if method == 0:
        return np.where(missing, sys.float_info.min, precisions)
    if method == 1:
        return np.where(missing, EPSILON / total, precisions)
    if method == 2:
        return np.where(np.arange(shared.shape[1]) > 0, (shared + 1) / (total + 1), precisions)
    if method == 3:
        return np.where(missing, halves / total, precisions)
    if method in (4, 7):
        longer = missing & (length[:, None] > 1)
        return np.where(longer, halves * np.log(length)[:, None] / DIVISOR / total, precisions)
    for size in range(2, shared.shape[1] if method == 6 else 0):
        before, last = precisions[:, size - 2], precisions[:, size - 1]
        expected = np.where(before == 0, 0.0, last**2 / before)
        precisions[:, size] = (shared[:, size] + WEIGHT * expected) / (np.maximum(length - size, 0) + WEIGHT)
    return precisions


def _average_neighbours(precisions: FloatArray, last: FloatArray) -> FloatArray:
    """Return precisions [N, K], each averaged with the one before and the one after it; `last` [N] is after all."""
    after = np.column_stack((precisions[:, 1:], last))
    averages = np.empty_like(precisions)
    before = precisions[:, 0] + 1
    for size in range(precisions.shape[1]):
        averages[:, size] = before = (before + precisions[:, size] + after[:, size]) / 3
    return averages


@cache
def _stop_words() -> frozenset[str]:
    """Return the English stop words of scikit-learn 1.9.1."""
    return frozenset(Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").split())


def _without_stop_words(example: Example) -> Example:
    """Return an example whose response and references have no stop words and no punctuation."""

    def content(text: str) -> str:
        return " ".join(word for word in words(text) if word not in _stop_words())

    return replace(example, response=content(example.response), references=tuple(map(content, example.references)))


def load(name: str, vectors: str | Path | None) -> Bleu:  # noqa: ARG001 - every metric's `load` takes vectors
    """Return the BLEU scorer called `name`; `vectors` is ignored.

    Raises:
        MissingExtra: it splits Japanese, and the library for it is not installed.
    """
    card, order, preset = metric_cards()[name], int(name[5]), name[7:]
    options = {"tokenizer": "whitespace", "smoothing": f"{TINY}/{SMALL}"}
    program = {"references": "native", "program": SACREBLEU}
    if preset.startswith("nltk"):
        options |= {"smoothing": f"method{preset[-1]}", **program, "program": NLTK, "counts": SACREBLEU}
        return Bleu(card, order, options, "nltk", method=int(preset[-1]))
    if preset == "coco":
        return Bleu(card, order, options | program, "coco")
    content = preset == NO_STOP_WORDS
    tokens = PLAIN if content else preset or PLAIN
    options = {"tokenizer": tokens, "smoothing": "exp", "effective-order": "yes"}
    if tokens == MECAB:
        if not all(map(find_spec, ("MeCab", "ipadic"))):
            raise MissingExtra("mecab-python3 with ipadic", "ja", f"{name}, BLEU over Japanese words,")
        options["mecab"] = f"{version('mecab-python3')} ipadic {version('ipadic')}"
    if content:
        options["words"] = "no stop words (scikit-learn), no punctuation"
    return Bleu(card, order, options | program, "sacrebleu", tokens, content=content)
