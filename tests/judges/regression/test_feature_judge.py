"""The judge over views: learnt, kept in a folder, asked with and without references, and honest about doubt."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rejoinder
from judges_over_views import QUICK, made_material, quick_judge, rated
from rejoinder.data.folders import Parts
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.augmentation import EACH, WORTH, augment
from rejoinder.judges.domain import UNLIKE
from rejoinder.judges.features.resources import Resources
from rejoinder.judges.regression.judge import EMPTY, FeatureJudge, from_parts
from rejoinder.judges.regression.learner import FeatureLearner
from rejoinder.judges.train import train_judge
from rejoinder.scorer import run
from rejoinder.scoring.catalog import load_scorer


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Resources:
    """Phrases of ten turns and a student of random numbers."""
    return made_material(tmp_path_factory.mktemp("student"))


@pytest.fixture(scope="module")
def judge(material: Resources) -> FeatureJudge:
    """A judge fitted on two sets."""
    return quick_judge(material)


def test_it_learns_what_ratings_hang_on(judge: FeatureJudge) -> None:
    unseen = rated("three", references=False)
    scores = run(judge, unseen).values
    assert np.corrcoef(scores, [example.rating() or 0.0 for example in unseen])[0, 1] > 0.8
    assert judge.trained_on == {"one", "two"}


def test_a_folder_gives_the_same_scores(judge: FeatureJudge, tmp_path: Path) -> None:
    judge.save(tmp_path / "judge")
    unseen = rated("three", 40)
    again = load_scorer(str(tmp_path / "judge"))
    assert run(again, unseen).values == pytest.approx(run(judge, unseen).values, abs=1e-5)
    assert again.options == judge.options


def test_scores_come_with_intervals_and_do_not_depend_on_neighbours(judge: FeatureJudge) -> None:
    unseen = rated("three", 30)
    found = judge.score_batch(unseen)
    assert found.low is not None and found.high is not None
    assert (found.low <= found.values).all() and (found.values <= found.high).all()
    alone = np.concatenate([judge.score_batch([example]).values for example in unseen])
    assert alone == pytest.approx(found.values, abs=1e-6)


def test_scores_and_intervals_stay_inside_the_scale_and_keep_their_order(judge: FeatureJudge) -> None:
    stretched = {
        way: part._replace(calibration=replace(part.calibration, stretch=3 * part.calibration.stretch))
        for way, part in judge.heads.items()
    }
    unseen = rated("three", 60)
    found = replace(judge, heads=stretched, scale=(0.0, 100.0)).score_batch(unseen)
    assert found.low is not None and found.high is not None
    assert (found.values > 0).all() and (found.values < 100).all() and len(set(found.values.tolist())) == len(unseen)
    assert (found.low >= 0).all() and (found.high <= 100).all() and ((found.low == 0) | (found.high == 100)).any()
    assert (found.low < found.values).all() and (found.values < found.high).all()
    assert replace(judge, scale=(0.0, 100.0)).card.range == (0.0, 100.0)


def test_references_are_read_where_there_are_any(judge: FeatureJudge) -> None:
    with_one = next(example for example in rated("three") if example.references)
    without = replace(with_one, references=())
    no_context = replace(with_one, context=())
    values = judge.score_batch([with_one, without, no_context]).values
    assert np.isfinite(values).all() and values[0] != values[1]
    assert set(judge.heads) == {"context", "reference"}


def test_what_moved_a_score_adds_up_to_it_on_any_scale(judge: FeatureJudge) -> None:
    unseen = [*rated("three", 30), Example(("hello",), " ")]
    for asked in (judge, replace(judge, scale=(0.0, 100.0))):
        told, scores = asked.explain(unseen), run(asked, unseen).values
        assert told[-1] is None
        sums = [one.score for one in told if one]
        np.testing.assert_allclose(sums, scores[:-1], rtol=0, atol=1e-5)
    plain = frozenset(judge.feature_set.groups[column] for column in judge.feature_set.plain)
    groups = {frozenset(one.moved) for one in told if one}
    assert groups == {frozenset(judge.feature_set.groups), plain} and "reference fit" not in plain
    assert rejoinder.explain(unseen, judge) == judge.explain(unseen)


def test_explanations_begin_at_what_it_says_of_an_average_line(judge: FeatureJudge) -> None:
    fitted = [replace(example, references=()) for example in rated("one") + rated("two")]
    told = judge.explain(fitted[:1])[0]
    assert told is not None and told.base == pytest.approx(run(judge, fitted).values.mean(), abs=0.1)


def test_what_ratings_hang_on_is_what_moved_scores(judge: FeatureJudge) -> None:
    unseen = rated("three", 60, references=False)
    lengths = [len(example.response.split()) for example in unseen]
    told = judge.explain(unseen)
    moved = {group: [one.moved[group] for one in told if one] for group in told[0].moved} if told[0] else {}
    strongest = max(moved, key=lambda group: float(np.std(moved[group])))
    assert np.corrcoef(moved[strongest], lengths)[0, 1] > 0.7


def test_an_empty_response_is_unscored(judge: FeatureJudge) -> None:
    found = judge.score_batch([Example(("hello",), " "), Example(("hello",), "hello")])
    assert np.isnan(found.values[0]) and found.reasons == {0: EMPTY} and np.isfinite(found.values[1])


def test_what_nobody_can_see_is_no_text(judge: FeatureJudge) -> None:
    hidden = "\u200b\u2060 \u00ad"
    assert judge.score_batch([Example(("hello",), hidden)]).reasons == {0: EMPTY}
    found = run(judge, [Example((hidden,), "hello"), Example(("hello",), "hi", references=(hidden,))])
    assert found.reasons == {0: "no context and no reference"}
    assert found.values[1] == run(judge, [Example(("hello",), "hi")]).values[0]


def test_what_is_unlike_all_it_was_fitted_on_is_noted(judge: FeatureJudge) -> None:
    odd = Example(("hello, how are you?",), "for (int i = 0; i < n; ++i) { total[i] += 3 * i; } " * 9)
    usual = rated("three", 40, references=False)
    notes = judge.score_batch([odd, *usual]).warnings
    assert UNLIKE in notes[0]
    assert sum(UNLIKE in found for found in notes.values()) <= 0.2 * len(usual)


def test_a_folder_that_was_tampered_with_is_refused(judge: FeatureJudge) -> None:
    parts = judge.parts
    for name, bad in (("context.trees.left", 10**6), ("context.columns", -1), ("context.trees.feature", 999)):
        tensors = {**parts.tensors, name: np.full_like(parts.tensors[name], bad)}
        with pytest.raises(DataError, match=name.partition(".")[2].replace(".", r"\.")):
            from_parts(Parts(parts.config, tensors, parts.files))
    with pytest.raises(DataError, match="other features"):
        from_parts(Parts({**parts.config, "columns": ["one"]}, parts.tensors, parts.files))


def test_spoilt_replies_are_drawn_by_seed_and_line_and_deserve_less() -> None:
    examples = rated("one", 30)
    found = augment(examples)
    assert found == augment(examples) != augment(examples, seed=1)
    assert [one.row for one in found] == sorted(one.row for one in found)
    assert all(one.example.response.strip() for one in found)
    assert max(np.bincount([one.row for one in found])) <= EACH
    assert all(worth.at_most < 0 or worth.less > 0 or worth.weight > 0.03 for worth in WORTH.values())


@pytest.mark.slow
def test_defended_it_scores_shuffled_letters_lower(material: Resources) -> None:
    examples = rated("one") + rated("two")
    nonsense = [replace(example, response="qqq zzz xxx qqq zzz xxx qqq zzz") for example in rated("three", 30)]
    means = {
        defence: run(train_judge(examples, FeatureLearner(material, defence, QUICK)).judge, nonsense).values.mean()
        for defence in (None, augment)
    }
    assert means[augment] < means[None]
