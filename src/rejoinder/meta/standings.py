"""One scorer on one data set, looked at from several sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rejoinder.meta.agreement import Agreement
from rejoinder.meta.ceiling import People
from rejoinder.meta.parts import Part
from rejoinder.meta.verdict import Verdict
from rejoinder.meta.within_system import mean_within, within_system
from rejoinder.meta.yardsticks import Kind
from rejoinder.scorer import FloatArray
from rejoinder.stats.chance import chance_level
from rejoinder.stats.figure import NONE
from rejoinder.stats.pairwise import calibrated_accuracy
from rejoinder.stats.sampling import Sampling

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


def standing_of(
    part: Part,
    name: str,
    kind: Kind,
    values: FloatArray,
    rows: Sequence[Agreement],
    copies: NDArray[np.bool_],
    people: People,
    sampling: Sampling,
) -> Standing:
    """One scorer on one part."""
    turn = {row.statistic: row for row in rows if row.level == "turn"}
    pooled = turn["pearson"]
    without = pooled
    if copies.any():
        kept = np.where(copies, np.nan, values)
        without = mean_within(part, name, "pearson without copies", kept, np.zeros_like(part.systems), sampling)
    usable = np.isfinite(values)
    accuracy = calibrated_accuracy(values[usable], part.ratings[usable]) if usable.sum() <= MOST_PAIRED else None
    return Standing(
        scorer=name,
        kind=kind,
        pooled=pooled,
        spearman=turn["spearman"],
        within=within_system(part, name, kind, values, sampling),
        without_copies=without,
        share=pooled.value / people.ceiling if people.ceiling > 0 else NONE,
        share_low=pooled.low / people.ceiling if people.ceiling > 0 else NONE,
        share_high=pooled.high / people.ceiling if people.ceiling > 0 else NONE,
        accuracy=accuracy.value if accuracy else NONE,
        accuracy_reason=accuracy.reason if accuracy else f"not worked out for more than {MOST_PAIRED:,} lines",
        chance=chance_level(values[usable], part.ratings[usable], part.contexts[usable]),
    )
