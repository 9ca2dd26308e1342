"""A share, as of wins, with an interval that holds near 0 and 1 and where values come in clusters.

Shapes: N values, G clusters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rejoinder.stats.figure import CONFIDENCE, NONE, Figure
from rejoinder.stats.resamples import FloatArray, number_of

FEWEST = 3


def share_of_clusters(values: FloatArray, clusters: NDArray[np.int64], rests_on: int | None = None) -> Figure:
    """The mean of `values` [N] in [0, 1] with an interval over clusters; the ends are NaN with under three of them.

    Args:
        values: [N] 0 for a loss, 1 for a win, 1/2 for a tie.
        clusters: [N] cluster of each value, in [0, G).
        rests_on: how many clusters the share is as sure as, where some tell little; None takes G.
    """
    share = float(values.mean()) if len(values) else NONE
    groups = number_of(clusters)
    trials = groups if rests_on is None else rests_on
    if trials < FEWEST:
        why = "" if rests_on is None else f"too few contexts for an interval, {FEWEST} are needed"
        return Figure(value=share, reason=why)
    sums = np.bincount(clusters, weights=values - share, minlength=groups)
    variance = float((sums**2).sum()) / len(values) ** 2 * groups / (groups - 1)
    return wilson(share, variance, trials, trials - 1)


def wilson(share: float, variance: float, clusters: int, freedom: float) -> Figure:
    """Wilson's interval of a share, with as many trials as would give it the variance that it has over clusters.

    Args:
        share: in [0, 1].
        variance: of the share; where it or the share's own is 0, as many trials are taken as there are clusters.
        clusters: how many there are.
        freedom: degrees of freedom of the variance; Student's distribution takes the place of the normal.

    Source: Wilson (1927), Probable inference, the law of succession, and statistical inference.
    """
    from scipy.special import stdtrit

    own = share * (1 - share)
    trials = own / variance if own > 0 and variance > 0 else float(clusters)
    t = float(stdtrit(freedom, (1 + CONFIDENCE) / 2))
    wide = 1 + t * t / trials
    middle, reach = (share + t * t / (2 * trials)) / wide, t / wide * np.sqrt(own / trials + (t / (2 * trials)) ** 2)
    return Figure(value=share, low=max(0.0, float(middle - reach)), high=min(1.0, float(middle + reach)))
