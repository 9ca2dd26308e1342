"""The alternative annotator test: can a scorer replace a rater?

Each rater in turn is left out, and rater and scorer are compared with the other raters of each line: the one nearer to
them, by root mean square, has the advantage, both if they are equally near. The scorer beats a rater unless the rater
has the advantage on a share of lines that is larger by `epsilon`: a rater costs more, and must be that much better. The
scorer passes if it beats half of the raters.

Scores are brought to the scale of the raters by the straight line from scores to mean ratings, fitted on other contexts
in five parts, and then to the nearest value that raters give. The baseline is always reported: a constant score, which
is the value nearest to the mean rating of other contexts. A value in the middle is hard to beat for a single rater.

Source: Calderon, Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge, section 3, and the
defaults of its program: 30 lines a rater, two raters a line, a false discovery rate of .05.

Shapes: N lines, J raters tested, B resamples, M ratings of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rejoinder.analysis.raters import MOST_VALUES, Raters
from rejoinder.estimates import LEVEL, Estimate, Verdict, adjusted, estimate_of
from rejoinder.stats.correlation import SMALLEST_P
from rejoinder.stats.resamples import FloatArray, IntArray, Sampling, number_of, percentile_interval, renumbered
from rejoinder.stats.splits import fold_groups

EPSILON = 0.1
MEAN_RATING = "mean rating"
"""The baseline: the mean rating of other contexts."""
_FEWEST_LINES, _HALF, _FOLDS = 30, 0.5, 5


def stand_in(
    raters: Raters, scores: FloatArray, scorer: str, sampling: Sampling, *, epsilon: float = EPSILON
) -> list[Estimate]:
    """Return the share of raters that a scorer beats, with the verdict, the mean advantage, and those of each rater.

    The scores [N] are on the scale of the raters (see `calibrated`), NaN without a score. The paper has an `epsilon` of
    .2 for experts, .15 for trained raters, .1 for crowds.
    """
    lines, numbers, nearer, rater_nearer = _nearer(raters, scores)
    counts, contexts = np.bincount(numbers, minlength=len(raters.names)), raters.rated.contexts
    people, few = np.flatnonzero(counts >= _FEWEST_LINES), int(((counts > 0) & (counts < _FEWEST_LINES)).sum())
    labels: dict[str, Any] = {"dataset": raters.rated.name, "scorer": scorer}
    beaten = Estimate(**labels, statistic="raters beaten", unscored=few, method="alternative annotator test")
    if len(people) < 2:
        shared = f"{len(people)} of {len(raters.names)} raters share {_FEWEST_LINES} scored lines with others"
        return [replace(beaten, reason=f"{shared}; two are needed")]
    tested = np.isin(numbers, people)
    lines, nearer, rater_nearer = lines[tested], nearer[tested], rater_nearer[tested]
    groups = renumbered(numbers[tested])
    p = [_p((rater_nearer - nearer)[groups == group], epsilon) for group in range(len(people))]
    p_adjusted = adjusted(p, "benjamini-yekutieli")
    draws = sampling.draw(contexts, raters.rated.name, "stand-in").at(lines).means(nearer, groups)
    labels["seed"] = sampling.seed if sampling.resamples else None

    def verdict(*, passes: bool) -> Verdict:
        return Verdict.ABOVE if passes else Verdict.INCONCLUSIVE

    def advantage(values: FloatArray, rows: IntArray, **more: Any) -> Estimate:
        size = len(np.unique(contexts[rows]))
        fields = {**labels, "statistic": "advantage", "contexts": size, "n": len(rows), **more}
        return estimate_of(percentile_interval(values, size), **fields)

    estimates = [advantage(np.nanmean(draws, axis=0), lines)]
    for group, number in enumerate(people.tolist()):
        rows, name = groups == group, raters.names[number]
        tests = {"p": p[group], "p_adjusted": p_adjusted[group], "verdict": verdict(passes=p_adjusted[group] <= LEVEL)}
        estimates.append(advantage(draws[group], lines[rows], rater=name, **tests))
        of_rater = Estimate(**labels, statistic="advantage of the rater", rater=name, n=int(rows.sum()))
        estimates.append(replace(of_rater, value=float(rater_nearer[rows].mean())))
    share = float(np.mean(np.array(p_adjusted) <= LEVEL))
    return [replace(beaten, value=share, n=len(people), verdict=verdict(passes=share >= _HALF)), *estimates]


def _nearer(raters: Raters, scores: FloatArray) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return line and rater of each rating [M], and 1 if the scorer, and if the rater, has the advantage there."""
    known = raters.present
    n, ratings = known.sum(axis=1), np.where(known, raters.ratings, 0.0)
    lines, places = np.nonzero(known & (n[:, None] >= 2) & np.isfinite(scores)[:, None])
    rating, others = raters.ratings[lines, places], n[lines] - 1
    mean = (ratings.sum(axis=1)[lines] - rating) / others
    square = ((ratings**2).sum(axis=1)[lines] - rating**2) / others
    # Rounded, so that equal distances to both sides tie.
    score_off, rating_off = ((x**2 - 2 * x * mean + square).round(9) for x in (scores[lines], rating))
    return lines, raters.raters[lines, places], 1.0 * (score_off <= rating_off), 1.0 * (rating_off <= score_off)


def _p(ahead: FloatArray, epsilon: float) -> float:
    """Return p of the rater being ahead by `epsilon` or more on average, if `ahead` [n] is 1, 0 or -1 on each line."""
    from scipy.stats import ttest_1samp

    if np.ptp(ahead) == 0:
        return SMALLEST_P if ahead[0] < epsilon else 1.0
    return max(float(ttest_1samp(ahead, epsilon, alternative="less").pvalue), SMALLEST_P)


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
