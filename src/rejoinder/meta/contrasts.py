"""Scorers against each other on the lines that both score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.rated import RatedSet
from rejoinder.meta.ranking import ranking_of
from rejoinder.meta.scored_set import ScoredSet
from rejoinder.scorer import FloatArray
from rejoinder.stats.correlation import by_part, pearson, williams
from rejoinder.stats.figure import NONE, Figure
from rejoinder.stats.permutation import adjusted, paired_permutations
from rejoinder.stats.ranking import rank_clusters
from rejoinder.stats.resamples import Resamples, Sampling, percentile_interval
from rejoinder.stats.splits import items_needed, pilot_of_correlations

# p is at least 1 over the number of swaps, and Holm multiplies it by the number of pairs: with few swaps no difference
# among many scorers could ever be shown.
SWAPS_A_PAIR = 50
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerContrast(Figure):
    """Two scorers on the n lines of one data set that both score: the correlation of the first less the second's.

    Pearson's correlations; pooled: the mean of these differences over data sets. p is two-sided, by paired permutation
    of whole contexts.

    Attributes:
        first: the scorer with the higher correlation over its own lines.
        second: the other.
        contexts: contexts that the lines come from.
        p_adjusted: p by Holm for the number of pairs of scorers.
        p_williams: Williams' test, which takes lines as independent.
        needed: lines on which a difference like this one would be told with probability 0.8; None where no number can
            be forecast.
    """

    first: str
    second: str
    contexts: int
    p_adjusted: float = NONE
    p_williams: float = NONE
    needed: int | None = None

    statistic: ClassVar = "pearson"

    @property
    def scorer(self) -> str:
        """Whose difference it is."""
        return f"{self.first} less {self.second}"


class _Alike(NamedTuple):
    """Scorers on lines that they all score; N lines, S data sets, B resamples.

    Attributes:
        scores: [N] by scorer.
        rated: the lines.
        tested: the paired test, by pair.
        resampled: [S, 1 + B] correlations over resamples, by scorer.
    """

    scores: dict[str, FloatArray]
    rated: RatedSet
    tested: dict[Pair, Figure]
    resampled: dict[str, FloatArray]


def contrasts_of(scored: ScoredSet) -> tuple[ScorerContrast, ...]:
    """One contrast a pair of scorers that have a correlation, the better first; p adjusted by Holm over all of them.

    Of a pool the correlations are means over its data sets. There are as many permutations as resamples, or 50 a pair
    where that is more.
    """
    scores, sampling, order = scored.blind, scored.sampling, list(scored.result(ranking_of))
    # Without resamples no p is told, but the difference itself comes from the same function, which needs one swap.
    swaps = max(sampling.resamples, SWAPS_A_PAIR * (len(order) * (len(order) - 1) // 2)) if sampling.resamples else 1
    # Most of the pairs among a dozen scorers are over the same lines. Those share swaps and resamples, which costs one
    # pass for all of them, and makes their differences add up: a less c is a less b and b less c in every resample.
    alike: dict[bytes, list[Pair]] = {}
    for pair in combinations(order, 2):
        alike.setdefault(_both(scores, pair).tobytes(), []).append(pair)
    by_pair: dict[Pair, ScorerContrast] = {}
    for pairs in alike.values():
        names = [name for name in order if any(name in pair for pair in pairs)]
        lines = _alike(scored.rated, names, pairs[0], scores, sampling, swaps)
        by_pair |= {pair: _contrast(lines, pair, sampling, swaps) for pair in pairs}
    found = [by_pair[pair] for pair in combinations(order, 2)]
    p = adjusted([one.p for one in found], "holm").tolist()
    return tuple(replace(one, p_adjusted=value) for one, value in zip(found, p, strict=True))


def clusters_of(scored: ScoredSet) -> dict[str, int]:
    """The rank cluster of each scorer with a correlation, 1 the best.

    A new cluster begins where all scorers above are shown to be ahead of all below.
    """
    values = scored.result(ranking_of)
    places = {name: place for place, name in enumerate(values)}
    p = np.ones((len(values), len(values)))
    for one in scored.result(contrasts_of):
        if not isnan(one.p_adjusted):
            ahead, behind = (one.first, one.second) if one.value > 0 else (one.second, one.first)
            p[places[ahead], places[behind]] = one.p_adjusted
    return dict(zip(values, rank_clusters(np.array(list(values.values())), p).tolist(), strict=True))


def _both(scores: Mapping[str, FloatArray], pair: Pair) -> NDArray[np.bool_]:
    """[N] whether both scorers score a line."""
    return np.isfinite(scores[pair[0]]) & np.isfinite(scores[pair[1]])


def _alike(
    rated: RatedSet,
    names: Sequence[str],
    pair: Pair,
    scores: Mapping[str, FloatArray],
    sampling: Sampling,
    swaps: int,
) -> _Alike:
    """The lines that both of `pair` score, and all `names` on them, over the same swaps and the same resamples."""
    # Correlations over different lines are no contrast: each scorer is looked at on the lines of the other too.
    usable = np.flatnonzero(_both(scores, pair))
    table = np.stack([scores[name][usable] for name in names], axis=1)
    lines, rng = rated.at(usable), sampling.generator(rated.name, "contrasts")
    tested = paired_permutations("pearson", table, lines.ratings, lines.sets, lines.contexts, rng, swaps)
    resamples = Resamples.draw(lines.contexts, sampling.resamples, rng)
    return _Alike(
        dict(zip(names, table.T, strict=True)),
        lines,
        {(names[one], names[other]): found for (one, other), found in tested.items()},
        dict(zip(names, _resampled(table, lines, resamples), strict=True)),
    )


def _contrast(lines: _Alike, pair: Pair, sampling: Sampling, swaps: int) -> ScorerContrast:
    """Two scorers, the first of which has the higher correlation over its own lines; p not yet adjusted."""
    first, second = (lines.scores[name] for name in pair)
    tested, clusters = lines.tested[pair], lines.rated.clusters
    if not tested.known:
        reason = f"{len(first)} lines have both scores, and no correlation"
        return ScorerContrast.of(
            tested,
            first=pair[0],
            second=pair[1],
            n=len(first),
            contexts=clusters,
            method="none",
            seed=sampling.seed,
            reason=reason,
        )
    # Williams' test and the forecast are of one correlation; there is no such test of a mean over data sets.
    means = _mean_difference(*(lines.resampled[name] for name in pair))
    alone, ratings = not lines.rated.pooled, lines.rated.ratings
    return ScorerContrast.of(
        percentile_interval(np.append(tested.value, means[1:]), clusters),
        first=pair[0],
        second=pair[1],
        n=len(first),
        contexts=clusters,
        p=tested.p if sampling.resamples else NONE,
        p_williams=_williams(first, second, ratings) if alone else NONE,
        needed=items_needed(pilot_of_correlations(first, second, ratings, lines.rated.contexts)) if alone else None,
        method=f"difference of Pearson; 95% expanded percentile interval, {sampling.resamples} paired resamples of "
        f"contexts; p: {swaps} swaps of the two scorers in random contexts, by Holm",
        seed=sampling.seed,
    )


def _resampled(scores: FloatArray, lines: RatedSet, resamples: Resamples) -> FloatArray:
    """[K, S, 1 + B] correlation of each of the `scores` [N, K] in each of S data sets over each resample."""
    return by_part("pearson", scores.T, lines.ratings, lines.sets, resamples).swapaxes(0, 1)


def _mean_difference(first: FloatArray, second: FloatArray) -> FloatArray:
    """[1 + B] mean over data sets of the difference between two scorers' correlations, [S, 1 + B] each."""
    differences = first - second
    known = np.isfinite(differences)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: FloatArray = np.where(known, differences, 0).sum(axis=0) / known.sum(axis=0)
    return means


def _williams(first: FloatArray, second: FloatArray, ratings: FloatArray) -> float:
    """P of Williams' test."""
    one, other, between = (pearson(x, y).value for x, y in ((first, ratings), (second, ratings), (first, second)))
    return williams(one, other, between, len(ratings))
