"""The pass rate that the labellers would give, overall and by system, from the verdicts of a judge on all lines."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from rejoinder.analysis.labels import Judged, gives_verdicts, judges_of
from rejoinder.analysis.scored import ScoredSet
from rejoinder.estimates import NAN, Estimate, decide
from rejoinder.stats import prediction_powered as ppi
from rejoinder.stats.corrected import BY_VERDICTS
from rejoinder.stats.pass_rate import (
    NO_VERDICT,
    PassRate,
    by_scores,
    design_effect,
    labels_for,
    labels_for_caught,
    pass_rate,
    rogan_gladen,
)
from rejoinder.stats.resamples import BoolArray, FloatArray, IntArray
from rejoinder.stats.shares import binary_share

TARGETS = {"pass rate": 0.05, "TNR": 0.1, "difference of pass rate": 0.05}
"""Half widths of the intervals for which the number of labels is given."""
UNUSUAL = 0.001
"""p of the test whether labelled lines were chosen by chance, under which it warns."""
_MOST_SYSTEMS = 12  # with more, only their rates are given


def pass_rates(scored: ScoredSet) -> list[Estimate]:
    """Return the pass rate by each judge, of all lines and of each system, with differences and labels needed.

    Next to it are the share of passes among the labels alone, and by the judge alone. Nothing without a population, and
    if lines were chosen by their labels.
    """
    if not len(scored.rated.population.lines) or scored.judging.chosen == "label":
        return []
    estimates = list[Estimate]()
    for name in judges_of(scored):
        judge = Judged.of(scored, name)
        if not (judge.places >= 0).any():
            estimates.append(_of_other_lines(judge))
        elif gives_verdicts(scored, name) or scored.judging.cutoff != "best":
            estimates += _by_verdicts(judge)
        else:
            estimates.append(_by_numbers(judge))
    return estimates


def _by_verdicts(judge: Judged) -> list[Estimate]:
    """Return all estimates of a judge whose labelled lines are among all lines."""
    systems = np.array([line.system or "" for line in judge.lines], dtype=object)
    names = sorted({*systems.tolist()} - {""})
    names = names if len(names) > 1 else []
    every = {"": np.ones(len(systems), dtype=bool), **{name: systems == name for name in names}}
    rates, estimates = dict[str, PassRate](), list[Estimate]()
    for name, listed in every.items():
        own = np.flatnonzero((judge.places >= 0) & listed[judge.places])
        labels, clusters = judge.labels[own], judge.clusters[judge.places[own]]
        facts = labels, judge.verdicts[own], clusters, judge.every[listed], judge.clusters[listed]
        rates[name] = pass_rate(*facts)
        estimates += _of_lines(judge, name, rates[name], labels, clusters, listed)
    pairs = list(combinations(names, 2)) if len(names) <= _MOST_SYSTEMS else []
    name = "difference of pass rate"
    estimates += decide([_row(judge, rates[new].minus(rates[old]), name, new, old) for old, new in pairs])
    for old, new in pairs:
        difference = _judge_alone(judge, every[new]).minus(_judge_alone(judge, every[old]))
        estimates.append(_row(judge, difference, f"{name}, judge only", new, old))
    return [*estimates, _chance(judge), *_needed(judge, rates, pairs[-1:])]


def _row(judge: Judged, row: Estimate, statistic: str, system: str = "", versus: str = "", **more: Any) -> Estimate:
    """Return an estimate about a judge."""
    about = {"method": BY_VERDICTS, "seed": None, "unscored": 0, "n": row.n, "system": system, "versus": versus, **more}
    return judge.scored.row(judge.name, judge.rows, statistic, row, **about)


def _of_lines(
    judge: Judged, system: str, rate: PassRate, labels: FloatArray, clusters: IntArray, listed: BoolArray
) -> list[Estimate]:
    """Return the pass rate of all lines or of a system, and what the labels, and the judge, say alone."""
    alone, n = binary_share(labels, clusters), len(labels)
    alone = replace(alone, n=n, reason=alone.reason if n else "no labelled line")
    if judge.scored.judging.chosen == "verdict":
        alone = Estimate(n=n, reason="labels were chosen by verdict")
    contexts: dict[str, Any] = {"contexts": len(np.unique(clusters))}
    judge_only = replace(_judge_alone(judge, listed).estimate, n=int(listed.sum()))
    unjudged: dict[str, Any] = {"unscored": int((judge.every[listed] == NO_VERDICT).sum())}
    wilson = "share, 95% Wilson interval"
    return [
        _row(judge, rate.estimate, "pass rate", system, **contexts, **unjudged),
        _row(judge, alone, "pass rate, labels only", system, method=wilson, **contexts),
        _row(judge, judge_only, "pass rate, judge only", system, method="share of passes, Student's t", **unjudged),
    ]


def _judge_alone(judge: Judged, listed: BoolArray) -> PassRate:
    """Return the share of lines that the judge passes, as if its verdicts were labels."""
    known = listed & (judge.every != NO_VERDICT)
    verdicts, clusters = judge.every[known], judge.clusters[known]
    same = np.ones_like(verdicts)
    return pass_rate(verdicts.astype(np.float64), same, clusters, same, clusters)


def _chance(judge: Judged) -> Estimate:
    """Return the judge's share of passes on the labelled lines; p tests whether it is that of the other lines."""
    from scipy.special import ndtr

    known = judge.every != NO_VERDICT
    labelled = np.isin(np.arange(len(known)), judge.places) & known
    n, others = int(labelled.sum()), int((known & ~labelled).sum())
    p = NAN
    if n and others:
        parts = np.where(known, judge.every - judge.passed(), 0.0) * (labelled / n - (known & ~labelled) / others)
        variance = design_effect(parts, judge.clusters) * float(parts @ parts)
        p = float(2 * ndtr(-abs(parts.sum()) / variance**0.5)) if variance > 0 else NAN
    value, reason = float(judge.every[labelled].mean()) if n else NAN, "" if others else "every line is labelled"
    method = "p: the same share of passes on the other lines"
    return _row(judge, Estimate(value=value, p=p, n=n, reason=reason), "pass share of labelled lines", method=method)


