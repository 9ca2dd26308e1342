"""Trees: grown as scikit-learn's, stored as arrays, with contributions that add up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rated_features import OPTIONS, lines
from rejoinder.judges.regression.trees import BINS, Trees, bin_edges, grow_trees, to_bins
from rejoinder.scorer import FloatArray


@pytest.fixture(scope="module")
def trees() -> Trees:
    return grow_trees(*lines(), OPTIONS, np.random.default_rng(0))


def test_predictions_are_those_of_boosted_scikit_learn_trees_over_bins(trees: Trees) -> None:
    from sklearn.tree import DecisionTreeRegressor

    features, targets, weights = lines()
    unseen = np.concatenate([lines(seed=1)[0], np.full((1, 5), np.nan)])
    edges, rng = bin_edges(features), np.random.default_rng(0)
    base = float(np.average(targets, weights=weights))
    fitted, expected = np.full(len(targets), base), np.full(len(unseen), base)
    for _ in range(OPTIONS.trees):
        tree = DecisionTreeRegressor(
            max_leaf_nodes=OPTIONS.leaves,
            min_samples_leaf=OPTIONS.min_leaf,
            max_features=OPTIONS.features,
            random_state=int(rng.integers(2**31)),
        ).fit(to_bins(features, edges), targets - fitted, weights)
        reached = tree.apply(to_bins(features, edges))
        counts = np.bincount(reached, weights, reached.max() + 1)
        shrink = OPTIONS.learning_rate * np.divide(counts, counts + 1)
        fitted += tree.predict(to_bins(features, edges)) * shrink[reached]
        expected += tree.predict(to_bins(unseen, edges)) * shrink[tree.apply(to_bins(unseen, edges))]
    assert trees.predict(unseen) == pytest.approx(expected, abs=1e-12)


@given(values=st.lists(st.floats(-5, 5) | st.just(float("nan")), min_size=1, max_size=300))
def test_bins_keep_the_order(values: list[float]) -> None:
    column = np.array(values)[:, None]
    (edges,) = bin_edges(column)
    bins, present = to_bins(column, [edges])[:, 0], ~np.isnan(column[:, 0])
    if not present.any():
        assert (bins == 0).all() and not len(edges)
        return
    assert (np.isnan(bins) == ~present).all() and len(edges) < BINS
    assert (np.diff(bins[present][np.argsort(column[present, 0], kind="stable")]) >= 0).all()


def test_a_last_bit_changes_no_bin() -> None:
    column = np.random.default_rng(0).normal(size=(300, 1)).astype(np.float32)
    edges = bin_edges(column)
    for towards in (-np.inf, np.inf):
        assert (to_bins(np.nextafter(column, np.float32(towards)), edges) == to_bins(column, edges)).all()


def test_an_example_follows_its_splits(trees: Trees) -> None:
    unseen = lines(20, seed=7)[0]
    unseen[np.random.default_rng(1).random(unseen.shape) < 0.4] = np.nan

    def leaf(node: int, row: FloatArray) -> int:
        while trees.left[node] != node:
            value = row[trees.feature[node]]
            goes_left = trees.missing_left[node] if np.isnan(value) else value <= trees.threshold[node]
            node = int((trees.left if goes_left else trees.right)[node])
        return node

    expected = [trees.value[[leaf(root, row) for root in trees.roots.tolist()]].sum() for row in unseen]
    unsigned = replace(trees, left=trees.left.astype(np.uint16), right=trees.right.astype(np.uint16))
    for forest in (trees, unsigned):
        np.testing.assert_array_equal(forest.predict(unseen), expected)


def test_a_split_of_missing_values_alone_is_learned() -> None:
    column = np.where(np.arange(200)[:, None] % 2, np.nan, np.random.default_rng(0).normal(size=(200, 1)))
    targets = np.where(np.arange(200) % 2, 3.0, 0.0)
    forest = grow_trees(column, targets, np.ones(200), OPTIONS, np.random.default_rng(0))
    high, low, far = forest.predict(np.array([[np.nan], [0.0], [1e9]]))
    assert high > 2.9 > 0.1 > max(low, far)


def test_contributions_add_up_from_a_baseline(trees: Trees) -> None:
    features, _, weights = lines(40, seed=5)
    unseen = lines(30, seed=2)[0]
    moved = trees.with_baseline(features, weights)
    assert moved.predict(unseen).tobytes() == trees.predict(unseen).tobytes()
    assert moved.expected == pytest.approx(np.average(trees.predict(features), weights=weights))
    assert not np.isclose(moved.expected, trees.expected)
    for forest in (trees, moved):
        added = forest.contributions(unseen)
        assert forest.expected + added.sum(axis=1) == pytest.approx(forest.predict(unseen))
        assert not added[:, 4].any()  # no split on a feature that never varies


def test_several_forests_predict_their_mean() -> None:
    steps: list[int] = []
    rng, unseen = np.random.default_rng(0), lines(20, seed=3)[0]
    single = [grow_trees(*lines(), OPTIONS, rng).predict(unseen) for _ in range(2)]
    joint = grow_trees(*lines(), OPTIONS, np.random.default_rng(0), 2, steps.append)
    assert joint.predict(unseen) == pytest.approx((single[0] + single[1]) / 2) and steps == [1, 1]
