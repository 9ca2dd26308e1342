"""Agreement of raters: intraclass correlations and noise ceiling, Krippendorff's alpha, Cohen's kappa, random halves.

Ratings are a table, NaN (or another value that is not finite) for a missing one. In a table [N, R] raters are
unordered: the first ratings of two lines may be by two people, unless the numbers of the raters are given too.
In a table [N, J] each column is one rater.

Shapes: N lines, R ratings of a line at most, J raters, M pairs of ratings, P groups of these, V different ratings, B
resamples. Draws [1 + B] as in `resamples`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from typing import Literal, NamedTuple, get_args

import numpy as np

from rejoinder.errors import UsageError
from rejoinder.estimates import Estimate
from rejoinder.stats.correlation import FEWEST, RANKED_BY, Ranked, columns
from rejoinder.stats.resamples import BLOCK, FloatArray, IntArray, Resamples, blocks, number_of, renumbered

Level = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = get_args(Level)
Weighting = Literal["unweighted", "linear", "quadratic"]
WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)
_LEAST = 1e-12  # a smaller share of a sum of squares is rounding
_NOTHING = np.full(1, np.nan)


def usable(ratings: FloatArray, least: int) -> tuple[IntArray, str]:
    """Return the rows of `ratings` [N, R] with `least` ratings or more, and why they show nothing, or "".

    Raises:
        UsageError: `ratings` is not a table.
    """
    if ratings.ndim != 2:
        raise UsageError(f"ratings are a table of items and raters, not of shape {ratings.shape}")
    numbers = np.isfinite(ratings).sum(axis=1)
    rows, several = np.flatnonzero(numbers >= least), int((numbers >= 2).sum())
    if several < FEWEST:
        have = "item has" if several == 1 else "items have"
        return rows, f"{several} {have} two ratings or more; at least three are needed"
    values = ratings[rows][np.isfinite(ratings[rows])]
    return rows, f"all ratings are the same ({values[0]:g})" if (values == values[0]).all() else ""


# intraclass correlations


class Reliability(NamedTuple):
    """The share of the variance of ratings that is about the lines, not about who rated; [1 + B], NaN if undefined.

    `single` is of one rating and `mean` of the mean rating of a line; both are in [0, 1]. `ceiling`, the square root of
    `mean`, is the highest correlation with the mean ratings to expect of a scorer: that of one that knows the mean of
    infinitely many raters. `items` lines have `ratings` ratings. `reason` tells why there are no values.
    """

    single: FloatArray
    mean: FloatArray
    ceiling: FloatArray
    items: int
    ratings: int
    reason: str = ""


def reliability(ratings: FloatArray, resamples: Resamples | None = None, raters: IntArray | None = None) -> Reliability:
    """Return the reliability of one of the `ratings` [N, R] and of their mean, from variance components.

    With n ratings of N lines, k_i of line i, the variance between lines is V = (MSB - MSW) / n0 with
    n0 = (n - sum of k_i^2 / n) / (N - 1), and that within lines is MSW; a negative V counts as 0. One rating has the
    reliability V / (V + MSW), the mean rating V / (V + MSW * mean of 1 / k_i), which is Spearman-Brown's formula for
    the harmonic mean of the k_i: ICC(1, 1) and ICC(1, k). Lines with one rating count.

    The numbers of the `raters` [N, R], from 0 on, split MSW into the variance of raters, who are strict or mild, and
    error. A strict rater of all lines costs a correlation nothing, one of some lines does: of the variance of raters,
    the mean rating has the mean of 1 / k_i less the sum of squares of each rater's share of all mean ratings. If all
    rated all lines, that is ICC(3, 1) and ICC(3, k); if many people rated few lines each, nearly ICC(1, 1) and
    ICC(1, k).

    Source: Shrout and Fleiss (1979); Searle, Casella and McCulloch (1992), Variance Components, section 3.6 (unequal
    numbers) and 5.3 (Henderson's method 1, two ways); Spearman (1904) for the ceiling (correction for attenuation).
    """
    rows, reason = usable(ratings, least=1)
    table = np.where(np.isfinite(ratings[rows]), ratings[rows], np.nan)
    k = np.isfinite(table).sum(axis=1)
    if reason:
        return Reliability(_NOTHING, _NOTHING, _NOTHING, len(table), int(k.sum()), reason)
    table = table - np.nanmedian(table)  # squares of large numbers would swallow small differences
    totals = np.nansum(table, axis=1)
    squares = np.nansum((table - (totals / k)[:, None]) ** 2, axis=1)
    parts = [np.ones_like(totals), k, totals, totals**2 / k, squares, k**2, 1 / k, k >= 2]
    chosen = _of(rows, len(ratings), resamples)
    items, n, total, between, inside, kk, inverse, several = chosen.sums(np.stack(parts).astype(np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = between - total**2 / n
        within = inside / (n - items)
        size = n - kk / n
        variance, noise = (spread - (items - 1) * within) / size, within
        if raters is not None:
            count, of_raters, nn, shares = _sums_over_raters(table, raters[rows], chosen)
            both = (between + inside - of_raters) / (n - count)  # of lines and error: within raters
            error = size * both + (n - nn / n) * within - spread - inside
            strict = within - error / (size - nn / n + 1)
            strict = np.where(np.isfinite(strict) & (count[0] < n[0]), strict, 0.0)  # unknown with one rating each
            variance = variance + strict * (nn / n - 1) / size
            noise = np.maximum(0.0, within - strict * shares * items / inverse)
        variance = np.maximum(0.0, variance)
        single, mean = variance / (variance + noise), variance / (variance + noise * inverse / items)
    known = (several >= FEWEST) & (spread + inside > _LEAST * (between + inside))
    single, mean = np.where(known, single, np.nan), np.where(known, mean, np.nan)
    return Reliability(single, mean, np.sqrt(mean), len(table), int(k.sum()))


def _sums_over_raters(table: FloatArray, raters: IntArray, resamples: Resamples) -> FloatArray:
    """Return [4, 1 + B] the number of raters, and sums over them.

    The sums are of the squared sum of their ratings over its number n_j, of n_j^2, and of their squared shares: the
    mean over lines of 1 / k_i where they rated, else of 0.
    """
    from scipy.sparse import coo_array

    lines, places = np.nonzero(np.isfinite(table))
    of, shape = raters[lines, places], (number_of(raters.ravel()), resamples.size)
    columns_of = (np.ones(len(lines)), table[lines, places], 1 / np.isfinite(table).sum(axis=1)[lines])
    sums = [coo_array((part, (of, resamples.clusters[lines])), shape=shape).tocsr() for part in columns_of]
    sizes, results = np.bincount(resamples.clusters, minlength=resamples.size), []
    for block in blocks(resamples.counts.shape[1], max(shape), BLOCK):
        drawn = resamples.counts[:, block].astype(np.float64)
        n, total, share = (part @ drawn for part in sums)
        squares = np.divide(total**2, n, out=np.zeros_like(n), where=n > 0)
        shares = (share**2).sum(axis=0) / (sizes @ drawn) ** 2
        results.append([(n > 0).sum(axis=0), squares.sum(axis=0), (n**2).sum(axis=0), shares])
    return np.concatenate(results, axis=1)


class TwoWay(NamedTuple):
    """Intraclass correlations of a full table, at most 1; [1 + B] each, NaN if undefined.

    ICC(2, 1), of one rating, and ICC(2, k), of the mean of k: a rater who is always stricter disagrees. ICC(3, 1) and
    ICC(3, k): such a rater agrees. `items` lines were rated by all. `reason` tells why there are no values.
    """

    agreement: FloatArray = _NOTHING
    agreement_mean: FloatArray = _NOTHING
    consistency: FloatArray = _NOTHING
    consistency_mean: FloatArray = _NOTHING
    items: int = 0
    reason: str = ""


def two_way(ratings: FloatArray, resamples: Resamples | None = None) -> TwoWay:
    """Return the intraclass correlations of `ratings` [N, J] by two-way analysis of variance, without lines with a gap.

    Source: Shrout and Fleiss (1979), cases 2 and 3.
    """
    if ratings.ndim != 2:
        raise UsageError(f"ratings are a table of items and raters, not of shape {ratings.shape}")
    rows = np.flatnonzero(np.isfinite(ratings).all(axis=1))
    table, k = ratings[rows], ratings.shape[1]
    if len(table) < FEWEST or k < 2:
        problem = f"{len(table)} items were rated by all {k} raters" if k > 1 else "there is one rater"
        return TwoWay(items=len(table), reason=f"{problem}; three items and two raters or more are needed")
    if np.ptp(table) == 0:
        return TwoWay(items=len(table), reason=f"all ratings are the same ({table[0, 0]:g})")
    table = table - np.median(table)
    means = table.mean(axis=1)
    parts = np.stack([np.ones_like(means), means, means**2, (table**2).sum(axis=1), *table.T])
    n, total, of_lines, squares, *of_raters = _of(rows, len(ratings), resamples).sums(parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_all = total**2 / n
        columns_squared = (np.array(of_raters) ** 2).sum(axis=0) / n
        between = k * (of_lines - of_all) / (n - 1)
        raters = (columns_squared - k * of_all) / (k - 1)
        rest = np.maximum(squares - k * of_lines - columns_squared + k * of_all, 0.0) / ((n - 1) * (k - 1))
        stricter, spread = k * (raters - rest) / n, squares - k * of_all
        wholes = (between + (k - 1) * rest + stricter, between + stricter / k, between + (k - 1) * rest, between)
        known = (n >= FEWEST) & (spread > _LEAST * squares)
        shares = [np.where(known & (abs(w) > _LEAST * spread), (between - rest) / w, np.nan) for w in wholes]
    return TwoWay(shares[0], shares[1], shares[2], shares[3], len(table))


def _of(rows: IntArray, count: int, resamples: Resamples | None) -> Resamples:
    """Return the resamples of some of `count` lines; the data alone for None."""
    return (resamples or Resamples.once(np.arange(count))).at(rows)


# alpha and kappa


def krippendorff_alpha(ratings: FloatArray, level: Level = "interval") -> Estimate:
    """Return Krippendorff's alpha of `ratings` [N, R], as `alphas` without resamples.

    Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, case D.
    """
    rows, reason = usable(ratings, least=2)
    if reason:
        return Estimate(n=len(rows), reason=reason)
    return Estimate(value=float(alphas(ratings, Resamples.once(np.arange(len(ratings))), level)[0]), n=len(rows))


def alphas(ratings: FloatArray, resamples: Resamples, level: Level = "interval") -> FloatArray:
    """Return [1 + B] Krippendorff's alpha of `ratings` [N, R] over each resample; NaN if all its ratings are the same.

    Alpha is 1 less observed over expected disagreement; 0 is agreement by chance. Every ordered pair of ratings of a
    line counts, all pairs of a line with k ratings k times together. Disagreement is 1 for two different values
    (nominal), the square of their distance (interval), or of their mean ranks among all ratings (ordinal).
    """
    from scipy.sparse import coo_array

    present = np.isfinite(ratings)
    values, labels = np.unique(np.where(present, ratings, np.inf), return_inverse=True)
    values, labels, size = values[np.isfinite(values)], labels.reshape(ratings.shape), int(np.isfinite(values).sum())
    one, other = np.nonzero(~np.eye(ratings.shape[1], dtype=bool))
    lines, pairs = np.nonzero(present[:, one] & present[:, other])
    cells = labels[lines, one[pairs]] * size + labels[lines, other[pairs]]  # two values that meet in a line
    weights, shape = 1 / (present.sum(axis=1)[lines] - 1), (size**2, resamples.size)
    coincidences = coo_array((weights, (cells, resamples.clusters[lines])), shape=shape).tocsr()
    alpha = np.empty(resamples.counts.shape[1])
    for block in blocks(len(alpha), size**2, BLOCK):
        together = coincidences @ resamples.counts[:, block].astype(np.float64)
        alpha[block] = _alpha(together.reshape(size, size, -1), values, level)
    return alpha


def _alpha(together: FloatArray, values: FloatArray, level: Level) -> FloatArray:
    """Return [b] alpha of coincidences [V, V, b]."""
    counts = together.sum(axis=1)
    n = counts.sum(axis=0)
    if level == "nominal":
        observed = n - np.einsum("vvb->b", together)
        expected = n**2 - (counts**2).sum(axis=0)
    else:
        place = values[:, None] - values.mean() if level == "interval" else counts.cumsum(axis=0) - counts / 2
        place = np.broadcast_to(place, counts.shape)
        squares = (counts * place**2).sum(axis=0)
        observed = 2 * (squares - np.einsum("vwb,vb,wb->b", together, place, place))
        expected = 2 * (n * squares - (counts * place).sum(axis=0) ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (n - 1) * observed / expected
    return np.where((counts > 0).sum(axis=0) > 1, 1 - share, np.nan)


def kappas(
    first: FloatArray, second: FloatArray, groups: IntArray, resamples: Resamples, weighting: Weighting = "quadratic"
) -> FloatArray:
    """Return [P, 1 + B] Cohen's kappa of each of the `groups` [M] of pairs of ratings [M]; 0 is agreement by chance.

    It is 1 less the observed disagreement over the disagreement of two raters who draw from the same ratings by chance.
    Two ratings disagree by 1 if they differ (unweighted), by their distance (linear) or its square (quadratic): of the
    values themselves, so a value that no rating has changes nothing. NaN if both always give the same value. A group
    is two raters, or one rater and all others.

    Source: Cohen (1960), Cohen (1968).
    """
    from scipy.sparse import coo_array

    values, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    rows, cols = np.split(places, 2)
    distance = np.abs(values[:, None] - values)
    distance = distance**2 if weighting == "quadratic" else np.sign(distance) if weighting == "unweighted" else distance
    size, counts = number_of(groups), resamples.counts

    def summed(weights: FloatArray, cells: IntArray, height: int) -> coo_array:
        return coo_array((weights, (cells, resamples.clusters)), shape=(height, len(counts))).tocsr()

    ones = np.ones(len(first))
    observed = summed(distance[rows, cols], groups, size)
    total = summed(ones, groups, size)
    given = [summed(ones, groups * len(values) + part, size * len(values)) for part in (rows, cols)]
    kappa = np.empty((size, counts.shape[1]))
    for block in blocks(counts.shape[1], size * len(values), BLOCK):
        drawn = counts[:, block].astype(np.float64)
        one, other = ((part @ drawn).reshape(size, len(values), -1) for part in given)
        expected = np.einsum("pvb,vw,pwb->pb", one, distance, other, optimize=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (observed @ drawn) * (total @ drawn) / expected
        kappa[:, block] = np.where(expected > 0, 1 - share, np.nan)
    return kappa


# votes


class Votes(NamedTuple):
    """Votes of -1, 0 (a tie) or 1 on N pairs; [N], NaN for pairs with fewer than two.

    `mean` is the mean vote; `persons` the share in which two votes agree, and `scorer(choice)` that in which a choice
    agrees with a vote; a tie on either side is half. Both meet the same votes.
    """

    mean: FloatArray
    persons: FloatArray

    def scorer(self, choice: FloatArray) -> FloatArray:
        """Return [N] how far a `choice` [N] of -1, 0 or 1 agrees with the votes."""
        return (1 + choice * self.mean) / 2


def votes(table: FloatArray) -> Votes:
    """Return the agreement of the votes of `table` [N, R], NaN for a missing one."""
    k, total, squares = np.isfinite(table).sum(axis=1), np.nansum(table, axis=1), np.nansum(table**2, axis=1)
    k = np.where(k > 1, k, np.nan)
    return Votes(total / k, (1 + (total**2 - squares) / (k * (k - 1))) / 2)


def highest_agreement(persons: float) -> float:
    """Return the highest mean of `Votes.scorer` to expect if two votes agree in the share `persons`.

    With d the mean of all votes that might be given on a pair, the means of s d and of v v' are those of s d and d^2,
    and by the inequality of Cauchy and Schwarz the first is at most the root of the second.
    """
    return (1 + sqrt(max(2 * persons - 1, 0.0))) / 2


# random parts of the raters


class RaterParts(NamedTuple):
    """Two random parts of the raters of n lines, for D draws.

    `rows` [n] are the lines with two ratings or more, `first` and `others` [n, D] the mean ratings of the two parts.
    `reason` tells why there are none.
    """

    rows: IntArray
    first: FloatArray
    others: FloatArray
    reason: str = ""

    def correlations(self) -> dict[Ranked, Estimate]:
        """Return Pearson's and Spearman's correlation between the two parts, means over the draws that have one."""
        if self.reason:
            return dict.fromkeys(RANKED_BY, Estimate(n=len(self.rows), reason=self.reason))
        draws = {name: columns(name, self.first, self.others) for name in RANKED_BY}
        return {name: replace(_mean_of_draws(values), n=len(self.rows)) for name, values in draws.items()}

    def at(self, rows: IntArray) -> RaterParts:
        """Return the same draws on some lines, which are positions in `rows`."""
        return RaterParts(self.rows[rows], self.first[rows], self.others[rows], self.reason)

    def against_others(self, scores: FloatArray) -> Estimate:
        """Return the mean over draws of Pearson's correlation of `scores` [n] with the second parts."""
        x, n = scores - scores.mean(), len(scores)
        varied = (np.ptp(self.others, axis=0) > 0) & (np.ptp(scores) > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = x @ self.others / np.sqrt((x @ x) * n * self.others.var(axis=0))
        return replace(_mean_of_draws(np.where(varied, values, np.nan)), n=n)


def one_left_out(
    ratings: FloatArray, rng: np.random.Generator, draws: int = 100, raters: IntArray | None = None
) -> RaterParts:
    """Return draws of one rater of each line and the mean of the line's others.

    With the numbers of the `raters` [N, R] the same people come first on all lines of a draw: if all rated all lines,
    that is one person. Else somebody is drawn for each line. The correlation of the parts is what a person in the role
    of a scorer reaches, against ratings without that person's.
    """
    return _parts(ratings, np.ones_like, rng, draws, raters)


def random_halves(ratings: FloatArray, rng: np.random.Generator, draws: int = 100) -> dict[Ranked, Estimate]:
    """Return the correlations between the mean ratings of two random halves of each line's raters.

    It is not stepped up to the full number of raters. Of an odd number the second half has one more.

    Source: Liu et al. (2016), How NOT To Evaluate Your Dialogue System, table 3 ("Human").
    """
    return _parts(ratings, lambda k: k // 2, rng, draws).correlations()


def _parts(
    ratings: FloatArray,
    first: Callable[[IntArray], IntArray],
    rng: np.random.Generator,
    draws: int,
    raters: IntArray | None = None,
) -> RaterParts:
    """Return draws of `first(k)` random ratings of each line of k ratings, and of the others."""
    rows, reason = usable(ratings, least=2)
    if reason:
        return RaterParts(rows, np.empty((len(rows), 0)), np.empty((len(rows), 0)), reason)
    table = np.where(np.isfinite(ratings[rows]), ratings[rows], np.nan)
    k, table = np.isfinite(table).sum(axis=1), table / np.nanmax(np.abs(table))
    people = None if raters is None else renumbered(raters[rows].ravel()).reshape(table.shape)
    parts = np.stack([_part_means(table, k, first(k), rng, people) for _ in range(draws)], axis=2)
    return RaterParts(rows, parts[0], parts[1])


def _mean_of_draws(values: FloatArray) -> Estimate:
    """Return the mean of correlations [D], one of each draw; those without a value are left out."""
    known = np.isfinite(values)
    draws, missing = len(values), int((~known).sum())
    if missing == draws:
        return Estimate(reason=f"none of {draws} draws has a correlation")
    method = f"mean over {draws} random draws" + (f", {missing} of them without a correlation" if missing else "")
    return Estimate(value=float(values[known].mean()), method=method)


def _part_means(
    table: FloatArray, k: IntArray, first: IntArray, rng: np.random.Generator, raters: IntArray | None
) -> FloatArray:
    """Return [2, N] the mean of a random `first` [N] of each line's `k` [N] ratings, and the mean of its others.

    Means are rounded to twelve digits, so that equal means tie in whatever order they were summed.
    """
    keys = rng.random(table.shape)
    keys = keys if raters is None else keys.ravel()[raters]
    order = np.argsort(np.where(np.isnan(table), np.inf, keys), axis=1)
    sums = np.nancumsum(np.take_along_axis(table, order, axis=1), axis=1)
    one = sums[np.arange(len(table)), first - 1]
    means: FloatArray = np.stack([one / first, (sums[:, -1] - one) / (k - first)])
    return means.round(12)
