"""Boosted regression trees as arrays: grown by scikit-learn, kept and asked without it.

Shapes: N examples, F features, K nodes of T trees, one after another. A leaf is its own child.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.scorer import FloatArray

BINS = 64  # of the values of a feature, as many as a tree can choose among
TOGETHER = 8  # examples at a time: what all trees ask of so many stays in a processor's cache


class Growth(NamedTuple):
    """How trees are grown.

    Attributes:
        trees: how many.
        leaves: of a tree, at most.
        step: what share of each tree counts.
        features: share of the features that a split may choose among.
        fewest: lines in a leaf, at least.
    """

    trees: int = 300
    leaves: int = 12
    step: float = 0.04
    features: float = 0.3
    fewest: int = 20


FULL = Growth()


@dataclass(frozen=True)
class Trees:
    """T trees whose leaves add up to a prediction.

    Attributes:
        roots: [T] where each tree begins.
        feature: [K] which feature a node asks about; 0 at a leaf.
        threshold: [K] what is not above it goes left.
        missing_left: [K] whether NaN goes left.
        left: [K] where lower values go.
        right: [K] where higher values go.
        value: [K] what a leaf adds; above it the mean of the leaves below, by the lines that came there.
        depth: questions on the longest path.
    """

    roots: NDArray[np.int32]
    feature: NDArray[np.int16]
    threshold: FloatArray
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: FloatArray
    depth: int

    def predict(self, features: NDArray[np.floating]) -> FloatArray:
        """[N] predictions for [N, F] features, each the same to the last bit whatever stands beside it."""
        found = np.empty(len(features))
        for start, ends in self._leaves(features):
            # Each row stands by itself in memory, so that numpy adds it up alike however many rows there are.
            found[start : start + TOGETHER] = np.ascontiguousarray(self.value[ends]).sum(axis=1)
        return found

    def told_from(self, features: NDArray[np.floating], weights: FloatArray) -> Trees:
        """The same trees; `expected` is the mean of what they predict for [N, F] features with [N] weights."""
        came = np.zeros(len(self.value))
        for start, ends in self._leaves(features):
            each = np.repeat(weights[start : start + TOGETHER], len(self.roots))
            came += np.bincount(ends.ravel(), each, len(came))
        return replace(self, value=_means(self.value, self.left, self.right, came))

    @cached_property
    def expected(self) -> float:
        """The prediction for an example of which nothing is known: the roots alone."""
        return float(self.value[self.roots].sum())

    def moved(self, features: NDArray[np.floating]) -> FloatArray:
        """[N, F] what each feature adds to `expected`: how far the mean below moves where it is asked (Saabas 2014)."""
        found = np.zeros(features.shape)
        for row, own in enumerate(np.asarray(features, np.float64)):
            path = list(self._path(own[None]))
            for above, below in pairwise(path):
                np.add.at(found[row], self.feature[above[0]], self.value[below[0]] - self.value[above[0]])
        return found

    @cached_property
    def _asked(self) -> NDArray[np.intp]:
        """[K] where in `_both` each node finds its feature."""
        return 2 * self.feature.astype(np.intp) + ~self.missing_left

    @cached_property
    def _children(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """[K] `right`, and how far `left` stands from it; signed, as those of a folder may not be."""
        left, right = self.left.astype(np.int32), self.right.astype(np.int32)
        return right, left - right

    def _leaves(self, features: NDArray[np.floating]) -> Iterator[tuple[int, NDArray[np.signedinteger]]]:
        """The leaves that examples come to, `TOGETHER` of them at a time, behind the place of the first."""
        for start in range(0, len(features), TOGETHER):
            *_, ends = self._path(np.asarray(features[start : start + TOGETHER], np.float64))
            yield start, ends

    def _path(self, features: NDArray[np.floating]) -> Iterator[NDArray[np.signedinteger]]:
        """[N, T] nodes that examples come through, from the roots to the leaves."""
        lower = _both(features).take(self._asked, axis=1) <= self.threshold
        # [N * K] where each node leads, example after example: to ask all of them at once is quicker than path by path.
        right, apart = self._children
        leads = lower * apart
        leads += right
        leads = leads.ravel()
        starts = np.arange(len(features))[:, None] * len(self.feature)
        node: NDArray[np.signedinteger] = np.repeat(self.roots[None], len(features), axis=0)
        yield node
        for _ in range(self.depth):
            node = leads.take(node + starts)
            yield node


def _both(features: NDArray[np.floating]) -> FloatArray:
    """[N, 2F] each feature twice, and NaN as what is below every threshold, then as what is above."""
    found = np.repeat(np.asarray(features, np.float64), 2, axis=1)
    missing = np.isnan(features)
    if missing.any():
        found[:, ::2][missing] = -np.inf
        found[:, 1::2][missing] = np.inf
    return found


def joined(forests: Sequence[Trees]) -> Trees:
    """One forest that predicts the mean of several."""
    starts = np.cumsum([0, *(len(one.value) for one in forests)]).astype(np.int32)
    moved = list(zip(forests, starts, strict=False))
    return Trees(
        roots=np.concatenate([one.roots + start for one, start in moved]),
        feature=np.concatenate([one.feature for one in forests]),
        threshold=np.concatenate([one.threshold for one in forests]),
        missing_left=np.concatenate([one.missing_left for one in forests]),
        left=np.concatenate([one.left + start for one, start in moved]),
        right=np.concatenate([one.right + start for one, start in moved]),
        value=np.concatenate([one.value for one in forests]) / len(forests),
        depth=max(one.depth for one in forests),
    )


def grow(
    features: NDArray[np.floating], targets: FloatArray, weights: FloatArray, growth: Growth, rng: np.random.Generator
) -> Trees:
    """Trees fitted to [N] targets of [N, F] features by least squares."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    # Binned here: scikit-learn's own bins of weighted lines take longer than all of its trees.
    edges = edges_of(features)
    model = HistGradientBoostingRegressor(
        learning_rate=growth.step,
        max_iter=growth.trees,
        max_leaf_nodes=growth.leaves,
        min_samples_leaf=growth.fewest,
        max_features=growth.features,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=int(rng.integers(2**31)),
    )
    model.fit(binned(features, edges), targets, weights)
    grown = [predictor.nodes for (predictor,) in model._predictors]
    return _flat(grown, float(np.ravel(model._baseline_prediction)[0]), edges)


