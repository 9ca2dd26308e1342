"""The ceiling, shares of it, and scorers compared with raters, where truth and raters are known."""

from __future__ import annotations

from functools import partial

import numpy as np

from rejoinder.analysis.ceiling import ratio_of, worth
from rejoinder.scorer import FloatArray
from rejoinder.stats.agreement import one_left_out, reliability
from rejoinder.stats.correlation import pearsons
from rejoinder.stats.resamples import IntArray, Resamples, percentile_interval
from simulations.rows import NAN, Row, Simulation

NEAR_ONE = (0.97, 1.03)
COVERED = (0.92, 0.98)
RESAMPLES = 400
Generator = np.random.Generator


def rated(rng: Generator, truth: FloatArray, k: int, icc: float) -> FloatArray:
    """Ratings [N, k] of these reliable parts, one of which has the reliability `icc`."""
    ratings: FloatArray = truth[:, None] * icc**0.5 + rng.normal(size=(len(truth), k)) * (1 - icc) ** 0.5
    return ratings


def correlation(x: FloatArray, y: FloatArray) -> float:
    return float(np.corrcoef(x, y)[0, 1])


def one_more_rater(draws: int, seed: int) -> list[Row]:
    """A scorer that is one more rater, against the same others: its correlation over that of the person."""
    rows = []
    for icc, k in ((0.1, 2), (0.1, 3), (0.2, 2), (0.35, 3), (0.6, 5)):
        rng, figures = np.random.default_rng(seed), []
        for _ in range(draws):
            truth = rng.normal(size=3000)
            table, scores = rated(rng, truth, k, icc), rated(rng, truth, 1, icc)[:, 0]
            parts = one_left_out(table, rng, 4)
            person, scorer = parts.correlations()["pearson"].value, parts.against_others(scores).value
            figures.append((person, scorer, correlation(scores, table.mean(axis=1))))
        person, scorer, before = np.mean(figures, axis=0)
        design = f"{k} raters, ICC(1) {icc}, 3,000 lines"
        measure = "correlation of a scorer that is one more rater over that of a person"
        rows.append(Row("one rater", design, measure, scorer / person, draws, NEAR_ONE, before / person))
    return rows


def design_of(name: str, rng: Generator, lines: int, k: int) -> tuple[IntArray, int]:
    """The raters [N, k] of each line, and how many people there are."""
    people = {"the same raters": k, "20 % of the ratings missing": k, "10 people, drawn for each line": 10}[name]
    if people == k:
        return np.tile(np.arange(k), (lines, 1)), people
    return np.argsort(rng.random((lines, people)), axis=1)[:, :k], people


def crossed(draws: int, seed: int) -> list[Row]:
    """A scorer that knows the truth, and one more person: raters are strict or mild with some standard deviation."""
    rows = []
    designs = [("the same raters", strict, k) for strict in (0.0, 0.5, 1.0) for k in (2, 3, 5)]
    designs += [("20 % of the ratings missing", 1.0, 3), ("10 people, drawn for each line", 1.0, 2)]
    for name, strict, k in designs:
        rng, figures = np.random.default_rng(seed), []
        for _ in range(draws):
            truth = rng.normal(size=300)
            raters, people = design_of(name, rng, 300, k)
            table = truth[:, None] + (strict * rng.normal(size=people))[raters] + rng.normal(size=raters.shape)
            if "missing" in name:
                missing = rng.random(table.shape) < 0.2
                missing[missing.all(axis=1), 0] = False
                table[missing] = np.nan
            reached = correlation(truth, np.nanmean(table, axis=1))
            of_raters, one_way = reliability(table, None, raters), reliability(table)
            figures.append((reached, of_raters.ceiling[0], one_way.ceiling[0]))
        reached, ceiling, before = np.mean(figures, axis=0)
        design, measure = f"{name}, {k} a line, severity sd {strict}", "share of a scorer that knows the truth"
        rows.append(Row("noise ceiling", design, measure, reached / ceiling, draws, NEAR_ONE, reached / before))
    return rows


def shares_and_worth(draws: int, seed: int) -> list[Row]:
    """The share of the ceiling, and the number of raters that a scorer is worth."""
    rows = []
    designs = [(0.2, 3, 300, 0.6), (0.1, 3, 300, 0.6), (0.05, 10, 300, 0.6), (0.35, 2, 200, 0.6), (0.35, 3, 300, 0.9)]
    measure = partial("{}: {}".format, "coverage")
    for icc, k, lines, rho in designs:
        rng, hits = np.random.default_rng(seed), []
        raters = rho**2 * (1 - icc) / (icc * (1 - rho**2))
        for _ in range(draws):
            truth = rng.normal(size=lines)
            table = rated(rng, truth, k, icc)
            scores = rho * truth + (1 - rho**2) ** 0.5 * rng.normal(size=lines)
            resamples = Resamples.draw(np.arange(lines), RESAMPLES, rng)
            known, drawn = reliability(table, resamples), pearsons(scores[None], table.mean(axis=1), resamples)[0]
            if not percentile_interval(known.ceiling, lines).low > 0:
                continue
            share = ratio_of(drawn, known.ceiling, lines)
            m = worth(drawn, known.mean, known.single, lines)
            alone = percentile_interval(drawn, lines) / float(known.ceiling[0])
            hits.append((share.low <= rho <= share.high, m.low <= raters <= m.high, alone.low <= rho <= alone.high))
        of_share, of_worth, before = np.mean(hits, axis=0)
        design = f"{k} raters, ICC(1) {icc}, {lines} lines, true share {rho}"
        rows.append(Row("share of the ceiling", design, measure("share"), of_share, len(hits), COVERED, before))
        rows.append(Row("worth m raters", design, measure("worth raters"), of_worth, len(hits), COVERED))
    return rows


def worth_of_raters(draws: int, seed: int) -> list[Row]:
    """The median number of raters of scorers that are one more rater, and the mean of four."""
    rows = []
    for k in (2, 3, 5):
        for size in (1, 4):
            rng, values = np.random.default_rng(seed), []
            for _ in range(draws):
                truth = rng.normal(size=1000)
                table, scores = rated(rng, truth, k, 0.35), rated(rng, truth, size, 0.35).mean(axis=1)
                known = reliability(table)
                drawn = np.array([correlation(scores, table.mean(axis=1))])
                values.append(worth(drawn, known.mean, known.single, 1000).value)
            design = f"{k} raters, ICC(1) 0.35, 1,000 lines; the scorer is the mean of {size} more"
            share = float(np.median(values)) / size
            rows.append(Row("worth m raters", design, "median over the truth", share, draws, (0.93, 1.07), NAN))
    return rows


SIMULATIONS = (
    Simulation(one_more_rater, few=25, many=1000),
    Simulation(crossed, few=60, many=1000),
    Simulation(shares_and_worth, few=40, many=1000),
    Simulation(worth_of_raters, few=60, many=1000),
)
