"""The builders of the bundled judges, on made-up lines: what judges may see, what they read, and their pages."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tiny
from judges_over_views import made_material, rated
from made_up import made_up, row
from rejoinder.assets import JUDGE
from rejoinder.data.folders import Parts, read_folder
from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.judges import load_judge
from rejoinder.judges.augmentation import NO_LINE, AugmentedExample, augment
from rejoinder.judges.features.added import load_source
from rejoinder.judges.features.resources import Resources, load_resources
from rejoinder.judges.rated import rated_lines
from rejoinder.judges.regression.learner import FeatureLearner
from rejoinder.scorer import run
from research import build_judge, build_plus
from research.common import Run, run_script


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Resources:
    return made_material(tmp_path_factory.mktemp("resources"))


@pytest.mark.slow
def test_page_of_the_bundled_judge_and_a_second_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--small", "-o", str(tmp_path)]
    run_script("judge", "", build_judge.make, "encoder", arguments, module="build_judge")
    page = (tmp_path / "judge.md").read_text(encoding="utf-8")
    assert "Made by `python -m research.build_judge --small -o docs/results`" in page and "- casino: CC BY 4.0" in page
    assert row(page, "as it ships")[1].split()[0] == row(page, "mean of the sets")[2].split()[0]
    assert row(page, "first")[1] == "174", "copies are left out"
    assert row(page, "jumbled")[1] == "bad scores high"
    judge = load_judge(tmp_path / "judge")
    assert np.isfinite(run(judge, made_up()[:4]).values).all()
    assert "fitted without first" in capsys.readouterr().err
    run_script("judge", "", build_judge.make, "encoder", arguments, module="build_judge")
    assert "fitted without first" not in capsys.readouterr().err, "the fits are kept"
    assert (tmp_path / "judge.md").read_text().partition("##")[2] == page.partition("##")[2]


@pytest.mark.slow
def test_page_of_a_judge_with_other_models(tmp_path: Path) -> None:
    arguments = ["--small", "--encoder", "words=length", "-o", str(tmp_path)]
    run_script("plus", "", build_plus.make, "encoder", arguments, module="build_plus")
    page = (tmp_path / "plus.md").read_text(encoding="utf-8")
    assert row(page, "own features + words") and row(page, "first")[1] == "174"
    assert not (tmp_path / "plus").exists(), "heads of models of the user's own are in no folder that ships"
    with pytest.raises(UsageError, match="name each model once"):
        build_plus.make(Run("plus", encoders=["lm=a", "lm=b"]))


def test_what_a_judge_may_see(resources: Resources) -> None:
    lines = rated_lines(rated("one", 6), FeatureLearner(resources, augment))
    encoded = lines.encoded
    assert not build_judge.blind(encoded).reference.any() and not build_judge.with_references(encoded).context.any()
    bare = build_judge.undefended(encoded)
    assert len(bare.augmented.features) == 0 < len(encoded.augmented.features)
    assert bare.features is encoded.features


def test_judges_read_the_features_of_the_models_that_are_chosen(resources: Resources, tmp_path: Path) -> None:
    sources = ("length", str(tiny.student_model(tmp_path / "student")), "bleu-2")
    learner = FeatureLearner(replace(resources, added=tuple(map(load_source, sources))))
    examples = rated("one", 6)
    lines = rated_lines(examples, learner)
    for chosen in [(), (1,), (0, 2)]:
        fewer = replace(resources, added=tuple(load_source(sources[place]) for place in chosen))
        part = build_plus.reading(lines, chosen)
        np.testing.assert_array_equal(part.encoded.features, fewer.features.compute(examples))
        assert part.encoded.augmented.features.shape[1] == len(fewer.features.columns)


def test_harmless_changes_weigh_more_than_other_attacks() -> None:
    example = Example(("hello",), "hi there")
    changed, parrot = (
        build_plus.heavier(AugmentedExample(example, 0, most, weight=0.1)).weight for most in (np.inf, -1.5)
    )
    assert parrot == pytest.approx(0.1 * build_plus.HEAVIER)
    assert build_plus.HARMLESS > 1 and changed == pytest.approx(parrot * build_plus.HARMLESS)
    apart = build_plus.heavier(AugmentedExample(example, NO_LINE, 0.5, weight=0.1)).weight
    assert apart == pytest.approx(0.1 * build_plus.HEAVIER * build_plus.WRITTEN)


def test_without_models_the_judge_reads_the_bundled_ones() -> None:
    resources, corpora = build_judge.resources_of(())
    bundled = load_resources(read_folder(JUDGE))
    assert resources.store(Parts({}, {})).digest == bundled.store(Parts({}, {})).digest
    card = (JUDGE / "card.md").read_text(encoding="utf-8").splitlines()
    named = [name for name, licence in build_judge.CORPORA.items() if f"- {name}: {licence}" in card]
    assert corpora == named and len(named) > 5
    with pytest.raises(UsageError, match="--encoder student=FOLDER is missing"):
        build_judge.resources_of(["phrases=somewhere"])


def test_replies_written_to_mislead(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = Run("judge", data=tmp_path)
    assert build_judge.taught(data, []) == [] and "no relevance/" in capsys.readouterr().err
    line = {"context": ["Where shall we eat tonight, any idea?"], "positive_responses": ["At home."]}
    line["random_negative_responses"] = ["No."]
    (tmp_path / "relevance").mkdir()
    with gzip.open(tmp_path / "relevance" / f"{build_judge.TAUGHT}.jsonl.gz", "wt") as file:
        file.write(json.dumps(line) + "\n")
    assert len(build_judge.taught(data, [])) == 2
