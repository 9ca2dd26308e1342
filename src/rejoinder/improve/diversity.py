"""How varied a responder's replies are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import nan


def distinct(replies: Iterable[Sequence[str]], order: int) -> float:
    """Distinct-n, 0 to 1: different n-grams among all replies, divided by how many n-grams they have; NaN for none.

    It falls as more replies are looked at, so only equal numbers of replies may be compared.

    Args:
        replies: the tokens of each.
        order: n.

    Source: Li et al. 2016, A Diversity-Promoting Objective Function, section 5 (distinct-1, distinct-2).
    """
    total, seen = 0, set[tuple[str, ...]]()
    for tokens in replies:
        found = [tuple(tokens[start : start + order]) for start in range(len(tokens) - order + 1)]
        total += len(found)
        seen.update(found)
    return len(seen) / total if total else nan
