"""Scorers against each other on the lines that both score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import isnan
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from rejoinder.meta.agreement import NONE, Sampling
from rejoinder.meta.findings import ScorerContrast
from rejoinder.meta.parts import Part
from rejoinder.scorer import FloatArray
from rejoinder.stats.bootstrap import Counts, Interval, cluster_counts, percentile_interval
from rejoinder.stats.correlation import pearson
from rejoinder.stats.paired import paired_permutation
from rejoinder.stats.pairwise import rank_clusters
from rejoinder.stats.power import items_needed, pilot_of_correlations
from rejoinder.stats.resamples import paired_resamples
from rejoinder.stats.significance import adjusted, williams

IntArray = NDArray[np.int64]
MOST_LINES = 5000


def contrasts_of(
    part: Part, groups: IntArray, scores: Mapping[str, FloatArray], order: Sequence[str], sampling: Sampling
) -> tuple[ScorerContrast, ...]:
    """One contrast a pair of scorers; p adjusted by Holm over all of them.

    Over more than 5,000 lines only those with the leading scorer, because each takes seconds there.

    Args:
        part: N rated lines.
        groups: [N] data set of each line, counted from 0; correlations are means over data sets.
        scores: [N] by scorer, NaN where unscored.
        order: the scorers that have a correlation, best first.
        sampling: resamples and seed; as many permutations as resamples.
    """
    pairs = [pair for pair in combinations(order, 2) if len(groups) <= MOST_LINES or pair[0] == order[0]]
    found = [_contrast(part, groups, pair, scores, sampling) for pair in pairs]
    p = adjusted([one.p for one in found], "holm").tolist()
    return tuple(replace(one, p_adjusted=value) for one, value in zip(found, p, strict=True))


def clusters_of(values: Mapping[str, float], contrasts: Sequence[ScorerContrast]) -> dict[str, int]:
    """The rank cluster of each scorer with a correlation in `values`, 1 the best; 0 for one that has none.

    A new cluster begins where all scorers above are shown to be ahead of all below.
    """
    places = {name: place for place, name in enumerate(values)}
    p = np.ones((len(values), len(values)))
    for one in contrasts:
        if not isnan(one.p_adjusted):
            ahead, behind = (one.first, one.second) if one.value > 0 else (one.second, one.first)
            p[places[ahead], places[behind]] = one.p_adjusted
    return dict(zip(values, rank_clusters(np.array(list(values.values())), p).tolist(), strict=True))


def _contrast(
    part: Part, groups: IntArray, pair: tuple[str, str], scores: Mapping[str, FloatArray], sampling: Sampling
) -> ScorerContrast:
    """Two scorers, the first of which has the higher correlation over its own lines; p not yet adjusted."""
    usable = np.flatnonzero(np.isfinite(scores[pair[0]]) & np.isfinite(scores[pair[1]]))
    ratings, sets = part.ratings[usable], groups[usable]
    contexts = np.unique(part.contexts[usable], return_inverse=True)[1].astype(np.int64)
    first, second = (scores[name][usable] for name in pair)
    clusters = int(contexts.max(initial=-1)) + 1
    rng = np.random.default_rng(np.random.SeedSequence([sampling.seed, crc32(part.name.encode()), 2]))
    tested = paired_permutation("pearson", first, second, ratings, sets, contexts, rng, max(sampling.resamples, 1))
    nothing = isnan(tested.difference)
    interval = Interval(NONE, NONE, 0, 0, f"{len(usable)} lines have both scores, and no correlation")
    if not nothing:
        counts = cluster_counts(clusters, sampling.resamples, rng)
        interval = percentile_interval(
            _resampled(np.stack([first, second], axis=1), ratings, sets, contexts, counts), clusters, unit="context"
        )
    alone = not nothing and len(np.unique(sets)) == 1
    return ScorerContrast(
        first=pair[0],
        second=pair[1],
        n=len(usable),
        contexts=clusters,
        value=tested.difference,
        low=interval.low,
        high=interval.high,
        p=tested.p if sampling.resamples else NONE,
        p_adjusted=NONE,
        p_williams=_williams(first, second, ratings) if alone else NONE,
        needed=items_needed(pilot_of_correlations(first, second, ratings, contexts)) if alone else None,
        method="none"
        if nothing
        else f"difference of Pearson; 95% percentile interval, {sampling.resamples} paired resamples of contexts; "
        f"p: {sampling.resamples} swaps of the two scorers in random contexts, by Holm",
        seed=sampling.seed,
        reason=interval.reason,
    )


def _resampled(
    scores: FloatArray, ratings: FloatArray, sets: IntArray, contexts: IntArray, counts: Counts
) -> FloatArray:
    """[B] mean over data sets of the difference between the correlations of two scorers, `scores` [N, 2]."""
    drawn = [
        paired_resamples(scores[sets == one], ratings[sets == one], contexts[sets == one], counts)
        for one in np.unique(sets)
    ]
    differences = np.stack([values[:, 0] - values[:, 1] for values in drawn])
    known = np.isfinite(differences)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: FloatArray = np.where(known, differences, 0).sum(axis=0) / known.sum(axis=0)
    return means


def _williams(first: FloatArray, second: FloatArray, ratings: FloatArray) -> float:
    """P of Williams' test."""
    one, other, between = (pearson(x, y).value for x, y in ((first, ratings), (second, ratings), (first, second)))
    return williams(one, other, between, len(ratings)).p
