"""The effect of the length of a response on scores and on ratings, and the length bias of scorers."""

from __future__ import annotations

from functools import partial

import numpy as np

from rejoinder.analysis.scored import RATERS, ScoredSet
from rejoinder.estimates import Estimate, decide, pick
from rejoinder.metrics.baselines import words
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import interval, p_value
from rejoinder.stats.agreement import reliability
from rejoinder.stats.correlation import partial_correlation, pearsons
from rejoinder.stats.resamples import FloatArray, IntArray, two_sided

EFFECT, BIAS = "length effect", "partial correlation given the rating"
_ABOUT = {"by": "property", "group": "length"}
_WORDS = {"above": "prefers long", "below": "prefers short"}


def length(scored: ScoredSet) -> list[Estimate]:
    """Return how scores and ratings change with the number of words of a response, and scores at the same rating.

    At the same mean rating of many raters: where lines have several ratings, the errors of these are taken out of the
    partial correlation. Where they have one, they explain only a part of what people like about length. Then p is also
    of scores that change with length no more than ratings do: the larger one. The scorers that were asked for are one
    family of tests, the others another.

    Nothing of a pool, of whole conversations, and if all responses have the same length.
    """
    lengths = np.array([len(words(example.response)) for example in scored.rated.examples], dtype=np.float64)
    everything = np.arange(len(lengths))
    if scored.rated.pooled or scored.level == "dialogue" or not np.ptp(lengths):
        return []
    of_raters = pearsons(scored.rated.ratings[None], lengths, scored.resamples.at(everything))[0]
    effects, biases = [_effect(scored, RATERS, everything, of_raters)], list[Estimate]()
    for scorer in scored.compared:
        rows = scored.rows(scorer)
        both = np.stack([scored.scores[scorer][rows], scored.rated.ratings[rows]])
        of_scores, of_ratings = pearsons(both, lengths[rows], scored.resamples.at(rows))
        if abs(of_scores[0]) < 1:  # there is a correlation, and the scorer is not the length
            effects.append(_effect(scored, scorer, rows, of_scores))
            biases.append(_bias(scored, scorer, rows, of_scores, of_ratings))
    families = ([row for row in biases if (row.scorer in scored.asked) is asked] for asked in (True, False))
    return [
        *(row for row in effects if row.known),
        *(row for family in families for row in decide(family) if row.known),
    ]


def _effect(scored: ScoredSet, scorer: str, rows: IntArray, draws: FloatArray) -> Estimate:
    """Return the change of scores or ratings with length; both are in standard deviations."""
    method = "Pearson's correlation with the number of words"
    return scored.estimate(draws, scorer, rows, method, statistic=EFFECT)


def _bias(scored: ScoredSet, scorer: str, rows: IntArray, of_scores: FloatArray, of_ratings: FloatArray) -> Estimate:
    """Return the partial correlation of score and length given the rating, from draws [1 + B] of both with length."""
    ceiling, clusters = _ceiling(scored, rows), scored.resamples.at(rows).size
    with_ratings = scored.draws("pearson", scorer, rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        draws = partial_correlation(of_scores, with_ratings / ceiling, of_ratings / ceiling)
    p, method = two_sided(draws, clusters), "score and length, errors of ratings taken out"
    if (ceiling == 1).all():
        apart, method = of_scores - of_ratings, "score and length; p also of an effect no larger than that on ratings"
        p = max(p, two_sided(apart, clusters)) if draws[0] * apart[0] > 0 else 1.0
    return scored.estimate(draws, scorer, rows, method, statistic=BIAS, p=p, **_ABOUT)


def _ceiling(scored: ScoredSet, rows: IntArray) -> FloatArray:
    """Return [1 + B] the root of the reliability of the ratings of some lines; 1 where it is unknown."""
    single, resamples = scored.rated.single_ratings[rows], scored.resamples.at(rows)
    if not np.isfinite(single).any(axis=1).all():
        return np.ones(1)
    known = reliability(single, resamples)
    is_mean = np.allclose(np.nanmean(single, axis=1), scored.rated.ratings[rows])
    return known.ceiling if is_mean and not known.reason else np.ones(1)


def length_table(estimates: list[Estimate]) -> Table | None:
    """Return the effect of length and the length bias."""
    effect, bias = {"statistic": EFFECT}, {"statistic": BIAS, **_ABOUT}
    return pivot(
        [*pick(estimates, **effect), *pick(estimates, **bias)],
        "scorer",
        [
            Column("effect [low, high]", effect, partial(interval, signed=True)),
            Column("given the rating [low, high]", bias, partial(interval, signed=True)),
            Column("p", bias, lambda row: p_value(row.p_adjusted)),
            Column("verdict", bias, lambda row: _WORDS.get(row.verdict, row.verdict.value)),
        ],
        title="Length",
        caption="Effect: standard deviations of score, or of rating, for one standard deviation of words in the "
        "response. Given the rating: partial correlation of score and length, which shows length bias. p: adjusted "
        "(Holm); if lines have one rating, whose errors are unknown, also of an effect no larger than that on raters.",
        in_order=True,
    )
