"""How well raters agree, the highest correlation to expect of a scorer, and scorers compared with raters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rejoinder.analysis.scored import RATERS, ScoredSet
from rejoinder.estimates import Estimate, pick
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import count
from rejoinder.stats.agreement import RaterParts, one_left_out, random_halves
from rejoinder.stats.resamples import FloatArray, IntArray, percentile_interval

SAME_OTHERS, WORTH = "pearson against the same others", "worth raters"
CEILING, ONE_RATER, SHARE = "ceiling of pearson", "pearson of one rater", "share of the ceiling"
LEAST_SCORED = 0.95
"""The share of the lines from which on the ceiling of all lines is also that of a scorer."""

_APART = 0.005  # share of their variance by which ratings may differ from the means: rounded, or with repeated ratings
_NOT_THE_MEAN = "the ratings are not the means of the single ratings, whose ceiling may be another"
_TIES = "lines whose labels tie are left out, and without them people agree too well"
_NO_AGREEMENT = "raters show no significant agreement, so no ceiling can be computed"


def raters(scored: ScoredSet) -> list[Estimate]:
    """Return how well raters agree with each other, and so the highest correlation to expect of any scorer."""
    if scored.rated.pooled:
        return []
    rows = singly_rated(scored)
    ceiling = ceiling_on(scored, rows)
    if scored.rated.ties or not len(rows) or scored.reliability(rows).reason:
        return [ceiling]
    one_way = scored.reliability(rows, named=False)
    estimates = [
        scored.estimate(draws, RATERS, rows, "", statistic=name)
        for name, draws in {"ICC(1)": one_way.single, "ICC(1,k)": one_way.mean}.items()
    ]
    rng = scored.sampling.generator(scored.name, "ceiling")
    parts = _one_left_out(scored, rows, rng)
    halves = random_halves(scored.rated.single_ratings[rows], rng)
    of_parts = [
        scored.row(RATERS, rows[parts.rows], f"{name} of {part}", figure, seed=scored.sampling.seed)
        for part, figures in {"one rater": parts.correlations(), "halves": halves}.items()
        for name, figure in figures.items()
    ]
    return [*estimates, ceiling, *of_parts]


def compared_with_raters(scored: ScoredSet) -> list[Estimate]:
    """Return what scorers reach of the ceiling, and compared with raters.

    Against the same others: like one rater, each scorer meets the mean of the other raters, on the same lines and in
    the same draws. A scorer of fewer lines has a ceiling and one rater of its own lines.
    """
    rows = singly_rated(scored)
    if scored.rated.pooled or scored.rated.ties or not len(rows) or scored.reliability(rows).reason:
        return []
    parts = _one_left_out(scored, rows, scored.sampling.generator(scored.name, "ceiling"))
    estimates, about = list[Estimate](), {"seed": scored.sampling.seed}
    for name in scored.scores:
        estimates += shares(scored, name, rows)
        own = np.flatnonzero(np.isfinite(scored.scores[name][rows[parts.rows]]))
        if len(own) < 2:
            continue
        met, lines = parts.at(own), rows[parts.rows[own]]
        against = met.against_others(scored.scores[name][lines])
        estimates.append(scored.row(name, lines, SAME_OTHERS, against, **about))
        if len(own) < LEAST_SCORED * len(parts.rows):
            estimates.append(scored.row(name, lines, ONE_RATER, met.correlations()["pearson"], **about))
    return estimates


def singly_rated(scored: ScoredSet) -> IntArray:
    """Return the lines that have single ratings."""
    return np.flatnonzero(np.isfinite(scored.rated.single_ratings).any(axis=1))


def _one_left_out(scored: ScoredSet, rows: IntArray, rng: np.random.Generator) -> RaterParts:
    """Return draws of one rater and the others, of lines with single ratings."""
    people = scored.rated.single_raters
    return one_left_out(scored.rated.single_ratings[rows], rng, raters=None if people is None else people[rows])


# the ceiling


def ceiling_on(scored: ScoredSet, rows: IntArray, scorer: str = RATERS) -> Estimate:
    """Return the ceiling on some lines with single ratings, or why there is none."""
    reason = _TIES if scored.rated.ties else "" if len(rows) else "the data has no single ratings, only means"
    reason = reason or scored.reliability(rows).reason
    if not reason:
        single, ratings = scored.rated.single_ratings[rows], scored.rated.ratings[rows]
        reason = _NOT_THE_MEAN if _differ(ratings, np.nanmean(single, axis=1)) else ""
    if not reason:
        people, model = scored.rated.single_raters, "root of ICC(1,k), at least this: the raters have no names"
        if people is not None:
            full = (people[rows] >= 0).all() and len(np.unique(people[rows])) == people.shape[1]
            of_all = "root of ICC(3,k): the same raters rated all lines"
            model = of_all if full else "root of the reliability of means, by variance components of lines and raters"
        estimate = scored.estimate(scored.reliability(rows).ceiling, scorer, rows, model, statistic=CEILING)
        if estimate.value > 0 and not estimate.low <= 0:
            return estimate
        reason = _NO_AGREEMENT
    return scored.row(scorer, rows, CEILING, reason=reason)


def _differ(ratings: FloatArray, means: FloatArray) -> bool:
    """Return whether ratings are other than these means, but for rounding and a few lines."""
    return float(np.mean((ratings - means) ** 2)) > _APART * float(means.var())


def shares(scored: ScoredSet, scorer: str, rows: IntArray) -> list[Estimate]:
    """Return a correlation as a share of the ceiling, and how many raters a scorer is worth.

    `rows` have single ratings; without a ceiling there is nothing. A scorer is worth m raters if the mean of m more
    raters would correlate with the ratings as it does.
    """
    ratio = over_ceiling(scored, scorer, rows)
    if ratio is None:
        return []
    lines, of_ceiling, correlation = ratio
    limit = ceiling_on(scored, of_ceiling, scorer)
    estimates = [limit] if len(of_ceiling) < len(rows) else []
    if not limit.known or np.isnan(correlation[0]):
        return estimates
    known = scored.reliability(of_ceiling)
    contexts = len(np.unique(scored.rated.contexts[lines]))
    share = ratio_of(correlation, known.ceiling, contexts)
    estimates.append(scored.row(scorer, lines, SHARE, share))
    if share.has_interval:
        estimates.append(scored.row(scorer, lines, WORTH, worth(correlation, known.mean, known.single, contexts)))
    return estimates


def over_ceiling(scored: ScoredSet, scorer: str, rows: IntArray) -> tuple[IntArray, IntArray, FloatArray] | None:
    """Return the lines of a scorer's correlation, those of its ceiling, and the draws [1 + B] of the correlation.

    `rows` have single ratings. Of a scorer of under 95 % of the lines, both are on the lines that have scores and
    single ratings. None without any.
    """
    lines = scored.rows(scorer)
    common = np.intersect1d(lines, rows)
    if len(common) < LEAST_SCORED * len(scored.rated):
        lines = rows = common
    return (lines, rows, scored.draws("pearson", scorer, lines)) if len(rows) else None


def ratio_of(correlation: FloatArray, ceiling: FloatArray, contexts: int) -> Estimate:
    """Return the share of a ceiling that a correlation reaches, both over the same resamples [1 + B].

    The interval is that of the angle of both, which is defined where the ceiling of a resample is 0.
    """
    angle = percentile_interval(np.arctan2(correlation, ceiling), contexts)
    value, low, high = (float(np.tan(end)) for end in (angle.value, *angle.ends))
    method = f"Pearson over the ceiling in the same resamples; {angle.method}"
    return replace(angle, value=value, low=low, high=high, method=method)


def worth(correlation: FloatArray, mean: FloatArray, single: FloatArray, contexts: int) -> Estimate:
    """Return how many raters a scorer is worth, from draws [1 + B] of its correlation and of two reliabilities.

    With rho the correlation over the ceiling and ICC1 the reliability of one rating, it is
    rho^2 (1 - ICC1) / (ICC1 (1 - rho^2)), and infinite from the ceiling on. The interval is that of m / (1 + m).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        square = np.maximum(correlation, 0.0) ** 2 / mean
        odds = square * (1 - single)
        part = np.where(square < 1, odds / (odds + single * (1 - square)), np.where(np.isnan(square), np.nan, 1.0))
        bounded = percentile_interval(part, contexts)
        value, low, high = (float(np.divide(end, 1 - end)) for end in (bounded.value, *bounded.ends))
    method = f"ratings and scores in the same resamples; {bounded.method}"
    reason = "" if np.isfinite(value) else "it reaches the ceiling, so no number of raters is too high"
    return replace(bounded, value=value, low=low, high=high, method=method, reason=bounded.reason or reason)


def raters_table(estimates: list[Estimate]) -> Table | None:
    """Return how well raters agree."""
    names = {
        CEILING: "noise ceiling: highest correlation to expect of a scorer",
        ONE_RATER: "one rater and the mean of the others, Pearson",
        "spearman of one rater": "one rater and the mean of the others, Spearman",
        "pearson of halves": "two random halves of the raters, Pearson",
        "spearman of halves": "two random halves of the raters, Spearman",
        "ICC(1,k)": "reliability of the mean rating, ICC(1,k)",
        "ICC(1)": "reliability of one rating, ICC(1)",
    }
    rows = [
        replace(row, statistic="value", group=text)
        for name, text in names.items()
        for row in pick(estimates, scorer=RATERS, statistic=name)
    ]
    value = [Column("value", {"statistic": "value"}), Column("n", {"statistic": "value"}, lambda row: count(row.n))]
    return pivot(rows, "group", value, title="Raters", heading="figure", in_order=True)
