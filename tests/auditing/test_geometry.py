"""Conicity and its companions: golden values, and what must hold of any vectors."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import GOLDEN
from rejoinder.auditing.conicity import alignments, conicity, conicity_over, mean_length, vector_spread
from rejoinder.stats.resamples import Resamples

CASES: dict[str, Any] = json.loads((GOLDEN / "conicity.json").read_text())["cases"]


def as_array(values: list[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values])


@pytest.mark.parametrize("name", CASES)
def test_golden_values(name: str) -> None:
    case = CASES[name]
    vectors = np.array(case["vectors"], dtype=float)
    np.testing.assert_allclose(alignments(vectors), as_array(case["atm_cosine"]), atol=1e-9)
    np.testing.assert_allclose(conicity(vectors), as_array([case["conicity_cosine"]])[0], atol=1e-9)
    assert mean_length(vectors) == pytest.approx(case["vector_spread_mean_vector_length"], abs=1e-9)


@given(st.integers(2, 30), st.integers(1, 8), st.floats(0.1, 10), st.integers(0, 2**32 - 1))
def test_a_longer_or_turned_space_has_the_same_cone(n: int, width: int, factor: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n, width)) + rng.normal(size=width)
    turned = np.linalg.qr(rng.normal(size=(width, width)))[0]
    for other in (factor * vectors, vectors @ turned, vectors[rng.permutation(n)]):
        assert conicity(other) == pytest.approx(conicity(vectors), abs=1e-7)
        assert vector_spread(other) == pytest.approx(vector_spread(vectors), abs=1e-7)
    assert -1 - 1e-9 <= conicity(vectors) <= 1 + 1e-9
    assert mean_length(factor * vectors) == pytest.approx(factor * mean_length(vectors))


def test_a_far_mean_makes_a_narrow_cone() -> None:
    vectors = np.random.default_rng(0).normal(size=(500, 20))
    near, far = conicity(vectors + 0.5), conicity(vectors + 5)
    assert near < 0.6 < 0.97 < far and vector_spread(vectors + 5) < vector_spread(vectors + 0.5)


def test_the_interval_is_over_clusters_and_leaves_out_what_has_no_vector() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(90, 6)) + 1
    vectors[3], vectors[4] = np.nan, 0
    clusters = np.arange(90) // 3
    found = conicity_over(vectors, Resamples.draw(clusters, 200, rng))
    kept = np.delete(vectors, [3, 4], axis=0)
    assert found.n == 88 and found.value == pytest.approx(conicity(kept)) and found.low < found.value < found.high
    five = np.repeat(kept[:20], 5, axis=0)
    one_each = conicity_over(five, Resamples.draw(np.arange(100) // 5, 200, rng))
    as_if_apart = conicity_over(five, Resamples.draw(np.arange(100), 200, rng))
    assert one_each.high - one_each.low > 1.5 * (as_if_apart.high - as_if_apart.low)


def test_without_vectors_there_is_none_and_it_is_said() -> None:
    nothing = np.full((3, 2), np.nan)
    assert conicity_over(nothing, Resamples.draw(np.arange(3), 10, np.random.default_rng(0))).reason == "no vector"
    assert all(np.isnan(figure(np.empty((0, 4)))) for figure in (conicity, vector_spread, mean_length))
