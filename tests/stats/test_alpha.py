"""Krippendorff's alpha: published values of all three levels, and what resamples are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.stats.alpha import LEVELS, Level, alphas, krippendorff_alpha

NONE = np.nan
# Krippendorff (2011), case C: four observers, twelve units.
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
        [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
    ]
).T


# His values to three digits; the others by the package krippendorff 0.9.0, alpha(reliability_data=KRIPPENDORFF.T).
@pytest.mark.parametrize(
    ("level", "published", "program"),
    [
        ("nominal", 0.743, 0.743421052631579),
        ("ordinal", 0.815, 0.8153875037548814),
        ("interval", 0.849, 0.8491071428571428),
    ],
)
def test_alpha_is_that_of_krippendorff(level: Level, published: float, program: float) -> None:
    found = krippendorff_alpha(KRIPPENDORFF, level)
    assert round(found.value, 3) == published and found.n == 11
    assert found.value == pytest.approx(program, abs=1e-9)


@given(st.integers(0, 10**6), st.sampled_from(LEVELS))
def test_a_resample_is_the_data_it_stands_for(seed: int, level: Level) -> None:
    rng = np.random.default_rng(seed)
    ratings = rng.choice([1.0, 2.0, 3.5, 5.0, NONE], size=(20, 4))
    clusters = rng.integers(0, 6, 20)
    counts = rng.integers(0, 3, (6, 4)).astype(np.uint16)
    for column, value in zip(counts.T, alphas(ratings, clusters, counts, level), strict=True):
        again = krippendorff_alpha(ratings[np.repeat(np.arange(20), column[clusters])], level)
        assert value == pytest.approx(again.value, abs=1e-9, nan_ok=True) or again.reason


@pytest.mark.parametrize("level", LEVELS)
def test_what_cannot_be_said_has_a_reason(level: Level) -> None:
    assert krippendorff_alpha(np.full((9, 3), 2.0), level).reason == "all ratings are the same (2)"
    assert "three are needed" in krippendorff_alpha(np.array([[1.0, 2.0]]), level).reason
