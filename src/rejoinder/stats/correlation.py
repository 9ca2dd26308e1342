"""Pearson, Spearman and Kendall correlations: with p, over resamples, inside parts, and over means of systems.

To draw a line k times is to give it the weight k. So the correlation of a resample is a weighted correlation of the
data, and many resamples are computed together. Weights are whole numbers held as floats, so counts are exact to 2**53.

Shapes: N lines, K scorers, B resamples, S parts or systems, V different values. Draws [1 + B] as in `resamples`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isqrt, nan, sqrt
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rejoinder.errors import UsageError
from rejoinder.estimates import CONFIDENCE, Estimate
from rejoinder.stats.resamples import (
    FloatArray,
    IntArray,
    Resamples,
    number_of,
    percentile_interval,
    renumbered,
    two_sided,
)

Statistic = Literal["pearson", "spearman", "kendall"]
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)
Ranked = Literal["pearson", "spearman"]
RANKED_BY: tuple[Ranked, ...] = get_args(Ranked)
"""The correlations that decide: only what both show is called agreement, or ahead."""
SMALLEST_P = float(np.finfo(np.float64).tiny)
FEWEST = 3
ROUNDING = 1e-12
# Below this share of variance in the second moment, one-pass moments lose over ten of the sixteen digits.
CANCELLATION = 1e-6
Parts = NDArray[np.integer]


# one value


def correlation(statistic: Statistic, x: ArrayLike, y: ArrayLike, *, names: tuple[str, str] = ("x", "y")) -> Estimate:
    """Return the correlation of `x` [N] and `y` [N], in [-1, 1], with a two-sided p that takes lines as independent.

    Fewer than three pairs, a constant variable and values that are not finite give NaN and a reason, which uses the
    `names` of the variables. A correlation within 1e-12 of 1 or -1 is 1 or -1. "kendall" is tau-b.

    Raises:
        UsageError: `x` and `y` are not two vectors of one length.
    """
    from scipy import stats

    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise UsageError(f"a correlation needs two vectors of one length, not shapes {a.shape} and {b.shape}")
    if reason := _undefined(a, b, names):
        return Estimate(n=len(a), reason=reason)
    if statistic == "pearson":
        result = stats.pearsonr(standardised(a), standardised(b))
    else:
        result = stats.spearmanr(a, b) if statistic == "spearman" else stats.kendalltau(a, b)
    value = float(_snapped(np.array([result.statistic]))[0])
    return Estimate(value=value, p=max(float(result.pvalue), SMALLEST_P), n=len(a))


CORRELATIONS: Mapping[Statistic, Callable[..., Estimate]] = {name: partial(correlation, name) for name in STATISTICS}
pearson, spearman, kendall = CORRELATIONS.values()


def _undefined(a: FloatArray, b: FloatArray, names: tuple[str, str]) -> str:
    """Return why `a` and `b` have no correlation, or ""."""
    if len(a) < FEWEST:
        return f"{len(a)} {'pair' if len(a) == 1 else 'pairs'} of {names[0]} and {names[1]}; three or more are needed"
    for values, name in zip((a, b), names, strict=True):
        if unusable := int((~np.isfinite(values)).sum()):
            return f"the {name} is not a finite number in {unusable} of {len(values)} pairs"
    for values, name in zip((a, b), names, strict=True):
        if (values == values[0]).all():
            return f"the {name} is the same in all {len(values)} pairs ({values[0]:g})"
    return ""


def standardised(values: FloatArray) -> FloatArray:
    """Return `values`, which must not be constant, moved and scaled to fill [0, 1].

    This keeps a small spread around a large mean from rounding away.
    """
    with np.errstate(over="ignore"):
        spread = values.max() - values.min()
    if not np.isfinite(spread):
        return standardised(values / 4)
    moved: FloatArray = (values - values.min()) / spread
    return moved


def chance_band(x: FloatArray, y: FloatArray, *clusters: IntArray) -> Estimate:
    """Return 0 with the interval that holds Pearson's correlation with probability .95 if `x` and `y` are unrelated.

    p is that of the correlation of `x` and `y` [N], from the same distribution: Student's t. Lines of a cluster may be
    alike in both variables, and then N lines count as N / (1 + sum of (m - 1) r s) independent ones: over all kinds of
    `clusters` ([N] each, such as contexts and systems), with r and s the intraclass correlations of `x` and `y` and m
    the mean size of the cluster of a line; never as more than N. Where clusters differ in size, r s is raised, because
    large ones pull the mean to themselves. Nothing if `x` and `y` have no correlation.

    Source: Clifford, Richardson and Hemon (1989) for the effective number.
    """
    from scipy.stats import t as student

    r = pearson(x, y).value
    if np.isnan(r):
        return Estimate()
    effect = 1.0
    for of_kind in clusters:
        shares = np.unique(of_kind, return_counts=True)[1] / len(x)
        same = float((shares**2).sum())  # the share of pairs of lines that are of one cluster
        unequal = same * (1 - same) / float(same - 2 * (shares**3).sum() + same**2) if same < 1 else 1.0
        alike = _intraclass(x, of_kind) * _intraclass(y, of_kind)
        effect += max((same * len(x) - 1) * alike * unequal, 0.0)
    freedom = max(len(x) / effect - 2, 1.0)
    t = float(student.ppf((1 + CONFIDENCE) / 2, freedom))
    end = t / sqrt(t * t + freedom)
    p = 2 * float(student.sf(abs(r) * sqrt(freedom / max(1 - r * r, SMALLEST_P)), freedom))
    method = "95% of scorers that are unrelated to the ratings, with design effects of contexts and systems"
    return Estimate(value=0.0, low=-end, high=end, p=max(p, SMALLEST_P), method=method)


def _intraclass(values: FloatArray, clusters: IntArray) -> float:
    """Return the correlation between two lines of a cluster, over all such pairs; 0 if there are none."""
    z = standardised(values)
    z = (z - z.mean()) / z.std()
    places, sizes = np.unique(clusters, return_inverse=True, return_counts=True)[1:]
    pairs = float((sizes**2).sum() - len(z))
    return float(((np.bincount(places, weights=z) ** 2).sum() - len(z)) / pairs) if pairs else 0.0


# over resamples


def all_resampled(statistic: Statistic, scores: FloatArray, ratings: FloatArray, resamples: Resamples) -> FloatArray:
    """Return [K, 1 + B] the correlation of each of `scores` [K, N] with `ratings` [N]; NaN if undefined.

    Much faster than one by one.
    """
    if statistic == "pearson":
        return pearsons(scores, ratings, resamples)
    values = np.full((len(scores), resamples.counts.shape[1]), nan)
    usable = [row for row, line in enumerate(scores) if _varied(line)]
    if usable and _varied(ratings):
        weighted = _spearmans if statistic == "spearman" else _kendalls
        levels, of_ratings = [renumbered(scores[row]) for row in usable], renumbered(ratings)
        parts = [weighted(levels, of_ratings, weights) for weights in resamples.weights()]
        values[usable] = np.concatenate(parts, axis=1)
    return values


def pearsons(scores: FloatArray, ratings: FloatArray, resamples: Resamples) -> FloatArray:
    """Return [K, 1 + B] Pearson's correlation of each of `scores` [K, N] with `ratings` [N] over the same resamples.

    The correlations of two scorers rise and fall together, so the interval of their difference is that of the
    differences, and much narrower than two intervals suggest.

    Moments are summed over clusters, and one matrix product with the counts gives those of all resamples. Resamples in
    which that cancels too many digits are computed in two passes.
    """
    values = np.full((len(scores), resamples.counts.shape[1]), nan)
    usable = [row for row, line in enumerate(scores) if _varied(line)]
    if not usable or not _varied(ratings):
        return values
    x, y = np.stack([_centred(scores[row]) for row in usable]), _centred(ratings)[None]
    moments = resamples.sums(np.concatenate([np.ones_like(y), y, y * y, x, x * x, x * y]))
    (n, sum_y, sum_yy), (sum_x, sum_xx, sum_xy) = moments[:3], moments[3:].reshape(3, len(usable), -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance_x, variance_y = sum_xx - sum_x**2 / n, sum_yy - sum_y**2 / n
        values[usable] = (sum_xy - sum_x * sum_y / n) / np.sqrt(variance_x * variance_y)
    doubtful = ~((variance_x > CANCELLATION * sum_xx) & (variance_y > CANCELLATION * sum_yy))
    for place, column in np.argwhere(doubtful):
        weights = resamples.counts[resamples.clusters, column]
        values[usable[place], column] = _two_pass(scores[usable[place]], ratings, weights)
    return _defined(values, n)


def _varied(values: FloatArray) -> bool:
    """Return whether all of three or more values are finite and two of them differ."""
    return len(values) >= FEWEST and bool(np.isfinite(values).all()) and bool((values != values[0]).any())


def _centred(values: FloatArray) -> FloatArray:
    """Return `values` over their range, with mean 0."""
    scaled = standardised(values)
    centred: FloatArray = scaled - scaled.mean()
    return centred


def _two_pass(x: FloatArray, y: FloatArray, weights: NDArray[np.uint16]) -> float:
    """Return Pearson's correlation under one weighting [N]; NaN if a variable is constant."""
    x, y, w = x[weights > 0], y[weights > 0], weights[weights > 0].astype(np.float64)
    if not (len(w) and (x != x[0]).any() and (y != y[0]).any()):
        return nan
    a, b = standardised(x), standardised(y)
    a, b = a - np.average(a, weights=w), b - np.average(b, weights=w)
    return float((w * a * b).sum() / np.sqrt((w * a * a).sum() * (w * b * b).sum()))


