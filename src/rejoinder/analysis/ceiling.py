"""How well raters agree, and so the highest correlation to expect of any scorer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rejoinder.analysis.scored import RATERS, ScoredSet
from rejoinder.estimates import NAN, Estimate, Verdict, estimate_of, one, pick
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import count
from rejoinder.stats.agreement import one_against_others, random_halves, reliability

_DRAWS = 100  # of the one rater, or of the first half


def raters(scored: ScoredSet) -> list[Estimate]:
    """Return how well raters agree with each other, and so the highest correlation to expect of any scorer."""
    if scored.rated.pooled:
        return []
    if scored.rated.ties:
        reason = "lines whose labels tie are left out, and without them people agree too well"
        return [scored.row(RATERS, np.empty(0, dtype=np.int64), "ceiling of pearson", reason=reason)]
    ratings = scored.rated.single_ratings
    rows = np.flatnonzero(np.isfinite(ratings).any(axis=1))
    ratings = ratings[rows]
    result = reliability(ratings, scored.resamples.at(rows)) if len(rows) else None
    if result is None or result.reason:
        reason = result.reason if result else "the data has no single ratings, only means"
        return [scored.row(RATERS, rows, "ceiling of pearson", reason=reason)]
    named = {"ICC(1)": result.single, "ICC(1,k)": result.mean, "ceiling of pearson": result.ceiling}
    estimates = [
        scored.estimate(draws, RATERS, rows, "root of ICC(1,k)" * name.startswith("ceiling"), statistic=name)
        for name, draws in named.items()
    ]
    rng, several = scored.sampling.generator(scored.name, "ceiling"), rows[np.isfinite(ratings).sum(axis=1) > 1]
    parts = {"one rater": one_against_others(ratings, rng, _DRAWS), "halves": random_halves(ratings, rng, _DRAWS)}
    for part, figures in parts.items():
        for name, figure in figures._asdict().items():
            statistic, seed = f"{name} of {part}", scored.sampling.seed
            estimates.append(scored.row(RATERS, several, statistic, figure, seed=seed))
    return estimates


def shares_of_ceiling(estimates: list[Estimate], scored: ScoredSet) -> list[Estimate]:
    """Add each correlation as a share of the ceiling, which is taken as known."""
    ceiling = one(estimates, statistic="ceiling of pearson").value
    if not ceiling > 0:
        return estimates
    rows = pick(estimates, statistic="pearson", level=scored.level, group="")
    about: dict[str, Any] = {"p": NAN, "p_adjusted": NAN, "needed": None, "verdict": Verdict.UNDEFINED}
    about |= {"statistic": "share of the ceiling", "method": "Pearson over the ceiling, which is taken as known"}
    return [*estimates, *(estimate_of(row / ceiling, **about) for row in rows if row.known)]


def raters_table(estimates: list[Estimate]) -> Table | None:
    """Return how well raters agree."""
    names = {
        "ceiling of pearson": "noise ceiling: root of the reliability of the mean rating",
        "pearson of one rater": "one rater and the mean of the others, Pearson",
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
