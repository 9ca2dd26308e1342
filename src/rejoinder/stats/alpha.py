"""Krippendorff's alpha, of any number of raters with gaps, over many resamples at once.

Shapes: N lines, R ratings of a line at most, G clusters, B resamples, V values that a rating takes.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any, Literal, get_args

import numpy as np

from rejoinder.stats.arrays import Counts, FloatArray, IntArray, blocks
from rejoinder.stats.figure import Figure
from rejoinder.stats.reliability import usable

Level = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = get_args(Level)
BLOCK = 2**20  # numbers in one working array


def krippendorff_alpha(ratings: FloatArray, level: Level = "interval") -> Figure:
    """Krippendorff's alpha: 1 less observed over expected disagreement; 0 is agreement by chance.

    Args:
        ratings: [N, R]; NaN where there is none.
        level: what ratings are: names, ranks, or numbers whose distances mean something.

    Raises:
        UsageError: `ratings` is not a table.

    Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, case D.
    """
    table, reason = usable(ratings, least=2)
    if reason:
        return Figure(n=len(table), reason=reason)
    once = np.ones((len(table), 1), dtype=np.uint16)
    return Figure(value=float(alphas(table, np.arange(len(table)), once, level)[0]), n=len(table))


def alphas(ratings: FloatArray, clusters: IntArray, counts: Counts, level: Level = "interval") -> FloatArray:
    """[B] Krippendorff's alpha over each resample of clusters; NaN where all ratings of a resample are the same.

    Of the ratings of a line every ordered pair counts, all pairs of a line of k ratings together k times. Disagreement
    is 1 of two values that differ (nominal), the square of their distance (interval), or of their mean ranks among all
    ratings of the resample (ordinal).

    Args:
        ratings: [N, R]; lines with one rating do not count.
        clusters: [N] cluster of each line, in [0, G).
        counts: [G, B] how often each cluster is drawn.
        level: see `krippendorff_alpha`.
    """
    values = np.unique(ratings[np.isfinite(ratings)])
    cells = _coincidences(ratings, values, clusters, len(counts))
    found = np.empty(counts.shape[1])
    for block in blocks(counts.shape[1], len(values) ** 2, BLOCK):
        together = (cells @ counts[:, block].astype(np.float64)).reshape(len(values), len(values), -1)
        found[block] = _alpha(together, values, level)
    return found


def _coincidences(ratings: FloatArray, values: FloatArray, clusters: IntArray, count: int) -> Any:
    """[V * V, G] how often two values meet in the lines of a cluster, as a sparse matrix."""
    from scipy.sparse import coo_array

    numbers = np.isfinite(ratings).sum(axis=1)
    weights, cells, places = [], [], []
    for one, other in permutations(ratings.T, 2):
        both = np.flatnonzero(np.isfinite(one) & np.isfinite(other))
        first, second = (np.searchsorted(values, part[both]) for part in (one, other))
        weights.append(1 / (numbers[both] - 1))
        cells.append(first * len(values) + second)
        places.append(clusters[both])
    where = (np.concatenate(cells), np.concatenate(places))
    return coo_array((np.concatenate(weights), where), shape=(len(values) ** 2, count)).tocsr()


def _alpha(together: FloatArray, values: FloatArray, level: Level) -> FloatArray:
    """[B] alpha of coincidences [V, V, B]."""
    given = together.sum(axis=1)
    n = given.sum(axis=0)
    if level == "nominal":
        observed = n - np.einsum("vvb->b", together)
        expected = n**2 - (given**2).sum(axis=0)
    else:
        place = values[:, None] - values.mean() if level == "interval" else given.cumsum(axis=0) - given / 2
        observed = 2 * ((given * place**2).sum(axis=0) - np.einsum("vwb,vb,wb->b", together, *_both(place, given)))
        expected = 2 * (n * (given * place**2).sum(axis=0) - (given * place).sum(axis=0) ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (n - 1) * observed / expected
    varied = (given > 0).sum(axis=0) > 1
    return np.where(varied, 1 - share, np.nan)


def _both(place: FloatArray, given: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The places of values [V, B], for both sides of a coincidence."""
    whole: FloatArray = np.broadcast_to(place, given.shape)
    return whole, whole
