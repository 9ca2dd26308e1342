"""A rated data set with the scores of its lines: what every analysis takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from rejoinder.data.rated import RatedSet
from rejoinder.stats.resamples import FloatArray, IntArray, Resamples, Sampling

Kind = Literal["metric", "judge", "baseline", "oracle baseline"]
"""An oracle baseline reads ratings: the mean of a system, or of a data set."""
RATERS = "raters"
"""The label `scorer` of estimates about human ratings."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredSet:
    """The N rated lines of one data set, or of all of them pooled, with their scores.

    Attributes:
        rated: the lines with their ratings, contexts and systems.
        scores: [N] by scorer, NaN where unscored: the scorers that were asked for first, then the baselines.
        kinds: kind of each scorer.
        asked: the scorers that were asked for.
        sampling: number of resamples and seed.
        resamples: one draw of the contexts, which serves every analysis.
        outside: by scorer that cannot judge these lines, why: more than a tenth of its replies are out of its domain.
        members: the data sets of a pool.
        unrated: [M] scores by scorer of the lines of this data set that have no rating: with the rated ones they are
            the population of a pass rate.
    """

    rated: RatedSet
    scores: Mapping[str, FloatArray]
    kinds: Mapping[str, Kind]
    asked: tuple[str, ...]
    sampling: Sampling
    resamples: Resamples
    outside: Mapping[str, str] = field(default_factory=dict)
    members: tuple[ScoredSet, ...] = ()
    unrated: Mapping[str, FloatArray] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the data set, or "pooled"."""
        return self.rated.name

    @property
    def compared(self) -> list[str]:
        """The scorers that read no ratings and can judge these lines. Only these are compared and recommended."""
        return [name for name in self.scores if self.kinds[name] != "oracle baseline" and name not in self.outside]

    def rows(self, *scorers: str) -> IntArray:
        """Return the positions of the lines that all of these scorers score."""
        scored = np.ones(len(self.rated), dtype=bool)
        for name in scorers:
            scored &= np.isfinite(self.scores[name])
        return np.flatnonzero(scored)

    def about(self, scorer: str, rows: IntArray, **more: Any) -> dict[str, Any]:
        """Return the fields of an estimate about a scorer on some lines; `more` adds or replaces fields."""
        labels = {
            "dataset": self.name,
            "scorer": scorer,
            "n": len(rows),
            "unscored": len(self.rated) - len(rows) if scorer != RATERS else 0,
            "contexts": len(np.unique(self.rated.contexts[rows])),
            "seed": self.sampling.seed if self.sampling.resamples else None,
        }
        return {**labels, **more}
