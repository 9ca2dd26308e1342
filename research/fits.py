"""Judges of the ADEM family fitted on encoded lines, and their agreement with ratings over splits.

Shapes: N lines, S splits, A appearances (a line in the test part of a split).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.estimates import Estimate
from rejoinder.judges.adem.judge import Kind
from rejoinder.judges.adem.learner import AdemLearner
from rejoinder.judges.adem.optimizer import PRESETS, AdemFit, AdemOptions
from rejoinder.judges.crossval import SHARES
from rejoinder.judges.protocol import Rows
from rejoinder.scorer import FloatArray
from rejoinder.stats.correlation import FEWEST, Statistic, columns, mean_correlation, mean_over_parts, pearson, spearman
from rejoinder.stats.permutation import drawn_swaps, swap_test, swapped_differences
from rejoinder.stats.resamples import Resamples, Sampling, number_of, percentile_interval, renumbered
from rejoinder.stats.splits import split_groups
from research.common import Encoding, Material

RESAMPLES = 1000
# Larger batches, longer steps and fewer epochs than the defaults: ten times quicker; the validation error is the same
# within .004 rating points, because it is lowest after some six epochs.
QUICK = AdemOptions(batch_size=128, learning_rate=0.007, epochs=20)
# The printed step is .001; twice that comes to the same validation error in half the time.
QUICK_AUTOJUDGE = replace(PRESETS["deriu2019"], learning_rate=0.002, epochs=30)


class Split(NamedTuple):
    """One random division of the contexts: lines to fit on, lines that decide epoch and settings, and all others."""

    seed: int
    train: Rows
    validation: Rows
    test: Rows


class Judge(NamedTuple):
    """A judge fitted on one split, its encoding, and its Pearson and Spearman correlations on the validation part."""

    fit: AdemFit
    encoding: Encoding
    validation: tuple[float, float]

    def predict(self) -> FloatArray:
        """Return [N] predicted ratings, for several references the mean; NaN where a side has no vector."""
        encoded = self.encoding.lines.encoded
        return encoded.combine(self.fit.predict(encoded.pairs()), "mean")

    @property
    def seconds(self) -> float:
        """The seconds that encoding and judging all lines takes."""
        start = time.perf_counter()
        self.predict()
        return self.encoding.seconds + time.perf_counter() - start


def splits(material: Material, count: int) -> list[Split]:
    """Return random splits of contexts, 70 / 15 / 15; copies of references are in the test parts alone."""
    divided = []
    for seed in range(count):
        train, validation, test = split_groups(material.contexts, SHARES, np.random.default_rng(seed))
        train, validation = (part[~material.copies[part]] for part in (train, validation))
        divided.append(Split(seed, train, validation, test))
    return divided


def fit(material: Material, encoding: Encoding, split: Split, kind: Kind, options: AdemOptions) -> Judge:
    """Return a judge fitted on those lines of a split that have vectors."""
    train, validation = encoding.usable(split.train), encoding.usable(split.validation)
    ratings, rng = material.ratings, np.random.default_rng(split.seed)
    fitted = AdemLearner(kind, encoding.encoder, options).fit(encoding.lines, ratings, train, validation, rng).fit
    predicted = fitted.predict(encoding.lines.encoded.means.at(validation))
    first, second = (correlate(predicted, ratings[validation]).value for correlate in (pearson, spearman))
    return Judge(fitted, encoding, (first, second))


def best_of(judges: Sequence[Judge]) -> int:
    """Return the place of the highest Pearson correlation on the validation part; the first if there is none."""
    return int(np.nan_to_num([judge.validation[0] for judge in judges], nan=-np.inf).argmax())


def predictions(judges: Sequence[Judge]) -> FloatArray:
    """Return [S, N] the predictions of each judge for every line."""
    return np.array([judge.predict() for judge in judges])


def set_means(material: Material, train: Rows) -> FloatArray:
    """Return [N] the mean training rating of each line's data set."""
    names, sets = np.unique(material.datasets, return_inverse=True)
    overall, means = material.ratings[train].mean(), []
    for place in range(len(names)):
        own = material.ratings[train[sets[train] == place]]
        means.append(own.mean() if len(own) else overall)
    return np.array(means)[sets]


# figures


class Appearances(NamedTuple):
    """Lines in the test parts of splits: [A] lines, [A] splits."""

    rows: Rows
    parts: Rows

    def where(self, wanted: NDArray[np.bool_]) -> Appearances:
        """Return the appearances of the `wanted` [N] lines."""
        kept = wanted[self.rows]
        return Appearances(self.rows[kept], self.parts[kept])


def appearances(tests: Sequence[Rows]) -> Appearances:
    """Return the lines of each split's test part, one split after the other."""
    return Appearances(np.concatenate(tests), np.repeat(np.arange(len(tests)), [len(test) for test in tests]))


class OfSystems(NamedTuple):
    """Pearson's correlation over systems, their mean scores and their mean ratings."""

    estimate: Estimate
    scores: FloatArray
    ratings: FloatArray


