"""Scores and ratings to figures: correlations over splits with intervals, and correlations of systems.

Shapes: N lines, S splits, A appearances (a line in the test part of a split), G contexts, B resamples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rejoinder.estimates import Estimate
from rejoinder.judges.protocol import Rows
from rejoinder.report.results import Results
from rejoinder.scorer import FloatArray
from rejoinder.stats.correlation import (
    CORRELATIONS,
    FEWEST,
    Statistic,
    columns,
    mean_correlation,
    mean_over_parts,
    pearson,
)
from rejoinder.stats.permutation import drawn_swaps, swap_test, swapped_differences
from rejoinder.stats.resamples import Resamples, Sampling, number_of, percentile_interval, renumbered
from research.material import Material

T = TypeVar("T", bound=Estimate)
RESAMPLES = 1000
STATISTICS: tuple[Statistic, ...] = ("spearman", "pearson")


class Appearances(NamedTuple):
    """Lines in the test parts of splits.

    Attributes:
        rows: [A] the lines.
        parts: [A] the splits.
    """

    rows: Rows
    parts: Rows

    def where(self, wanted: NDArray[np.bool_]) -> Appearances:
        """Those of the lines that `wanted` [N] names."""
        kept = wanted[self.rows]
        return Appearances(self.rows[kept], self.parts[kept])


def appearances(tests: Sequence[Rows]) -> Appearances:
    """The lines of each split's test part, one split after the other."""
    return Appearances(np.concatenate(tests), np.repeat(np.arange(len(tests)), [len(test) for test in tests]))


@dataclass(frozen=True)
class Figures:
    """How to work out figures on a material.

    Attributes:
        material: the lines.
        resamples: of the contexts of its lines.
        seed: of the draws.
    """

    material: Material
    resamples: Resamples
    seed: int

    def correlation(self, statistic: Statistic, scores: FloatArray, where: Appearances) -> Estimate:
        """The mean over splits of the correlation of `scores` [S, N] with people."""
        rows, parts = where
        values = scores[parts, rows]
        return mean_correlation(statistic, values, self.material.ratings[rows], parts, self.resamples.at(rows))

    def both(self, scores: FloatArray, where: Appearances) -> tuple[Estimate, Estimate]:
        """Spearman and Pearson."""
        spearman, pearson_ = (self.correlation(statistic, scores, where) for statistic in STATISTICS)
        return spearman, pearson_

    def within(self, statistic: Statistic, scores: FloatArray, where: Appearances) -> Estimate:
        """The mean over splits and data sets of the correlation inside a set: what set a line is from does not help."""
        rows, parts = where
        _, sets = np.unique(self.material.datasets[rows], return_inverse=True)
        values, cells = scores[parts, rows], parts * (sets.max() + 1) + sets
        return mean_correlation(statistic, values, self.material.ratings[rows], cells, self.resamples.at(rows))

    def error(self, scores: FloatArray, where: Appearances) -> Estimate:
        """The mean over splits of the mean absolute error."""
        rows, parts = where
        errors = np.abs(scores[parts, rows] - self.material.ratings[rows])
        known = np.isfinite(errors)
        return _mean_of_parts(errors[known], parts[known], self.resamples.at(rows[known]))

    def versus(
        self, statistic: Literal["pearson", "spearman"], first: FloatArray, second: FloatArray, where: Appearances
    ) -> Estimate:
        """Whether `first` agrees better with people than `second`, both [S, N], on the lines that both score."""
        rows, parts = where
        both = np.stack([first[parts, rows], second[parts, rows]])
        known = np.isfinite(both).all(axis=0)
        rows, parts = rows[known], parts[known]
        ratings, contexts = self.material.ratings[rows], self.material.contexts[rows]
        clusters, rng = renumbered(contexts), Sampling(RESAMPLES, self.seed).generator((), "paper, swaps")
        swaps = drawn_swaps(number_of(clusters), 1000, rng)
        scores = dict(enumerate(both[:, known]))
        return swap_test(swapped_differences(statistic, scores, ratings, parts, clusters, swaps, [(0, 1)])[0, 1])

    def systems(self, scores: FloatArray, where: Appearances, *, centred: bool) -> OfSystems:
        """Pearson's correlation over systems of mean score and mean rating.

        A system is one name in one data set. Where `centred`, the mean of the data set is taken off first, so that sets
        whose level differs do not make the correlation.
        """
        rows, parts = where
        known = np.isfinite(scores[parts, rows]) & (self.material.systems[rows] != "")
        rows, values = rows[known], scores[parts, rows][known]
        ratings, sets = self.material.ratings[rows], self.material.datasets[rows]
        if centred:
            values, ratings = _centred(values, sets), _centred(ratings, sets)
        names = np.char.add(np.char.add(sets, ": "), self.material.systems[rows])
        labels, groups = np.unique(names, return_inverse=True)
        return _of_systems(labels.tolist(), groups, values, ratings, self.resamples.at(rows))


