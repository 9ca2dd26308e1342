"""Splits that keep groups whole: what shares a context never stands on both sides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def split_groups(groups: NDArray[np.intp], shares: Sequence[float], rng: np.random.Generator) -> list[NDArray[np.intp]]:
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
