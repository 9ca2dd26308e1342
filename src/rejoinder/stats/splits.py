"""Splits that keep groups whole: what shares a context never stands on both sides.

Shapes: N items, G groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Rows = NDArray[np.intp]


def split_groups(groups: Rows, shares: Sequence[float], rng: np.random.Generator) -> list[Rows]:
    """Positions of each part of a random split of whole groups.

    Args:
        groups: [N] group number of each item.
        shares: the parts' shares of the *groups*, which sum to 1 (Lowe et al. 2017: .70, .15, .15).
        rng: decides the order of the groups.

    Returns:
        One ascending array of positions a part; together they are 0 ... N - 1. A part may be empty where there are
        fewer groups than parts.

    Raises:
        ValueError: the shares do not sum to 1.
    """
    if abs(sum(shares) - 1.0) > 1e-9:
        raise ValueError(f"shares {list(shares)} sum to {sum(shares):g}, expected 1")
    order = rng.permutation(np.unique(groups))
    ends = np.rint(np.cumsum(shares) * len(order)).astype(int)
    parts = np.split(order, ends[:-1])
    return [np.flatnonzero(np.isin(groups, part)) for part in parts]


def fold_groups(groups: Rows, folds: int, rng: np.random.Generator) -> Rows:
    """[N] the fold of each item, from 0 to `folds` - 1, whole groups in one fold, folds alike in number of groups.

    Source: Deriu and Cieliebak 2019, section 3 (the conversation split: contexts in ten folds).

    Args:
        groups: [N] group number of each item.
        folds: how many.
        rng: decides which groups meet.

    Raises:
        ValueError: there are fewer groups than folds, so that one would be empty.
    """
    known, place = np.unique(groups, return_inverse=True)
    if not 0 < folds <= len(known):
        raise ValueError(f"{folds} folds of {len(known)} groups, expected 1 to {len(known)}")
    return (rng.permutation(len(known)) % folds)[place]


class LeftOut(NamedTuple):
    """One label and the items that carry it.

    Attributes:
        label: what was left out.
        rest: ascending positions of all items with another label.
        left: ascending positions of the items with this label.
    """

    label: str
    rest: Rows
    left: Rows


def leave_one_out(labels: ArrayLike) -> Iterator[LeftOut]:
    """Each label of `labels` [N] left out once, in sorted order.

    An item with the empty label belongs to nobody: it is in every `rest` and never left out.

    Source: Lowe et al. 2017, section 5.4 (leave one system out); Deriu and Cieliebak 2019, section 3 (system split).
    """
    named = np.asarray(labels, dtype=np.str_)
    for label in np.unique(named[named != ""]):
        yield LeftOut(str(label), np.flatnonzero(named != label), np.flatnonzero(named == label))


def numbered(labels: Sequence[str]) -> list[int]:
    """The number of each label among the distinct ones, in order of appearance; -1 for the empty one."""
    known: dict[str, int] = {}
    return [known.setdefault(label, len(known)) if label else -1 for label in labels]


def joined_ties(ties: Sequence[Rows]) -> Rows:
    """[N] group numbers such that two items share a group where any of their ties is the same.

    Sharing is handed on: where a and b share a tie, and b and c another, a and c are in one group. Groups are counted
    in order of appearance.

    Args:
        ties: [N] the numbers of each item's ties, an array each.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = len(ties)
    if not size:
        return np.empty(0, dtype=np.intp)
    items = np.repeat(np.arange(size), [len(one) for one in ties])
    _, labels = np.unique(np.concatenate(ties), return_inverse=True)
    nodes = size + int(labels.max(initial=-1)) + 1
    edges = (np.ones(len(items)), (items, size + labels))
    _, found = connected_components(coo_array(edges, shape=(nodes, nodes)), directed=False)
    _, first, inverse = np.unique(found[:size], return_index=True, return_inverse=True)
    groups: Rows = np.argsort(np.argsort(first))[inverse]
    return groups
