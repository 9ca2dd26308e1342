"""Parts of training data for the experiments on unseen systems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from research.unseen import growing_shares, keep_at_random

Groups = st.lists(st.integers(0, 12), min_size=3, max_size=60).map(np.array)
Seeds = st.integers(0, 5)


@given(st.integers(1, 80), st.floats(0, 1), Seeds)
def test_a_random_share_is_kept(size: int, share: float, seed: int) -> None:
    rows = np.arange(100, 100 + size)
    kept = keep_at_random(rows, share, np.random.default_rng(seed))
    assert len(kept) == round(share * size)
    assert set(kept.tolist()) <= set(rows.tolist())
    assert sorted(set(kept.tolist())) == kept.tolist()
    assert kept.tolist() == keep_at_random(rows, share, np.random.default_rng(seed)).tolist()


@given(Groups, Seeds)
def test_shares_grow_inside_each_other(groups: NDArray[np.intp], seed: int) -> None:
    shares = (0.05, 0.3, 1.0)
    parts = growing_shares(groups, shares, np.random.default_rng(seed))
    assert parts[-1].tolist() == list(range(len(groups)))
    count = len(set(groups.tolist()))
    for part, share in zip(parts, shares, strict=True):
        assert len(set(groups[part].tolist())) == max(1, round(share * count))
        rest = np.setdiff1d(np.arange(len(groups)), part)
        assert not set(groups[part].tolist()) & set(groups[rest].tolist())
    assert set(parts[0].tolist()) <= set(parts[1].tolist()) <= set(parts[2].tolist())


@pytest.mark.parametrize("shares", [(), (0.0, 1.0), (0.5, 0.5), (0.5, 1.1)])
def test_shares_that_do_not_ascend_are_refused(shares: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="expected ascending ones over 0 and at most 1"):
        growing_shares(np.arange(4), shares, np.random.default_rng(0))
