"""One scorer on one data set, looked at from several sides."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from rejoinder.meta.agreement import Agreement
from rejoinder.meta.contrasts import clusters_of
from rejoinder.meta.scored_set import ScoredSet, people_of_set
from rejoinder.meta.verdict import Verdict, verdicts_apart
from rejoinder.meta.within_system import mean_within, within_system
from rejoinder.meta.yardsticks import OF_SET, Kind
from rejoinder.stats.chance import chance_level
from rejoinder.stats.figure import NONE
from rejoinder.stats.pairwise import calibrated_accuracy

MOST_PAIRED = 2000  # lines; all pairs of more take too long


@dataclass(frozen=True, slots=True)
class Standing:
    """One scorer on one data set, looked at from several sides; all Pearson at turn level unless said.

    Attributes:
        scorer: its name.
        kind: of its card; "reads ratings" for the baselines that know people's ratings of other contexts.
        pooled: over all lines of the data set, whatever system they are of.
        spearman: the same, Spearman.
        within: mean of the correlations inside each system.
        without_copies: over the lines whose response equals no reference.
        share: `pooled` as a share of the ceiling; NaN where there is no ceiling.
        share_low: lower end of its interval, which takes the ceiling as known.
        share_high: upper end.
        accuracy: share of pairs of lines put in the order that people put them in, ties calibrated; NaN without.
        accuracy_reason: why `accuracy` is missing, else "".
        cluster: 1 for the best; a new one begins where all above are shown to be ahead of all below; 0 without a
            correlation.
        chance: 95 % of the scorers that have nothing to do with the ratings have a correlation between -`chance` and
            `chance` on these lines, whose contexts are taken as wholes; NaN without a correlation.
        verdict: whether the correlation is shown to be more than chance.
    """

    scorer: str
    kind: Kind
    pooled: Agreement
    spearman: Agreement
    within: Agreement
    without_copies: Agreement
    share: float
    share_low: float
    share_high: float
    accuracy: float
    accuracy_reason: str
    cluster: int = 0
    chance: float = math.nan
    verdict: Verdict = "no correlation"


def standings_of(scored: ScoredSet) -> tuple[Standing, ...]:
    """One a scorer, best first, those without a correlation last.

    Inside one data set the mean of the data set is the same on all lines, so that it stands in a pool alone.
    """
    found = [_standing(scored, name) for name in scored.scores if name != OF_SET or scored.members]
    clusters = scored.result(clusters_of)
    verdicts = verdicts_apart([one.pooled for one in found], {one.scorer: one.chance for one in found}, scored.asked)
    found = [replace(one, cluster=clusters.get(one.scorer, 0), verdict=verdicts[one.scorer]) for one in found]
    return tuple(sorted(found, key=lambda one: (np.isnan(one.pooled.value), -one.pooled.value)))


def _standing(scored: ScoredSet, name: str) -> Standing:
    """One scorer, not yet set beside the others."""
    rated, values, kind = scored.rated, scored.scores[name], scored.kinds[name]
    turn = {row.statistic: row for row in scored.agreements if row.scorer == name and row.level == "turn"}
    pooled, people = turn["pearson"], scored.result(people_of_set)
    without = pooled
    if (copies := rated.copies).any():
        kept, one_group = np.where(copies, np.nan, values), np.zeros_like(rated.systems)
        without = mean_within(rated, name, "pearson without copies", kept, one_group, scored.sampling)
    usable = np.isfinite(values)
    accuracy = calibrated_accuracy(values[usable], rated.ratings[usable]) if usable.sum() <= MOST_PAIRED else None
    return Standing(
        scorer=name,
        kind=kind,
        pooled=pooled,
        spearman=turn["spearman"],
        within=within_system(scored, name),
        without_copies=without,
        share=pooled.value / people.ceiling if people.ceiling > 0 else NONE,
        share_low=pooled.low / people.ceiling if people.ceiling > 0 else NONE,
        share_high=pooled.high / people.ceiling if people.ceiling > 0 else NONE,
        accuracy=accuracy.value if accuracy else NONE,
        accuracy_reason=accuracy.reason if accuracy else f"not worked out for more than {MOST_PAIRED:,} lines",
        chance=chance_level(values[usable], rated.ratings[usable], rated.contexts[usable]),
    )
