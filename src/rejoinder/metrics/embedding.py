"""Embedding average, greedy matching and vector extrema, for a whole batch at once.

Shapes: N examples, P pairs of a response and a reference, T distinct texts, L words of a text, U distinct words of the
batch, D numbers of a word vector. Texts of like length are stacked, so that no loop over pairs does arithmetic.

Source: Liu et al. 2016, section 3.2; the released script where a preset says so (see `embedding_presets`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.metrics.embedding_presets import CARDS, RULES, Rules
from rejoinder.scorer import Card, FloatArray, Scores
from rejoinder.text import tokenizer
from rejoinder.text.vectors import IdArray, WordVectors, read_vectors

__all__ = ["CARDS", "EmbeddingMetric", "load"]

NOTHING = 1e-11  # the script's bound: a shorter vector counts as none
NUMBERS = 1 << 18  # how many numbers a step of the arithmetic holds: 2 MiB, so that memory does not grow with the batch
STEP = 4  # greedy matching pads texts to multiples of this many words, so that more pairs share a shape
REMEMBERED = 8_000_000  # characters of texts whose words are remembered: some 20 MiB
ENTRY = 200  # characters that an entry counts beside those of its text, for the room it takes
MOST_PAIRS = 25_000_000  # of words that greedy matching compares for one pair of texts: seconds at 300 numbers

Masks = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class EmbeddingMetric:
    """An embedding metric with its word vectors: a `Scorer`."""

    card: Card
    rules: Rules
    vectors: WordVectors

    @property
    def options(self) -> Mapping[str, Any]:
        """Tokenizer, digest of the vectors, and what is done with them."""
        rules = self.rules
        found = {
            "tokenizer": rules.tokenizer,
            "vectors": self.vectors.digest,
            "scaling": "unit" if rules.unit else "raw",
        }
        if rules.least_known:
            found["least-known"] = f"{rules.least_known:g}"
        if rules.kind == "extrema":
            found["ties"] = rules.ties
        return found | {"edges": "released" if rules.released else "unscored", "references": "best"}

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        """The scores of N examples, of several references the best."""
        texts: dict[str, int] = {}
        response = np.array([texts.setdefault(example.response, len(texts)) for example in examples], dtype=np.intp)
        reference = np.array(
            [texts.setdefault(reference, len(texts)) for example in examples for reference in example.references],
            dtype=np.intp,
        )
        owner = np.repeat(np.arange(len(examples)), [len(example.references) for example in examples])
        rows, few = self._read(texts)
        lengths = np.array([len(text) for text in rows], dtype=np.intp)
        long = self._too_long(lengths[reference], lengths[response[owner]])
        short = owner[~long]
        scores, usable = _measure(self.rules, self.vectors, rows, lengths, reference[~long], response[short])
        values = np.full(len(examples), np.nan)
        np.fmax.at(values, short, scores)
        values[owner[long]] = np.nan
        reasons = {
            int(row): self._reason(lengths, usable, few, int(response[row]), reference[owner == row])
            for row in np.flatnonzero(np.isnan(values))
        }
        for pair in np.flatnonzero(long):
            row = int(owner[pair])
            reasons[row] = _too_long_reason(lengths[response[row]], lengths[reference[pair]])
        return Scores(values, reasons)

    def _read(self, texts: Iterable[str]) -> tuple[list[IdArray], Masks]:
        """The rows of the words of T texts, none where too few have a vector; [T] whether some have, but too few."""
        read = _reader(self.vectors, self.rules.tokenizer)(texts)
        enough = [known >= self.rules.least_known * words for _, known, words in read]
        rows = [one.rows if kept else one.rows[:0] for one, kept in zip(read, enough, strict=True)]
        few = [one.known > 0 and not kept for one, kept in zip(read, enough, strict=True)]
        return rows, np.array(few, dtype=np.bool_)

    def _reason(self, lengths: IdArray, usable: Masks, few: Masks, response: int, references: IdArray) -> str:
        """Why there is no score: the references' fault unless one of them is usable, else that of the response."""
        side, texts = ("response", [response]) if usable[references].any() else ("reference", references.tolist())
        english = "; those in the box are English (--vectors FILE for others)" * self.vectors.bundled
        if few[texts].any():
            return f"fewer than half of the words of the {side} have a vector{english}"
        if not lengths[texts].any():
            return f"no word of the {side} has a vector{english}"
        return f"the word vectors of the {side} add up to nothing"

    def _too_long(self, reference: IdArray, response: IdArray) -> Masks:
        """[P] whether texts of so many words [P] are too much for greedy matching, which compares all with all."""
        return (reference * response > MOST_PAIRS) & (self.rules.kind == "greedy")


