"""Interpolated n-gram models of sequences of integers: how usual a text is.

The smoothing is Witten-Bell's, which allows that n-grams seen once or twice are dropped, for small models.

A start symbol stands before each sequence; it is never predicted. Everything else is, the last token too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rejoinder.errors import DataError, UsageError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True)
class Level:
    """The n-grams of one length, as numbers to the base V + 1, sorted.

    A history that is not there leaves all to the level below.

    Attributes:
        grams: those seen; the last digit is the token that is predicted.
        shares: the discounted share of each in its history.
        histories: those seen.
        weights: what discounting left to the level below, for each history.
    """

    grams: Ints
    shares: Floats
    histories: Ints
    weights: Floats

    @classmethod
    def of_shares(cls, grams: Ints, shares: Floats, base: int) -> Level:
        """The level whose histories leave to the level below what their n-grams do not take."""
        histories, first = np.unique(grams // base, return_index=True)
        taken = np.add.reduceat(shares, first) if len(grams) else shares
        return cls(grams, shares, histories, np.maximum(1.0 - taken, 0.0))


@dataclass(frozen=True, slots=True)
class NgramModel:
    """Probabilities of tokens after the `order` - 1 tokens before them.

    Attributes:
        order: 1 for unigrams, 2 for bigrams, 3 for trigrams.
        vocabulary_size: V; tokens are 0 to V - 1.
        levels: one for each length of n-gram, from 1.
    """

    order: int
    vocabulary_size: int
    levels: tuple[Level, ...]

    def by_order(self, sequences: Sequence[ArrayLike]) -> list[list[Floats]]:
        """Return the probability of each token of each sequence: alone, after the one before it, and so on to `order`.

        Of one sequence they are the same to the bit, whatever the others are.

        Raises:
            UsageError: a token is outside the vocabulary.
        """
        if not sequences:
            return [[] for _ in self.levels]
        ends = np.cumsum([len(np.asarray(sequence)) for sequence in sequences]).tolist()
        spans = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
        flat = _padded(sequences, self.order, self.vocabulary_size)
        return [[found[span] for span in spans] for found in self._found(flat)]

    def _found(self, flat: Ints) -> Iterator[Floats]:
        """The probabilities of all tokens of padded sequences that stand one after the other, order by order."""
        base = self.vocabulary_size + 1
        places = np.flatnonzero(flat != self.vocabulary_size)
        found = np.full(len(places), 1.0 / self.vocabulary_size)
        for length, level in enumerate(self.levels, start=1):
            grams = _grams(flat, places, length, base)
            weights = _looked_up(level.histories, level.weights, grams // base, absent=1.0)
            found = weights * found + _looked_up(level.grams, level.shares, grams, absent=0.0)
            yield found


def fit_witten_bell(sequences: Iterable[ArrayLike], least: Sequence[int], *, vocabulary_size: int) -> NgramModel:
    """A small n-gram model of `sequences`: each level has the n-grams that occur often enough.

    The share of a token after a history is c / (n + t): how often it came, among the n tokens and t different ones that
    did. What the n-grams that are kept leave goes to the level below. The lowest has every token, each counted once in
    ten more often than it occurs.

    Args:
        sequences: arrays of tokens, each ending with the token that ends a sequence; passed once.
        least: how often an n-gram of 2, 3 ... tokens has to occur to be kept, not falling.
        vocabulary_size: V; tokens are 0 to V - 1.

    Raises:
        UsageError: n-grams of this vocabulary do not fit 63 bits, or a token is outside it.
        DataError: there is no token.

    Source: Witten and Bell 1991, method C, interpolated as in Chen and Goodman 1999, section 2.6.
    """
    base, order = vocabulary_size + 1, len(least) + 1
    flat, places = _corpus(sequences, order, vocabulary_size)
    often = np.bincount(flat[places], minlength=vocabulary_size) + 0.1
    levels = [Level.of_shares(np.arange(vocabulary_size), often / often.sum(), base)]
    for length, enough in enumerate(least, start=2):
        grams = _grams(flat, places, length, base)
        kinds, counts = np.unique(grams[~_begin_twice(grams, length, base)], return_counts=True)
        _, first, sizes = np.unique(kinds // base, return_index=True, return_counts=True)
        totals = np.repeat(np.add.reduceat(counts, first) + sizes, sizes) if len(kinds) else counts
        kept = counts >= enough
        levels.append(Level.of_shares(kinds[kept], (counts / totals)[kept], base))
    return NgramModel(order, vocabulary_size, tuple(levels))


def _corpus(sequences: Iterable[ArrayLike], order: int, vocabulary_size: int) -> tuple[Ints, Ints]:
    """All sequences, padded, and the places of the tokens that are predicted; raises as `fit_witten_bell` does."""
    if (vocabulary_size + 1) ** order >= 2**63:
        raise UsageError(f"{order}-grams of {vocabulary_size} tokens do not fit 63 bits. Give a lower order.")
    blocks = list(_blocks(sequences, order, vocabulary_size))
    if not blocks:
        raise DataError("no token to count", "Give at least one sequence that is not empty")
    flat = np.concatenate(blocks)
    return flat, np.flatnonzero(flat != vocabulary_size)


def _begin_twice(grams: Ints, length: int, base: int) -> NDArray[np.bool_]:
    """Which n-grams have two start symbols: they tell no more than one, the level below knows all there is to know."""
    start = base - 1
    found: NDArray[np.bool_] = grams // base ** max(length - 2, 0) == start * base + start
    return found


def _grams(flat: Ints, places: Ints, length: int, base: int) -> Ints:
    """The n-gram of `length` that ends at each place, as a number to the base `base`."""
    grams = np.zeros(len(places), dtype=np.int64)
    for back in range(length - 1, -1, -1):
        grams *= base
        grams += flat.take(places - back) if back else flat.take(places)
    return grams


def _looked_up(keys: Ints, values: Floats, wanted: Ints, *, absent: float) -> Floats:
    """The value of each key in `wanted`, or `absent`."""
    if not len(keys):  # sequences of one token have no trigram
        return np.full(len(wanted), absent)
    place = keys.searchsorted(wanted)
    np.minimum(place, len(keys) - 1, out=place)
    found = values.take(place)
    found[keys.take(place) != wanted] = absent
    return found


def _blocks(sequences: Iterable[ArrayLike], order: int, vocabulary_size: int) -> Iterator[Ints]:
    """Padded sequences one after the other, about a million tokens at once; none where there is no token."""
    group: list[ArrayLike] = []
    size = 0
    for sequence in sequences:
        tokens: NDArray[Any] = np.asarray(sequence)
        group.append(tokens)
        size += len(tokens)
        if size >= _AT_ONCE:
            yield _padded(group, order, vocabulary_size)
            group, size = [], 0
    if size:
        yield _padded(group, order, vocabulary_size)


def _padded(sequences: Sequence[ArrayLike], order: int, vocabulary_size: int) -> Ints:
    """`sequences` one after the other, `order` - 1 start symbols before each; the start symbol is V."""
    start = np.full(order - 1, vocabulary_size)
    arrays = [np.asarray(sequence, dtype=np.int64) for sequence in sequences]
    joined = np.concatenate(arrays)
    wrong = joined[(joined < 0) | (joined >= vocabulary_size)]
    if wrong.size:
        raise UsageError(f"token {wrong[0]} is outside the vocabulary, which has 0 to {vocabulary_size - 1}")
    return np.concatenate([part for array in arrays for part in (start, array)])
