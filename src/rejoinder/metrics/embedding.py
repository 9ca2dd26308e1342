"""Embedding average, greedy matching and vector extrema, for a whole batch at once.

Liu et al. 2016 print formulas (section 3.2) and released a script (`Evaluation/embedding_metrics.py` of
julianser/hed-dlg-truncated) that departs from them. Each has presets of its own:

    plain name    the formulas, with words split as for the bundled vectors; what we recommend
    /paper        the formulas to the letter, tokens split at single spaces
    /liu2016      the script with the gensim of its day, which scaled every vector to length 1 on loading
    /liu2016-raw  the script with gensim from 0.12.4 on, which does not; greedy matching then has no upper bound

Shapes: N examples, P pairs of a response and a reference, T distinct texts, L words of a text, U distinct words of the
batch, D numbers of a word vector. Texts of like length are stacked, so that no loop over pairs does arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.metrics import metric_cards
from rejoinder.metrics.counting import TextBatch, close_gaps, keep_results, lengths_of
from rejoinder.scorer import Card, FloatArray, Scores
from rejoinder.text import tokenizer
from rejoinder.text.vectors import IdArray, WordVectors, read_vectors

MIN_NORM = 1e-11  # the script's bound: a shorter vector counts as none
STEP_NUMBERS = 1 << 18  # numbers in a step of the arithmetic: 2 MiB, so that memory does not grow with the batch
PADDING = 4  # greedy matching pads texts to multiples of this many words, so that more pairs share a shape
MAX_PAIRS = 25_000_000  # of words that greedy matching compares for a pair of texts: seconds at 300 numbers

Masks = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class EmbeddingOptions:
    """The rules of an embedding metric.

    Attributes:
        kind: which of the three.
        tokenizer: name of the tokenizer.
        min_coverage: the share of a text's words that must have a vector. Texts in other languages have fewer: names,
            and words that both languages write alike ("in", "die").
        unit: scale every word vector to length 1 first. Greedy matching is then a cosine, otherwise a dot product.
        ties: which of the largest and smallest number of a dimension is the extreme where both are as far from zero.
            The formula takes the minimum, the script and its published figures the maximum.
        as_released: follow the script at the edges: no similarity of greedy matching is below 0 (its matrix starts with
            a column of zeros); a response without a usable vector scores 0, in greedy matching a reference too.
    """

    kind: Literal["average", "greedy", "extrema"]
    tokenizer: str = "words-2"
    min_coverage: float = 0.5
    unit: bool = False
    ties: Literal["max", "min"] = "max"
    as_released: bool = False

    @classmethod
    def of(cls, name: str) -> EmbeddingOptions:
        """Return the options of a metric's name, such as `embedding-greedy/paper`."""
        family, _, preset = name.partition("/")
        kind: Any = family.removeprefix("embedding-")
        greedy = kind == "greedy"
        if not preset:
            return cls(kind, unit=greedy)
        if preset == "paper":
            return cls(kind, "space-1", 0.0, unit=greedy, ties="min" if kind == "extrema" else "max")
        return cls(kind, "space-1", 0.0, unit=preset == "liu2016", as_released=True)