def _spearmans(scores: Sequence[IntArray], ratings: IntArray, weights: FloatArray) -> FloatArray:
    """Return [K, b] Spearman's correlations under each column of `weights` [N, b]; each column is ranked by itself."""
    n = weights.sum(axis=0)
    ranks, squares = _centred_ranks(ratings, weights, n)
    weighted, rows = weights * ranks, []
    for levels in scores:
        ranks_x, squares_x = _centred_ranks(levels, weights, n)
        with np.errstate(divide="ignore", invalid="ignore"):
            rows.append(_defined(np.einsum("nb,nb->b", weighted, ranks_x) / np.sqrt(squares_x * squares), n))
    return np.stack(rows)


def _kendalls(scores: Sequence[IntArray], ratings: IntArray, weights: FloatArray) -> FloatArray:
    """Return [K, b] Kendall's tau-b under each column of `weights` [N, b]."""
    return np.stack([_kendall(levels, ratings, weights) for levels in scores])


def _kendall(levels_x: IntArray, levels_y: IntArray, weights: FloatArray) -> FloatArray:
    """Return [b] Kendall's tau-b under each column of `weights` [N, b].

    tau-b = (C - D) / sqrt((T - X) (T - Y)), with C concordant and D discordant of T pairs of lines, X tied in x and Y
    in y. Two copies of one line are tied in both and cancel, so all counts follow from the weights of the tie groups:
    T - X = (n^2 - sum of squared group weights) / 2, and D = (pairs tied in neither) - C.
    """
    n = weights.sum(axis=0)
    both = renumbered(levels_x * (levels_y.max() + 1) + levels_y)
    tied_x, tied_y, tied_both = (
        np.einsum("kb,kb->b", t, t) for t in (_group_sums(levels, weights) for levels in (levels_x, levels_y, both))
    )
    # Concordance is symmetric in x and y, and the cost of counting it grows with the levels of its second argument.
    fewer = levels_y.max() <= levels_x.max()
    concordant = _concordant(*((levels_x, levels_y) if fewer else (levels_y, levels_x)), weights)
    untied = (n**2 - tied_x - tied_y + tied_both) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt((n**2 - tied_x) / 2) * np.sqrt((n**2 - tied_y) / 2)
        return _defined((2 * concordant - untied) / root, n)


