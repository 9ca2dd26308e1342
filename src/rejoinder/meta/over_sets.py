"""How near each scorer comes to people, over all data sets: the main finding of a study of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rejoinder.meta.agreement import Agreement
from rejoinder.meta.findings import Findings
from rejoinder.meta.leave_one_out import SEEN, LeftOut
from rejoinder.meta.ranking import OVER_SETS
from rejoinder.meta.same_lines import Common
from rejoinder.meta.standings import Standing
from rejoinder.stats.figure import NONE, NOTHING, Figure
from rejoinder.stats.resamples import mean_of_independent

CEILING, ONE_RATER = "ceiling", "one rater"


@dataclass(frozen=True, slots=True)
class Nearness:
    """One scorer, or people, over S data sets.

    Attributes:
        scorer: its name; "ceiling" and "one rater" are people.
        kind: of its card; "people".
        sets: data sets inside which it has a correlation.
        n: lines in them that it scores.
        pearson: mean over these sets of the Pearson correlation inside each.
        common: mean of the same over the sets and lines in them that every metric, judge and baseline scores.
        spearman: mean of the Spearman correlations.
        share: mean of Pearson as a share of the ceiling, over the sets that have one.
        ceilings: how many of its sets have a ceiling.
    """

    scorer: str
    kind: str
    sets: int
    n: int
    pearson: Figure
    common: Figure
    spearman: Figure
    share: Figure
    ceilings: int

    def figures(self) -> Iterator[Agreement]:
        """Yield them as rows of a study."""
        named = {
            "pearson": self.pearson,
            "pearson on the lines that all score": self.common,
            "spearman": self.spearman,
            "share of the ceiling": self.share,
        }
        for name, one in named.items():
            if one.known:
                yield Agreement.of(one, dataset=OVER_SETS, scorer=self.scorer, level="turn", statistic=name, n=self.n)


def mean_chance(sets: Sequence[Findings], scorer: str) -> float:
    """The chance level of the mean over data sets, which are independent; NaN where none has a correlation."""
    own = np.array([one.chance.high for found in sets for one in found.standings if one.scorer == scorer])
    known = own[np.isfinite(own)]  # squares add up, and the mean divides by how many: each set counts alike
    return float(np.sqrt((known**2).sum()) / len(known)) if len(known) else NONE


def nearness_of(
    sets: Sequence[Findings], over_sets: Sequence[Agreement], left_out: LeftOut | None, common: Common
) -> tuple[Nearness, ...]:
    """People first, then the scorers that read no ratings, best first; none where there are no means over data sets.

    Sets are independent, so the interval of a mean follows from those of the sets; that of Pearson is resampled.

    Args:
        sets: what is said of each data set.
        over_sets: mean Pearson correlation by scorer.
        left_out: the judge that saw other conversations of each set is a row beside the scorers, which it is none of.
        common: all of them on the same lines.
    """
    rows = []
    for row in over_sets:
        own = [(one, two) for one in sets for two in one.standings if two.scorer == row.scorer]
        own = [(one, two) for one, two in own if two.pooled.known]
        if own and own[0][1].kind != "reads ratings":
            rows.append(_scorer(row, own, common))
    if rows and left_out and left_out.correlated:
        rows.append(_seen(left_out, common))
    if not rows:
        return ()
    return (*_people(sets, common), *sorted(rows, key=lambda one: -one.pearson.value))


def _scorer(row: Agreement, own: Sequence[tuple[Findings, Standing]], common: Common) -> Nearness:
    """One scorer."""
    limited = [two for _, two in own if two.share.known]
    return Nearness(
        scorer=row.scorer,
        kind=own[0][1].kind,
        sets=len(own),
        n=row.n,
        pearson=Figure.of(row),
        common=common.pearson.get(row.scorer, NOTHING),
        spearman=mean_of_independent([two.spearman for _, two in own]),
        share=mean_of_independent([two.share for two in limited]),
        ceilings=len(limited),
    )


def _seen(left_out: LeftOut, common: Common) -> Nearness:
    """The judge that saw other conversations."""
    mean = left_out.mean
    figures = (mean.pearson.seen, common.pearson.get(SEEN, NOTHING), mean.spearman.seen, mean.share.seen)
    return Nearness(SEEN, "judge", left_out.correlated, mean.n, *figures, left_out.ceilings)


def _people(sets: Sequence[Findings], common: Common) -> list[Nearness]:
    """The ceiling, and one rater against the others; none where no set has single ratings."""
    known = [one for one in sets if not one.people.reason]
    if not known:
        return []
    n = sum(one.people.items for one in known)
    ceiling = mean_of_independent([one.people.ceiling for one in known])
    one_rater = mean_of_independent([one.people.one_rater for one in known])
    ranked = mean_of_independent([one.people.one_rater_spearman for one in known])
    return [
        Nearness(CEILING, "people", len(known), n, ceiling, common.ceiling, NOTHING, NOTHING, len(known)),
        Nearness(ONE_RATER, "people", len(known), n, one_rater, common.one_rater, ranked, NOTHING, len(known)),
    ]
