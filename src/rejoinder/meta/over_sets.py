"""How near each scorer comes to people, over all data sets: the main finding of a study of several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rejoinder.meta.agreement import Agreement, pool_counts
from rejoinder.meta.findings import Findings
from rejoinder.meta.leave_one_out import SEEN, LeftOut
from rejoinder.meta.parts import POOLED, Part, set_numbers
from rejoinder.meta.same_lines import Common
from rejoinder.meta.standings import Standing
from rejoinder.scorer import Scores
from rejoinder.stats.figure import NONE, NOTHING, Figure
from rejoinder.stats.independent import mean_of_independent
from rejoinder.stats.paired import mean_correlation
from rejoinder.stats.sampling import Sampling

OVER_SETS = "mean over data sets"
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


def means_over_sets(parts: Sequence[Part], scores: Mapping[str, Scores], sampling: Sampling) -> tuple[Agreement, ...]:
    """The mean over data sets of the correlation inside each, best first; none where there is one set."""
    pooled = next((part for part in parts if part.name == POOLED), None)
    if pooled is None:
        return ()
    sets, counts = set_numbers(pooled, parts), pool_counts(pooled, sampling)
    rows = []
    for name, one in scores.items():
        values = one.values[pooled.places]
        found = mean_correlation("pearson", values, pooled.ratings, sets, pooled.contexts, counts)
        method = f"pearson, mean over {found.parts} data sets; {sampling.resamples} resamples of contexts"
        reason = "" if found.parts else "no data set has a correlation"
        unscored = len(values) - found.n
        figures = (found.value, found.low, found.high, found.p)
        rows.append(
            Agreement(
                *(OVER_SETS, name, "turn", "pearson", found.n, unscored, len(counts)),
                *figures,
                method=method,
                seed=sampling.seed,
                reason=reason,
            )
        )
    return tuple(sorted(rows, key=lambda row: (np.isnan(row.value), -row.value)))


def mean_chance(findings: Sequence[Findings], scorer: str) -> float:
    """The chance level of the mean over data sets, which are independent; NaN where none has a correlation."""
    own = np.array([one.chance for found in findings for one in found.standings if one.scorer == scorer])
    known = own[np.isfinite(own)]
    return float(np.sqrt((known**2).sum()) / len(known)) if len(known) else NONE


def nearness_of(
    findings: Sequence[Findings], over_sets: Sequence[Agreement], left_out: LeftOut | None, common: Common
) -> tuple[Nearness, ...]:
    """People first, then the scorers that read no ratings, best first; none where there are no means over data sets.

    Sets are independent, so the interval of a mean follows from those of the sets; that of Pearson is resampled.

    Args:
        findings: of the single data sets.
        over_sets: mean Pearson correlation by scorer.
        left_out: the judge that saw other conversations of each set is a row beside the scorers, which it is none of.
        common: all of them on the same lines.
    """
    rows = []
    for row in over_sets:
        own = [(one, two) for one in findings for two in one.standings if two.scorer == row.scorer]
        own = [(one, two) for one, two in own if not math.isnan(two.pooled.value)]
        if own and own[0][1].kind != "reads ratings":
            rows.append(_scorer(row, own, common))
    if rows and left_out and left_out.correlated:
        rows.append(_seen(left_out, common))
    if not rows:
        return ()
    return (*_people(findings, common), *sorted(rows, key=lambda one: -one.pearson.value))


def _scorer(row: Agreement, own: Sequence[tuple[Findings, Standing]], common: Common) -> Nearness:
    """One scorer."""
    limited = [two for _, two in own if not math.isnan(two.share)]
    return Nearness(
        scorer=row.scorer,
        kind=own[0][1].kind,
        sets=len(own),
        n=row.n,
        pearson=Figure(value=row.value, low=row.low, high=row.high),
        common=common.pearson.get(row.scorer, NOTHING),
        spearman=_mean([two.spearman for _, two in own]),
        share=_mean([Figure(value=two.share, low=two.share_low, high=two.share_high) for two in limited]),
        ceilings=len(limited),
    )


def _seen(left_out: LeftOut, common: Common) -> Nearness:
    """The judge that saw other conversations."""
    mean = left_out.mean
    figures = (mean.pearson.seen, common.pearson.get(SEEN, NOTHING), mean.spearman.seen, mean.share.seen)
    return Nearness(SEEN, "judge", left_out.correlated, mean.n, *figures, left_out.ceilings)


def _people(findings: Sequence[Findings], common: Common) -> list[Nearness]:
    """The ceiling, and one rater against the others; none where no set has single ratings."""
    known = [one for one in findings if not one.people.reason]
    if not known:
        return []
    n = sum(one.people.items for one in known)
    ceiling = _mean([Figure(value=one.people.ceiling, low=one.people.low, high=one.people.high) for one in known])
    one_rater = _mean([_bare(one.people.one_rater) for one in known])
    ranked = _mean([_bare(one.people.one_rater_spearman) for one in known])
    return [
        Nearness(CEILING, "people", len(known), n, ceiling, common.ceiling, NOTHING, NOTHING, len(known)),
        Nearness(ONE_RATER, "people", len(known), n, one_rater, common.one_rater, ranked, NOTHING, len(known)),
    ]


def _bare(value: float) -> Figure:
    """A value without an interval."""
    return Figure(value=value)


def _mean(figures: Sequence[Figure | Agreement]) -> Figure:
    """The mean of independent figures."""
    return mean_of_independent([Figure(value=one.value, low=one.low, high=one.high) for one in figures])
