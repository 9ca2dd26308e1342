"""How well scorers agree with human ratings within systems, where knowing the system gives nothing."""

from __future__ import annotations

from rejoinder.analysis.baselines import each_scorer
from rejoinder.analysis.scored import ScoredSet
from rejoinder.data.rated import NO_SYSTEM
from rejoinder.estimates import Estimate, pick
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.stats.resamples import renumbered


def within_systems(scored: ScoredSet) -> list[Estimate]:
    """Return the mean correlation within systems, where predicting each system's mean gives nothing."""
    named, estimates, statistic = len(scored.rated.named_systems), [], "pearson within systems"
    for scorer, rows, *_ in each_scorer(scored):
        rows = rows[scored.rated.systems[rows] != NO_SYSTEM]
        reason = f"{named} systems named; two or more are needed" if named < 2 else ""
        if scored.kinds[scorer] == "oracle baseline":
            reason = reason or "the same for all lines of a system"
        if reason:
            estimates.append(scored.row(scorer, rows[:0], statistic, reason=reason))
        else:
            mean = scored.within(scorer, rows, renumbered(scored.rated.systems[rows]))
            estimates.append(scored.row(scorer, rows, statistic, mean))
    return estimates


def systems_of_scorers_table(estimates: list[Estimate]) -> Table | None:
    """Return how scorers agree with the ratings within systems and over their means."""
    over = {"level": "system"}
    return pivot(
        [row for row in pick(estimates, system="", versus="", group="") if row.known],
        "scorer",
        [
            Column("within systems [low, high]", {"statistic": "pearson within systems"}),
            Column("over systems, Pearson", {"statistic": "pearson", **over}),
            Column("over systems, Spearman", {"statistic": "spearman", **over}),
            Column("soft pairwise accuracy", {"statistic": "soft pairwise accuracy", **over}),
        ],
        title="Scorers within and over systems",
        caption="Within systems: mean of the Pearson correlations within each system, where predicting each system's "
        "mean gives nothing. Over systems: mean scores and mean ratings. Soft pairwise accuracy: how similar scores "
        "and ratings are in their certainty about which of two systems is better; 0.5 is chance.",
    )
