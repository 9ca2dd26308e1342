"""How well scorers agree with human ratings within systems and within contexts, and what knowing the system gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rejoinder.analysis.baselines import each_scorer
from rejoinder.analysis.ceiling import CEILING, singly_rated
from rejoinder.analysis.scored import RATERS, ScoredSet
from rejoinder.data.rated import NO_SYSTEM
from rejoinder.estimates import Estimate, one, pick
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.stats.correlation import less_group_means, of_group_means, pearson
from rejoinder.stats.resamples import IntArray, renumbered

SYSTEMS, CONTEXTS = "pearson within systems", "pearson within contexts"
SYSTEM_MEAN = "pearson of the system mean"


def within(scored: ScoredSet) -> list[Estimate]:
    """Return Pearson's correlation of each scorer within systems, and within contexts that have several responses.

    Scores and ratings are taken less their mean in each system or context, and correlated once. So predicting each
    mean gives nothing, and parts count by their lines. Within contexts is what choosing between responses needs.
    """
    systems, contexts = scored.rated.systems, scored.rated.exact_contexts
    named, estimates = len(scored.rated.named_systems), []
    for scorer, rows, *_ in each_scorer(scored):
        if named < 2:
            reason = f"{named} systems named; two or more are needed"
            estimates.append(scored.row(scorer, rows[:0], SYSTEMS, reason=reason))
        else:
            estimates.append(_centred(scored, scorer, _several(rows, systems), systems, SYSTEMS))
        if len(several := _several(rows, contexts)):
            estimates.append(_centred(scored, scorer, several, contexts, CONTEXTS))
    return estimates


def _several(rows: IntArray, parts: IntArray) -> IntArray:
    """Return those of the lines `rows` whose part has two of them or more; `parts` [N] is of all lines."""
    of_rows, counts = np.unique(parts[rows], return_inverse=True, return_counts=True)[1:]
    kept: IntArray = rows[(counts[of_rows] > 1) & (parts[rows] != NO_SYSTEM)]
    return kept


def _centred(scored: ScoredSet, scorer: str, rows: IntArray, parts: IntArray, statistic: str) -> Estimate:
    """Return the correlation of a scorer within parts of the lines, or the reason for none."""
    groups = renumbered(parts[rows])
    values = [less_group_means(values[rows], groups) for values in (scored.scores[scorer], scored.rated.ratings)]
    part = statistic.split()[-1]
    if reason := pearson(*values, names=(f"score within {part}", f"rating within {part}")).reason:
        return scored.row(scorer, rows, statistic, reason=reason)
    method = f"pearson of scores and ratings less the means of {part}"
    return scored.estimate(scored.within(scorer, rows, groups), scorer, rows, method, statistic=statistic)


def system_mean(scored: ScoredSet) -> list[Estimate]:
    """Return how well the mean of each system alone predicts the ratings; of a pool, the mean of each data set."""
    rated, statistic = scored.rated, SYSTEM_MEAN
    groups = rated.systems
    if rated.pooled:
        groups, statistic = rated.sets, "pearson of the data set mean"
    cells = np.unique(np.stack([groups, rated.contexts]), axis=1)[0]
    known = np.unique(cells[cells != NO_SYSTEM], return_counts=True)
    rows = np.flatnonzero(np.isin(groups, known[0][known[1] > 1]))
    if len(np.unique(groups[rows])) < 2:
        return []
    draws = of_group_means(rated.ratings[rows], renumbered(groups[rows]), scored.resamples.at(rows))
    method = "root of the share of the variance that lies between the means"
    return [scored.estimate(draws, RATERS, rows, method, statistic=statistic)]


def ceiling_within_systems(estimates: list[Estimate], scored: ScoredSet) -> list[Estimate]:
    """Add the ceiling within systems if there is one over all lines: the errors of ratings are the same in both.

    Source: Gulliksen (1950), Theory of Mental Tests, chapter 10 (reliability in a group with less variance).
    """
    if not one(estimates, scorer=RATERS, statistic=CEILING, group="").known or len(scored.rated.named_systems) < 2:
        return estimates
    rows = _several(singly_rated(scored), scored.rated.systems)
    if not len(rows):
        return estimates
    groups, resamples = renumbered(scored.rated.systems[rows]), scored.resamples.at(rows)
    result, means = scored.reliability(rows), np.nanmean(scored.rated.single_ratings[rows], axis=1)
    means -= means.mean()
    centred = means - resamples.means(means, groups)[groups, 0]
    n, total, squares, inside = resamples.sums(np.stack([np.ones_like(means), means, means**2, centred**2]))
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (squares - total**2 / n) / (n - 1)
        share = 1 - (1 - result.mean) * spread * (n - len(np.unique(groups))) / inside
    draws = np.sqrt(np.maximum(share, 0.0))
    method, statistic = "root of 1 less the variance of errors over that within systems", f"{CEILING} within systems"
    ceiling = scored.estimate(draws, RATERS, rows, method, statistic=statistic)
    if ceiling.low <= 0:
        ceiling = scored.row(RATERS, rows, statistic, reason="raters do not agree significantly within systems")
    return [*estimates, ceiling]


def systems_of_scorers_table(estimates: list[Estimate]) -> Table | None:
    """Return how scorers agree with the ratings within systems, within contexts, and over the means of systems."""
    over, ceiling = {"level": "system"}, one(estimates, statistic=f"{CEILING} within systems")
    rows = [
        replace(ceiling, scorer="raters: ceiling", statistic=SYSTEMS),
        *pick(estimates, system="", versus="", group=""),
    ]
    return pivot(
        [row for row in rows if row.known],
        "scorer",
        [
            Column("within systems [low, high]", {"statistic": SYSTEMS}),
            Column("within contexts [low, high]", {"statistic": CONTEXTS}),
            Column("over systems, Pearson", {"statistic": "pearson", **over}),
            Column("over systems, Spearman", {"statistic": "spearman", **over}),
            Column("soft pairwise accuracy", {"statistic": "soft pairwise accuracy", **over}),
        ],
        title="Scorers within and over systems",
        caption="Within systems and contexts: Pearson correlation of scores and ratings less their mean in each system "
        "or context, where predicting each mean gives nothing. Over systems: mean scores and mean ratings; an interval "
        "needs ten systems. Soft pairwise accuracy: how similar scores and ratings are in their certainty about which "
        "of two systems is better; 0.5 is chance.",
    )