def _concordant(levels_x: IntArray, levels_y: IntArray, weights: FloatArray) -> FloatArray:
    """Return [b] the weight of the pairs of lines that x and y order in the same way, both strictly.

    Two different levels of y have a highest binary digit in which they differ: there the lower level has 0, the higher
    1, and all digits above are equal. So for each digit, among lines that agree above it, every 1 meets the 0s of lower
    x, and running sums over the 0s in order of x count them: O(N b log V) instead of O(N^2 b), and exact.
    """
    total = np.zeros(weights.shape[1])
    span = levels_x.max() + 1
    for digit in range(int(levels_y.max()).bit_length()):
        above = levels_y >> (digit + 1)
        key = above * span + levels_x
        is_one = (levels_y >> digit) & 1 == 1
        ones, zeros = np.flatnonzero(is_one), np.flatnonzero(~is_one)
        zeros = zeros[np.argsort(key[zeros], kind="stable")]
        sums = _running_sums(weights[zeros])
        stop = np.searchsorted(key[zeros], key[ones])
        start = np.searchsorted(key[zeros], above[ones] * span)
        total += np.einsum("nb,nb->b", weights[ones], sums[stop] - sums[start])
    return total


def _centred_ranks(levels: IntArray, weights: FloatArray, n: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return [N, b] the mean rank of each value less the mean of all ranks, and [b] their sum of squares.

    A group of t tied values above `below` lines has the mean rank below + (t + 1) / 2; the squares sum to
    (n^3 - sum of t^3) / 12.
    """
    ties = _group_sums(levels, weights)
    upto = _running_sums(ties)
    ranks = (upto[1:] + upto[:-1] - n) / 2
    return ranks[levels], (n**3 - np.einsum("kb,kb,kb->b", ties, ties, ties)) / 12


def _group_sums(levels: IntArray, weights: FloatArray) -> FloatArray:
    """Return [V, b] the weights summed over the lines of each level."""
    order, ends = np.argsort(levels, kind="stable"), np.bincount(levels).cumsum()
    if len(ends) == len(levels):
        return weights[order]
    return np.diff(_running_sums(weights[order])[np.concatenate([[0], ends])], axis=0)


def _running_sums(rows: FloatArray) -> FloatArray:
    """Return [N + 1, b]: row i holds the sum of the first i of N rows.

    numpy's cumsum along the first axis is ten times slower than adding rows, so about sqrt(N) blocks of sqrt(N) rows
    are summed inside all blocks at once, and then the totals of the blocks before are added.
    """
    count, width = rows.shape
    side = isqrt(count) + 1
    flat = np.zeros((side * side, width))
    flat[1 : count + 1] = rows
    parts = flat.reshape(side, side, width)
    for row in range(1, side):
        parts[:, row] += parts[:, row - 1]
    for part in range(1, side):
        parts[part] += parts[part - 1, -1]
    return flat[: count + 1]


def _snapped(values: FloatArray) -> FloatArray:
    """Return `values` inside [-1, 1], those within 1e-12 of an end set to it; NaN stays."""
    return np.clip(np.where(1 - np.abs(values) < ROUNDING, np.sign(values), values), -1.0, 1.0)


def _defined(values: FloatArray, n: FloatArray) -> FloatArray:
    """Return `values` inside [-1, 1], NaN where fewer than three lines were drawn or a variable is constant."""
    return _snapped(np.where((n >= FEWEST) & np.isfinite(values), values, nan))


def partial_correlation(xy: FloatArray, xz: FloatArray, yz: FloatArray) -> FloatArray:
    """Return [B] the correlation of x and y given z from their three correlations [B]; NaN where z leaves nothing."""
    left = (1 - xz**2) * (1 - yz**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _snapped(np.where(left > ROUNDING, (xy - xz * yz) / np.sqrt(left), nan))


# over systems


def columns(statistic: Statistic, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return [B] the correlations of the columns of `x` [S, B] with those of `y` [S, B].

    Columns with fewer than three rows, a constant variable or a value that is not finite give NaN.
    """
    from scipy.stats import rankdata

    def products(a: FloatArray, b: FloatArray) -> FloatArray:
        return np.stack([(a * b).sum(axis=0), (a * a).sum(axis=0), (b * b).sum(axis=0)])

    with np.errstate(divide="ignore", invalid="ignore"):
        if statistic == "kendall":
            shared, own_x, own_y = np.zeros((3, x.shape[1])) + sum(
                products(np.sign(x[row] - x[:row]), np.sign(y[row] - y[:row])) for row in range(1, len(x))
            )
        else:
            a, b = (rankdata(v, axis=0) for v in (x, y)) if statistic == "spearman" else (x, y)
            shared, own_x, own_y = products(a - a.mean(axis=0), b - b.mean(axis=0))
        values = shared / np.sqrt(own_x * own_y)
    finite = np.isfinite(x).all(axis=0) & np.isfinite(y).all(axis=0)
    varied = (x != x[:1]).any(axis=0) & (y != y[:1]).any(axis=0)
    return _defined(np.where(finite & varied, values, nan), np.full(values.shape, len(x)))


# inside parts


def by_part(
    statistic: Statistic, scores: FloatArray, ratings: FloatArray, parts: Parts, resamples: Resamples
) -> FloatArray:
    """Return [S, K, 1 + B] the correlation of each of `scores` [K, N] with `ratings` [N] inside each of the parts."""
    draws = np.full((len(np.unique(parts)), len(scores), resamples.counts.shape[1]), nan)
    for place, part in enumerate(np.unique(parts)):
        rows = np.flatnonzero(parts == part)
        draws[place] = all_resampled(statistic, scores[:, rows], ratings[rows], resamples.at(rows))
    return draws


def mean_correlation(
    statistic: Statistic,
    scores: FloatArray,
    ratings: FloatArray,
    parts: Parts,
    resamples: Resamples,
    *,
    versus: FloatArray | None = None,
) -> Estimate:
    """Return the mean over parts of the correlation of `scores` with `ratings`, or of the difference to `versus`.

    The parts are data sets, or the test parts of repeated splits, in which a line may come several times. p is
    two-sided, of a mean of 0 (see `two_sided`); NaN without resamples. Lines without a score are left out; with
    `versus`, lines without either score.
    """
    both = np.stack([scores] if versus is None else [scores, versus])
    usable = np.flatnonzero(np.isfinite(both).all(axis=0))
    kept = resamples.at(usable)
    draws = by_part(statistic, both[:, usable], ratings[usable], parts[usable], kept)
    return replace(mean_over_parts(draws[:, 0] - draws[:, 1:].sum(axis=1), kept.size), n=len(usable))


def mean_over_parts(draws: FloatArray, clusters: int) -> Estimate:
    """Return the mean of `draws` [S, 1 + B] over the parts that have a value, with interval and p over `clusters`."""
    known = draws[np.isfinite(draws[:, 0])]
    if not len(known):
        return Estimate()
    means = mean_of_known(known)
    interval = percentile_interval(means, clusters)
    return replace(interval, p=two_sided(means, clusters), method=f"mean of {len(known)}; {interval.method}")


def mean_of_known(draws: FloatArray) -> FloatArray:
    """Return [1 + B] the mean of `draws` [S, 1 + B] over the rows that have a value."""
    with np.errstate(invalid="ignore"):
        means: FloatArray = np.nansum(draws, axis=0) / np.isfinite(draws).sum(axis=0)
    return means


def mean_correlations(
    statistic: Statistic, scores: FloatArray, ratings: FloatArray, parts: Parts, resamples: Resamples
) -> FloatArray:
    """Return [1 + B, K] the mean over parts of each scorer's correlation with `ratings` [N].

    Parts count by their lines. A part counts only if every one of the `scores` [N, K] has a correlation in it, so you
    can subtract columns. NaN without such a part.
    """
    draws = by_part(statistic, scores.T, ratings, parts, resamples)
    lines = np.unique(parts, return_counts=True)[1][:, None]
    known = np.isfinite(draws.sum(axis=1))  # [S, 1 + B]
    total = (np.where(known[:, None], draws, 0.0) * lines[:, None]).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: FloatArray = (total / (known * lines).sum(axis=0)).T
    return means


def less_group_means(values: FloatArray, groups: IntArray) -> FloatArray:
    """Return `values` [N], scaled to their range, less the mean of each of the `groups` [N]; 0 in constant groups.

    The correlation of two such variables is that within groups: how well scores order the lines of one system, whatever
    they show between systems. Groups count by their lines, so small ones add little noise.
    """
    if not len(values) or (values == values[0]).all():
        return np.zeros(len(values))
    scaled = standardised(values)
    highest, lowest = np.zeros(number_of(groups)), np.ones(number_of(groups))
    np.maximum.at(highest, groups, scaled)
    np.minimum.at(lowest, groups, scaled)
    means = np.bincount(groups, scaled) / np.bincount(groups)
    return np.where((highest > lowest)[groups], scaled - means[groups], 0.0)


def of_group_means(values: FloatArray, groups: IntArray, resamples: Resamples) -> FloatArray:
    """Return [1 + B] the correlation of `values` [N] with the true means of their groups, in [0, 1].

    It is sqrt(V / (V + W)), with W the variance within groups and V that between the true means of these groups: the
    variance between the means of the lines, less what chance adds to it. With independent lines in S groups of n, this
    is (MSB - MSW) / n times (S - 1) / S; here contexts are taken as wholes. A resample adds the part of chance once
    more. A negative V counts as 0. Each group needs two contexts or more.

    Source: Searle, Casella and McCulloch (1992), Variance Components, section 3.6.
    """
    values, clusters = (values - values.mean()) / (np.ptp(values) or 1.0), resamples.clusters
    members = (groups == np.arange(number_of(groups))[:, None]).astype(np.float64)  # [S, N]
    n, totals = resamples.sums(members), resamples.sums(members * values)
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = np.nansum(totals**2 / n, axis=0)
        lines, between = n.sum(axis=0), squares / n.sum(axis=0) - (totals.sum(axis=0) / n.sum(axis=0)) ** 2
        inside = np.maximum(resamples.sums(values[None] ** 2)[0] - squares, 0.0) / (lines - (n > 0).sum(axis=0))
        cells = np.zeros((len(members), resamples.size))  # the part of each context in the error of each mean
        np.add.at(cells, (groups, clusters), (values - (totals[:, 0] / n[:, 0])[groups]) / n[groups, 0])
        drawn = np.bincount(np.unique(groups * resamples.size + clusters) // resamples.size)
        errors, shares = cells * np.sqrt(drawn / (drawn - 1))[:, None], n[:, 0] / len(values)
        chance = float(shares @ ((errors - shares @ errors) ** 2).sum(axis=1))
        spread = np.maximum(between - chance * np.where(np.arange(len(lines)), 2, 1), 0.0)
        eta: FloatArray = np.sqrt(spread / (spread + inside))
    return eta
