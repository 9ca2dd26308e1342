"""Comparisons of two systems by a scorer, and mean ratings of systems from few ratings."""

from __future__ import annotations

import numpy as np
from scipy.stats import t as student

import rejoinder
from rejoinder.example import Example
from rejoinder.scorer import FloatArray
from rejoinder.stats import prediction_powered as ppi
from simulations.rows import COVERAGE, FALSE_VERDICTS, Row, Simulation

RESAMPLES = 300
CONVERSATIONS, REPLIES = 20, 3
COLUMNS = ("none", "least", "apart")
QUANTILES = student.ppf(0.975, [19, 38]) + student.ppf(0.8, [19, 38])


def lines(name: str, **columns: FloatArray) -> list[Example]:
    """Return the replies of a system, some in each conversation, with their scores in columns."""
    rows = zip(*(values.ravel().tolist() for values in columns.values()), strict=True)
    return [
        Example((f"{name} {place // REPLIES}",), "so", id=str(place), extra=dict(zip(columns, scores, strict=True)))
        for place, scores in enumerate(rows)
    ]


def compared(draws: int, seed: int) -> list[Row]:
    """Return what `compare` says of systems that are equal, that differ, and whose mean and wins point apart."""
    rows = []
    for paired in (True, False):
        rng, counts = np.random.default_rng(seed), dict.fromkeys((*COLUMNS, "number", "open", "told"), 0)
        # a pair has its conversation in common, so only the replies differ
        error = (2 / CONVERSATIONS * (1 / REPLIES + (not paired))) ** 0.5
        least = float(QUANTILES[0 if paired else 1]) * error
        for _ in range(draws):
            talks = rng.normal(size=(2, CONVERSATIONS, 1))
            a, b = talks[[0, 0] if paired else [0, 1]] + rng.normal(size=(2, CONVERSATIONS, REPLIES))
            far = np.where(np.arange(a.size).reshape(a.shape) % 4 == 0, -9.0, 1.0) + 0.1 * rng.normal(size=a.shape)
            first = lines("a", none=a, least=a, apart=0.1 * a)
            second = lines("a" if paired else "b", none=b, least=b + least, apart=0.1 * a + far)
            results = rejoinder.compare(
                first,
                second,
                [f"column:{name}" for name in COLUMNS],
                pair_by="id" if paired else "none",
                resamples=RESAMPLES,
            )
            for name in COLUMNS:
                gap = results.one(scorer=f"column:{name}", statistic="difference")
                counts[name] += gap.p < 0.05 and gap.excludes()
                if name == "none":
                    counts["number"] += gap.needed is not None
                    counts["open"] += not gap.p < 0.05  # the old rule gave a number here
            counts["told"] += any("column:apart point apart" in line for line in results.answer)
        world = f"{'pairs' if paired else 'two logs'}, {CONVERSATIONS} conversations of {REPLIES} replies"
        share = {name: number / draws for name, number in counts.items()}
        rows += [
            Row("compare", world, "a difference is claimed; there is none", share["none"], draws, FALSE_VERDICTS),
            Row("compare", world, "a true detectable difference is found", share["least"], draws, (0.75, 0.88)),
            Row("compare", world, "a forecast; no difference", share["number"], draws, (0.0, 0.02), share["open"]),
            Row(
                "compare: wins",
                world,
                "mean and wins point apart, and the answer names it",
                share["told"],
                draws,
                (0.95, 1.0),
                0.0,
            ),
        ]
    return rows


def mean_ratings(draws: int, seed: int) -> list[Row]:
    """Return the coverage of the mean rating of a system, with the scores and by ratings only."""
    rows = []
    for rated, size, talks, r, likeness in (
        (5, 4, 200, 0.0, 0.3),
        (10, 4, 200, 0.0, 0.3),
        (10, 4, 200, 0.6, 0.3),
        (20, 4, 200, 0.6, 0.3),
        (30, 4, 200, 0.6, 0.3),
        (30, 4, 40, 0.6, 0.3),
        (10, 4, 14, 0.8, 0.3),
        (60, 1, 500, 0.6, 0.0),
    ):
        rng, both, alone = np.random.default_rng(seed), 0, 0
        root, contexts = np.linalg.cholesky([[1, r], [r, 1]]), np.repeat(np.arange(talks), size)
        for _ in range(draws):
            samples = []
            for _system in range(3):
                z = likeness**0.5 * (rng.normal(size=(talks, 2)) @ root.T)[contexts]
                z += (1 - likeness) ** 0.5 * (rng.normal(size=(len(contexts), 2)) @ root.T)
                ratings = np.where(contexts < rated, z[:, 0], np.nan)
                weights = np.ones(len(contexts))
                samples.append(ppi.sample_of(ratings, z[:, 1], weights, weights > 0, contexts))
            mean = ppi.powered(samples[0], ppi.shared_power(samples))
            both += mean.powered.low <= 0 <= mean.powered.high
            alone += mean.alone.low <= 0 <= mean.alone.high
        world = f"{rated} of {talks} conversations of {size} rated, scorer r {r:g}, likeness {likeness:g}"
        rows.append(
            Row("estimate", world, "coverage; before: ratings only", both / draws, draws, COVERAGE, alone / draws)
        )
    return rows


SIMULATIONS = (Simulation(compared, few=40, many=1000), Simulation(mean_ratings, few=100, many=2000))
