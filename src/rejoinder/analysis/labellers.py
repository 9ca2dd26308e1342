"""How far the labels themselves can be trusted: agreement of labellers, and what their errors cost a perfect judge."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

from rejoinder.analysis.labels import KINDS, is_labelled
from rejoinder.analysis.scored import RATERS, ScoredSet
from rejoinder.estimates import NAN, Estimate
from rejoinder.stats.pass_rate import highest_caught, label_error
from rejoinder.stats.resamples import FloatArray
from rejoinder.stats.shares import binary_share

ASSUMED_ERROR = 0.05
"""Share of wrong labels that is assumed where every line has a single label."""
_MOST_NAMED = 5  # labellers with shares of their own


def labellers(scored: ScoredSet) -> list[Estimate]:
    """Return what labels are worth, as estimates about the raters; none if ratings are no labels.

    A second person has the same two shares as a judge: the label of one person is the truth, that of another the
    verdict, over all ordered pairs of labels of a line. From their agreement follows how many of the fail labels may be
    wrong, and which share of the bad replies a perfect judge catches.
    """
    if not is_labelled(scored.rated):
        return []
    dimension, lines = scored.rated.dimension, (*scored.rated.examples, *scored.rated.ties)
    of_lines = [(place, permutations(line.counted(dimension), 2)) for place, line in enumerate(lines)]
    ordered = [(place, truth, verdict) for place, pairs in of_lines for truth, verdict in pairs]
    table = np.array([(place, truth.value, verdict.value) for place, truth, verdict in ordered]).reshape(-1, 3)
    people = np.array([verdict.rater or "" for _, _, verdict in ordered], dtype=object)
    named, estimates = [name for name in dict.fromkeys(people) if name], list[Estimate]()
    for name in named if 1 < len(named) <= _MOST_NAMED else ():
        estimates += _second_person(scored, table[people == name], name)
    if ordered:
        estimates += _second_person(scored, table) + _agreement(scored, table)
    return estimates + _cost_of_errors(scored, table)


def _row(scored: ScoredSet, statistic: str, measured: Estimate, **more: Any) -> Estimate:
    """Return an estimate about the raters."""
    return scored.row(RATERS, np.arange(0), statistic, measured, **{"n": measured.n, "seed": None, **more})


def _second_person(scored: ScoredSet, pairs: FloatArray, rater: str = "") -> list[Estimate]:
    """Return the two shares of one person, or of any, judged by the labels of others on the same lines."""
    method, estimates = "label of one person by that of another, 95% Wilson interval", []
    for statistic, label in KINDS.items():
        line, _, verdict = pairs[pairs[:, 1] == label].T
        about: dict[str, Any] = {"rater": rater, "n": len(line), "contexts": len(np.unique(line)), "method": method}
        estimates.append(_row(scored, statistic, binary_share(verdict == label, line), **about))
    return estimates


def _agreement(scored: ScoredSet, pairs: FloatArray) -> list[Estimate]:
    """Return how often two labels of a line are the same: the share of such pairs (`n`), and kappa by all labels."""
    _, first, second = pairs.T
    same, passes, n = float((first == second).mean()), float(first.mean()), len(pairs) // 2
    expected = passes**2 + (1 - passes) ** 2
    kappa = Estimate(n=n, reason="all labels are the same")
    if expected < 1:
        kappa = Estimate(value=(same - expected) / (1 - expected), n=n)
    about = {"by": "labels", "group": "pairs of labels", "method": "Scott's pi over pairs of labels"}
    agreement = _row(scored, "agreement of labellers", Estimate(value=same, n=n), method="pairs of labels")
    return [agreement, _row(scored, "kappa", kappa, **about)]


def _cost_of_errors(scored: ScoredSet, pairs: FloatArray) -> list[Estimate]:
    """Return which share of fail labels may be wrong, and what a perfect judge would catch by these labels."""
    passed, error = float(scored.rated.ratings.mean()), ASSUMED_ERROR
    method = f"{ASSUMED_ERROR:.0%} of the labels assumed wrong"
    if len(pairs):
        error = label_error(float((pairs[:, 1] != pairs[:, 2]).mean()))
        method = "errors from how often labellers disagree"
    caught = NAN
    if 0 <= error < min(0.5, passed):
        caught = highest_caught(min(max((passed - error) / (1 - 2 * error), 0.0), 1.0), error)
    reason = "" if caught == caught else "labellers disagree too often, or no reply is labelled bad"
    measured = {"TNR of a perfect judge": caught, **({"wrong fail labels": 1 - caught} if len(pairs) else {})}
    rows = {name: Estimate(value=value, n=len(pairs) // 2, reason=reason) for name, value in measured.items()}
    return [_row(scored, name, row, method=method) for name, row in rows.items()]
