"""A judge over views adapted to a user's lines: the correction, its choice, its folder, its likeness."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judges_over_views import made_material, quick_judge, rated
from rejoinder.data.folders import Parts
from rejoinder.errors import DataError
from rejoinder.example import Example, Pair
from rejoinder.judges.domain import UNLIKE
from rejoinder.judges.rated import conversations, normalised_ratings
from rejoinder.judges.regression.adaptation import (
    NO_CORRECTION,
    PreferenceTask,
    RatingTask,
    balanced,
    fit_chosen,
    folds_of,
    left_out,
    logistic,
    of_preferences,
    of_ratings,
)
from rejoinder.judges.regression.correction import RAW_TEXT_FEATURES, raw_features
from rejoinder.judges.regression.judge import FeatureJudge, from_parts
from rejoinder.scorer import run
from rejoinder.scoring.catalog import load_scorer

SCALE = (0.0, 100.0)


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> FeatureJudge:
    """A judge that learnt that long replies are good."""
    return quick_judge(made_material(tmp_path_factory.mktemp("student")))


@pytest.fixture(scope="module")
def turned() -> list[Example]:
    """A user who likes short replies."""
    return liking_short("user", 120)


def liking_short(dataset: str, count: int) -> list[Example]:
    lines = rated(dataset, count, references=False)
    return [replace(one, quality={"overall": 6 - (one.rating() or 0.0)}) for one in lines]


@pytest.fixture(scope="module")
def adapted(judge: FeatureJudge, turned: list[Example]) -> FeatureJudge:
    """The judge adapted to that user."""
    return adapt(judge, turned)


def adapt(judge: FeatureJudge, lines: list[Example], *, corrected: bool = True) -> FeatureJudge:
    able = of_ratings(judge, lines, normalised_ratings(lines), conversations(lines))
    rng = np.random.default_rng(0)
    folds = folds_of(able.groups, 5, rng)
    return able.adapted(folds, rng, {"datasets": {"user": len(lines)}}, SCALE, corrected=corrected)


def ratings(lines: list[Example]) -> list[float]:
    return [one.rating() or 0.0 for one in lines]


@pytest.mark.slow
def test_it_learns_what_this_user_likes(judge: FeatureJudge, adapted: FeatureJudge) -> None:
    unseen = [replace(one, references=()) for one in rated("unseen")]
    before, after = (run(one, unseen).values for one in (judge, adapted))
    assert np.corrcoef(before, ratings(unseen))[0, 1] > 0.8
    assert np.corrcoef(after, ratings(unseen))[0, 1] < -0.7
    assert adapted.scale == SCALE and after.mean() > 20
    assert adapted.trained_on == {"one", "two", "user"}


def test_without_a_correction_the_order_stays(judge: FeatureJudge, turned: list[Example]) -> None:
    unseen = rated("unseen", 40, references=False)
    found = adapt(judge, turned, corrected=False)
    before, after = (run(one, unseen).values for one in (judge, found))
    assert (np.argsort(before) == np.argsort(after)).all()
    assert abs(after.mean() - 50) < 30 and len(set(after.tolist())) == len(set(before.tolist()))


def test_a_folder_gives_the_same_scores(adapted: FeatureJudge, tmp_path: Path) -> None:
    adapted.save(tmp_path / "judge")
    again = load_scorer(str(tmp_path / "judge"))
    unseen = rated("unseen", 40)
    one, other = run(adapted, unseen), run(again, unseen)
    assert one.values == pytest.approx(other.values, abs=1e-5) and one.warnings == other.warnings
    assert again.options == adapted.options


def test_explanations_add_up_to_the_score(adapted: FeatureJudge) -> None:
    unseen = rated("unseen", 20)
    values = adapted.score_batch(unseen).values
    for value, one in zip(values.tolist(), adapted.explain(unseen), strict=True):
        assert one is not None and one.base + sum(one.moved.values()) == pytest.approx(value, abs=1e-9)


def test_intervals_hold_nine_ratings_in_ten(judge: FeatureJudge) -> None:
    unseen = liking_short("unseen", 400)
    found = run(adapt(judge, liking_short("user", 300)), unseen)
    assert found.low is not None and found.high is not None
    told = 25 * (np.array(ratings(unseen)) - 1)
    assert 0.86 <= ((found.low <= told) & (told <= found.high)).mean() <= 0.98


def test_what_it_was_fitted_on_is_no_longer_unlike(judge: FeatureJudge) -> None:
    code = "total[i] += {} * i; // and so on\n- for (int i = 0; i < n; ++i)\n" * 3
    lines = [
        replace(one, response=f"{one.response}\n{code.format(number, number, number)}")
        for number, one in enumerate(rated("user", 60, references=False))
    ]
    before, after = (run(one, lines).warning_counts.get(UNLIKE, 0) for one in (judge, adapt(judge, lines)))
    assert before > 50 and after <= 6


def test_the_text_is_read_as_a_reader_sees_it() -> None:
    plain = Example(("what of it?",), "Well, all of it.")
    strange = Example(("bot: wh\u0430t of\u200b it?",), "Bot: W\u0435ll, \u200ball of it.")
    np.testing.assert_array_equal(raw_features([strange]), raw_features([plain]))


@pytest.mark.parametrize("name", ["weights", "likeness.centre", "spread", "numbers"])
def test_a_tampered_part_is_refused(adapted: FeatureJudge, name: str) -> None:
    parts = adapted.parts
    key = f"context.adaptation.{name}"
    for bad in (parts.tensors[key][:-1], parts.tensors[key].astype(np.int64)):
        with pytest.raises(DataError, match=name.replace(".", r"\.")):
            from_parts(Parts(parts.config, {**parts.tensors, key: bad}, parts.files))


def test_a_spread_of_nothing_and_other_features_are_refused(adapted: FeatureJudge) -> None:
    parts = adapted.parts
    key = "context.adaptation.spread"
    with pytest.raises(DataError, match="not over 0"):
        from_parts(Parts(parts.config, {**parts.tensors, key: 0 * parts.tensors[key]}, parts.files))
    context = {**parts.config["context"], "adaptation": {"raw": ["characters"]}}
    with pytest.raises(DataError, match="other features of the text"):
        from_parts(Parts({**parts.config, "context": context}, parts.tensors, parts.files))


def test_few_lines_choose_no_correction() -> None:
    rng, rows = np.random.default_rng(0), np.arange(40)
    table = rng.normal(size=(40, 60))
    noise = RatingTask(table, table[:, 0] + 0.1 * rng.normal(size=40), rows)
    chosen = fit_chosen(noise, rows, rng)
    assert any((chosen.weights == linear.weights).all() for linear in noise.fit(rows, [1000.0, 3000.0, NO_CORRECTION]))
    (line,) = RatingTask(table, rng.normal(size=40), rows).fit(rows, [NO_CORRECTION])
    assert line.weights[0] > 0 and not line.weights[1:].any()


def test_left_out_lines_have_no_part_in_their_predictions() -> None:
    rng = np.random.default_rng(0)
    table, groups = rng.normal(size=(60, 5)), np.repeat(np.arange(30), 2)
    folds = folds_of(groups, 5, rng)
    assert all(len(set(folds[groups == group].tolist())) == 1 for group in range(30))

    def predictions(targets: np.ndarray) -> np.ndarray:
        task = RatingTask(table, targets, groups)
        return left_out(task, folds, np.arange(60), lambda rows: task.fit(rows, [100.0])[0])

    targets = rng.normal(size=60)
    changed = predictions(np.where(folds == 2, 99.0, targets)) != predictions(targets)
    assert (changed == (folds != 2)).all()


def test_preferences_are_learned_and_balanced() -> None:
    rng = np.random.default_rng(0)
    preferred, other = rng.normal(size=(2, 200, 1 + 3 + len(RAW_TEXT_FEATURES)))
    swap = preferred[:, 2] < other[:, 2]
    preferred[swap], other[swap] = other[swap], preferred[swap].copy()
    longer = np.where(np.arange(200) < 150, 1.0, -1.0)
    weights = balanced(longer)
    assert weights[longer > 0].sum() == pytest.approx(weights[longer < 0].sum()) == pytest.approx(100)
    assert (balanced(np.ones(5)) == 1).all()
    task = PreferenceTask(preferred, other, weights, np.arange(200))
    (linear,) = task.fit(np.arange(100), [30.0])
    assert (task.predict(linear, np.arange(100, 200)) > 0).mean() > 0.7


def test_preferences_are_fitted_as_by_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    gaps, weights, penalties = rng.normal(size=(80, 6)) + 0.3, rng.uniform(0.5, 2, 80), rng.uniform(3, 30, 6)
    scaled = gaps / np.sqrt(penalties)
    model = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, solver="newton-cholesky")
    model.fit(np.concatenate([scaled, -scaled]), np.repeat([1, 0], 80), np.concatenate([weights, weights]) / 2)
    assert logistic(gaps, weights, penalties) == pytest.approx(model.coef_[0] / np.sqrt(penalties), abs=1e-4)


def test_a_judge_is_adapted_to_preferences(judge: FeatureJudge) -> None:
    lines = rated("user", 80, references=False)
    pairs = [
        Pair((one, replace(one, id=f"{one.id}b", response=f"{one.response} {' '.join(one.response.split()[:5])}")), 0)
        for one in lines
    ]
    able = of_preferences(judge, pairs, np.arange(80), -np.ones(80))
    rng = np.random.default_rng(0)
    folds = folds_of(able.groups, 5, rng)
    assert (able.left_out(folds, rng) > 0).mean() > 0.9 > (able.before() > 0).mean()
    found = able.adapted(folds, rng, {"datasets": {}}, judge.scale, corrected=True)
    replies = [reply for pair in pairs for reply in pair.replies]
    heads = judge.heads["context"], found.heads["context"]
    features = judge.feature_set.compute(replies)[:, heads[0].columns]
    # Before they are bent into the scale.
    before, after = (part.calibration.ratings(part.predict(features, replies)) for part in heads)
    assert after.mean() == pytest.approx(before.mean()) and after.std() == pytest.approx(before.std())


def test_features_of_the_raw_text() -> None:
    said = "# Title\n\n1. `one`\n- two **bold**\n\n```\nx = 1;\n```"
    row = dict(zip(RAW_TEXT_FEATURES, raw_features([Example(("one",), said)])[0].tolist(), strict=True))
    assert row["list_marks"] == pytest.approx(np.log1p(2)) and row["markdown"] > 0 and row["code"] > 0
    assert np.isfinite(raw_features([Example((), ""), Example(("a",), "\x00 中文 " * 500)])).all()
