"""The systems of a data set: who is better by people, and how well scorers say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rejoinder.data.rated import NO_SYSTEM, PEOPLE
from rejoinder.meta.agreement import Agreement
from rejoinder.meta.scored_set import ScoredSet
from rejoinder.scorer import FloatArray
from rejoinder.stats.figure import NONE, Figure, written_as
from rejoinder.stats.ranking import rank_clusters, soft_pairwise_accuracy, system_p_values
from rejoinder.stats.resamples import Resamples, number_of, numbers_of, percentile_interval, renumbered


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRow:
    """One system of a data set.

    Attributes:
        system: its name.
        rating: mean rating of its n rated lines.
        cluster: 1 for the systems that none is shown to beat, 2 for the next, and so on.
        scores: mean score by scorer; NaN where nothing was scored.
    """

    system: str
    rating: Figure = written_as(n="n", value="mean_rating", low="low", high="high")
    cluster: int
    scores: Mapping[str, float]

    scorer: ClassVar = PEOPLE
    level: ClassVar = "system"

    @property
    def statistic(self) -> str:
        """What is measured."""
        return f"mean rating of {self.system}"


@dataclass(frozen=True, slots=True)
class Systems:
    """The systems of a data set, best first, and how well scorers rank them.

    Attributes:
        rows: one a system; none where fewer than two are named.
        soft_accuracy: soft pairwise accuracy by scorer; NaN where there is none.
        agreements: Pearson over systems by scorer.
        reason: why there are no rows, else "".
    """

    rows: tuple[SystemRow, ...]
    soft_accuracy: Mapping[str, float]
    agreements: tuple[Agreement, ...]
    reason: str = ""


def systems_of(scored: ScoredSet) -> Systems:
    """The systems of a set, best first, in clusters that people tell apart; soft pairwise accuracy by scorer."""
    rated, scores, sampling = scored.rated, scored.blind, scored.sampling
    known = np.flatnonzero(rated.systems != NO_SYSTEM)
    numbers, systems = np.unique(rated.systems[known], return_inverse=True)
    if rated.pooled or len(numbers) < 2:
        reason = "see each data set" if rated.pooled else f"{len(numbers)} named; two or more are needed"
        return Systems((), {}, (), reason)
    names = [str(rated.examples[known[np.argmax(systems == s)]].system) for s in range(len(numbers))]
    contexts = renumbered(rated.contexts[known])
    systems = systems.astype(np.int64)
    ratings = _by_context(rated.ratings[known], systems, contexts)
    rng = sampling.generator(rated.name, "systems")
    swaps = max(sampling.resamples, 100)  # groups of systems are told where no intervals are asked for, too
    drawn = Resamples.draw(contexts, sampling.resamples, rng).means(rated.ratings[known], systems)
    of_each = zip(drawn, numbers_of(contexts, systems).tolist(), strict=True)
    intervals = [percentile_interval(row, own) for row, own in of_each]
    means = [float(rated.ratings[known][systems == s].mean()) for s in range(len(names))]
    clusters = rank_clusters(np.array(means), system_p_values(ratings, rng, swaps))
    rows = [
        SystemRow(
            system=name,
            rating=replace(intervals[s], value=means[s], n=int((systems == s).sum()), seed=sampling.seed),
            cluster=int(clusters[s]),
            scores={scorer: _mean(values[known][systems == s]) for scorer, values in scores.items()},
        )
        for s, name in enumerate(names)
    ]
    soft = {
        scorer: soft_pairwise_accuracy(_by_context(values[known], systems, contexts), ratings, rng, swaps).value
        for scorer, values in scores.items()
    }
    rows.sort(key=lambda row: -row.rating.value)
    pearson = tuple(row for row in scored.agreements if row.level == "system" and row.statistic == "pearson")
    return Systems(tuple(rows), soft, pearson)


def _by_context(values: FloatArray, systems: np.ndarray, contexts: np.ndarray) -> FloatArray:
    """[S, G] mean of the finite `values` of each system in each context; NaN where there are none."""
    shape = (number_of(systems), number_of(contexts))
    usable = np.isfinite(values)
    cells = (systems * shape[1] + contexts)[usable]
    size = shape[0] * shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.bincount(cells, weights=values[usable], minlength=size) / np.bincount(cells, minlength=size)
    found: FloatArray = means.reshape(shape).astype(np.float64)
    return found


def _mean(values: FloatArray) -> float:
    """The mean of what is finite; NaN of nothing."""
    usable = values[np.isfinite(values)]
    return float(usable.mean()) if len(usable) else NONE
