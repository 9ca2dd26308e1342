"""How well scores keep two kinds of things apart: the area under the curve, and a threshold between them.

Shapes: P good ones, Q bad ones, G clusters.
"""

from __future__ import annotations

import numpy as np

from rejoinder.stats.figure import Figure
from rejoinder.stats.resamples import FloatArray, IntArray
from rejoinder.stats.shares import FEWEST, wilson


def area(good: FloatArray, bad: FloatArray) -> float:
    """The share of pairs of one of each in which the good one is higher; equal ones count half. NaN without pairs."""
    return float(_beaten(good, bad).mean()) if len(good) and len(bad) else float("nan")


def area_of_clusters(good: FloatArray, bad: FloatArray, good_in: IntArray, bad_in: IntArray) -> Figure:
    """The same with an interval over clusters, which good and bad ones share; without ends under three of them.

    Args:
        good: [P] scores of good ones.
        bad: [Q] scores of bad ones.
        good_in: [P] the cluster of each, in [0, G).
        bad_in: [Q] likewise.

    Source: Obuchowski (1997), Nonparametric analysis of clustered ROC curve data, for the variance; Wilson's interval
    has as many trials as would give it.
    """
    value = area(good, bad)
    if np.isnan(value):
        return Figure(reason="there are not both kinds")
    groups = int(max(good_in.max(), bad_in.max())) + 1
    rests_on = min(len(np.unique(good_in)), len(np.unique(bad_in)))  # it is no surer than the rarer kind lets it be
    if rests_on < FEWEST:
        return Figure(value=value, reason=f"too few contexts for an interval, {FEWEST} are needed")
    beaten, beating = _beaten(good, bad), 1 - _beaten(bad, good)
    pulls = np.bincount(good_in, weights=beaten - value, minlength=groups) / len(good)
    pulls += np.bincount(bad_in, weights=beating - value, minlength=groups) / len(bad)
    return wilson(value, float((pulls**2).sum()) * groups / (groups - 1), rests_on, rests_on - 1)


def threshold(good: FloatArray, bad: FloatArray) -> float:
    """What good ones are mostly above and bad ones are not; of several as right the lowest, -inf where nothing is."""
    values, place = np.unique(np.concatenate([good, bad]), return_inverse=True)
    # Right above each value: bad ones up to it, and good ones beyond it.
    gained = np.bincount(place[len(good) :], minlength=len(values)) - np.bincount(
        place[: len(good)], minlength=len(values)
    )
    right = np.concatenate([[0], np.cumsum(gained)])
    best = int(np.argmax(right))
    ends = np.concatenate([[-np.inf], values, [np.inf]])
    return float((ends[best] + ends[best + 1]) / 2) if 0 < best < len(values) else float(ends[best + (best > 0)])


def _beaten(ones: FloatArray, others: FloatArray) -> FloatArray:
    """[P] the share of `others` [Q] that each of `ones` is above; equal ones count half."""
    ordered = np.sort(others)
    below, up_to = (np.searchsorted(ordered, ones, side=side) for side in ("left", "right"))
    return (below + up_to) / (2 * len(others))
