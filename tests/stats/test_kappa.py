"""Cohen's kappa: scikit-learn's values, and what resamples are."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from conftest import GOLDEN
from rejoinder.stats.kappa import WEIGHTINGS, Weighting, kappas

SKLEARN: dict[Weighting, str | None] = {"unweighted": None, "linear": "linear", "quadratic": "quadratic"}
ONCE = np.ones((1, 1), dtype=np.uint16)


def golden() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / "kappa.json").read_text())
    return found


def kappa(one: list[float], other: list[float], weighting: Weighting) -> float:
    both = np.zeros(len(one), dtype=np.int64)
    return float(kappas(np.array(one, float), np.array(other, float), both, both, ONCE, weighting)[0, 0])


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("name", golden()["pairs"])
def test_a_pair_has_the_kappa_of_scikit_learn(name: str, weighting: Weighting) -> None:
    case = golden()["pairs"][name]
    found, expected = kappa(case["rater_a"], case["rater_b"], weighting), case[f"kappa_{weighting}"]
    assert np.isnan(found) if expected is None else found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_all_pairs_of_a_panel_at_once(weighting: Weighting) -> None:
    ratings = np.array(golden()["panel_of_five"]["ratings_raters_by_items"], dtype=float)
    expected = np.array(golden()["panel_of_five"][weighting]["pairwise"], dtype=float)
    one, other = np.triu_indices(5, 1)
    size = ratings.shape[1]
    groups, lines = np.repeat(np.arange(10), size), np.tile(np.arange(size), 10)
    found = kappas(
        ratings[one].ravel(), ratings[other].ravel(), groups, lines, np.ones((size, 1), dtype=np.uint16), weighting
    )
    assert found[:, 0] == pytest.approx(expected[one, other], abs=1e-12)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=30), st.sampled_from(WEIGHTINGS))
def test_any_pair_has_the_kappa_of_scikit_learn(rows: list[tuple[int, int]], weighting: Weighting) -> None:
    one, other = (list(part) for part in zip(*rows, strict=True))
    if len({*one, *other}) == 1:
        assert np.isnan(kappa(list(map(float, one)), list(map(float, other)), weighting))
        return
    expected = cohen_kappa_score(one, other, labels=[1, 2, 3, 4, 5], weights=SKLEARN[weighting])
    assert kappa(list(map(float, one)), list(map(float, other)), weighting) == pytest.approx(expected, abs=1e-12)


def test_a_resample_is_the_data_it_stands_for() -> None:
    rng = np.random.default_rng(0)
    one, other, clusters = rng.integers(1, 6, 40), rng.integers(1, 6, 40), rng.integers(0, 8, 40)
    counts = rng.integers(0, 3, (8, 5)).astype(np.uint16)
    groups = np.zeros(40, dtype=np.int64)
    found = kappas(one.astype(float), other.astype(float), groups, clusters, counts, "linear")[0]
    for column, value in zip(counts.T, found, strict=True):
        rows = np.repeat(np.arange(40), column[clusters])
        assert value == pytest.approx(kappa(one[rows].tolist(), other[rows].tolist(), "linear"), abs=1e-12)
