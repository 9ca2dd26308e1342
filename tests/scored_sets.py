"""Scored sets from examples and arrays of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rejoinder.analysis.scored import Kind, ScoredSet
from rejoinder.data.rated import RatedSet, rated_sets, ratings_of
from rejoinder.example import Example
from rejoinder.scorer import FloatArray
from rejoinder.stats.resamples import Sampling

KINDS: dict[str, Kind] = {
    "length": "baseline",
    "context-overlap": "baseline",
}


def scored_sets(
    examples: Sequence[Example],
    scores: Mapping[str, FloatArray],
    *,
    resamples: int = 100,
    asked: Sequence[str] = (),
    outside: Mapping[str, str] | None = None,
) -> tuple[tuple[ScoredSet, ...], ScoredSet | None]:
    """Return the data sets of the examples, and their pool, with [N] scores of all examples by scorer."""
    sets, sampling = rated_sets(examples, ratings_of(examples, "overall"), "overall"), Sampling(resamples, 0)

    def scored(rated: RatedSet, members: tuple[ScoredSet, ...] = ()) -> ScoredSet:
        return ScoredSet(
            rated,
            {name: np.asarray(values, dtype=np.float64)[rated.places] for name, values in scores.items()},
            {name: KINDS.get(name, "judge") for name in scores},
            tuple(asked or [name for name in scores if name not in KINDS]),
            sampling,
            sampling.draw(rated.contexts, rated.name, "agreement"),
            outside=outside or {},
            members=members,
        )

    members = tuple(map(scored, sets.filled))
    return members, scored(sets.pool, members) if sets.pool else None
