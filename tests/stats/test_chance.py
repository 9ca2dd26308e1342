"""What a correlation comes to by chance: by the tables, and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rejoinder.stats.chance import chance_band


def test_the_chance_level_is_the_critical_value_of_the_tables() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 27))
    assert chance_band(x, y, np.arange(27)).high == pytest.approx(0.381, abs=5e-4)
    nine = np.repeat(np.arange(9), 3)
    assert chance_band(x[nine], y[nine], nine).high == pytest.approx(0.666, abs=5e-4), "nine contexts and no more"
    assert chance_band(x, y[nine], np.arange(27)).high == pytest.approx(0.381, abs=5e-4)
    assert math.isnan(chance_band(np.ones(27), y, nine).high) and math.isnan(chance_band(x[:2], y[:2], nine[:2]).high)


def test_unrelated_scorers_leave_the_chance_band_once_in_twenty_times() -> None:
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 12, size=40)
    clusters = np.repeat(np.arange(40), sizes)
    outside, naive, draws = 0, 0, 500
    for _ in range(draws):
        x, y = (rng.normal(size=40)[clusters] + rng.normal(size=len(clusters)) for _ in range(2))
        found = abs(float(np.corrcoef(x, y)[0, 1]))
        outside += found > chance_band(x, y, clusters).high
        naive += found > 1.96 / math.sqrt(len(x))
    assert 0.03 <= outside / draws <= 0.075, "95 % are inside"
    assert naive / draws > 0.12, "lines are not independent, and a band that takes them so is too narrow"
