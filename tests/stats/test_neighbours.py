"""Nearest points: exactly those, and nearly those."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.errors import MissingExtra
from rejoinder.stats import neighbours
from rejoinder.stats.neighbours import approximate_index, exact_index


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


def test_an_approximate_index_finds_most_of_them() -> None:
    pytest.importorskip("faiss", reason="needs the extra faiss")
    rng = np.random.default_rng(0)
    table = rng.normal(size=(4000, 8))
    queries = table[:50] + 0.1 * rng.normal(size=(50, 8))
    exact, found = exact_index(table)(queries, 20), approximate_index(table, seed=1)(queries, 20)
    shared = [len(set(ours) & set(theirs)) / 20 for ours, theirs in zip(exact.tolist(), found.tolist(), strict=True)]
    assert found.shape == (50, 20) and 0.6 < np.mean(shared) <= 1
    np.testing.assert_array_equal(approximate_index(table, seed=1)(queries, 20), found)


@pytest.mark.parametrize("points", [1, 3, 90])
def test_an_approximate_index_of_few_points_finds_no_others(points: int) -> None:
    pytest.importorskip("faiss", reason="needs the extra faiss")
    table = np.random.default_rng(0).normal(size=(points, 4))
    found = approximate_index(table)(table[:2], 400)
    assert found.shape == (min(points, 2), points) and found.min() >= 0 and found.max() < points


def test_without_faiss_it_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtra, match=r"needs faiss-cpu. Install it: pip install 'rejoinder\[faiss\]'"):
        approximate_index(np.ones((3, 2)))
