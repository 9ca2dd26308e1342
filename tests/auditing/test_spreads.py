"""The ratio of two standard deviations over resampled contexts."""

from __future__ import annotations

import numpy as np
import pytest

from rejoinder.auditing.spreads import ratio_of_spreads, two_way
from rejoinder.stats.resamples import Resamples


def test_the_ratio_and_its_interval() -> None:
    rng = np.random.default_rng(0)
    values, clusters = rng.normal(size=300) + 1e6, np.arange(300) // 3
    resamples = Resamples.draw(clusters, 300, rng)
    found = ratio_of_spreads(values, rng.normal(size=300) * 2, resamples)
    assert found.n == 300 and found.low < found.value < found.high and 0.4 < found.low < found.high < 0.65
    exact = ratio_of_spreads(3 * values, values, resamples)
    assert (exact.low, exact.value, exact.high) == pytest.approx((3, 3, 3))
    assert ratio_of_spreads(np.full(300, 2.0), values, resamples).value == 0


def test_there_is_none_beside_equal_values() -> None:
    for values in (np.array([1.0, 2.0]), np.empty(0)):
        found = ratio_of_spreads(values, np.ones_like(values), Resamples.once(np.arange(len(values))))
        assert not found.known and found.reason == "what it is set beside has no spread"


def test_what_rows_columns_and_both_add_to_the_variance() -> None:
    rows, columns = np.array([[0.0], [2.0], [7.0]]), np.array([[1.0, 5.0]])
    assert two_way(rows + columns).both == pytest.approx(0, abs=1e-12)
    assert two_way(rows + 0 * columns)[:2] == pytest.approx((1, 0))
    assert two_way(0 * rows + columns)[:2] == pytest.approx((0, 1))
    rng = np.random.default_rng(0)
    assert two_way(rng.normal(size=(300, 300))).both > 0.98
    shares = two_way(rng.normal(size=(4, 5)))
    assert sum(shares) == pytest.approx(1) and min(shares) > 0
    assert np.isnan(two_way(np.ones((2, 2)))).all()