@dataclass(frozen=True)
class Figures:
    """Figures of a material that all rest on the same resamples of its contexts."""

    material: Material
    resamples: Resamples

    @classmethod
    def of(cls, material: Material, resamples: int = RESAMPLES) -> Figures:
        """Return the figures of a material."""
        return cls(material, Sampling(resamples, 0).draw(material.contexts, (), "paper"))

    def correlation(self, statistic: Statistic, scores: FloatArray, where: Appearances) -> Estimate:
        """Return the mean over splits of the correlation of `scores` [S, N] with ratings."""
        rows, parts = where
        values = scores[parts, rows]
        return mean_correlation(statistic, values, self.material.ratings[rows], parts, self.resamples.at(rows))

    def both(self, scores: FloatArray, where: Appearances) -> tuple[Estimate, Estimate]:
        """Return Spearman and Pearson."""
        return self.correlation("spearman", scores, where), self.correlation("pearson", scores, where)

    def within(self, statistic: Statistic, scores: FloatArray, where: Appearances) -> Estimate:
        """Return the mean over splits and data sets of the correlation inside a set."""
        rows, parts = where
        _, sets = np.unique(self.material.datasets[rows], return_inverse=True)
        values, cells = scores[parts, rows], parts * (sets.max() + 1) + sets
        return mean_correlation(statistic, values, self.material.ratings[rows], cells, self.resamples.at(rows))

    def error(self, scores: FloatArray, where: Appearances) -> Estimate:
        """Return the mean over splits of the mean absolute error."""
        rows, parts = where
        errors = np.abs(scores[parts, rows] - self.material.ratings[rows])
        known = np.isfinite(errors)
        return _mean_of_parts(errors[known], parts[known], self.resamples.at(rows[known]))

    def ahead(
        self, statistic: Literal["pearson", "spearman"], first: FloatArray, second: FloatArray, where: Appearances
    ) -> Estimate:
        """Return how much better `first` agrees with ratings than `second`, both [S, N], on lines that both score."""
        rows, parts = where
        both = np.stack([first[parts, rows], second[parts, rows]])
        known = np.isfinite(both).all(axis=0)
        rows, parts = rows[known], parts[known]
        clusters = renumbered(self.material.contexts[rows])
        rng = Sampling(RESAMPLES, 0).generator((), "paper, swaps")
        swaps = drawn_swaps(number_of(clusters), 1000, rng)
        scores, ratings = dict(enumerate(both[:, known])), self.material.ratings[rows]
        return swap_test(swapped_differences(statistic, scores, ratings, parts, clusters, swaps, [(0, 1)])[0, 1])

    def systems(self, scores: FloatArray, where: Appearances, *, centred: bool) -> OfSystems:
        """Return Pearson's correlation over systems of mean score and mean rating; p takes systems as independent.

        A system is one name in one data set. If `centred`, the mean of the data set is subtracted first, so that sets
        of different levels do not make the correlation.
        """
        rows, parts = where
        known = np.isfinite(scores[parts, rows]) & (self.material.systems[rows] != "")
        rows, values = rows[known], scores[parts, rows][known]
        ratings, sets = self.material.ratings[rows], self.material.datasets[rows]
        if centred:
            values, ratings = _centred(values, sets), _centred(ratings, sets)
        names = np.char.add(np.char.add(sets, ": "), self.material.systems[rows])
        labels, groups = np.unique(names, return_inverse=True)
        if len(labels) < FEWEST:
            return OfSystems(Estimate(), values[:0], values[:0])
        resamples = self.resamples.at(rows)
        means = [resamples.means(column, groups) for column in (values, ratings)]
        ours, theirs = (mean[:, 0] for mean in means)
        estimate = pearson(ours, theirs)
        if estimate.known:
            drawn = percentile_interval(columns("pearson", *means), resamples.size)
            estimate = replace(drawn, n=estimate.n, p=estimate.p)
        return OfSystems(estimate, ours, theirs)


def mean_by(values: FloatArray, clusters: NDArray[Any], seed: int) -> Estimate:
    """Return the mean of the finite `values` [N], with an interval from resampled `clusters` [N]; p is NaN."""
    known = np.isfinite(values)
    if not known.any():
        return Estimate()
    groups = renumbered(clusters[known])
    resamples = Sampling(RESAMPLES, seed).draw(groups, (), "paper")
    return _mean_of_parts(values[known], np.zeros_like(groups), resamples)


def _mean_of_parts(values: FloatArray, parts: Rows, resamples: Resamples) -> Estimate:
    """Return the mean over parts of the mean of `values`; p is NaN."""
    means = resamples.means(values, renumbered(parts))
    return replace(mean_over_parts(means, resamples.size), n=len(values), p=float("nan"))


def _centred(values: FloatArray, sets: NDArray[np.str_]) -> FloatArray:
    """Return `values` minus the mean of their set."""
    _, place = np.unique(sets, return_inverse=True)
    return values - (np.bincount(place, values) / np.bincount(place))[place]
