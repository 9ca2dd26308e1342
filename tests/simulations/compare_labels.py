"""Comparisons and mean ratings by labels and a judge: false verdicts of `compare`, shares near 1 in `estimate`."""

from __future__ import annotations

import numpy as np

from rejoinder.estimates import Estimate
from rejoinder.stats import prediction_powered as ppi
from rejoinder.stats.corrected import Corrected, corrected
from rejoinder.stats.resamples import BoolArray, FloatArray
from simulations.rows import FALSE_VERDICTS, NAN, Row, Simulation
from worlds import world

LABELS = 120
"""Of three versions together."""
COVERED = (0.92, 1.0)
ABOVE = (0.0, 0.05)


def equal_versions(draws: int, seed: int) -> list[Row]:
    """Try the difference of two versions that are equal, by a judge that is lax on the longer replies of one."""
    rng, figures = np.random.default_rng([seed, 38]), []
    for _ in range(draws):
        drawn = world(rng)
        verdicts = drawn.verdicts.astype(np.float64)
        labels = np.full(len(verdicts), np.nan)
        chosen = drawn.by_chance(LABELS, rng)
        labels[chosen] = drawn.truth[chosen]
        scores = verdicts + rng.normal(0, 0.3, len(verdicts))
        old, new = (drawn.versions == version for version in (1, 2))
        apart = _of(labels, verdicts, new).minus(_of(labels, verdicts, old)).powered
        by_scores = _of(labels, scores, new).minus(_of(labels, scores, old)).powered
        error = np.sqrt(verdicts[old].var() / old.sum() + verdicts[new].var() / new.sum())
        alone = (verdicts[new].mean() - verdicts[old].mean()) / error
        figures.append(
            (
                apart.low > 0,
                alone > 1.96,
                _holds(apart, 0.0),
                abs(alone) < 1.96,
                by_scores.low > 0,
                by_scores.excludes(0),
            )
        )
    above, alone_above, held, alone_held, number_above, number_false = np.mean(figures, axis=0).tolist()
    world_of, rule = f"two equal versions, judge lax on long replies, {LABELS} labels", "compare by labels"
    return [
        Row(rule, world_of, "says that B is better", above, draws, ABOVE, alone_above),
        Row(rule, world_of, "coverage of the difference", held, draws, COVERED, alone_held),
        Row(rule, f"{world_of}, scores that are numbers", "says that B is better", number_above, draws, ABOVE, NAN),
        Row(rule, f"{world_of}, scores that are numbers", "false verdicts", number_false, draws, FALSE_VERDICTS, NAN),
    ]


def paired_versions(draws: int, seed: int) -> list[Row]:
    """Try versions that answer the same 300 questions, with labels of 60 of them on both sides or of others on each."""
    rng, lines, n = np.random.default_rng([seed, 40]), 300, 60
    held = dict[str, list[tuple[float, float]]]()
    for _ in range(draws):
        ease, sides = rng.normal(1, 1, lines), list[tuple[FloatArray, FloatArray]]()
        for _ in range(2):
            truth = (ease + 0.5 * rng.normal(size=lines) > 0).astype(np.float64)
            sides.append((truth, np.where(rng.random(lines) < 0.15, 1 - truth, truth)))
        both, places = np.ones(lines, dtype=bool), np.arange(lines)
        for kind, second in (("the same questions", places < n), ("other questions", places >= lines - n)):
            chosen = places < n, second
            old, new = (
                _of(np.where(rated, truth, np.nan), verdicts, both)
                for rated, (truth, verdicts) in zip(chosen, sides, strict=True)
            )
            apart, alone = new.minus(old).powered, new.minus(old).alone
            held.setdefault(kind, []).append((_holds(apart, 0.0), (apart.high - apart.low) / (alone.high - alone.low)))
    rows = []
    for kind, figures in held.items():
        coverage, width = np.mean(figures, axis=0).tolist()
        design = f"two versions that answer the same {lines} questions, {n} labels of each, of {kind}"
        rows.append(Row("compare by labels", design, "coverage of the difference", coverage, draws, COVERED))
        rows.append(Row("compare by labels", design, "width, labels alone are 1", width, draws, (0.0, 1.1)))
    return rows


def rates_near_one(draws: int, seed: int) -> list[Row]:
    """Try a pass rate of .95 by 100 labels of 1,000 lines, and of all lines of systems that differ."""
    rng, lines, n = np.random.default_rng([seed, 39]), 1000, 100
    everything = np.ones(lines, dtype=bool)
    kinds = {"verdicts": True, "numbers": False}
    held = dict[str, list[tuple[float, float]]]()
    for _ in range(draws):
        truth = (rng.random(lines) < 0.95).astype(np.float64)
        verdicts = np.where(rng.random(lines) < 0.1, 1 - truth, truth)
        labels = np.where(np.arange(lines) < n, truth, np.nan)
        for kind, is_verdict in kinds.items():
            scores = verdicts if is_verdict else verdicts + rng.normal(size=lines)
            of = _of(labels, scores, everything)
            held.setdefault(kind, []).append(
                (_holds(of.mean().powered, 0.95), _holds(ppi.powered(of.sample).powered, 0.95))
            )
        rates, sizes = np.array([0.99, 0.8]), (800, 200)  # as many labels of each system
        truth = (rng.random(lines) < np.repeat(rates, sizes)).astype(np.float64)
        first = np.concatenate([np.arange(size) < n // 2 for size in sizes])
        weights = np.repeat(np.array(sizes, dtype=np.float64), sizes)
        verdicts = np.where(rng.random(lines) < 0.1, 1 - truth, truth)
        of = _of(np.where(first, truth, np.nan), verdicts, everything, weights)
        rate = float(np.average(rates, weights=sizes))
        held.setdefault("systems", []).append(
            (_holds(of.mean().powered, rate), _holds(ppi.powered(of.sample).powered, rate))
        )
    names = {kind: f"pass rate .95, {n} labels, a judge of {kind}" for kind in kinds}
    names["systems"] = "pass rate .95 of two systems of 800 and 200 lines, 50 labels each"
    rows = []
    for kind, design in names.items():
        value, before = np.mean(held[kind], axis=0).tolist()
        rows.append(Row("estimate of labels", design, "coverage", value, draws, COVERED, before))
    return rows


def _of(labels: FloatArray, scores: FloatArray, rows: BoolArray, weights: FloatArray | None = None) -> Corrected:
    """Return what is known of some lines; scores of 0 and 1 are verdicts."""
    of_rows, every = labels[rows], scores[rows]
    verdicts = every.astype(np.int64) if np.isin(every, (0, 1)).all() else None
    chances = np.ones(len(labels)) if weights is None else weights
    listed, places = np.ones(len(every), dtype=bool), np.flatnonzero(rows)
    return corrected(of_rows, every, chances[rows], listed, places, labels=True, verdicts=verdicts)


def _holds(estimate: Estimate, truth: float) -> float:
    """Return 1 if the interval holds the truth; 0 without an interval."""
    return float(estimate.low <= truth <= estimate.high)


SIMULATIONS = (
    Simulation(equal_versions, 100, 400),
    Simulation(paired_versions, 100, 1000),
    Simulation(rates_near_one, 100, 1000),
)
