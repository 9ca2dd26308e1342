"""What models add to the judge: which features judges read, and the page from end to end on made-up ratings."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import tiny
from conftest import Run
from judges_over_views import QUICK, made_material, rated
from rejoinder.data.write import write
from rejoinder.example import Example
from rejoinder.judges.augmentation import NO_LINE, AugmentedExample
from rejoinder.judges.features.added import load_source
from rejoinder.judges.features.resources import Resources
from rejoinder.judges.rated import rated_lines
from rejoinder.judges.regression.learner import FeatureLearner
from research import plus
from research.plus import reading


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Resources:
    return made_material(tmp_path_factory.mktemp("material"))


def test_judges_read_the_views_of_the_models_that_are_named(material: Resources, tmp_path: Path) -> None:
    own = ("length", str(tiny.student_model(tmp_path / "student")), "bleu-2")
    learner = FeatureLearner(replace(material, added=tuple(map(load_source, own))))
    examples = rated("one", 6)
    lines = rated_lines(examples, learner)
    for chosen in [(), (1,), (0, 2)]:
        fewer = replace(material, added=tuple(load_source(own[place]) for place in chosen))
        part = reading(lines, chosen)
        np.testing.assert_array_equal(part.encoded.features, fewer.features.compute(examples))
        assert part.encoded.augmented.features.shape[1] == len(fewer.features.columns)


def test_harmless_changes_weigh_more_than_other_attacks_do() -> None:
    example = Example(("hello",), "hi there")
    changed, parrot = (plus.heavier(AugmentedExample(example, 0, most, weight=0.1)).weight for most in (np.inf, -1.5))
    assert parrot == pytest.approx(0.1 * plus.HEAVIER) and changed == pytest.approx(parrot * plus.HARMLESS)
    apart = plus.heavier(AugmentedExample(example, NO_LINE, 0.5, weight=0.1)).weight
    assert apart == pytest.approx(0.1 * plus.HEAVIER * plus.WRITTEN) and apart != pytest.approx(parrot)
    assert plus.HARMLESS > 1


@pytest.mark.slow
def test_the_page(experiment: Run, material: Resources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plus, "default_resources", lambda: material)
    monkeypatch.setattr(plus, "FeatureLearner", partial(FeatureLearner, trees=QUICK))
    monkeypatch.setattr("research.judge.RESAMPLES", 50)
    monkeypatch.delenv("REJOINDER_SHARED", raising=False)
    names = ("fed_turn", "holistic_context", "usr_personachat")
    for name in names:
        write(rated(name, 60), tmp_path / f"{name}.jsonl")
    model = tiny.student_model(tmp_path / "student")
    files = [tmp_path / f"{name}.jsonl" for name in names]
    done = experiment("plus", *files, "-e", f"small={model}", "-o", tmp_path)
    assert done.code == 0, done.err
    page = (tmp_path / "plus.md").read_text(encoding="utf-8")
    assert "| own views + small |" in page and page.count("| usr_personachat | 60 |") == 1
    assert "3 data sets" in " ".join(page.split()) and "180 rated lines" in " ".join(page.split())
    twice = experiment("plus", *files, "-e", f"small={model}", "-e", f"small={model}", "-o", tmp_path)
    assert twice.code == 2 and "two models have the same name" in twice.err
