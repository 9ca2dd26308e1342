"""The page of the bundled judge from end to end on small made-up data; its figures worked out anew."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rejoinder
from conftest import Run, refused
from made_up import made_up, row
from rejoinder.assets import JUDGE
from rejoinder.example import Example
from research.run import reproduce


def page_of(out: Path, name: str) -> str:
    return (out / f"{name}.md").read_text(encoding="utf-8")


def write(path: Path, lines: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def rated(*names: str, references: bool = True) -> list[Example]:
    """The made-up ratings of two sets, under other names."""
    named = dict(zip(("first", "second"), names, strict=True))
    examples = (replace(one, dataset=named[str(one.dataset)]) for one in made_up())
    return [one if references else replace(one, references=()) for one in examples]


@pytest.fixture(scope="module")
def two_sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("rated") / "rated.jsonl"
    rejoinder.write(rated("one", "two"), file)
    return file


def made_of(place: Path, corpus: str) -> list[str]:
    """The four models that the judge in the box stands on, tiny ones, counted in a corpus of that name."""
    pytest.importorskip("torch", reason="needs the extra train")
    from examples_for_views import phrases
    from rejoinder.data.folders import Parts, read_folder, write_folder
    from rejoinder.models import load_encoder
    from rejoinder.models.mood import KIND, REACTION, TURN
    from tiny import selector_model, student_model

    student = student_model(place / "student")
    encoder = load_encoder(student)
    selector_model(place / "plain", encoder)
    lines = {name: np.linspace(-1, 1, encoder.width + 1, dtype=np.float32) for name in (TURN, REACTION)}
    mood = Parts({"kind": KIND, "encoder": dict(encoder.options)}, lines)
    for name, parts in (("phrases", phrases().parts), ("selector", read_folder(place / "plain")), ("mood", mood)):
        more = {**parts.config, "corpora": [{"name": corpus}]}
        write_folder(place / name, Parts(more, parts.tensors, parts.files), "a card")
    return [f"{name}={place / name}" for name in ("phrases", "student", "selector", "mood")]


@pytest.mark.slow
def test_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rejoinder.judges.regression.learner import FeatureLearner
    from rejoinder.judges.regression.trees import TreeOptions
    from research import judge

    small = partial(FeatureLearner, trees=TreeOptions(trees=5, learning_rate=0.3, min_leaf=5))
    monkeypatch.setattr(judge, "FeatureLearner", small)
    monkeypatch.setattr(judge, "ATTACKED", ("fed_turn",))
    said = [replace(one, context=(f"hello {one.context[0]} you",)) for one in rated("fed_turn", "grade_empathetic")]
    file = tmp_path / "rated.jsonl"
    rejoinder.write(said, file)
    reproduce("judge", file, out=tmp_path, encoders=made_of(tmp_path, "casino.jsonl.gz"))
    page = page_of(tmp_path, "judge")
    assert "- casino: CC BY 4.0" in page and "- fed_turn: none stated" in page and "- dstc7" not in page
    length = {
        row.dataset: row
        for row in rejoinder.study(said, ["length"], drop_copies=True).pick(
            scorer="length", statistic="kendall", level="turn"
        )
    }
    cells = row(page, "fed_turn")
    assert cells[1] == str(length["fed_turn"].n) and re.fullmatch(r"-?\d\.\d+ \[.*\]", cells[2])
    assert row(page, "parrot-last")[1] == "bad scores high"
    assert row(page, "as it ships")[1].split()[0] == row(page, "mean of the sets")[2].split()[0]


def test_judge_names_what_has_no_licence(experiment: Run, two_sets: Path, tmp_path: Path) -> None:
    phrases, student, selector, mood = made_of(tmp_path, "mine.jsonl")
    swapped = f"student={selector.partition('=')[2]}"
    ran = experiment("judge", two_sets, "-e", phrases, "-e", student, "-e", mood, "-o", tmp_path)
    assert ran.code == 2 and "-e selector=FOLDER is missing" in ran.err
    ran = experiment("judge", two_sets, "-e", phrases, "-e", swapped, "-e", selector, "-e", mood, "-o", tmp_path)
    assert ran.code in (2, 3)
    ran = experiment("judge", two_sets, "-e", phrases, "-e", student, "-e", selector, "-e", mood, "-o", tmp_path)
    refused(ran, 2, "the licence of mine.jsonl, one, two is not known. Add it to SETS or CORPORA")


def test_without_models_the_judge_stands_on_those_in_the_box() -> None:
    from rejoinder.data.folders import Parts, read_folder
    from rejoinder.judges.features.resources import load_resources
    from research.judge_material import CORPORA, material_from

    material, corpora = material_from(())
    assert material.store(Parts({}, {})).digest == load_resources(read_folder(JUDGE)).store(Parts({}, {})).digest
    card = (JUDGE / "card.md").read_text(encoding="utf-8")
    told = [name for name, licence in CORPORA.items() if f"- {name}: {licence}" in card.splitlines()]
    assert corpora == told and len(told) > 5


def test_data_without_replies_written_to_mislead_are_told(tmp_path: Path) -> None:
    from research.asked import Asked
    from research.judge import TAUGHT, taught

    said: list[str] = []
    asked = Asked(encoders=[], data=tmp_path, seed=0, note=said.append)
    assert taught(asked, []) == [] and len(said) == 1 and f"no relevance/{TAUGHT}.jsonl.gz" in said.pop()
    (tmp_path / "relevance").mkdir()
    shown = {
        "context": ["Where shall we eat tonight, any idea?"],
        "positive_responses": ["At home."],
        "random_negative_responses": ["No."],
    }
    write(tmp_path / "relevance" / f"{TAUGHT}.jsonl.gz", [shown])
    assert len(taught(asked, [])) == 2 and not said
