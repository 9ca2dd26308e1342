"""Rated sets and scores of their lines, written by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from rejoinder.example import Example
from rejoinder.data.rated import RatedSet
from rejoinder.meta.agreement import Agreement
from rejoinder.meta.scored_set import ScoredSet
from rejoinder.meta.yardsticks import Kind
from rejoinder.stats.resamples import Sampling

NONE = math.nan
KINDS: dict[str, Kind] = {"judge": "judge", "metric": "metric", "length": "baseline"}


def array(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def rated(
    lines: Sequence[Example], ratings: Sequence[float], contexts: Sequence[int], systems: Sequence[int] | None = None
) -> RatedSet:
    n = len(ratings)
    named = [-1] * n if systems is None else systems
    return RatedSet(
        name="one",
        dimension="overall",
        examples=tuple(lines[:n]),
        places=np.arange(n),
        ratings=array(*ratings),
        contexts=np.array(contexts),
        systems=np.array(named),
        sets=np.zeros(n, dtype=np.int64),
    )


def scored(one: RatedSet, scores: Mapping[str, np.ndarray], resamples: int, order: Sequence[str] = ()) -> ScoredSet:
    """Scores of a set, by scorers that agree with people in this order."""
    rows = tuple(
        Agreement(dataset="one", scorer=name, level="turn", statistic="pearson", value=0.9 - place / 10)
        for place, name in enumerate(order)
    )
    kinds = {name: KINDS.get(name, "metric") for name in scores}
    return ScoredSet(one, scores, kinds, rows, tuple(scores), Sampling(resamples, 0))