def edges_of(features: NDArray[np.floating]) -> list[FloatArray]:
    """[F] the ascending upper ends of all bins but the last, of each feature, which hold about as many lines each.

    They lie in the middle between neighbouring values: a feature that another machine works out with another last bit
    falls into the same bin. A feature with a single value has one bin, up to that value.
    """
    return [_edges(np.sort(column[~np.isnan(column)])) for column in np.asarray(features, np.float64).T]


def _edges(known: FloatArray) -> FloatArray:
    """The upper ends of the bins of ascending values."""
    values = np.unique(known)
    if len(values) < 2:
        return values
    last = np.searchsorted(values, known[(np.arange(1, BINS) / BINS * len(known)).astype(np.intp)])
    last = np.unique(np.minimum(last, len(values) - 2))
    return values[last] + (values[last + 1] - values[last]) / 2


def binned(features: NDArray[np.floating], edges: Sequence[FloatArray]) -> FloatArray:
    """[N, F] the number of the bin of each value, NaN where it is missing: as trees see [N, F] features."""
    given = np.asarray(features, np.float64)
    found = np.empty(given.shape)
    for column, own in enumerate(edges):
        found[:, column] = np.searchsorted(own, given[:, column], side="left")
    # A column of which nothing is known is all alike: scikit-learn takes none that is missing throughout.
    known = np.array([len(own) > 0 for own in edges], np.bool_)
    return np.where(np.isnan(given) & known, np.nan, found)


def _flat(grown: list[NDArray[Any]], base: float, edges: Sequence[FloatArray]) -> Trees:
    """Trees over bins, as scikit-learn keeps them, over values; the first takes in what they begin from."""
    sizes = np.array([len(nodes) for nodes in grown])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    nodes, start = np.concatenate(grown), np.repeat(starts, sizes)
    own, leaf = np.arange(len(nodes)), nodes["is_leaf"].astype(bool)
    left = np.where(leaf, own, start + nodes["left"])
    right = np.where(leaf, own, start + nodes["right"])
    value = _means(nodes["value"].astype(np.float64), left, right, np.where(leaf, nodes["count"], 0.0))
    value[: sizes[0]] += base
    feature = np.where(leaf, 0, nodes["feature_idx"])
    return Trees(
        roots=starts.astype(np.int32),
        feature=feature.astype(np.int16),
        threshold=np.array(
            [
                0.0 if end else _upper(edges[of], at)
                for end, of, at in zip(leaf, feature, nodes["num_threshold"], strict=True)
            ]
        ),
        missing_left=nodes["missing_go_to_left"].astype(bool),
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        value=value,
        depth=int(nodes["depth"].max()),
    )


def _means(value: FloatArray, left: NDArray[np.integer], right: NDArray[np.integer], came: FloatArray) -> FloatArray:
    """[K] values with those above the leaves made means of the leaves below; where nobody came, both sides count alike.

    Args:
        value: [K] what leaves add.
        left: [K] see `Trees`.
        right: [K] see `Trees`.
        came: [K] how many came to each leaf.
    """
    found, came = value.copy(), came.copy()
    # Children stand after their parents, so from the end on every mean is made of finished ones.
    for node in np.flatnonzero(left != np.arange(len(left)))[::-1]:
        below = [left[node], right[node]]
        came[node] = came[below].sum()
        found[node] = np.average(found[below], weights=came[below] if came[node] else None)
    return found


def _upper(edges: FloatArray, number: float) -> float:
    """The value up to which bins of at most this number reach; the largest of all for a split of what is missing."""
    return float(edges[int(number)]) if number < len(edges) else float(np.finfo(np.float64).max)
