"""Interpolated n-gram models of sequences of integers: how usual a text is, and what a neural model has to beat.

Two smoothings. Modified Kneser-Ney (`fit_ngrams`) predicts best where all that was seen is kept: the probability of a
token after a history is its discounted count, and the mass that discounting frees goes to the model with a history one
token shorter, down to the uniform distribution. A shorter history counts in how many different places an n-gram occurs,
not how often. Witten-Bell (`fit_witten_bell`) bears that what was seen once or twice is dropped, for small models.

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

    def log_prob(self, tokens: ArrayLike) -> Floats:
        """The natural logarithm of the probability of each token of one sequence, `[len(tokens)]`.

        Raises:
            UsageError: a token is outside the vocabulary.
        """
        return self._log_probs(_padded([tokens], self.order, self.vocabulary_size))

    def probabilities(self, sequences: Sequence[ArrayLike]) -> list[Floats]:
        """The probability of each token of each sequence; of one sequence the same to the bit, whatever the others are.

        Raises:
            UsageError: a token is outside the vocabulary.
        """
        return self.by_order(sequences)[-1]

    def by_order(self, sequences: Sequence[ArrayLike]) -> list[list[Floats]]:
        """[`order`] what `probabilities` gives by each token alone, after the one before it, and so on.

        Raises:
            UsageError: a token is outside the vocabulary.
        """
        if not sequences:
            return [[] for _ in self.levels]
        ends = np.cumsum([len(np.asarray(sequence)) for sequence in sequences]).tolist()
        spans = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
        flat = _padded(sequences, self.order, self.vocabulary_size)
        return [[found[span] for span in spans] for found in self._found(flat)]

    def perplexity(self, sequences: Iterable[ArrayLike]) -> float:
        """The perplexity per token of all `sequences` together: e to the mean negative `log_prob`.

        Raises:
            UsageError: a token is outside the vocabulary.
            DataError: there is no token.
        """
        total, count = 0.0, 0
        for flat in _blocks(sequences, self.order, self.vocabulary_size):
            logs = self._log_probs(flat)
            total, count = total + float(logs.sum()), count + len(logs)
        if not count:
            raise DataError("no token to predict", "Give at least one sequence that is not empty")
        return float(np.exp(-total / count))

    def _log_probs(self, flat: Ints) -> Floats:
        """The logarithms for all tokens of padded sequences that stand one after the other."""
        *_, found = self._found(flat)
        logs: Floats = np.log(found)
        return logs

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


def fit_ngrams(sequences: Iterable[ArrayLike], order: int, *, vocabulary_size: int) -> NgramModel:
    """The n-gram model of `sequences`, each an array of tokens that ends with the token that ends a sequence.

    Args:
        sequences: passed once; for trigrams it takes about 70 bytes of memory a token.
        order: the longest n-gram.
        vocabulary_size: V; tokens are 0 to V - 1.

    Raises:
        UsageError: `order` is under 1, or n-grams of this vocabulary do not fit 63 bits; or a token is outside it.
        DataError: there is no token.

    Source: Chen and Goodman 1999, section 3 (modified Kneser-Ney, interpolated; discounts from equation 26). Histories
    that begin a sequence have nothing before them to vary and count how often, as in Heafield et al. 2013.
    """
    base = vocabulary_size + 1
    flat, places = _corpus(sequences, order, vocabulary_size)
    levels: list[Level] = []
    longer: Ints | None = None
    for length in range(order, 0, -1):
        grams, counts = _counted(flat, places, length, base, longer)
        levels.insert(0, _level(grams, counts, base))
        longer = grams
    return NgramModel(order, vocabulary_size, tuple(levels))


def fit_witten_bell(sequences: Iterable[ArrayLike], least: Sequence[int], *, vocabulary_size: int) -> NgramModel:
    """A small n-gram model of `sequences`: each level has the n-grams that occur often enough.

    The share of a token after a history is c / (n + t): how often it came, among the n tokens and t different ones that
    did. What the n-grams that are kept leave goes to the level below. The lowest has every token, each counted once in
    ten more often than it occurs.

    Args:
        sequences: see `fit_ngrams`.
        least: how often an n-gram of 2, 3 ... tokens has to occur to be kept, not falling.
        vocabulary_size: V; tokens are 0 to V - 1.

    Raises:
        UsageError, DataError: see `fit_ngrams`.

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
    """All sequences, padded, and the places of the tokens that are predicted; raises as `fit_ngrams` does."""
    if order < 1 or vocabulary_size < 1:
        raise UsageError(f"order is {order} and vocabulary_size {vocabulary_size}, expected 1 or more")
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


def _counted(flat: Ints, places: Ints, length: int, base: int, longer: Ints | None) -> tuple[Ints, Ints]:
    """The n-grams of one length, sorted, with their counts.

    The longest are counted as they occur, and so are those that begin a sequence; of all others it counts how many
    different n-grams that are longer by one (`longer`) end in them.
    """
    start, first = base - 1, base ** (length - 1)
    grams = _grams(flat, places, length, base)
    grams = grams[~_begin_twice(grams, length, base)]
    if longer is None or length == 1:
        grams = grams if longer is None else longer % base
        return np.unique(grams, return_counts=True)
    inside = longer % (first * base)
    known, counts = np.unique(inside[inside // first != start], return_counts=True)
    begun, often = np.unique(grams[grams // first == start], return_counts=True)
    # The start symbol is the largest digit, so these come after all others.
    return np.concatenate([known, begun]), np.concatenate([counts, often])


def _level(grams: Ints, counts: Ints, base: int) -> Level:
    """Shares and weights from counts."""
    histories, first = np.unique(grams // base, return_index=True)
    freed = _discounts(counts)[np.minimum(counts, 3)]
    totals = np.add.reduceat(counts, first)
    sizes = np.diff(np.append(first, len(grams)))
    shares = (counts - freed) / np.repeat(totals, sizes)
    return Level(grams, shares, histories, np.add.reduceat(freed, first) / totals)


def _discounts(counts: Ints) -> Floats:
    """What is taken off counts of (0,) 1, 2, and 3 or more.

    Where counts of 1 to 4 do not all occur, as among the single tokens of a large corpus, there is nothing to estimate
    from, and one half is taken off each.
    """
    n1, n2, n3, n4 = np.bincount(np.minimum(counts, 5), minlength=6)[1:5].tolist()
    if not (n1 and n2 and n3 and n4):
        return np.array([0.0, 0.5, 0.5, 0.5])
    ratio = n1 / (n1 + 2 * n2)
    found = [1 - 2 * ratio * n2 / n1, 2 - 3 * ratio * n3 / n2, 3 - 4 * ratio * n4 / n3]
    # Counts of few tokens can ask for less than nothing.
    return np.array([0.0, *np.maximum(found, 0.05)])


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
