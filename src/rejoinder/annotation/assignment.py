"""Who rates what: the next rater's share of a study, so that ratings and overlaps spread evenly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Items = Sequence[int]
"""Numbers of what is rated: a reply, or a pair of replies."""


def dealt(
    contexts: Sequence[Items],
    earlier: Sequence[Items],
    raters: int,
    *,
    each: int,
    replies: int,
    common: Sequence[int] = (),
    rng: np.random.Generator,
) -> list[list[list[int]]]:
    """The shares of further raters: a list for each context, contexts and the replies of each in random order.

    All raters get the common contexts, and the same replies of them. The others they choose in turn: that which the
    fewest raters have; among these, that whose raters share the fewest contexts with the one who chooses, so that any
    two raters overlap about as much as any other two. Of a context the replies come first that have the fewest raters.

    Args:
        contexts: the items of each context; no item twice.
        earlier: the items of each earlier rater.
        raters: how many more there are.
        each: how many contexts a rater gets; fewer where there are no more.
        replies: how many items of a context a rater gets at most.
        common: places in `contexts` of those that all raters get.
        rng: decides whatever is left open.
    """
    rated = Counter(item for items in earlier for item in items)
    shares = []
    for chosen in _spread(_seen(contexts, earlier), raters, each, list(common), rng):
        blocks = []
        for context in rng.permutation(np.array(chosen, dtype=np.int64)):
            shuffled = [int(item) for item in rng.permutation(np.array(contexts[context], dtype=np.int64))]
            sign = -1 if context in common else 1  # of a common context the same replies as everybody
            kept = sorted(shuffled, key=lambda item: sign * rated[item])[:replies]
            blocks.append([item for item in shuffled if item in kept])
        rated.update(item for block in blocks for item in block)
        shares.append(blocks)
    return shares


def with_checks(blocks: Sequence[Items], checks: Items, rng: np.random.Generator) -> list[list[int]]:
    """Blocks with one check in each of as many equal stretches of them, never at the very beginning.

    Args:
        blocks: what a rater gets.
        checks: items that ask for attention.
        rng: says where in its stretch a check stands, and which it is.
    """
    found = [list(block) for block in blocks]
    ends = np.linspace(0, len(blocks), len(checks) + 1)
    order = rng.permutation(np.array(checks, dtype=np.int64))
    places = [int(rng.integers(int(low), max(int(high), int(low) + 1))) + 1 for low, high in pairwise(ends)]
    for place, check in sorted(zip(places, order, strict=True), reverse=True):
        found.insert(place, [int(check)])
    return found


def _seen(contexts: Sequence[Items], earlier: Sequence[Items]) -> NDArray[np.bool_]:
    """[R, C] whether an earlier rater has something of a context."""
    home = {item: place for place, items in enumerate(contexts) for item in items}
    seen = np.zeros((len(earlier), len(contexts)), dtype=bool)
    for rater, items in enumerate(earlier):
        seen[rater, [home[item] for item in items if item in home]] = True
    return seen


def _spread(
    before: NDArray[np.bool_], raters: int, each: int, common: list[int], rng: np.random.Generator
) -> list[list[int]]:
    """The contexts of each further rater, chosen in turn: few raters first, then little overlap, then by lot."""
    seen = np.vstack([before, np.zeros((raters, before.shape[1]), dtype=bool)]).astype(np.int64)  # [R, C]
    coverage = before.sum(axis=0).astype(float)
    overlap = np.zeros((len(seen), len(seen)), dtype=np.int64)  # [R, R] contexts that two raters share
    shares = [list(common) for _ in range(raters)]
    seen[len(before) :, common] = 1
    overlap[:] = seen[:, common] @ seen[:, common].T
    np.fill_diagonal(overlap, 0)
    for _ in range(min(each, seen.shape[1]) - len(common)):
        for place in rng.permutation(raters):
            rater = len(before) + place
            lot = rng.random(len(coverage))
            best = int(np.lexsort((lot, overlap[rater] @ seen, coverage, seen[rater]))[0])
            shares[place].append(best)
            overlap[rater] += seen[:, best]
            overlap[:, rater] += seen[:, best]
            seen[rater, best] = 1
            coverage[best] += 1
    return shares
