"""Judges against labels: shares near 1, pass rates from labels by chance and by verdict, differences of versions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rejoinder.estimates import Estimate
from rejoinder.stats import prediction_powered as ppi
from rejoinder.stats.pass_rate import PassRate, pass_rate, rogan_gladen, weighted_shares
from rejoinder.stats.resamples import FloatArray, IntArray, Resamples, percentile_interval
from rejoinder.stats.shares import share_of_clusters
from simulations.rows import FALSE_VERDICTS, NAN, Row, Simulation
from worlds import RATES, TNR, TPR, World, world

RIGHT = (0.93, 0.98)
"""Range of the coverage of a 95 % interval of a pass rate."""
SAFE = (0.93, 1.0)
"""The same where few labels of a verdict make the interval cautious."""
LABELS = 120


def shares_near_one(draws: int, seed: int) -> list[Row]:
    """Try the interval of a share of .97 over 22 lines, against that of percentiles."""
    rng = np.random.default_rng([seed, 1])
    lines = np.arange(22)
    resamples = Resamples.draw(lines, 400, rng)
    right, before = [], []
    for values in (rng.random((draws, 22)) < 0.97).astype(np.float64):
        right.append(_holds(share_of_clusters(values, lines, binary=True), 0.97))
        before.append(_holds(percentile_interval(resamples.sums(values[None])[0] / 22, 22), 0.97))
    share = "share of .97, 22 lines"
    return [Row("labels", share, "coverage", float(np.mean(right)), draws, SAFE, float(np.mean(before)))]


def pass_rates(draws: int, seed: int) -> list[Row]:
    """Try the pass rate of a lamp shop's bot: overall, by version, and the difference of two equal versions."""
    rng = np.random.default_rng([seed, 2])
    ways: dict[str, Callable[[World], IntArray]] = {
        "by chance": lambda drawn: drawn.by_chance(LABELS, rng),
        "by verdict": lambda drawn: drawn.by_verdict(LABELS, rng),
    }
    held: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for _ in range(draws):
        drawn = world(rng)
        for way, choose in ways.items():
            for what, figures in _figures(drawn, choose(drawn)).items():
                held.setdefault((way, what), []).append(figures)
    rows = []
    for (way, what), holds in held.items():
        value, before = np.array(holds).mean(axis=0).tolist()
        false = what.startswith("two equal")
        right = FALSE_VERDICTS if false else RIGHT if what == "pass rate" or way == "by chance" else SAFE
        design = f"800 replies, 120 labels {way}, {what}"
        rows.append(Row("labels", design, "false verdicts" if false else "coverage", value, draws, right, before))
    return rows


def _figures(drawn: World, chosen: IntArray) -> dict[str, tuple[float, float]]:
    """Return whether each interval holds the truth, and whether that of the rule before does."""
    lines, labels, verdicts = (
        np.arange(len(drawn.truth)),
        drawn.truth[chosen].astype(np.float64),
        drawn.verdicts[chosen],
    )
    whole = pass_rate(labels, verdicts, chosen, drawn.verdicts, lines)
    rated = np.full(len(lines), np.nan)
    rated[chosen] = labels
    held = {"pass rate": (_holds(whole.estimate, drawn.rate), _holds(_student(rated, drawn.verdicts), drawn.rate))}
    rates = list[PassRate]()
    for version, truth in enumerate(RATES):
        own, every = drawn.versions[chosen] == version, drawn.versions == version
        rates.append(pass_rate(labels[own], verdicts[own], chosen[own], drawn.verdicts[every], lines[every]))
        before = _holds(_student(rated[every], drawn.verdicts[every]), truth)
        if not rates[-1].reason:
            held[f"pass rate of v{version + 1}"] = _holds(rates[-1].estimate, truth), before
    apart = rates[2].minus(rates[1])
    if apart.known:
        first, second = (drawn.verdicts[drawn.versions == version] for version in (1, 2))
        error = np.sqrt(first.var() / len(first) + second.var() / len(second))
        judge_alone = float(abs(second.mean() - first.mean()) > 1.96 * error)
        held["difference of v3 and v2"] = _holds(apart, 0.0), NAN
        held["two equal versions, one is better"] = float(apart.excludes(0)), judge_alone
    shares = weighted_shares(labels, verdicts, chosen, float(drawn.verdicts.mean()), len(lines))
    for statistic, label, truth in (("TPR", 1, TPR), ("TNR", 0, TNR)):
        kept = labels == label
        plain = share_of_clusters((verdicts[kept] == label).astype(np.float64), np.arange(kept.sum()), binary=True)
        held[f"{statistic}, weighted"] = _holds(shares[statistic], truth), _holds(plain, truth)
    return held


def _student(rated: FloatArray, verdicts: IntArray) -> Estimate:
    """Return the pass rate with Student's interval, as a prediction-powered mean."""
    n = len(rated)
    sample = ppi.sample_of(rated, verdicts.astype(np.float64), np.ones(n), np.ones(n, dtype=bool), np.arange(n))
    return ppi.powered(sample).powered


DESIGNS = (
    (0.95, 0.95, 0.8, 100, 1),
    (0.97, 0.97, 0.7, 100, 1),
    (0.95, 0.95, 0.8, 50, 1),
    (0.9, 0.95, 0.7, 100, 4),
    (0.7, 0.8, 0.6, 100, 4),
)
"""Pass rate, TPR, TNR, labels, lines of a conversation."""


def designs(draws: int, seed: int) -> list[Row]:
    """Try pass rates near 1, few labels and conversations of several lines; and Rogan and Gladen's rate."""
    rng, rows = np.random.default_rng([seed, 3]), []
    for rate, tpr, tnr, n, size in DESIGNS:
        figures, corrected = [], []
        clusters = np.arange(n + 1000) // size
        for _ in range(draws):
            chance = rng.beta(rate * 2, (1 - rate) * 2, clusters[-1] + 1)[clusters] if size > 1 else rate
            truth = (rng.random(len(clusters)) < chance).astype(np.float64)
            verdicts = np.where(truth == 1, rng.random(len(truth)) < tpr, rng.random(len(truth)) >= tnr).astype(
                np.int64
            )
            measured = pass_rate(truth[:n], verdicts[:n], clusters[:n], verdicts, clusters)
            rated = np.where(np.arange(len(truth)) < n, truth, np.nan)
            if not measured.reason:
                figures.append((_holds(measured.estimate, rate), _holds(_student(rated, verdicts), rate)))
            good, bad = truth[:n].sum(), n - truth[:n].sum()
            right = float(truth[:n] @ verdicts[:n]), float((1 - truth[:n]) @ (1 - verdicts[:n]))
            other = rogan_gladen(right, (float(good), float(bad)), float(verdicts[n:].mean()), len(truth) - n)
            corrected.append(_holds(other, rate) if other.known else NAN)
        value, before = np.mean(figures, axis=0).tolist()
        design = f"pass rate {rate}, {n} labels, conversations of {size}"
        rows.append(Row("labels", design, "coverage", value, len(figures), SAFE, before))
        if size == 1:
            of_others = f"{design}, labels of other replies"
            rows.append(Row("labels", of_others, "coverage", float(np.nanmean(corrected)), draws, SAFE))
    return rows


def _holds(estimate: Estimate, truth: float) -> float:
    """Return 1 if the interval holds the truth; 0 without an interval."""
    return float(estimate.low <= truth <= estimate.high)


SIMULATIONS = (Simulation(shares_near_one, 200, 5000), Simulation(pass_rates, 100, 1000), Simulation(designs, 60, 1000))
