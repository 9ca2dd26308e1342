"""The effect of the length of a response on scores and on ratings, and the length bias of scorers."""

from __future__ import annotations

from functools import partial

import numpy as np

from rejoinder.analysis.ceiling import ceiling_on
from rejoinder.analysis.scored import RATERS, ScoredSet
from rejoinder.estimates import Estimate, decide, pick
from rejoinder.metrics.baselines import words
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import interval, p_value
from rejoinder.stats.correlation import partial_correlation, pearsons
from rejoinder.stats.resamples import FloatArray, IntArray, two_sided

EFFECT, BIAS = "length effect", "partial correlation given the rating"
_ABOUT = {"by": "property", "group": "length"}
_WORDS = {"above": "prefers long", "below": "prefers short"}


def length(scored: ScoredSet) -> list[Estimate]:
    """Return how scores and ratings change with the number of words of a response, and scores at the same rating.

    At the same rating of many raters: where lines have ratings of several named raters, the errors of these are taken
    out of the partial correlation. With one rating, errors explain a part of what people like about length; then scores
    must also change with length more than ratings do. With raters without names the errors may be smaller; then the
    partial correlation without this correction must agree. The scorers that were asked for are one family of tests, the
    others another.

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
    with_ratings, clusters = scored.draws("pearson", scorer, rows), scored.resamples.at(rows).size
    plain = partial_correlation(of_scores, with_ratings, of_ratings)
    tests, method = [plain, of_scores - of_ratings], "p also of an effect no larger than that on ratings"
    if np.isfinite(scored.rated.single_ratings[rows]).any(axis=1).all() and ceiling_on(scored, rows).known:
        ceiling, method = scored.reliability(rows).ceiling, "errors of ratings taken out"
        with np.errstate(divide="ignore", invalid="ignore"):
            exact = partial_correlation(of_scores, with_ratings / ceiling, of_ratings / ceiling)
        tests = [exact] if scored.rated.single_raters is not None else [exact, plain]
    agree = len({float(np.sign(draws[0])) for draws in tests}) == 1
    p = max(two_sided(draws, clusters) for draws in tests) if agree else 1.0
    return scored.estimate(tests[0], scorer, rows, f"score and length; {method}", statistic=BIAS, p=p, **_ABOUT)


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
