"""The search for nearest points is exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.auditing import neighbours
from rejoinder.auditing.neighbours import exact_index


@given(st.integers(1, 40), st.integers(1, 6), st.integers(1, 50), st.integers(0, 2**32 - 1))
def test_exactly_the_nearest_are_found_the_nearest_first(points: int, width: int, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table, queries = rng.normal(size=(points, width)), rng.normal(size=(3, width))
    found = exact_index(table)(queries, count)
    distances = np.linalg.norm(queries[:, None] - table, axis=2)
    assert found.shape == (3, min(count, points)) and all(len(set(row)) == len(row) for row in found.tolist())
    ours = np.take_along_axis(distances, found, axis=1)
    np.testing.assert_allclose(ours, np.sort(distances, axis=1)[:, :count], atol=1e-4)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    table, queries = rng.normal(size=(200, 5)), rng.normal(size=(20, 5))
    whole = exact_index(table)(queries, 7)
    monkeypatch.setattr(neighbours, "_AT_ONCE", 450)
    np.testing.assert_array_equal(exact_index(table)(queries, 7), whole)
