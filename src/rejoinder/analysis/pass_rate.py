"""The pass rate that the labellers would give, overall and by system, from the verdicts of a judge on all lines."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from rejoinder.analysis.labels import Judged, gives_verdicts, judges_of
from rejoinder.analysis.scored import ScoredSet
from rejoinder.data.clusters import sorted_clusters
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
from rejoinder.stats.resamples import BoolArray, FloatArray, IntArray, renumbered
from rejoinder.stats.shares import share_of_clusters

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
    estimates, judges = list[Estimate](), judges_of(scored)
    clusters = np.asarray(sorted_clusters(scored.rated.population.lines).numbers) if judges else None
    for name in judges:
        judge = Judged.of(scored, name, clusters)
        inside = judge.places >= 0
        if not inside.any():
            estimates += _of_other_lines(judge)
        elif gives_verdicts(scored, name) or scored.judging.cutoff != "best":
            estimates += _by_verdicts(judge, inside)
        else:
            estimates.append(_by_numbers(judge, inside))
    return estimates


def _by_verdicts(judge: Judged, inside: BoolArray) -> list[Estimate]:
    """Return all estimates of a judge whose labelled lines are among all lines."""
    systems = np.array([line.system or "" for line in judge.lines], dtype=object)
    names = sorted({*systems.tolist()} - {""})
    every = {"": np.ones(len(systems), dtype=bool), **{name: systems == name for name in names if len(names) > 1}}
    places = judge.places[inside]
    labels, verdicts = judge.labels[inside], judge.verdicts[inside]
    measured, estimates = dict[str, PassRate](), list[Estimate]()
    for name, listed in every.items():
        own = listed[places]
        clusters = judge.clusters[places[own]]
        rate = pass_rate(labels[own], verdicts[own], clusters, judge.every[listed], judge.clusters[listed])
        measured[name] = rate
        estimates += _of_lines(judge, name, rate, labels[own], clusters, listed)
    pairs = list(combinations(names, 2)) if 1 < len(names) <= _MOST_SYSTEMS else []
    apart = [measured[new].minus(measured[old]) for old, new in pairs]
    labelled = [
        _row(judge, row, "difference of pass rate", new, old) for row, (old, new) in zip(apart, pairs, strict=True)
    ]
    estimates += decide(labelled)
    for old, new in pairs:
        difference = _judge_alone(judge, every[new]).minus(_judge_alone(judge, every[old]))
        estimates.append(_row(judge, difference, "difference of pass rate, judge only", new, old))
    estimates += [_chance(judge, places), *_needed(judge, measured, pairs[-1:])]
    return estimates


def _row(judge: Judged, row: Estimate, statistic: str, system: str = "", versus: str = "", **more: Any) -> Estimate:
    """Return an estimate about a judge."""
    about = {"method": BY_VERDICTS, "seed": None, "unscored": 0, "n": row.n, "system": system, "versus": versus, **more}
    return judge.scored.row(judge.name, judge.rows, statistic, row, **about)


def _of_lines(
    judge: Judged, system: str, rate: PassRate, labels: FloatArray, clusters: IntArray, listed: BoolArray
) -> list[Estimate]:
    """Return the pass rate of all lines or of a system, and what the labels, and the judge, say alone."""
    alone = share_of_clusters(labels, renumbered(clusters), len(np.unique(clusters)), binary=True)
    alone = replace(alone, n=len(labels), reason=alone.reason if len(labels) else "no labelled line")
    if judge.scored.judging.chosen == "verdict":
        alone = Estimate(n=len(labels), reason="labels were chosen by verdict")
    contexts: dict[str, Any] = {"contexts": len(np.unique(clusters))}
    judge_only = replace(_judge_alone(judge, listed).estimate, n=int(listed.sum()))
    wilson: dict[str, Any] = {"method": "share, 95% Wilson interval", **contexts}
    unjudged: dict[str, Any] = {"unscored": int((judge.every[listed] == NO_VERDICT).sum())}
    return [
        _row(judge, rate.estimate, "pass rate", system, **contexts, **unjudged),
        _row(judge, alone, "pass rate, labels only", system, **wilson),
        _row(judge, judge_only, "pass rate, judge only", system, method="share of passes, Student's t", **unjudged),
    ]


def _judge_alone(judge: Judged, listed: BoolArray) -> PassRate:
    """Return the share of lines that the judge passes, as if its verdicts were labels."""
    verdicts, clusters = judge.every[listed], judge.clusters[listed]
    verdicts, clusters = verdicts[verdicts != NO_VERDICT], clusters[verdicts != NO_VERDICT]
    same = np.ones_like(verdicts)
    return pass_rate(verdicts.astype(np.float64), same, clusters, same, clusters)


def _chance(judge: Judged, places: IntArray) -> Estimate:
    """Return the judge's share of passes on the labelled lines; p tests whether it is that of the other lines."""
    from scipy.special import ndtr

    known = judge.every != NO_VERDICT
    labelled = np.isin(np.arange(len(judge.every)), places) & known
    n, others = int(labelled.sum()), int((known & ~labelled).sum())
    value = float(judge.every[labelled].mean()) if n else NAN
    p = NAN
    if n and others:
        parts = np.where(known, judge.every - judge.passed, 0.0) * (labelled / n - (known & ~labelled) / others)
        variance = design_effect(parts, judge.clusters) * float(parts @ parts)
        p = float(2 * ndtr(-abs(parts.sum()) / variance**0.5)) if variance > 0 else NAN
    method = "p: the same share of passes on the other lines"
    reason = "" if others else "every line is labelled"
    return _row(judge, Estimate(value=value, p=p, n=n, reason=reason), "pass share of labelled lines", method=method)


