"""Features that a user adds to a judge: what they read, that a folder finds them again, and what none may be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from conftest import Run
from judges_over_views import QUICK, made_material, rated
from rejoinder.data.folders import Parts
from rejoinder.data.write import write
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.judges.features.added import load_source, source_from_parts
from rejoinder.judges.features.resources import Resources
from rejoinder.judges.regression.judge import FeatureJudge
from rejoinder.judges.regression.learner import FeatureLearner
from rejoinder.judges.train import train_judge
from rejoinder.scoring.catalog import load_scorer, score


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Resources:
    return made_material(tmp_path_factory.mktemp("material"))


def _with(material: Resources, *names: str) -> Resources:
    """The same, with views that a user adds."""
    return replace(material, added=tuple(map(load_source, names)))


def _told(count: int = 90) -> list[Example]:
    """Rated lines in which another scorer's number stands."""
    lines = rated("one", count) + rated("two", count)
    return [replace(one, extra={"told": cast("dict[str, float]", one.quality)["overall"]}) for one in lines]


def test_a_metric_is_a_view(material: Resources) -> None:
    views = _with(material, "length", "bleu-2").features
    assert views.columns[-2:] == ("own.score", "own_2.score")
    lines = rated("one", 6)
    found = views.compute(lines)[:, -2:]
    np.testing.assert_allclose(found[:, 0], score(lines, "length").values)
    np.testing.assert_allclose(found[:, 1], score(lines, "bleu-2").values.astype(np.float32))
    assert np.isnan(found[0, 1]), "the first line has no reference"
    assert len(views.columns) - 1 not in views.plain, "a head that reads no reference does not read bleu"


def test_numbers_in_the_lines_are_a_view_that_a_judge_learns_from(material: Resources, tmp_path: Path) -> None:
    lines = _told()
    judge = train_judge(lines, FeatureLearner(_with(material, "column:told"), trees=QUICK)).judge
    high, low = (replace(lines[0], extra={"told": told}) for told in (5.0, 1.0))
    found = score([high, low], judge).values
    assert found[0] > found[1] + 0.9, "the texts are the same, the numbers are not"
    judge.save(tmp_path / "judge")
    np.testing.assert_allclose(score([high, low], tmp_path / "judge").values, found, atol=1e-5)


def test_a_judge_without_its_number_still_scores(material: Resources) -> None:
    judge = train_judge(_told(), FeatureLearner(_with(material, "column:told"), trees=QUICK)).judge
    assert np.isfinite(score(rated("three", 5), judge).values).all()


@pytest.mark.parametrize("name", ["command:rm x", "openai:http://localhost:1#m", "python:os:getcwd"])
def test_no_program_and_no_endpoint_is_a_view(name: str) -> None:
    with pytest.raises(UsageError, match="column:scores"):
        load_source(name)
    with pytest.raises(DataError, match="expected a metric, or column:KEY"):
        source_from_parts(Parts({"kind": "score", "name": name, "options": {}}, {}))


def test_a_metric_that_gives_other_scores_by_now_is_refused() -> None:
    parts = load_source("bleu-2").parts
    older = Parts({**parts.config, "options": {**parts.config["options"], "version": "0"}}, {})
    with pytest.raises(DataError, match="other scores by now"):
        source_from_parts(older)


@pytest.mark.slow
@pytest.mark.usefixtures("few_trees")
def test_the_command_line_adds_views(run: Run, tmp_path: Path) -> None:
    write(_told(60), tmp_path / "rated.jsonl")
    done = run("train", "judge", tmp_path / "rated.jsonl", "--view", "column:told", "-o", tmp_path / "judge")
    assert done.code == 0, done.err
    judge = load_scorer(tmp_path / "judge")
    assert isinstance(judge, FeatureJudge) and judge.feature_set.columns[-1] == "own.score" and judge.card.reads_line
    refused = run("train", "adem", tmp_path / "rated.jsonl", "--view", "length", "-o", tmp_path / "adem")
    assert refused.code == 2 and "does not accept views" in refused.err
