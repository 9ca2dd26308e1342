"""Correlations within systems, their ceiling, and what knowing the system gives."""

from __future__ import annotations

import numpy as np

from rejoinder.analysis.ceiling import raters
from rejoinder.analysis.within import ceiling_within_systems
from rejoinder.estimates import one
from rejoinder.example import Example, Rating
from rejoinder.stats.correlation import less_group_means, of_group_means, pearson
from rejoinder.stats.resamples import Resamples, percentile_interval
from scored_sets import scored_sets
from simulations.rows import COVERAGE, Row, Simulation

RESAMPLES = 200
MEAN, WITHIN = "system mean", "within systems"


def unequal_systems(draws: int, seed: int) -> list[Row]:
    """Return the spread of the correlation within two systems of 100 lines and ten of 3."""
    rng, groups = np.random.default_rng(seed), np.repeat(np.arange(12), [100] * 2 + [3] * 10)
    found = np.zeros((draws, 2))
    for draw in range(draws):
        x, noise = rng.normal(size=(2, len(groups)))
        y = 0.3 * x + 0.91**0.5 * noise
        found[draw, 0] = pearson(less_group_means(x, groups), less_group_means(y, groups)).value
        found[draw, 1] = np.mean([pearson(x[groups == part], y[groups == part]).value for part in range(12)])
    design = "two systems of 100 lines and ten of 3, correlation .3"
    limits = {"mean": (0.28, 0.32), "standard deviation": (0.0, 0.08)}
    figures = zip(limits.items(), (found.mean(axis=0), found.std(axis=0)), strict=True)
    return [Row(WITHIN, design, name, new, draws, right, old) for (name, right), (new, old) in figures]


def system_mean(draws: int, seed: int) -> list[Row]:
    """Return how near the correlation of the system mean comes to the truth, and how often it predicts nothing."""
    rows = []
    for count, size, share in ((2, 30, 0.02), (5, 20, 0.02), (5, 20, 0.05), (5, 50, 0.05), (5, 100, 0.1)):
        rng, found = np.random.default_rng(seed), np.zeros((draws, 5))
        systems, contexts = np.tile(np.arange(count), size), np.repeat(np.arange(size), count)
        for draw in range(draws):
            levels = rng.normal(size=count)
            levels = (levels - levels.mean()) / levels.std() * share**0.5
            ratings = levels + rng.normal(size=(size, count)) * (1 - share) ** 0.5
            eta = of_group_means(ratings.ravel(), systems, Resamples.draw(contexts, RESAMPLES, rng))
            row = percentile_interval(eta, size)
            others = (ratings.sum(axis=0) - ratings) / (size - 1)
            before = pearson(others.ravel(), ratings.ravel()).value
            found[draw] = row.value, row.low <= share**0.5 <= row.high, row.high < 0.1, before, before <= 0
        value, held, nothing, before, nothing_before = found.mean(axis=0).tolist()
        design = f"{count} systems of {size} lines hold {share:.0%} of the variance ({share**0.5:.2f})"
        near = (share**0.5 - 0.06, share**0.5 + 0.02)
        rows.append(Row(MEAN, design, "mean", value, draws, near, before))
        rows.append(Row(MEAN, design, "says that it predicts nothing", nothing, draws, (0.0, 0.05), nothing_before))
        rows.append(Row(MEAN, design, "interval holds the truth", held, draws, COVERAGE))
    return rows


def ceiling_within(draws: int, seed: int) -> list[Row]:
    """Return how near the ceiling within systems comes to the truth, and how often its interval holds it."""
    rng, found, truth = np.random.default_rng(seed), np.zeros((draws, 3)), (0.5 / (0.5 + 0.75)) ** 0.5
    for draw in range(draws):
        levels = rng.normal(size=5)
        quality = np.tile((levels - levels.mean()) / levels.std() * 0.5**0.5, 80) + rng.normal(size=400) * 0.5**0.5
        table = quality[:, None] + 1.5 * rng.normal(size=(400, 3))
        examples = [
            Example((str(row // 5),), "", system="abcde"[row % 5], ratings=tuple(map(Rating, values)))
            for row, values in enumerate(table.tolist())
        ]
        scored = scored_sets(examples, {"judge": quality}, resamples=RESAMPLES)[0][0]
        over_all = raters(scored)
        row = one(ceiling_within_systems(over_all, scored), statistic="ceiling of pearson within systems")
        found[draw] = row.value, row.low <= truth <= row.high, one(over_all, statistic="ceiling of pearson").value
    design = f"5 systems hold half of the quality, 400 lines, 3 raters: ceiling within systems {truth:.2f}"
    value, held, before = np.nanmean(found, axis=0)
    near = (truth - 0.03, truth + 0.03)
    coverage = Row(WITHIN, design, "interval holds the truth", held, draws, COVERAGE)
    return [Row(WITHIN, design, "mean", value, draws, near, before), coverage]


SIMULATIONS = (
    Simulation(unequal_systems, few=100, many=2000),
    Simulation(system_mean, few=100, many=1000),
    Simulation(ceiling_within, few=15, many=300),
)
