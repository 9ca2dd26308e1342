"""Boosted regression trees as arrays: grown by scikit-learn, stored and evaluated without it.

Shapes: N examples, F features, K nodes of T trees, one tree after another. A leaf is its own child.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.scorer import Advance, FloatArray, ignore

BINS = 64  # of the values of a feature, between which a tree can split
_L2 = 1.0  # on the values of leaves


class TreeOptions(NamedTuple):
    """How trees are grown."""

    trees: int = 300  # their number
    leaves: int = 12  # the most leaves of a tree
    learning_rate: float = 0.04  # the share of each tree that counts
    features: float = 0.3  # the share of the features that each split chooses among
    min_leaf: int = 20  # the fewest lines in a leaf


DEFAULT = TreeOptions()


@dataclass(frozen=True)
class Trees:
    """T trees whose leaves add up to a prediction."""

    roots: NDArray[np.int32]  # [T] the first node of each tree
    feature: NDArray[np.int16]  # [K] the feature that a node splits on; 0 at a leaf
    threshold: FloatArray  # [K] values up to this go left
    missing_left: NDArray[np.bool_]  # [K] whether NaN goes left
    left: NDArray[np.int32]  # [K] the child of low values
    right: NDArray[np.int32]  # [K] the child of high values
    value: FloatArray  # [K] what a leaf adds; above the leaves, the mean of the leaves below
    depth: int  # splits on the longest path

    def predict(self, features: NDArray[np.floating]) -> FloatArray:
        """Return [N] predictions for [N, F] features."""
        return np.asarray(self.value.take(self._leaves(features)).sum(axis=1))

    @cached_property
    def expected(self) -> float:
        """The prediction before any split: the values of the roots."""
        return float(self.value[self.roots].sum())

    def with_baseline(self, features: NDArray[np.floating], weights: FloatArray) -> Trees:
        """Return these trees with `expected` as their mean prediction for [N, F] features with [N] weights."""
        leaves = self._leaves(features)
        reached = np.bincount(leaves.ravel(), np.repeat(weights, len(self.roots)), len(self.value))
        return replace(self, value=_with_means(self.value, self.left, self.right, reached))

    def contributions(self, features: NDArray[np.floating]) -> FloatArray:
        """Return [N, F] what each feature adds to `expected`: by how much each of its splits moves the mean below.

        Source: Saabas 2014.
        """
        total, cells = np.zeros(features.size), np.arange(len(features))[:, None] * features.shape[1]
        above, *path = self._path(features)
        for below in path:
            added = self.value.take(below) - self.value.take(above)
            total += np.bincount((cells + self.feature.take(above)).ravel(), added.ravel(), total.size)
            above = below
        return total.reshape(features.shape)

    def _leaves(self, features: NDArray[np.floating]) -> NDArray[np.intp]:
        """Return [N, T] the leaves that examples reach."""
        if len(features) != 1:
            *_, leaves = self._path(features)
            return leaves
        # Of a single example, all splits at once take half the time.
        goes_left = _high_and_low(features)[0].take(self._lookup[0]) <= self.threshold
        below, nodes = np.where(goes_left, self.left, self.right), self.roots
        for _ in range(self.depth):
            nodes = below.take(nodes)
        return nodes[None].astype(np.intp)

    def _path(self, features: NDArray[np.floating]) -> Iterator[NDArray[np.intp]]:
        """Yield [N, T] nodes that examples pass, from the roots to the leaves."""
        columns, children = self._lookup
        values = _high_and_low(features).ravel()
        cells = np.arange(len(features))[:, None] * (2 * features.shape[1])  # where the values of an example begin
        nodes = np.repeat(self.roots[None].astype(np.intp), len(features), axis=0)
        yield nodes
        for _ in range(self.depth):
            goes_left = values.take(columns.take(nodes) + cells) <= self.threshold.take(nodes)
            nodes = children.take(2 * nodes + goes_left)
            yield nodes

    @cached_property
    def _lookup(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """[K] which of [2F] values nodes read (missing as high or low), and [K, 2] their right and left children."""
        return 2 * self.feature.astype(np.intp) + self.missing_left, np.stack([self.right, self.left], 1, dtype=np.intp)


def _high_and_low(features: NDArray[np.floating]) -> FloatArray:
    """Return [N, 2F] each feature twice, with NaN above every threshold and then below every threshold."""
    both = np.repeat(np.asarray(features, np.float64), 2, axis=1)
    missing = np.isnan(features)
    both[:, ::2][missing], both[:, 1::2][missing] = np.inf, -np.inf
    return both


def grow_trees(
    features: NDArray[np.floating],
    targets: FloatArray,
    weights: FloatArray,
    options: TreeOptions,
    rng: np.random.Generator,
    forests: int = 1,
    advance: Advance = ignore,
) -> Trees:
    """Fit trees to [N] targets of [N, F] features by gradient boosting with squared error; lines count by weights.

    The prediction is the mean of several forests; `advance` is called with 1 after each.
    """
    from sklearn.tree import DecisionTreeRegressor

    edges = bin_edges(features)
    binned = to_bins(features, edges).astype(np.float32)
    base = float(np.average(targets, weights=weights))
    grown, values = [], []
    for _ in range(forests):
        predictions = np.full(len(targets), base)
        for number in range(options.trees):
            tree = DecisionTreeRegressor(
                max_leaf_nodes=options.leaves,
                min_samples_leaf=options.min_leaf,
                max_features=options.features,
                random_state=int(rng.integers(2**31)),
            )
            nodes = tree.fit(binned, targets - predictions, sample_weight=weights).tree_
            reached = nodes.weighted_n_node_samples
            value = options.learning_rate * nodes.value[:, 0, 0] * reached / (reached + _L2)
            predictions += value[tree.apply(binned)]
            grown.append(nodes)
            values.append((value if number else value + base) / forests)
        advance(1)
    return _as_arrays(grown, np.concatenate(values), edges)


def bin_edges(features: NDArray[np.floating]) -> list[FloatArray]:
    """Return for each of F features the ascending upper ends of all bins but the last; bins hold about equal numbers.

    The ends lie midway between neighbouring values, so a difference in the last bit on another machine changes no bin.
    A feature with a single value has one bin, up to that value; a feature that is always missing has none.
    """
    return [_edges(np.sort(column[~np.isnan(column)])) for column in np.asarray(features, np.float64).T]


def _edges(ascending: FloatArray) -> FloatArray:
    values = np.unique(ascending)
    if len(values) < 2:
        return values
    last = np.searchsorted(values, ascending[(np.arange(1, BINS) / BINS * len(ascending)).astype(np.intp)])
    last = np.unique(np.minimum(last, len(values) - 2))
    return values[last] + (values[last + 1] - values[last]) / 2


def to_bins(features: NDArray[np.floating], edges: Sequence[FloatArray]) -> FloatArray:
    """Return [N, F] numbers of bins, NaN for a missing value; 0 in a column that is always missing."""
    columns = np.asarray(features, np.float64).T
    bins = [np.searchsorted(ends, column, side="left") for ends, column in zip(edges, columns, strict=True)]
    is_used = np.array([len(ends) > 0 for ends in edges], np.bool_)
    return np.where(np.isnan(columns.T) & is_used, np.nan, np.array(bins, np.float64).T)


def _as_arrays(grown: Sequence[Any], value: FloatArray, edges: Sequence[FloatArray]) -> Trees:
    """Return trees over values from scikit-learn's trees (their documented `tree_`) over bins."""

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(nodes, name) for nodes in grown])

    sizes = [nodes.node_count for nodes in grown]
    roots = np.cumsum([0, *sizes[:-1]])
    nodes, start = np.arange(len(value)), np.repeat(roots, sizes)
    is_leaf = joined("children_left") < 0
    left, right = (np.where(is_leaf, nodes, start + joined(f"children_{side}")) for side in ("left", "right"))
    feature = np.where(is_leaf, 0, joined("feature"))
    # A split of what is missing alone has the threshold infinity; then all values go left.
    ends = np.full((len(edges), BINS), np.finfo(np.float64).max)
    for row, own in zip(ends, edges, strict=True):
        row[: len(own)] = own
    threshold = ends[feature, np.clip(np.where(is_leaf, 0, joined("threshold")), 0, BINS - 1).astype(np.intp)]
    return Trees(
        roots=roots.astype(np.int32),
        feature=feature.astype(np.int16),
        threshold=np.where(is_leaf, 0.0, threshold),
        missing_left=joined("missing_go_to_left").astype(bool),
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        value=_with_means(value, left, right, np.where(is_leaf, joined("weighted_n_node_samples"), 0.0)),
        depth=max(nodes.max_depth for nodes in grown),
    )


def _with_means(
    value: FloatArray, left: NDArray[np.integer], right: NDArray[np.integer], weight: NDArray[Any]
) -> FloatArray:
    """Return [K] values, above the leaves the mean of the leaves below by [K] weights; equal halves where all are 0."""
    means, total = value.copy(), weight.copy()
    # Children come after their parents, so from the end on every mean is made of finished ones.
    for node in np.flatnonzero(left != np.arange(len(left)))[::-1].tolist():
        below = [left[node], right[node]]
        total[node] = total[below].sum()
        means[node] = total[below] @ means[below] / total[node] if total[node] else means[below].mean()
    return means