@dataclass(frozen=True, slots=True)
class EmbeddingMetric:
    """An embedding metric with its word vectors: a `Scorer`."""

    card: Card
    rules: EmbeddingOptions
    vectors: WordVectors

    @property
    def options(self) -> Mapping[str, Any]:
        """Tokenizer, digest of the vectors, and what is done with them."""
        rules = self.rules
        scaling = "unit" if rules.unit else "raw"
        options = {"tokenizer": rules.tokenizer, "vectors": self.vectors.digest, "scaling": scaling}
        if rules.min_coverage:
            options["least-known"] = f"{rules.min_coverage:g}"
        if rules.kind == "extrema":
            options["ties"] = rules.ties
        return options | {"edges": "released" if rules.as_released else "unscored", "references": "best"}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """Return the scores of N examples, of several references the best."""
        batch = TextBatch.of(examples)
        words, coverage = _read(batch, self.rules.tokenizer, self.vectors)
        covered = coverage >= self.rules.min_coverage
        rows = [text if kept else text[:0] for text, kept in zip(words, covered.tolist(), strict=True)]
        lengths, n, owner = lengths_of(rows), batch.size, batch.owners
        long = (lengths[owner] * lengths[n:] > MAX_PAIRS) & (self.rules.kind == "greedy")
        short = np.flatnonzero(~long)
        scores, usable = _measure(self.rules, self.vectors, rows, lengths, n + short, owner[short])
        values = np.full(n, np.nan)
        np.fmax.at(values, owner[short], scores)
        values[owner[long]] = np.nan
        reasons = {
            row: self._reason(lengths, usable, ~covered & (coverage > 0), row, n + np.flatnonzero(owner == row))
            for row in np.flatnonzero(np.isnan(values)).tolist()
        }
        for pair in np.flatnonzero(long).tolist():
            row = int(owner[pair])
            reasons[row] = (
                f"too long for greedy matching: {lengths[row]:,} words in the response and {lengths[n + pair]:,} in a "
                f"reference are more than {MAX_PAIRS:,} pairs of words"
            )
        return Scores(values, reasons)

    def _reason(self, lengths: IdArray, usable: Masks, few: Masks, response: int, references: IdArray) -> str:
        """Return why there is no score: because of the references, unless one of them is usable."""
        side, texts = ("response", [response]) if usable[references].any() else ("reference", references.tolist())
        english = "; those in the box are English (--vectors FILE for others)" * self.vectors.bundled
        if few[texts].any():
            return f"fewer than half of the words of the {side} have a vector{english}"
        if not lengths[texts].any():
            return f"no word of the {side} has a vector{english}"
        return f"the word vectors of the {side} add up to nothing"


def load(name: str, vectors: str | Path | None) -> EmbeddingMetric:
    """Return the metric called `name` with the word vectors in the file `vectors`, None for the bundled ones.

    Raises:
        MissingAsset: the file does not exist.
        DataError: the file cannot be used.
    """
    return EmbeddingMetric(metric_cards()[name], EmbeddingOptions.of(name), read_vectors(vectors))


@keep_results
def _read(batch: TextBatch, name: str, vectors: WordVectors) -> tuple[list[IdArray], FloatArray]:
    """Return the rows of the words of T texts, and [T] the share of words with a vector, 1 for a text without words."""
    split = tokenizer(name, vectors.index)
    numbers = {text: number for number, text in enumerate(dict.fromkeys(batch.texts))}
    tokens = [split(text) for text in numbers]
    rows, places = vectors.lookup(tokens), [numbers[text] for text in batch.texts]
    known, words = np.array([vectors.coverage(text) for text in tokens], np.float64).reshape(-1, 2).T
    share = np.where(words > 0, known / np.maximum(words, 1), 1.0)
    return [rows[place] for place in places], share[places] if places else share


def _measure(
    rules: EmbeddingOptions,
    vectors: WordVectors,
    rows: Sequence[IdArray],
    lengths: IdArray,
    reference: IdArray,
    response: IdArray,
) -> tuple[FloatArray, Masks]:
    """Return [P] scores of pairs of texts, NaN for a pair without one, and [T] whether a text has a usable vector."""
    flat, used = close_gaps(np.concatenate([*rows, np.empty(0, np.intp)]))
    table = vectors.matrix[used].astype(np.float64)
    if rules.unit:
        table = _scaled(table)
    texts = _Texts(flat, np.cumsum(lengths) - lengths, lengths)
    if rules.kind == "greedy":
        usable = lengths > 0
        both = usable[reference] & usable[response]
        scores = np.full(len(both), np.nan)
        scores[both] = _greedy(texts, table, reference[both], response[both], at_least_zero=rules.as_released)
        blank = ~both
    else:
        if rules.kind == "average":
            (pooled,) = _folded(texts, table, [np.add])  # a cosine does not depend on the division by the length
        else:
            high, low = _folded(texts, table, [np.maximum, np.minimum])
            pooled = np.where(-low > high if rules.ties == "max" else -low >= high, low, high)
        usable = np.linalg.norm(pooled, axis=1) >= MIN_NORM
        pooled = _scaled(pooled)
        scores = np.clip(np.einsum("pd,pd->p", pooled[reference], pooled[response]), -1.0, 1.0)
        scores[~(usable[reference] & usable[response])] = np.nan
        blank = usable[reference] & ~usable[response]
    if rules.as_released:
        scores[blank] = 0.0
    return scores, usable


