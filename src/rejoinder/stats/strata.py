"""Which items to look at next: drawn by chance, evenly over the range of a score, with how much each stands for.

Shapes: N items, S groups.

Source: Cochran (1977), Sampling Techniques, chapter 5 (stratified sampling, proportional allocation).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from rejoinder.stats.resamples import FloatArray, IntArray

MOST_STRATA = 10


def stratified(scores: FloatArray, count: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """So many items, about as many from each stretch of the scores, ascending; and how much each stands for.

    The items are divided by score into strata of equal size, of which each gives two or more. What an item stands for
    is 1 over its chance of being drawn, with mean 1.

    Args:
        scores: [N] finite; on whatever scale, only their order counts, and chance orders equal ones.
        count: at most N.
        rng: decides.
    """
    shuffled = rng.permutation(len(scores))
    order = shuffled[np.argsort(scores[shuffled], kind="stable")]
    strata = np.array_split(order, max(1, min(MOST_STRATA, count // 2)))
    more = rng.permutation(len(strata)) < count % len(strata)
    rows, weights = list[IntArray](), list[FloatArray]()
    for stratum, one_more in zip(strata, more.tolist(), strict=True):
        wanted = count // len(strata) + one_more
        # Where nearly all are wanted, a stratum may hold one less than its share; another has it.
        drawn = rng.permutation(stratum)[:wanted]
        rows.append(drawn)
        weights.append(np.full(len(drawn), len(stratum) / max(len(drawn), 1)))
    found, stands = np.concatenate(rows), np.concatenate(weights)
    if missing := count - len(found):
        rest = rng.permutation(np.setdiff1d(order, found))[:missing]
        found, stands = np.concatenate([found, rest]), np.concatenate([stands, np.ones(missing)])
    places = np.argsort(found)
    return found[places], (stands / stands.mean())[places]


def shares(free: Sequence[int], had: Sequence[int], count: int, rng: np.random.Generator) -> list[int]:
    """How many items each of S groups gives, so that in the end all have as even a number as can be.

    Args:
        free: how many each can give.
        had: how many were taken of each before.
        count: how many to take in all; fewer where there are no more.
        rng: decides between equals.
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
