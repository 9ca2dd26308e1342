"""One scorer on one data set, looked at from several sides."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rejoinder.meta.agreement import Agreement
from rejoinder.meta.contrasts import clusters_of
from rejoinder.meta.scored_set import ScoredSet, people_of_set
from rejoinder.meta.verdict import Verdict, verdicts_apart
from rejoinder.meta.within_system import mean_within, within_system
from rejoinder.meta.yardsticks import OF_SET, Kind
from rejoinder.scorer import FloatArray
from rejoinder.stats.correlation import chance_band
from rejoinder.stats.figure import Figure, written_as
from rejoinder.stats.ranking import pair_accuracy

MOST_PAIRED = 2000  # lines; all pairs of more take too long


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One scorer on one data set, looked at from several sides; all Pearson at turn level unless said.

    Attributes:
        scorer: its name.
        kind: of its card; "reads ratings" for the baselines that know people's ratings of other contexts.
        pooled: over all lines of the data set, whatever system they are of.
        spearman: the same, Spearman.
        within: mean of the correlations inside each system.
        without_copies: over the lines whose response equals no reference.
        share: `pooled` as a share of the ceiling, which is taken as known; nothing where there is no ceiling.
        accuracy: share of pairs of lines put in the order that people put them in, ties calibrated.
        cluster: 1 for the best; a new one begins where all above are shown to be ahead of all below; 0 without a
            correlation, or out of domain.
        chance: what 95 % of the scorers reach that have nothing to do with the ratings, on these lines, whose contexts
            are taken as wholes: a value of 0, and ends as far below it as above; nothing without a correlation.
        verdict: whether the correlation is more than chance; "out of domain" where the scorer cannot judge the lines.
    """

    scorer: str
    kind: Kind
    pooled: Agreement
    spearman: Agreement
    within: Agreement
    without_copies: Agreement
    share: Figure = written_as(value="share", low="share_low", high="share_high", called="share of the ceiling")
    accuracy: Figure = written_as(value="accuracy", reason="accuracy_reason", called="accuracy over pairs")
    chance: Agreement = written_as(high="chance")
    cluster: int = 0
    verdict: Verdict = "no correlation"


def standings_of(scored: ScoredSet) -> tuple[Standing, ...]:
    """One a scorer, best first, those without a correlation last.

    Inside one data set the mean of the data set is the same on all lines, so that it stands in a pool alone.
    """
    found = [_standing(scored, name) for name in scored.scores if name != OF_SET or scored.rated.pooled]
    clusters = scored.result(clusters_of)
    chance = {one.scorer: one.chance.high for one in found}
    verdicts = verdicts_apart([one.pooled for one in found], chance, scored.asked, scored.outside)
    found = [replace(one, cluster=clusters.get(one.scorer, 0), verdict=verdicts[one.scorer]) for one in found]
    return tuple(sorted(found, key=lambda one: (not one.pooled.known, -one.pooled.value)))


def _standing(scored: ScoredSet, name: str) -> Standing:
    """One scorer, not yet set beside the others."""
    rated, values, kind = scored.rated, scored.scores[name], scored.kinds[name]
    turn = {row.statistic: row for row in scored.agreements if row.scorer == name and row.level != "system"}
    pooled, people = turn["pearson"], scored.result(people_of_set)
    without = pooled  # a response that copies a reference is the easiest to score; where there is none, nothing changes
    if (copies := rated.copies).any():
        kept, one_group = np.where(copies, np.nan, values), np.zeros_like(rated.systems)
        without = mean_within(rated, name, "pearson without copies", kept, one_group, scored.sampling)
    usable = np.isfinite(values)
    return Standing(
        scorer=name,
        kind=kind,
        pooled=pooled,
        spearman=turn["spearman"],
        within=within_system(scored, name),
        without_copies=without,
        share=Figure.of(pooled) / people.ceiling.value,
        accuracy=_accuracy(values[usable], rated.ratings[usable]),
        chance=_by_chance(pooled, chance_band(values[usable], rated.ratings[usable], rated.contexts[usable])),
    )


def _accuracy(scores: FloatArray, ratings: FloatArray) -> Figure:
    """The share of pairs of lines put in people's order, unless there are too many."""
    if len(scores) > MOST_PAIRED:
        return Figure(reason=f"not worked out for more than {MOST_PAIRED:,} lines")
    return pair_accuracy(scores, ratings)


def _by_chance(pooled: Agreement, band: Figure) -> Agreement:
    """The chance band of a correlation."""
    return replace(
        pooled,
        statistic="pearson by chance",
        value=band.value,
        low=band.low,
        high=band.high,
        p=band.p,
        method=band.method,
        reason=band.reason,
    )