def _needed(judge: Judged, rates: dict[str, PassRate], pairs: list[tuple[str, str]]) -> list[Estimate]:
    """Return how many labels in all give intervals of the half widths `TARGETS`."""
    counts: dict[tuple[str, str, str], int | None] = {("pass rate", "", ""): labels_for(0.05, rates[""])}
    bad = int((judge.labels == 0).sum())
    if bad:
        caught = (float(((judge.labels == 0) & (judge.verdicts == 0)).sum()) + 0.5) / (bad + 1)
        counts["TNR", "", ""] = labels_for_caught(TARGETS["TNR"], caught, bad / len(judge.labels))
    for old, new in pairs:
        counts["difference of pass rate", new, old] = labels_for(0.05, (rates[new], rates[old]))
    estimates = []
    for (target, system, versus), number in counts.items():
        reason = "" if number else "labels of all lines are not enough"
        row = Estimate(value=NAN if number is None else float(number), n=len(judge.labels), reason=reason)
        method = f"for an interval of ± {TARGETS[target]:g}"
        about = {"by": "target", "group": target, "method": method}
        estimates.append(_row(judge, row, "labels needed", system, versus, **about))
    return estimates


def _of_other_lines(judge: Judged) -> list[Estimate]:
    """Return the pass rate of all lines by the errors that the judge makes on other lines with labels."""
    own, known = judge.judged, judge.every != NO_VERDICT
    truth, verdicts, clusters = judge.labels[own], judge.verdicts[own], judge.scored.rated.contexts[judge.rows[own]]
    right, sizes = [], []
    for label in (1, 0):
        hits = (verdicts[truth == label] == label).astype(np.float64)
        effect = design_effect(hits - hits.mean() if len(hits) else hits, clusters[truth == label])
        right.append(float(hits.sum()) / effect)
        sizes.append(len(hits) / effect)
    effect = design_effect(judge.every[known] - judge.passed, judge.clusters[known])
    rate = rogan_gladen((right[0], right[1]), (sizes[0], sizes[1]), judge.passed, int(known.sum()) / effect)
    method = "corrected by the errors on other lines (Rogan and Gladen), interval of Lang and Reiczigel"
    return [_row(judge, replace(rate, n=len(own)), "pass rate", method=method)]


def _by_numbers(judge: Judged, inside: BoolArray) -> Estimate:
    """Return the pass rate by the scores of a scorer that gives numbers: the regression form, as in `estimate`."""
    scores, labels = judge.scored.of_all[judge.name].copy(), np.full(len(judge.lines), np.nan)
    scores[~np.isfinite(scores)] = scores[np.isfinite(scores)].mean()
    labels[judge.places[inside]] = judge.labels[inside]
    everything = np.ones(len(labels), dtype=bool)
    sample = ppi.sample_of(labels, scores, np.ones(len(labels)), everything, judge.clusters)
    method = "prediction-powered mean with power tuning (PPI++), adjusted counts"
    return _row(judge, by_scores(sample).estimate, "pass rate", method=method)
