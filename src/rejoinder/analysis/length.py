"""The effect of the length of a response on scores and on ratings."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu

from rejoinder.analysis.scored import RATERS, ScoredSet
from rejoinder.data.rated import RatedSet
from rejoinder.estimates import Estimate, pick
from rejoinder.metrics.baselines import words
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import count, interval, p_value
from rejoinder.stats.correlation import SMALLEST_P
from rejoinder.stats.resamples import FloatArray

CLOSE = 6
"""Words between the lengths of a response and of a reference; Liu et al. (2016), table 5, print "<= 6" and ">= 6"."""
NEAR, FAR = (f"{kind} {CLOSE} words of a reference's length" for kind in ("within", "beyond"))


def length(scored: ScoredSet) -> list[Estimate]:
    """Return the mean score of responses about as long as a reference, less that of the others.

    Nothing without references, and of a pool, whose scales differ. Source: Liu et al. (2016), table 5.
    """
    gaps = np.empty(0) if scored.rated.pooled else _length_gaps(scored.rated)
    if not np.isfinite(gaps).any():
        return []
    values = {RATERS: scored.rated.ratings, **{name: scored.scores[name] for name in scored.compared}}
    return [estimate for name, own in values.items() for estimate in _length_effect(scored, name, own, gaps)]


def _length_gaps(rated: RatedSet) -> FloatArray:
    """Return [N] words between the lengths of a response and of the nearest reference; NaN without a reference."""
    gaps = np.full(len(rated), np.nan)
    for row, example in enumerate(rated.examples):
        if lengths := [len(words(reference)) for reference in example.references if reference.strip()]:
            size = len(words(example.response))
            gaps[row] = min(abs(size - other) for other in lengths)
    return gaps


def _length_effect(scored: ScoredSet, scorer: str, values: FloatArray, gaps: FloatArray) -> list[Estimate]:
    """Return the effect on one scorer, or on the ratings, and the two means."""
    rows = np.flatnonzero(np.isfinite(gaps) & np.isfinite(values))
    far = (gaps[rows] > CLOSE).astype(np.int64)
    parts = {group: rows[far == kind] for kind, group in enumerate((NEAR, FAR))}
    statistic = "mean rating" if scorer == RATERS else "mean score"
    means = [
        scored.row(scorer, own, statistic, by="length", group=group, value=float(values[own].mean()))
        for group, own in parts.items()
        if len(own)
    ]
    if len(means) < 2:
        near, beyond = map(len, parts.values())
        sizes = f"{near} responses within {CLOSE} words of a reference's length and {beyond} beyond"
        return [*means, scored.row(scorer, rows, "length effect", reason=f"{sizes}; one of each is needed")]
    drawn = scored.means(scorer, rows, far)
    about: dict[str, Any] = {
        "statistic": "length effect",
        "value": means[0].value - means[1].value,
        "p": max(float(mannwhitneyu(*(values[own] for own in parts.values())).pvalue), SMALLEST_P),
        # the tail depends on the contexts that have a line of the group
        "contexts": min(mean.contexts for mean in means),
    }
    method = "difference of means; p: Mann-Whitney, takes lines as independent"
    return [*means, scored.estimate(drawn[0] - drawn[1], scorer, rows, method, **about)]


def length_table(estimates: list[Estimate]) -> Table | None:
    """Return the effect of length."""
    effect, near, far = {"statistic": "length effect"}, {"group": NEAR}, {"group": FAR}
    return pivot(
        [*pick(estimates, **effect), *pick(estimates, by="length")],
        "scorer",
        [
            Column("near", near),
            Column("n, near", near, lambda row: count(row.n), spare=True),
            Column("far", far),
            Column("n, far", far, lambda row: count(row.n), spare=True),
            Column("difference [low, high]", effect, partial(interval, digits=3)),
            Column("p", effect, lambda row: p_value(row.p)),
        ],
        title="Length",
        caption=f"Mean score of responses {NEAR} (near), and of the others (far); Liu et al. (2016), table 5. p: "
        "Mann-Whitney, takes lines as independent. A scorer that lowers its score where raters do not follows length.",
        in_order=True,
    )