def load(name: str, vectors: str | Path | None) -> EmbeddingMetric:
    """The metric called `name` with the word vectors in the file `vectors`, None for those in the box.

    Raises:
        MissingAsset: there is no such file.
        DataError: the file cannot be used.
    """
    return EmbeddingMetric(CARDS[name], RULES[name], read_vectors(vectors))


class _Read(NamedTuple):
    """A text as the vectors know it: the rows of its tokens, how many of its words they hold, and how many it has."""

    rows: IdArray
    known: int
    words: int


@lru_cache(maxsize=4)
def _reader(vectors: WordVectors, name: str) -> Callable[[Iterable[str]], list[_Read]]:
    """A function from texts to what the vectors know of them. It remembers: the three metrics are often asked together.

    What it remembers is bounded by characters, since texts differ a thousandfold in length; when full it starts anew.
    """
    split = tokenizer(name, vectors.index)
    known: dict[str, _Read] = {}
    room = REMEMBERED

    def read(texts: Iterable[str]) -> list[_Read]:
        nonlocal room
        if room < 0:
            known.clear()
            room = REMEMBERED
        new = [text for text in texts if text not in known]
        room -= sum(map(len, new)) + ENTRY * len(new)
        tokens = [split(text) for text in new]
        for text, words, rows in zip(new, tokens, vectors.lookup(tokens), strict=True):
            known[text] = _Read(rows, *vectors.coverage(words))
        return [known[text] for text in texts]

    return read


def _too_long_reason(response: int, reference: int) -> str:
    """Why greedy matching leaves texts with so many words that have a vector alone."""
    return (
        f"too long for greedy matching: {response:,} words in the response and {reference:,} in a reference are more "
        f"than {MOST_PAIRS:,} pairs of words"
    )


def _measure(
    rules: Rules,
    vectors: WordVectors,
    rows: Sequence[IdArray],
    lengths: IdArray,
    reference: IdArray,
    response: IdArray,
) -> tuple[FloatArray, Masks]:
    """[P] scores of the pairs of texts, NaN where there is none, and [T] whether a text has a usable vector."""
    table, flat = _table(vectors, np.concatenate([*rows, np.empty(0, np.intp)]))
    if rules.unit:
        table = _scaled(table)
    texts = _Texts(flat, np.cumsum(lengths) - lengths, lengths)
    if rules.kind == "greedy":
        usable = lengths > 0
        both = usable[reference] & usable[response]
        scores = np.full(len(both), np.nan)
        scores[both] = _greedy(texts, table, reference[both], response[both], at_least_zero=rules.released)
        blank = ~both
    else:
        pooled = _averages(texts, table) if rules.kind == "average" else _extremes(texts, table, rules.ties)
        usable = np.linalg.norm(pooled, axis=1) >= NOTHING
        pooled = _scaled(pooled)
        scores = np.clip(np.einsum("pd,pd->p", pooled[reference], pooled[response]), -1.0, 1.0)
        scores[~(usable[reference] & usable[response])] = np.nan
        blank = usable[reference] & ~usable[response]
    if rules.released:
        scores[blank] = 0.0
    return scores, usable


def _table(vectors: WordVectors, words: IdArray) -> tuple[FloatArray, IdArray]:
    """The vectors [U, D] of the distinct ones of `words` in double precision, and the row of each word therein.

    Marks in place of `np.unique`, which sorts.
    """
    marks = np.zeros(len(vectors.matrix), dtype=np.bool_)
    marks[words] = True
    used = np.flatnonzero(marks)
    row = np.empty(len(marks), dtype=np.intp)
    row[used] = np.arange(len(used))
    return vectors.matrix[used].astype(np.float64), row[words]


