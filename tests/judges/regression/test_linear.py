"""Ridge regression and kernel ridge regression against scikit-learn; probes; the cloud of training lines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rated_features import lines
from rejoinder.judges.augmentation import WrittenFor
from rejoinder.judges.domain import fit_cloud
from rejoinder.judges.regression.kernel import GAMMA, PENALTY, fit_kernel
from rejoinder.judges.regression.linear import (
    CLIP,
    MIN_REPLIES,
    PROBE_FOLDS,
    PROBES,
    Written,
    fit_linear,
    fit_path,
    fit_probes,
    probe_outputs,
    share_contributions,
)
from rejoinder.scorer import FloatArray

KINDS = (WrittenFor.FITTING, WrittenFor.MISLEADING, WrittenFor.RANDOM)


def test_ridge_regression_is_that_of_scikit_learn() -> None:
    from sklearn.linear_model import Ridge

    features, targets, weights = lines()
    features = features[:, :2]
    centre = np.average(features, axis=0, weights=weights)
    standard = (features - centre) / np.sqrt(np.average((features - centre) ** 2, axis=0, weights=weights))
    penalties = np.array([[7.0, 7.0], [70.0, 70.0]])
    for (penalty, _), linear in zip(penalties, fit_path(features, targets, weights, penalties), strict=True):
        model = Ridge(alpha=penalty).fit(standard, targets, weights)
        assert linear.weights == pytest.approx(model.coef_)
        assert linear.predict(features) == pytest.approx(model.predict(standard))


def test_missing_values_count_as_the_mean_and_far_ones_as_no_farther() -> None:
    linear = fit_linear(*lines())
    assert linear.predict(np.full((1, 5), np.nan)) == pytest.approx([linear.base])
    far = linear.predict(np.array([[1e9, 0, 0, 0, 2.0]])) - linear.predict(np.array([[np.nan, 0, 0, 0, 2.0]]))
    assert abs(far[0]) == pytest.approx(CLIP * abs(linear.weights[0]))
    assert linear.weights[4] == 0


def test_a_baseline_changes_no_prediction_of_complete_lines() -> None:
    linear, (features, _, weights) = fit_linear(*lines()), lines(40, seed=5)
    moved, complete = linear.with_baseline(features, weights), ~np.isnan(features).any(axis=1)
    assert moved.predict(features[complete]) == pytest.approx(linear.predict(features[complete]))
    assert moved.base == pytest.approx(np.average(moved.predict(features), weights=weights))
    assert moved.base != pytest.approx(linear.base)


def test_kernel_regression_is_that_of_scikit_learn_if_every_line_is_a_landmark() -> None:
    from sklearn.kernel_ridge import KernelRidge

    features, targets, _ = lines(60)
    features = np.nan_to_num(features[:, :2])
    kernel = fit_kernel(features, targets, np.ones(60), np.random.default_rng(0))
    assert len(kernel.landmarks) == 60
    standard = (features - features.mean(axis=0)) / features.std(axis=0)
    rbf = np.exp(-GAMMA / 2 * ((standard[:, None] - standard) ** 2).sum(axis=2))
    # With a separate intercept, it is ridge regression on centred functions.
    centred = rbf - rbf.mean(axis=0)
    own = np.linalg.lstsq(centred.T @ centred + PENALTY * rbf, centred.T @ (targets - targets.mean()), rcond=None)[0]
    assert kernel.predict(features) == pytest.approx(targets.mean() + centred @ own, abs=1e-3)
    plain = KernelRidge(alpha=PENALTY, kernel="rbf", gamma=GAMMA / 2).fit(standard, targets - targets.mean())
    assert np.corrcoef(kernel.predict(features), plain.predict(standard))[0, 1] > 0.999


def test_far_from_all_landmarks_a_kernel_predicts_its_base() -> None:
    features, targets, weights = lines()
    kernel = fit_kernel(features, targets, weights, np.random.default_rng(0))
    far = replace(kernel, landmarks=kernel.landmarks + np.float32(1e3))
    assert far.predict(features[:3]) == pytest.approx([kernel.base] * 3)
    assert kernel.predict(np.full((1, 5), np.nan)) == pytest.approx(kernel.predict(kernel.centre[None]))
    assert kernel.predict(features[:0]).shape == (0,)


def test_contributions_to_a_kernel_add_up_and_name_the_feature() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(300, 3))
    kernel = fit_kernel(features, features[:, 1].copy(), np.ones(300), rng).with_baseline(features, np.ones(300))
    added = kernel.contributions(features[:20])
    assert kernel.expected == pytest.approx(kernel.predict(features).mean())
    assert kernel.expected + added.sum(axis=1) == pytest.approx(kernel.predict(features[:20]))
    assert np.abs(added[:, 1]).sum() > 10 * np.abs(added[:, [0, 2]]).sum(axis=0).max()
    assert kernel.contributions(kernel.centre[None] + kernel.spread * kernel.origin) == pytest.approx(0, abs=1e-9)


def test_distances_to_a_cloud_do_not_depend_on_units() -> None:
    features = np.random.default_rng(0).normal(size=(500, 3))
    cloud = fit_cloud(features)
    usual, odd = cloud.distances(np.array([[1.0, 0, 1.0], [1.0, 0, -4.0]]))
    assert odd > 5 * usual and cloud.distances(features).mean() == pytest.approx(1)
    scaled = features * [1000, 1, 0.01]
    assert fit_cloud(scaled).distances(scaled) == pytest.approx(cloud.distances(features))
    assert cloud.distances(np.full((1, 3), np.nan)) == pytest.approx([0.0])
    assert not cloud.out_of_domain(features).any() and replace(cloud, bound=0.0).out_of_domain(features).all()


def replies(count: int, seed: int = 0) -> tuple[FloatArray, Written]:
    """Return six features, the first low for random replies, the second high for misleading ones; as many others."""
    rng = np.random.default_rng(seed)
    kinds = np.repeat([WrittenFor.OTHER, *KINDS], count)
    features = rng.normal(size=(4 * count, 6))
    features[kinds == WrittenFor.RANDOM, 0] -= 2
    features[kinds == WrittenFor.MISLEADING, 1] += 2
    return features, Written(kinds, np.arange(4 * count) // 3)


def test_each_probe_finds_what_its_kind_of_reply_is_known_by() -> None:
    probes, outputs = fit_probes(*replies(300))
    assert len(probes) == PROBES == outputs.shape[1]
    both, misleading, random = (probe.weights for probe in probes)
    assert both[0] > 0.1 and both[1] < -0.1
    assert abs(misleading[0]) < 0.05 and misleading[1] < -0.1
    assert random[0] > 0.1 and abs(random[1]) < 0.05


def test_a_row_gets_the_output_of_probes_fitted_on_other_contexts() -> None:
    rng = np.random.default_rng(0)
    contexts = np.repeat(np.arange(100), 4)
    features = rng.normal(size=(100, 80))[contexts]  # enough to recognise a context
    fits = rng.random(100)[contexts] < 0.5  # all replies to a context fit, or none
    kinds = np.where(fits, WrittenFor.FITTING, np.where(rng.random(400) < 0.5, *KINDS[1:]))
    probes, outputs = fit_probes(features, Written(kinds, contexts))
    seen = probe_outputs(probes, features)
    assert seen[fits, 0].mean() - seen[~fits, 0].mean() > 0.1
    assert outputs[fits, 0].mean() - outputs[~fits, 0].mean() < 0.03


def test_too_few_replies_of_a_kind_or_contexts_give_no_probes() -> None:
    features, written = replies(MIN_REPLIES)
    assert fit_probes(features, written)[0]
    one_fold = written._replace(contexts=written.contexts * PROBE_FOLDS)
    rows = np.arange(len(features))
    fewer = [
        written._replace(kinds=np.where(rows == kind * MIN_REPLIES, WrittenFor.OTHER, written.kinds)) for kind in KINDS
    ]
    for few in (one_fold, *fewer):
        probes, outputs = fit_probes(features, few)
        assert probes == () and outputs.shape == (len(features), 0)


def test_what_probes_add_is_shared_in_full() -> None:
    features, written = replies(MIN_REPLIES)
    probes, _ = fit_probes(features, written)
    rows = np.vstack([features[:20], np.array([probe.centre for probe in probes])])
    added = np.random.default_rng(1).normal(size=(len(rows), len(probes)))
    assert share_contributions(probes, rows, added).sum(axis=1) == pytest.approx(added.sum(axis=1))


def test_equal_rows_get_equal_predictions() -> None:
    features, targets, weights = lines()
    repeated = np.repeat(features[:1], 203, axis=0)
    for model in (
        fit_linear(features, targets, weights),
        fit_kernel(features, targets, weights, np.random.default_rng(0)),
    ):
        assert len(set(model.predict(repeated).tolist())) == 1
