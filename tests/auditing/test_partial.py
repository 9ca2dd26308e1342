"""Partial correlation and slope."""

from __future__ import annotations

import numpy as np
import pytest

from rejoinder.auditing.partial import partial


def draw(seed: int, n: int = 80) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    x = 100 + z + rng.normal(size=n)
    return x, 0.3 * x - 2 * z + rng.normal(size=n), z


def by_residuals(x: np.ndarray, y: np.ndarray, z: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """The definition: correlate what weighted least squares on `z` leaves of both."""
    root = np.sqrt(weights)
    design = root[:, None] * np.stack([np.ones_like(z), z], axis=1)
    left = [root * one - design @ np.linalg.lstsq(design, root * one, rcond=None)[0] for one in (x, y)]
    product = float(left[0] @ left[1])
    return product / float(np.sqrt((left[0] ** 2).sum() * (left[1] ** 2).sum())), product / float((left[0] ** 2).sum())


@pytest.mark.parametrize("seed", range(4))
def test_it_is_what_residuals_say(seed: int) -> None:
    x, y, z = draw(seed)
    weights = np.random.default_rng(seed).integers(0, 3, (80, 5)).astype(np.float64)
    found = partial(x, y, z, weights)
    for column in range(5):
        correlation, slope = by_residuals(x, y, z, weights[:, column])
        assert found.correlation[column] == pytest.approx(correlation)
        assert found.slope[column] == pytest.approx(slope)


def test_a_constant_explains_nothing() -> None:
    x, y, _ = draw(0)
    found = partial(x, y, np.full(80, 0.1), np.ones((80, 1)))
    assert found.correlation[0] == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_where_nothing_is_left_there_is_no_value() -> None:
    x, y, z = draw(0)
    ones = np.ones((80, 1))
    for given in ((z * 3 + 1, y, z), (x, z, z), (np.full(80, 2.0), y, z)):
        assert np.isnan(partial(*given, ones).correlation[0]) and np.isnan(partial(*given, ones).slope[0])
