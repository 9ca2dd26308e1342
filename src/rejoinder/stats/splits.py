"""Splits and folds of whole groups, stratified samples, and the number of items that a comparison needs.

Shapes: N items, G groups.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from math import ceil

import numpy as np
from numpy.typing import NDArray

from rejoinder.estimates import CONFIDENCE, LEVEL, Estimate, Verdict
from rejoinder.stats.correlation import FEWEST
from rejoinder.stats.resamples import FloatArray, IntArray, renumbered

Rows = NDArray[np.intp]
MOST_STRATA = 10
FEWEST_IN_PART = 10  # lines; the correlation of two lines is always 1 or -1
POWER = 0.8
MOST_NEEDED = 1_000_000
"""Contexts; a forecast of more only means that there is almost no effect."""


# groups


def split_groups(groups: Rows, shares: Sequence[float], rng: np.random.Generator) -> list[Rows]:
    """Return the ascending positions of each part of a random split of whole groups.

    `shares` are the parts' shares of the *groups* [N] (Lowe et al. 2017: .70, .15, .15), with ValueError if they do not
    sum to 1. A part may be empty if there are fewer groups than parts.
    """
    if abs(sum(shares) - 1.0) > 1e-9:
        raise ValueError(f"shares {list(shares)} sum to {sum(shares):g}, expected 1")
    order = rng.permutation(np.unique(groups))
    ends = np.rint(np.cumsum(shares) * len(order)).astype(int)
    return [np.flatnonzero(np.isin(groups, part)) for part in np.split(order, ends[:-1])]


def fold_groups(groups: Rows, folds: int, rng: np.random.Generator) -> Rows:
    """Return [N] the fold of each item, in [0, `folds`): whole `groups` [N], about as many in each.

    Raises:
        ValueError: there are fewer groups than folds.

    Source: Deriu and Cieliebak 2019, section 3 (the conversation split: contexts in ten folds).
    """
    known, place = np.unique(groups, return_inverse=True)
    if not 0 < folds <= len(known):
        raise ValueError(f"{folds} folds of {len(known)} groups, expected 1 to {len(known)}")
    return (rng.permutation(len(known)) % folds)[place]


def parts_of(sets: Rows, folds: Rows) -> IntArray:
    """Return [N] the numbers of the parts for correlations inside `folds` [N] of data `sets` [N].

    Each part has ten lines or more: the smallest data sets are taken together until that holds, in the end all of them.
    """
    numbers, width = renumbered(sets), int(folds.max(initial=0)) + 1
    while True:
        cells = numbers * width + folds
        counts = np.bincount(cells, minlength=width * (int(numbers.max(initial=0)) + 1)).reshape(-1, width)
        if len(counts) == 1 or counts.min() >= FEWEST_IN_PART:
            return renumbered(cells)
        first, second = np.argsort(counts.sum(axis=1), kind="stable")[:2]
        numbers = renumbered(np.where(numbers == first, second, numbers))


def numbered(labels: Sequence[str]) -> list[int]:
    """Return the number of each label, by first appearance; -1 for the empty label."""
    known: dict[str, int] = {}
    return [known.setdefault(label, len(known)) if label else -1 for label in labels]


def joined_ties(ties: Sequence[Rows]) -> Rows:
    """Return [N] group numbers, by first appearance, such that items that share one of their `ties` are in one group.

    If a and b share a tie, and b and c another, all three are in one group.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = len(ties)
    if not size:
        return np.empty(0, dtype=np.intp)
    items = np.repeat(np.arange(size), [len(numbers) for numbers in ties])
    _, labels = np.unique(np.concatenate(ties), return_inverse=True)
    nodes = size + int(labels.max(initial=-1)) + 1
    graph = coo_array((np.ones(len(items)), (items, size + labels)), shape=(nodes, nodes))
    _, components = connected_components(graph, directed=False)
    _, first, inverse = np.unique(components[:size], return_index=True, return_inverse=True)
    groups: Rows = np.argsort(np.argsort(first))[inverse]
    return groups


# choosing items


def stratified(scores: FloatArray, count: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Return the ascending positions of a random sample, evenly over the range of a score, and its weights.

    The items are divided by score (of which only the order counts, equal ones at random) into strata of equal size,
    each of which gives two or more. The weight of an item is 1 over its chance of being drawn, with mean 1.

    Source: Cochran (1977), Sampling Techniques, chapter 5 (stratified sampling, proportional allocation).
    """
    shuffled = rng.permutation(len(scores))
    order = shuffled[np.argsort(scores[shuffled], kind="stable")]
    strata = np.array_split(order, max(1, min(MOST_STRATA, count // 2)))
    more = rng.permutation(len(strata)) < count % len(strata)
    rows, weights = list[IntArray](), list[FloatArray]()
    for stratum, extra in zip(strata, more.tolist(), strict=True):
        drawn = rng.permutation(stratum)[: count // len(strata) + extra]
        rows.append(drawn)
        weights.append(np.full(len(drawn), len(stratum) / max(len(drawn), 1)))
    sample, weight = np.concatenate(rows), np.concatenate(weights)
    if missing := count - len(sample):  # if nearly all are wanted, a stratum may be smaller than its share
        rest = rng.permutation(np.setdiff1d(order, sample))[:missing]
        sample, weight = np.concatenate([sample, rest]), np.concatenate([weight, np.ones(missing)])
    places = np.argsort(sample)
    return sample[places], (weight / weight.mean())[places]


def even_counts(free: Sequence[int], had: Sequence[int], count: int, rng: np.random.Generator) -> list[int]:
    """Return the number of items to take of each group, so that all groups end with numbers as equal as possible.

    Of each group `had` were taken before and `free` are left; `count` are taken in all, or fewer if there are no more.
    """
    taken = [0] * len(free)
    lots = rng.permutation(len(free)).tolist()
    heap = [(before, lots[group], group) for group, before in enumerate(had) if free[group]]
    heapq.heapify(heap)
    for _ in range(min(count, sum(free))):
        before, lot, group = heapq.heappop(heap)
        taken[group] += 1
        if taken[group] < free[group]:
            heapq.heappush(heap, (before + 1, lot, group))
    return taken


# items that a comparison needs


def most_needed(row: Estimate, tests: int = 1) -> int | None:
    """Return how many contexts would confirm an inconclusive value if the truth is the interval's end nearest to 0.

    They confirm it with probability .8 in a two-sided 5 % test, one of `tests`. If the truth is the other end, the
    contexts at hand are enough (with up to 24 tests), so the forecast is a range from `row.contexts` to this number.
    None if the interval holds 0, where a forecast could be anything, and above a million.
    """
    from scipy.special import ndtri, stdtrit

    if row.verdict != Verdict.INCONCLUSIVE or not row.excludes() or row.contexts < FEWEST:
        return None
    error = (row.high - row.low) / 2 / stdtrit(row.contexts - 1, (1 + CONFIDENCE) / 2)
    beyond = ndtri(1 - LEVEL / 2 / tests) + ndtri(POWER)
    contexts = row.contexts * (beyond * error / min(abs(row.low), abs(row.high))) ** 2
    return ceil(contexts) if row.contexts < contexts <= MOST_NEEDED else None