@dataclass(frozen=True, slots=True)
class _Texts:
    """T texts one after the other in `flat`, as rows of the table; text t is `lengths[t]` words from `starts[t]` on."""

    flat: IdArray
    starts: IdArray
    lengths: IdArray

    def stacked(self, texts: IdArray, width: int) -> IdArray:
        """[n, width] words of n `texts`, none empty; the last word of a shorter text is repeated."""
        places = np.minimum(np.arange(width), self.lengths[texts][:, None] - 1)
        return self.flat[self.starts[texts][:, None] + places]


def _scaled(table: FloatArray) -> FloatArray:
    """The rows of `table` at length 1; a row of zeros stays one."""
    norms = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(norms == 0.0, 1.0, norms)


def _groups(keys: IdArray, room: Callable[[int], int]) -> Iterator[tuple[int, IdArray]]:
    """Each key with the positions that hold it, at most `room(key)` of them at a time."""
    order = np.argsort(keys, kind="stable")
    begins = np.unique(keys[order], return_index=True)[1].tolist()
    for begin, end in pairwise([*begins, len(order)]):
        key = int(keys[order[begin]])
        step = max(1, room(key))
        for start in range(begin, end, step):
            yield key, order[start : min(start + step, end)]


def _folded(texts: _Texts, table: FloatArray, folds: Sequence[np.ufunc]) -> list[FloatArray]:
    """For each of `folds` (sum, maximum ...) that fold of each text's word vectors [T, D]; zeros where it has no words.

    Texts stand in order of length, longest first, so those that have an l-th word come first, and one step of the loop
    takes the l-th words of many texts. The order of the additions depends on the text alone.
    """
    found = [np.zeros((len(texts.lengths), table.shape[1])) for _ in folds]
    order = np.argsort(-texts.lengths, kind="stable")[: np.count_nonzero(texts.lengths)]
    step = max(1, NUMBERS // table.shape[1])
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


def _averages(texts: _Texts, table: FloatArray) -> FloatArray:
    """[T, D] summed word vectors. The formula divides by the length of the sum, which a cosine does not notice."""
    (total,) = _folded(texts, table, [np.add])
    return total


def _extremes(texts: _Texts, table: FloatArray, ties: str) -> FloatArray:
    """[T, D] of each dimension the number furthest from zero."""
    high, low = _folded(texts, table, [np.maximum, np.minimum])
    return np.where(-low > high if ties == "max" else -low >= high, low, high)


def _greedy(
    texts: _Texts, table: FloatArray, reference: IdArray, response: IdArray, *, at_least_zero: bool
) -> FloatArray:
    """[P] greedy matching: the mean over the words of one side of the best similarity on the other, both ways averaged.

    Repeating a word leaves a maximum as it is, which is what makes padding harmless; the means skip the padding.
    """
    left, right = (-(-texts.lengths[side] // STEP) * STEP for side in (reference, response))
    base = int(right.max(initial=0)) + 1
    scores = np.empty(len(reference))
    for key, group in _groups(left * base + right, lambda key: NUMBERS // (sum(divmod(key, base)) * table.shape[1])):
        rows, columns = divmod(key, base)
        one, other = reference[group], response[group]
        forth, back = _best(
            table.take(texts.stacked(one, rows), axis=0), table.take(texts.stacked(other, columns), axis=0)
        )
        if at_least_zero:
            forth, back = np.maximum(forth, 0.0), np.maximum(back, 0.0)
        scores[group] = (_mean(forth, texts.lengths[one]) + _mean(back, texts.lengths[other])) / 2.0
    return scores


def _best(left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The best dot product of each word of `left` [n, L, D] and of each word of `right` [n, R, D]: [n, L] and [n, R].

    The left side goes in blocks, so that two very long texts do not need a matrix of all their pairs of words.
    """
    step = max(1, NUMBERS // (len(left) * right.shape[1]))
    forth, back = [], np.full(right.shape[:2], -np.inf)
    for start in range(0, left.shape[1], step):
        similarity = left[:, start : start + step] @ right.transpose(0, 2, 1)  # [n, step, R]
        forth.append(similarity.max(axis=2))
        np.maximum(back, similarity.max(axis=1), out=back)
    return np.concatenate(forth, axis=1), back


def _mean(best: FloatArray, lengths: IdArray) -> FloatArray:
    """[n] mean of the first `lengths` [n] numbers of the rows of `best` [n, L]."""
    inside = np.arange(best.shape[1]) < lengths[:, None]
    total: FloatArray = np.where(inside, best, 0.0).sum(axis=1)
    return total / lengths
