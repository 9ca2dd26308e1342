"""Trees as arrays, ridge regression, and the head that averages them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rejoinder.judges.regression.head import PROBE, TREES, fit_head, standardised, weights_of
from rejoinder.judges.regression.kernel import PENALTY, REACH, fit_kernel
from rejoinder.judges.regression.linear import FARTHEST, fit_linear
from rejoinder.judges.regression.trees import BINS, TreeOptions, Trees, binned, edges_of, grow, joined
from rejoinder.scorer import FloatArray

SMALL = TreeOptions(trees=15, leaves=5, step=0.3, fewest=5)


def material(count: int = 200, seed: int = 0) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Five features, one of them often missing and one that never varies, targets of three of them, and weights."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(count, 5))
    features[:, 4] = 2.0
    targets = features[:, 0] - 2 * (features[:, 1] > 0.3) + 0.1 * rng.normal(size=count)
    features[rng.random(count) < 0.3, 2] = np.nan
    targets[np.isnan(features[:, 2])] += 1
    return features, targets, rng.uniform(0.5, 2, count)


@pytest.fixture(scope="module")
def trees() -> Trees:
    """A small forest."""
    return grow(*material(), SMALL, np.random.default_rng(0))


def test_trees_predict_what_scikit_learn_does_of_binned_features(trees: Trees) -> None:
    from sklearn.ensemble import HistGradientBoostingRegressor

    features, targets, weights = material()
    edges = edges_of(features)
    model = HistGradientBoostingRegressor(
        learning_rate=SMALL.step,
        max_iter=SMALL.trees,
        max_leaf_nodes=SMALL.leaves,
        min_samples_leaf=SMALL.fewest,
        max_features=SMALL.features,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=int(np.random.default_rng(0).integers(2**31)),
    ).fit(binned(features, edges), targets, weights)
    unseen = np.concatenate([material(seed=1)[0], np.full((1, 5), np.nan)])
    assert trees.predict(unseen) == pytest.approx(model.predict(binned(unseen, edges)), abs=1e-12)


@given(values=st.lists(st.floats(-5, 5) | st.just(float("nan")), min_size=1, max_size=300))
def test_bins_keep_the_order_and_hold_about_as_many(values: list[float]) -> None:
    column = np.array(values)[:, None]
    (edges,) = edges_of(column)
    found = binned(column, [edges])[:, 0]
    known = ~np.isnan(column[:, 0])
    if not known.any():
        assert (found == found[0]).all() and not len(edges)
        return
    assert (np.isnan(found) == ~known).all()
    order = np.argsort(column[known, 0], kind="stable")
    assert (np.diff(found[known][order]) >= 0).all() and len(edges) < BINS


def test_a_last_bit_moves_no_value_into_another_bin() -> None:
    column = np.random.default_rng(0).normal(size=(300, 1)).astype(np.float32)
    edges = edges_of(column)
    for towards in (-np.inf, np.inf):
        assert (binned(np.nextafter(column, np.float32(towards)), edges) == binned(column, edges)).all()


def test_trees_told_from_some_lines_predict_the_same_and_begin_at_the_mean_of_these(trees: Trees) -> None:
    features, _, weights = material(40, seed=5)
    told, unseen = trees.told_from(features, weights), material(30, seed=6)[0]
    assert told.predict(unseen).tobytes() == trees.predict(unseen).tobytes()
    assert told.expected == pytest.approx(np.average(trees.predict(features), weights=weights))
    assert told.expected + told.moved(unseen).sum(axis=1) == pytest.approx(told.predict(unseen))
    assert not np.isclose(told.expected, trees.expected)


def test_a_linear_part_told_from_some_lines_predicts_the_same_of_what_is_there() -> None:
    linear, (features, _, weights) = fit_linear(*material()), material(40, seed=5)
    told, there = linear.told_from(features, weights), ~np.isnan(features).any(axis=1)
    assert told.predict(features[there]) == pytest.approx(linear.predict(features[there]))
    assert told.base == pytest.approx(np.average(told.predict(features), weights=weights))
    assert told.base != pytest.approx(linear.base)


def test_an_example_goes_where_its_answers_send_it(trees: Trees) -> None:
    unseen = material(20, seed=7)[0]
    unseen[np.random.default_rng(1).random(unseen.shape) < 0.4] = np.nan

    def end(node: int, row: FloatArray) -> int:
        while trees.left[node] != node:
            value = row[trees.feature[node]]
            left = trees.missing_left[node] if np.isnan(value) else value <= trees.threshold[node]
            node = int((trees.left if left else trees.right)[node])
        return node

    expected = [trees.value[[end(root, row) for root in trees.roots.tolist()]].sum() for row in unseen]
    unsigned = replace(trees, left=trees.left.astype(np.uint16), right=trees.right.astype(np.uint16))
    for one in (trees, unsigned):
        np.testing.assert_array_equal(one.predict(unseen), expected)


def test_what_features_move_adds_up_to_the_prediction(trees: Trees) -> None:
    unseen = material(30, seed=2)[0]
    moved = trees.moved(unseen)
    assert trees.expected + moved.sum(axis=1) == pytest.approx(trees.predict(unseen))
    assert not moved[:, 4].any()  # nothing is asked of a feature that never varies


def test_joined_trees_predict_the_mean() -> None:
    forests = [grow(*material(), SMALL, np.random.default_rng(seed)) for seed in range(2)]
    unseen = material(20, seed=3)[0]
    mean = (forests[0].predict(unseen) + forests[1].predict(unseen)) / 2
    assert joined(forests).predict(unseen) == pytest.approx(mean)


@settings(deadline=None)
@given(rows=st.lists(st.integers(0, 199), min_size=1, max_size=130))
def test_a_prediction_does_not_depend_on_its_neighbours(trees: Trees, rows: list[int]) -> None:
    features, targets, weights = material()
    linear = fit_linear(features, targets, weights)
    kernel = fit_kernel(features, targets, weights, np.random.default_rng(0))
    for one in (trees, linear, kernel):
        assert one.predict(np.asfortranarray(features[rows])).tobytes() == one.predict(features[rows]).tobytes()
        alone = [one.predict(features[[row]]).tobytes() for row in rows]
        assert [value.tobytes() for value in one.predict(features[rows])[:, None]] == alone


def test_ridge_regression_is_scikit_learns_where_nothing_is_missing() -> None:
    from sklearn.linear_model import Ridge

    features, targets, weights = material()
    features = features[:, :2]
    centre = np.average(features, axis=0, weights=weights)
    spread = np.sqrt(np.average((features - centre) ** 2, axis=0, weights=weights))
    model = Ridge(alpha=7.0).fit((features - centre) / spread, targets, weights)
    found = fit_linear(features, targets, weights, penalty=7.0)
    assert found.weights == pytest.approx(model.coef_)
    assert found.predict(features) == pytest.approx(model.predict((features - centre) / spread))


def test_what_is_missing_counts_as_the_mean_and_what_is_far_off_as_no_farther() -> None:
    features, targets, weights = material()
    linear = fit_linear(features, targets, weights)
    assert linear.predict(np.full((1, 5), np.nan)) == pytest.approx([linear.base])
    far = linear.predict(np.array([[1e9, 0, 0, 0, 2.0]])) - linear.predict(np.array([[np.nan, 0, 0, 0, 2.0]]))
    assert abs(far[0]) == pytest.approx(FARTHEST * abs(linear.weights[0]))
    assert linear.weights[4] == 0


def test_kernel_regression_is_scikit_learns_where_every_line_is_a_mark() -> None:
    from sklearn.kernel_ridge import KernelRidge

    features, targets, _ = material(60)
    features = np.nan_to_num(features[:, :2])
    found = fit_kernel(features, targets, np.ones(60), np.random.default_rng(0))
    assert len(found.marks) == 60
    standard = (features - features.mean(axis=0)) / features.std(axis=0)
    bells = np.exp(-REACH / 2 * ((standard[:, None] - standard) ** 2).sum(axis=2))
    # With an intercept apart, what is learnt of the mean-free bells is ridge regression on these.
    centred = bells - bells.mean(axis=0)
    own = np.linalg.lstsq(centred.T @ centred + PENALTY * bells, centred.T @ (targets - targets.mean()), rcond=None)[0]
    assert found.predict(features) == pytest.approx(targets.mean() + centred @ own, abs=1e-3)
    plain = KernelRidge(alpha=PENALTY, kernel="rbf", gamma=REACH / 2).fit(standard, targets - targets.mean())
    assert np.corrcoef(found.predict(features), plain.predict(standard))[0, 1] > 0.999


def test_far_from_all_that_was_seen_a_kernel_tells_its_base() -> None:
    features, targets, weights = material()
    kernel = fit_kernel(features, targets, weights, np.random.default_rng(0))
    wide = replace(kernel, marks=kernel.marks + np.float32(1e3))
    assert wide.predict(features[:3]) == pytest.approx([kernel.base] * 3)
    assert kernel.predict(np.full((1, 5), np.nan)) == pytest.approx(kernel.predict(kernel.centre[None]))


def test_what_moved_a_kernel_adds_up_and_names_the_feature() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(300, 3))
    kernel = fit_kernel(features, features[:, 1].copy(), np.ones(300), rng).told_from(features, np.ones(300))
    moved = kernel.moved(features[:20])
    assert kernel.expected == pytest.approx(kernel.predict(features).mean())
    assert kernel.expected + moved.sum(axis=1) == pytest.approx(kernel.predict(features[:20]))
    assert np.abs(moved[:, 1]).sum() > 10 * np.abs(moved[:, [0, 2]]).sum(axis=0).max()
    assert kernel.moved(kernel.centre[None] + kernel.spread * kernel.origin) == pytest.approx(0, abs=1e-9)


def with_sense(features: FloatArray, vector: FloatArray | None = None, senseless: float = 0.0) -> FloatArray:
    """Features as a head reads them: those, whether the reply has no sense, and the numbers of a vector."""
    return np.column_stack([features, np.full(len(features), senseless), *([] if vector is None else [vector])])


def test_a_head_is_the_mean_of_its_parts_and_tells_what_moved_it() -> None:
    features, targets, weights = material()
    head = fit_head(with_sense(features), targets, weights, np.random.default_rng(0), growth=SMALL, seeds=2)
    unseen = material(20, seed=4)[0]
    both = (head.kernel.predict(unseen) + head.trees.predict(unseen)) / 2
    unseen = with_sense(unseen)
    assert head.predict(unseen) == pytest.approx(both)
    assert head.expected + head.moved(unseen).sum(axis=1) == pytest.approx(head.predict(unseen))
    assert np.corrcoef(head.predict(unseen), material(20, seed=4)[1])[0, 1] > 0.8


def test_one_fit_gives_every_mixture_of_trees_and_kernel() -> None:
    features, targets, weights = material()
    rng = np.random.default_rng(0)
    vector = rng.normal(size=(200, 3))
    rows = with_sense(features, vector, 1.0)
    head = fit_head(rows, targets, weights, rng, vector=3, nonsense=1.5, growth=SMALL, seeds=1)
    smooth, even, trees = head.mixed(rows, (0.0, TREES, 1.0))
    assert even.tobytes() == head.predict(rows).tobytes()
    assert head.probe is not None
    straight = PROBE * head.probe.predict(vector) - 1.5
    assert smooth == pytest.approx((1 - PROBE) * head.kernel.predict(features) + straight)
    assert trees == pytest.approx((1 - PROBE) * head.trees.predict(features) + straight)


def test_what_has_no_sense_is_worth_so_much_less_and_changes_nothing_that_is_learnt() -> None:
    features, targets, weights = material()
    plain, lowered = (
        fit_head(
            with_sense(features, senseless=often),
            targets,
            weights,
            np.random.default_rng(0),
            nonsense=less,
            growth=SMALL,
        )
        for often, less in ((0.0, 0.0), (1.0, 1.5))
    )
    unseen = material(20, seed=4)[0]
    assert (lowered.predict(with_sense(unseen)) == plain.predict(with_sense(unseen))).all()
    bad = with_sense(unseen, senseless=1.0)
    assert lowered.predict(bad) == pytest.approx(plain.predict(with_sense(unseen)) - 1.5)
    assert lowered.moved(bad)[:, 5] == pytest.approx(-1.5)
    assert lowered.expected + lowered.moved(bad).sum(axis=1) == pytest.approx(lowered.predict(bad))


def test_a_line_over_a_long_vector_stands_beside_trees_and_kernel() -> None:
    features, targets, weights = material(600)
    rng = np.random.default_rng(1)
    vector = rng.normal(size=(600, 40))
    targets = targets + vector[:, 3]
    head = fit_head(with_sense(features, vector), targets, weights, rng, vector=40, growth=SMALL, seeds=1)
    head = head.told_from(with_sense(features, vector), weights)
    assert head.probe is not None and int(np.abs(head.probe.weights).argmax()) == 3
    unseen = with_sense(material(20, seed=4)[0], rng.normal(size=(20, 40)))
    own = (head.kernel.predict(unseen[:, :5]) + head.trees.predict(unseen[:, :5])) / 2
    assert head.predict(unseen) == pytest.approx((1 - PROBE) * own + PROBE * head.probe.predict(unseen[:, 6:]))
    assert head.moved(unseen).shape == unseen.shape
    assert head.expected + head.moved(unseen).sum(axis=1) == pytest.approx(head.predict(unseen))
    alone = np.concatenate([head.predict(row[None]) for row in unseen])
    assert (alone == head.predict(unseen)).all()


def test_ratings_are_standardised_within_their_set_and_large_sets_weigh_by_their_root() -> None:
    sets = np.array([0] * 4 + [1] * 16 + [2])
    ratings = np.concatenate([np.arange(4.0), 100 + np.arange(16.0), [3.0]])
    found = standardised(ratings, sets)
    for one in (0, 1):
        assert found[sets == one].mean() == pytest.approx(0) and found[sets == one].std() == pytest.approx(1)
    assert found[-1] == 0
    weights = weights_of(sets)
    assert weights[sets == 1].sum() / weights[sets == 0].sum() == pytest.approx(2)
