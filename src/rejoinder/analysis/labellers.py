"""How far the labels themselves can be trusted: agreement of labellers, and what their errors cost a perfect judge."""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations
from typing import Any

import numpy as np

from rejoinder.analysis.labels import KINDS, is_labelled
from rejoinder.analysis.scored import RATERS, ScoredSet
from rejoinder.estimates import NAN, Estimate
from rejoinder.stats.pass_rate import highest_caught, label_error
from rejoinder.stats.resamples import renumbered
from rejoinder.stats.shares import share_of_clusters

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
    lines = (*scored.rated.examples, *scored.rated.ties)
    dimension, pairs = scored.rated.dimension, list[tuple[int, float, float]]()
    by_person: dict[str, list[tuple[int, float, float]]] = defaultdict(list)
    for place, line in enumerate(lines):
        for truth, verdict in permutations(line.counted(dimension), 2):
            pairs.append((place, truth.value, verdict.value))
            if verdict.rater:
                by_person[verdict.rater].append(pairs[-1])
    passed = float(scored.rated.ratings.mean())
    people = by_person if 1 < len(by_person) <= _MOST_NAMED else {}
    estimates = [row for name, own in people.items() for row in _second_person(scored, own, name)]
    if pairs:
        estimates += _second_person(scored, pairs) + _agreement(scored, pairs)
    return estimates + _cost_of_errors(scored, pairs, passed)


def _second_person(scored: ScoredSet, pairs: list[tuple[int, float, float]], rater: str = "") -> list[Estimate]:
    """Return the two shares of one person, or of any, judged by the labels of others on the same lines."""
    line, truth, verdict = np.array(pairs).T
    estimates = []
    for statistic, label in KINDS.items():
        kept = truth == label
        clusters = renumbered(line[kept])
        share = share_of_clusters(
            (verdict[kept] == label).astype(np.float64), clusters, len(set(line[kept])), binary=True
        )
        about: dict[str, Any] = {
            "rater": rater,
            "n": int(kept.sum()),
            "contexts": len(set(line[kept])),
            "seed": None,
            "unscored": 0,
        }
        method = "label of one person by that of another, 95% Wilson interval"
        estimates.append(scored.row(RATERS, np.arange(0), statistic, share, method=method, **about))
    return estimates


def _agreement(scored: ScoredSet, pairs: list[tuple[int, float, float]]) -> list[Estimate]:
    """Return how often two labels of a line are the same: the share of such pairs (`n`), and kappa by all labels."""
    _, first, second = np.array(pairs).T
    same, passes = float((first == second).mean()), float(first.mean())
    expected = passes**2 + (1 - passes) ** 2
    about: dict[str, Any] = {"n": len(pairs) // 2, "contexts": 0, "seed": None, "unscored": 0}
    kappa = (same - expected) / (1 - expected) if expected < 1 else NAN
    reason = "" if expected < 1 else "all labels are the same"
    row = scored.row(RATERS, np.arange(0), "agreement of labellers", value=same, method="pairs of labels", **about)
    kappa_of_pairs: dict[str, Any] = {
        "value": kappa,
        "reason": reason,
        "by": "labels",
        "group": "pairs of labels",
        **about,
    }
    return [row, scored.row(RATERS, np.arange(0), "kappa", method="Scott's pi over pairs of labels", **kappa_of_pairs)]


def _cost_of_errors(scored: ScoredSet, pairs: list[tuple[int, float, float]], passed: float) -> list[Estimate]:
    """Return which share of fail labels may be wrong, and what a perfect judge would catch by these labels."""
    apart = float(np.mean([first != second for _, first, second in pairs])) if pairs else NAN
    error = label_error(apart) if pairs else ASSUMED_ERROR
    about: dict[str, Any] = {"n": len(pairs) // 2, "contexts": 0, "seed": None, "unscored": 0}
    error_known = 0 <= error < 0.5 and error < min(passed, 1.0)
    good = min(max((passed - error) / (1 - 2 * error), 0.0), 1.0) if error_known else NAN
    caught = highest_caught(good, error) if error_known else NAN
    method = "errors from how often labellers disagree" if pairs else f"{ASSUMED_ERROR:.0%} of the labels assumed wrong"
    reason = "" if caught == caught else "labellers disagree too often, or no reply is labelled bad"
    rows = [
        scored.row(RATERS, np.arange(0), "TNR of a perfect judge", value=caught, method=method, reason=reason, **about)
    ]
    if pairs:
        rows.append(
            scored.row(
                RATERS, np.arange(0), "wrong fail labels", value=1 - caught, method=method, reason=reason, **about
            )
        )
    return rows
