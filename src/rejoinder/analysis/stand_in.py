"""The alternative annotator test: can a scorer replace a rater?

Each rater in turn is left out, and rater and scorer are compared with the other raters of each line: the one nearer to
them, by root mean square, has the advantage, both if they are equally near. The scorer beats a rater unless the rater
has the advantage on a share of lines that is larger by `epsilon`: a rater costs more, and must be that much better. The
scorer passes if it beats half of the raters. Lines of one context depend on each other, so the t-test is of the means
of contexts.

Scores are brought to the scale of the raters by the straight line from scores to mean ratings, fitted on other contexts
in five parts, and then to the nearest value that raters give. People are not calibrated like this.

A pass says little where single ratings differ so much that any value in the middle is nearer. So a scorer can replace a
rater only if its advantage is also above that of the baseline, a constant score: the value nearest to the mean rating
of other contexts. The advantage can be compared between data sets. The share of raters beaten cannot: it grows with the
ratings that each rater gave. With two ratings of a line, each rater is compared with one other, whom most scores in the
middle beat, so there is no verdict.

Source: Calderon, Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge, section 3, and the
defaults of its program: 30 lines a rater, a false discovery rate of .05. It tests lines and has no baseline.

Shapes: N lines, J raters tested, B resamples, M ratings of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rejoinder.analysis.raters import MOST_VALUES, Raters
from rejoinder.estimates import LEVEL, Estimate, Verdict, adjusted, decide, estimate_of, pick, replaced
from rejoinder.stats.correlation import SMALLEST_P, mean_of_known
from rejoinder.stats.resamples import (
    FloatArray,
    IntArray,
    Sampling,
    number_of,
    percentile_interval,
    renumbered,
    two_sided,
)
from rejoinder.stats.splits import fold_groups

EPSILON = 0.1
MEAN_RATING = "mean rating"
"""The baseline: the mean rating of other contexts."""
_FEWEST_LINES, _FEWEST_RATINGS, _HALF, _FOLDS = 30, 3, 0.5, 5
_VERDICTS = {True: Verdict.ABOVE, False: Verdict.INCONCLUSIVE}


def stand_ins(
    raters: Raters,
    scores: Mapping[str, FloatArray],
    sampling: Sampling,
    *,
    epsilon: float = EPSILON,
    outside: Collection[str] = (),
) -> list[Estimate]:
    """Return the test of each scorer, whose scores [N] are on any scale, and of the baseline.

    A scorer can replace a rater if its `advantage` is "above". Scorers `outside` of their domain have no verdict.
    """
    scores = {**scores, MEAN_RATING: np.zeros(len(raters.ratings))}
    on_scale = {name: calibrated(raters, values, sampling) for name, values in scores.items()}
    rows = [row for name in scores for row in stand_in(raters, on_scale[name], name, sampling, epsilon=epsilon)]
    over_mean = decide([row for row in rows if row.versus], outside=outside)
    above = [row.scorer for row in pick(over_mean, verdict=Verdict.ABOVE)]
    able = [row.scorer for row in pick(rows, statistic="raters beaten", verdict=Verdict.ABOVE, scorer=above)]
    decided = [row for row in rows if not row.versus and row.verdict != Verdict.UNDEFINED]
    out = [replace(row, verdict=Verdict.OUT_OF_DOMAIN) for row in pick(decided, scorer=outside)]
    passed = pick(decided, statistic="advantage", rater="", scorer=set(able) - set(outside))
    return replaced(rows, [*over_mean, *out, *(replace(row, verdict=Verdict.ABOVE) for row in passed)])


def stand_in(
    raters: Raters, scores: FloatArray, scorer: str, sampling: Sampling, *, epsilon: float = EPSILON
) -> list[Estimate]:
    """Return the advantage of a scorer, also over the baseline, the share of raters beaten, and the same by rater.

    The verdict of `raters beaten` is that of the published test.

    The scores [N] are on the scale of the raters (see `calibrated`), NaN without a score. The paper has an `epsilon` of
    .2 for experts, .15 for trained raters, .1 for crowds.
    """
    level = calibrated(raters, np.where(np.isfinite(scores), 0.0, np.nan), sampling)
    lines, numbers, nearer, rater_nearer, level_nearer = _nearer(raters, scores, level)
    counts, contexts = np.bincount(numbers, minlength=len(raters.names)), raters.rated.contexts
    people, few = np.flatnonzero(counts >= _FEWEST_LINES), int(((counts > 0) & (counts < _FEWEST_LINES)).sum())
    labels: dict[str, Any] = {"dataset": raters.rated.name, "scorer": scorer}
    if len(people) < 2:
        shared = f"{len(people)} of {len(raters.names)} raters share {_FEWEST_LINES} scored lines with others"
        return [Estimate(**labels, statistic="advantage", unscored=few, reason=f"{shared}; two are needed")]
    tested = np.isin(numbers, people)
    lines, nearer, rater_nearer = lines[tested], nearer[tested], rater_nearer[tested]
    groups, values = renumbered(numbers[tested]), np.stack([nearer, nearer - level_nearer[tested]])
    ahead = [(rater_nearer - nearer)[groups == group] for group in range(len(people))]
    p = [_p(part, contexts[lines[groups == group]], epsilon) for group, part in enumerate(ahead)]
    p_adjusted = adjusted(p, "benjamini-yekutieli")
    draws, differences = sampling.draw(contexts, raters.rated.name, "stand-in").at(lines).all_means(values, groups)
    method = "alternative annotator test, on calibrated scores"
    beaten = Estimate(**labels, statistic="raters beaten", unscored=few, method=method)
    labels["seed"] = sampling.seed if sampling.resamples else None

    def advantage(values: FloatArray, rows: IntArray, **more: Any) -> Estimate:
        size = len(np.unique(contexts[rows]))
        fields = {**labels, "statistic": "advantage", "contexts": size, "n": len(rows), **more}
        return estimate_of(percentile_interval(values, size), **fields)

    average, over_mean = mean_of_known(draws), mean_of_known(differences)  # a resample may lack some of these raters
    estimates = [advantage(average, lines)]
    if scorer != MEAN_RATING:
        estimates = [replace(estimates[0], verdict=Verdict.INCONCLUSIVE)]
        p_over_mean = two_sided(over_mean, estimates[0].contexts)
        estimates.append(advantage(over_mean, lines, versus=MEAN_RATING, p=p_over_mean))
    if np.median(raters.present.sum(axis=1)[lines]) < _FEWEST_RATINGS:
        why = "no verdict: most lines have two ratings, so each rater is compared with one other; ask three raters"
        estimates[0] = replace(estimates[0], verdict=Verdict.UNDEFINED, reason=why)
    share = float(np.mean(np.array(p_adjusted) <= LEVEL))
    estimates.append(replace(beaten, value=share, n=len(people), verdict=_VERDICTS[share >= _HALF]))
    for group, number in enumerate(people.tolist()):
        rows, name = groups == group, raters.names[number]
        tests = {"p": p[group], "p_adjusted": p_adjusted[group], "verdict": _VERDICTS[p_adjusted[group] <= LEVEL]}
        estimates.append(advantage(draws[group], lines[rows], rater=name, **tests))
        of_rater = Estimate(**labels, statistic="advantage of the rater", rater=name, n=int(rows.sum()))
        estimates.append(replace(of_rater, value=float(rater_nearer[rows].mean())))
    return estimates


def _nearer(
    raters: Raters, scores: FloatArray, level: FloatArray
) -> tuple[IntArray, IntArray, FloatArray, FloatArray, FloatArray]:
    """Return line and rater of each rating [M], and 1 if the scorer, the rater, and the baseline has the advantage."""
    known = raters.present
    n, ratings = known.sum(axis=1), np.where(known, raters.ratings, 0.0)
    lines, places = np.nonzero(known & (n[:, None] >= 2) & np.isfinite(scores)[:, None])
    rating, others = raters.ratings[lines, places], n[lines] - 1
    mean = (ratings.sum(axis=1)[lines] - rating) / others
    square = ((ratings**2).sum(axis=1)[lines] - rating**2) / others
    # Rounded, so that equal distances to both sides tie.
    score_off, level_off, rating_off = (
        (x**2 - 2 * x * mean + square).round(9) for x in (scores[lines], level[lines], rating)
    )
    score_nearer, rater_nearer, level_nearer = (
        1.0 * part for part in (score_off <= rating_off, rating_off <= score_off, level_off <= rating_off)
    )
    return lines, raters.raters[lines, places], score_nearer, rater_nearer, level_nearer


def _p(ahead: FloatArray, contexts: IntArray, epsilon: float) -> float:
    """Return p of the rater being ahead by `epsilon` or more on average, if `ahead` [n] is 1, 0 or -1 on each line."""
    from scipy.special import stdtr

    clusters = renumbered(contexts)
    means = np.bincount(clusters, ahead) / np.bincount(clusters)
    if len(means) < 2 or np.ptp(means) == 0:  # a sign test, since nothing varies
        return max(0.5 ** len(means), SMALLEST_P) if means[0] < epsilon else 1.0
    t = (means.mean() - epsilon) / means.std(ddof=1) * len(means) ** 0.5
    return max(float(stdtr(len(means) - 1, t)), SMALLEST_P)


def calibrated(raters: Raters, scores: FloatArray, sampling: Sampling) -> FloatArray:
    """Return [N] scores on any scale as ratings, by the straight line fitted on other contexts; NaN with under five."""
    rated, predicted = raters.rated, np.full(len(scores), np.nan)
    known = np.flatnonzero(raters.present.any(axis=1) & np.isfinite(scores))
    contexts = renumbered(rated.contexts[known])
    if number_of(contexts) < _FOLDS:
        return predicted
    folds = fold_groups(contexts, _FOLDS, sampling.generator(rated.name, "stand-in"))
    means = np.nanmean(raters.ratings[known], axis=1)
    for fold in range(_FOLDS):
        x, y = scores[known[folds != fold]], means[folds != fold]
        line = np.polynomial.Polynomial.fit(x, y, 1) if np.ptp(x) else np.polynomial.Polynomial([y.mean()])
        predicted[known[folds == fold]] = line(scores[known[folds == fold]])
    clipped: FloatArray = np.clip(predicted, *(rated.scale or (means.min(), means.max())))
    if len(raters.values) > MOST_VALUES:
        return clipped
    middles = (raters.values[1:] + raters.values[:-1]) / 2  # at a middle, the lower value is nearest
    return np.where(np.isnan(clipped), np.nan, raters.values[np.searchsorted(middles, clipped)])