def _needed(judge: Judged, rates: dict[str, PassRate], pairs: list[tuple[str, str]]) -> list[Estimate]:
    """Return how many labels in all give intervals of the half widths `TARGETS`."""
    counts: dict[tuple[str, str, str], int | None] = {
        ("pass rate", "", ""): labels_for(TARGETS["pass rate"], rates[""]),
    }
    bad, n = judge.labels == 0, len(judge.labels)
    if bad.any():
        caught = (int((bad & (judge.verdicts == 0)).sum()) + 0.5) / (int(bad.sum()) + 1)
        counts["TNR", "", ""] = labels_for_caught(TARGETS["TNR"], caught, int(bad.sum()) / n)
    name = "difference of pass rate"
    counts |= {(name, new, old): labels_for(TARGETS[name], rates[new], rates[old]) for old, new in pairs}
    estimates = []
    for (target, system, versus), size in counts.items():
        row = (
            Estimate(n=n, reason="labels of all lines are not enough")
            if size is None
            else Estimate(value=float(size), n=n)
        )
        about = {"by": "target", "group": target, "method": f"for an interval of ± {TARGETS[target]:g}"}
        estimates.append(_row(judge, row, "labels needed", system, versus, **about))
    return estimates


def _of_other_lines(judge: Judged) -> Estimate:
    """Return the pass rate of all lines by the errors that the judge makes on other lines with labels."""
    known, right, sizes = judge.every != NO_VERDICT, [], []
    for label in (1, 0):
        own = np.flatnonzero((judge.verdicts != NO_VERDICT) & (judge.labels == label))
        hits = (judge.verdicts[own] == label).astype(np.float64)
        effect = design_effect(hits - hits.mean() if len(hits) else hits, judge.contexts(own))
        right.append(float(hits.sum()) / effect)
        sizes.append(len(hits) / effect)
    effect = design_effect(judge.every[known] - judge.passed(), judge.clusters[known])
    rate = rogan_gladen((right[0], right[1]), (sizes[0], sizes[1]), judge.passed(), int(known.sum()) / effect)
    method = "corrected by the errors on other lines (Rogan and Gladen), interval of Lang and Reiczigel"
    return _row(judge, replace(rate, n=len(judge.judged)), "pass rate", method=method)


def _by_numbers(judge: Judged) -> Estimate:
    """Return the pass rate by the scores of a scorer that gives numbers: the regression form, as in `estimate`."""
    scores, labels, inside = judge.scored.of_all[judge.name], np.full(len(judge.lines), np.nan), judge.places >= 0
    scores = np.where(np.isfinite(scores), scores, scores[np.isfinite(scores)].mean())
    labels[judge.places[inside]] = judge.labels[inside]
    everything = np.ones(len(labels), dtype=bool)
    sample = ppi.sample_of(labels, scores, np.ones(len(labels)), everything, judge.clusters)
    method = "prediction-powered mean with power tuning (PPI++), adjusted counts"
    return _row(judge, by_scores(sample).estimate, "pass rate", method=method)