def extended(kind: type[T], estimate: Estimate, **more: Any) -> T:
    """Return a record of a `kind` derived from `Estimate`, with `more` fields."""
    return kind(**{**{each.name: getattr(estimate, each.name) for each in fields(Estimate)}, **more})


@dataclass(frozen=True, slots=True, kw_only=True)
class OfSystems(Estimate):
    """Pearson's correlation over n systems; p takes systems as independent.

    Attributes:
        names: of the systems.
        scores: their mean scores.
        ratings: their mean ratings.
    """

    names: list[str]
    scores: FloatArray
    ratings: FloatArray


def figures(material: Material, seed: int, resamples: int = RESAMPLES) -> Figures:
    """Figures of `material` that all rest on the same resamples of contexts."""
    return Figures(material, Sampling(resamples, seed).draw(material.contexts, (), "paper"), seed)


def _of_systems(
    names: list[str], groups: Rows, scores: FloatArray, ratings: FloatArray, resamples: Resamples
) -> OfSystems:
    """The correlation over groups, with the interval from resampled contexts."""
    if len(names) < FEWEST:
        return OfSystems(names=names, scores=scores[:0], ratings=ratings[:0])
    means = [resamples.means(values, groups) for values in (scores, ratings)]
    ours, theirs = (mean[:, 0] for mean in means)
    found = pearson(ours, theirs)
    if not found.known:
        return extended(OfSystems, found, names=names, scores=ours, ratings=theirs)
    interval = percentile_interval(columns("pearson", *means), resamples.size)
    return extended(OfSystems, interval, names=names, scores=ours, ratings=theirs, n=found.n, p=found.p)


def _centred(values: FloatArray, sets: NDArray[np.str_]) -> FloatArray:
    """`values` less the mean of their set."""
    _, place = np.unique(sets, return_inverse=True)
    return values - (np.bincount(place, values) / np.bincount(place))[place]


def mean_by(values: FloatArray, clusters: NDArray[Any], seed: int) -> Estimate:
    """The mean of the finite ones among `values` [N], with an interval from resampled `clusters` [N]; p is NaN.

    Args:
        values: numbers, NaN where there is none.
        clusters: what each hangs together with, as names or numbers.
        seed: decides the resamples.
    """
    known = np.isfinite(values)
    if not known.any():
        return Estimate()
    groups = renumbered(clusters[known])
    return _mean_of_parts(values[known], np.zeros_like(groups), Sampling(RESAMPLES, seed).draw(groups, (), "paper"))


def _mean_of_parts(values: FloatArray, parts: Rows, resamples: Resamples) -> Estimate:
    """The mean over parts of the mean of `values` [N]; p is NaN."""
    means = resamples.means(values, renumbered(parts))
    return replace(mean_over_parts(means, resamples.size), n=len(values), p=float("nan"))


def turn_level(study: Results) -> dict[tuple[str, str], dict[str, Estimate]]:
    """Return the turn-level correlations of a study by data set and scorer, then by statistic."""
    found: dict[tuple[str, str], dict[str, Estimate]] = {}
    for row in study.pick(level="turn", statistic=CORRELATIONS, group=""):
        found.setdefault((row.dataset, row.scorer), {})[row.statistic] = row
    return found