@dataclass(frozen=True, slots=True)
class _Texts:
    """T texts one after the other in `flat`, as rows of the table; text t is `lengths[t]` words from `starts[t]` on."""

    flat: IdArray
    starts: IdArray
    lengths: IdArray

    def stacked(self, texts: IdArray, width: int) -> IdArray:
        """Return [n, width] words of n `texts`, none empty; the last word of a shorter text is repeated."""
        places = np.minimum(np.arange(width), self.lengths[texts][:, None] - 1)
        return self.flat[self.starts[texts][:, None] + places]


def _scaled(table: FloatArray) -> FloatArray:
    """Return the rows of `table` at length 1; a row of zeros stays one."""
    norms = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(norms == 0.0, 1.0, norms)


def _folded(texts: _Texts, table: FloatArray, folds: Sequence[np.ufunc]) -> list[FloatArray]:
    """Return each of `folds` (sum, maximum ...) of each text's word vectors [T, D]; zeros where it has no words.

    Texts are sorted by length, longest first, so those that have an l-th word come first, and one step of the loop
    takes the l-th words of many texts. The order of the additions depends on the text alone.
    """
    found = [np.zeros((len(texts.lengths), table.shape[1])) for _ in folds]
    order = np.argsort(-texts.lengths, kind="stable")[: np.count_nonzero(texts.lengths)]
    step = max(1, STEP_NUMBERS // table.shape[1])
    for start in range(0, len(order), step):
        block = order[start : start + step]
        begins, lengths = texts.starts[block], texts.lengths[block]
        partial = [table.take(texts.flat[begins], axis=0) for _ in folds]
        for place in range(1, int(lengths[0])):
            longer = int(np.searchsorted(-lengths, -place))
            words = table.take(texts.flat[begins[:longer] + place], axis=0)
            for fold, state in zip(folds, partial, strict=True):
                fold(state[:longer], words, out=state[:longer])
        for result, state in zip(found, partial, strict=True):
            result[block] = state
    return found


def _greedy(
    texts: _Texts, table: FloatArray, reference: IdArray, response: IdArray, *, at_least_zero: bool
) -> FloatArray:
    """Return [P] the mean over the words of one side of the best similarity on the other, both ways averaged.

    Repeating a word leaves a maximum as it is, which is what makes padding harmless; the means skip the padding.
    """
    shapes = np.stack([-(-texts.lengths[side] // PADDING) * PADDING for side in (reference, response)], axis=1)
    scores = np.empty(len(reference))
    for rows, columns in np.unique(shapes, axis=0).tolist():
        group = np.flatnonzero((shapes == (rows, columns)).all(axis=1))
        parts = -(-len(group) * (rows + columns) * table.shape[1] // STEP_NUMBERS)
        for part in np.array_split(group, min(parts, len(group))):
            left, right = reference[part], response[part]
            forth, back = _best(table[texts.stacked(left, rows)], table[texts.stacked(right, columns)])
            if at_least_zero:
                forth, back = np.maximum(forth, 0.0), np.maximum(back, 0.0)
            scores[part] = (_mean(forth, texts.lengths[left]) + _mean(back, texts.lengths[right])) / 2.0
    return scores


def _best(left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the best dot products of each word of `left` [n, L, D] and of `right` [n, R, D]: [n, L] and [n, R].

    The left side goes in blocks, so that two very long texts do not need a matrix of all their pairs of words.
    """
    step = max(1, STEP_NUMBERS // (len(left) * right.shape[1]))
    forth, back = [], np.full(right.shape[:2], -np.inf)
    for start in range(0, left.shape[1], step):
        similarity = left[:, start : start + step] @ right.transpose(0, 2, 1)  # [n, step, R]
        forth.append(similarity.max(axis=2))
        np.maximum(back, similarity.max(axis=1), out=back)
    return np.concatenate(forth, axis=1), back


def _mean(best: FloatArray, lengths: IdArray) -> FloatArray:
    """Return [n] the mean of the first `lengths` [n] numbers of the rows of `best` [n, L]."""
    inside = np.arange(best.shape[1]) < lengths[:, None]
    total: FloatArray = np.where(inside, best, 0.0).sum(axis=1)
    return total / lengths
