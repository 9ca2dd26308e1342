"""The judge in the box: what scores where nothing else is said."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import PROJECT, Run
from rejoinder.assets import JUDGE
from rejoinder.data.folders import read_folder
from rejoinder.example import Example
from rejoinder.judges.domain import CONTEXT_CUT, CUT
from rejoinder.judges.features.extent import SUBWORDS
from rejoinder.judges.regression.judge import FeatureJudge
from rejoinder.scorer import Scores

BOTH = Example(("any plans for the weekend?",), "i will see a movie.", ("a film with friends.", "nothing much."))


@cache
def in_the_box() -> FeatureJudge:
    loaded = rejoinder.load_scorer("rejoinder")
    assert isinstance(loaded, FeatureJudge)
    return loaded


@pytest.fixture
def judge() -> FeatureJudge:
    return in_the_box()


def test_it_scores_where_nothing_else_is_said(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text('{"context": ["how are you?"], "response": "fine, and you?"}\n', encoding="utf-8")
    (line,) = run("score", file).out.splitlines()
    found = json.loads(line)
    assert list(found["scores"]) == ["rejoinder"]
    assert 3 < found["scores"]["rejoinder"] < 5
    assert found["signatures"]["rejoinder"].startswith("scorer:rejoinder|version:4|model:")


def test_it_is_read_once(judge: FeatureJudge) -> None:
    assert rejoinder.load_scorer("rejoinder") is judge


def test_a_judge_at_hand_is_not_written_out(judge: FeatureJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    # Its text form is longer than its work: writing it took three times as long as a score.
    monkeypatch.setattr(FeatureJudge, "__repr__", lambda _: pytest.fail("written out"))
    assert rejoinder.score([BOTH], judge, out_of_domain="keep").scored.all()


def test_it_takes_what_is_there(judge: FeatureJudge) -> None:
    without = [BOTH, replace(BOTH, references=()), replace(BOTH, context=()), replace(BOTH, context=(), references=())]
    scores = rejoinder.score(without, judge, out_of_domain="keep")
    assert scores.scored.tolist() == [True, True, True, False]
    assert scores.reasons == {3: "no context and no reference"}
    assert len(set(scores.values[:3].tolist())) == 3


def test_a_copy_of_the_reference_is_better_than_another_response(judge: FeatureJudge) -> None:
    copy, other = replace(BOTH, response="a film with friends."), replace(BOTH, response="the bus was late.")
    values = rejoinder.score([copy, other], judge, out_of_domain="keep").values
    assert values[0] > values[1]


def test_it_needs_no_torch() -> None:
    code = (
        "import sys\n"
        "for name in ('torch', 'lightning', 'matplotlib'): sys.modules[name] = None\n"
        "import rejoinder\n"
        "print(rejoinder.score(rejoinder.read('@conture'), out_of_domain='keep').scored.mean())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) > 0.99


SAMPLE = [*rejoinder.read("@conture"), *rejoinder.read("@dstc7")][::8]


@given(places=st.lists(st.integers(0, len(SAMPLE) - 1), min_size=1, max_size=80))
def test_a_score_is_the_same_in_every_batch(places: list[int]) -> None:
    judge = in_the_box()
    alone = np.array([judge.score_batch([SAMPLE[place]]).values[0] for place in places])
    together = judge.score_batch([SAMPLE[place] for place in places]).values
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-5)


@pytest.mark.parametrize("side", ["context", "response", "references"])
def test_a_text_is_read_to_its_end_and_a_longer_one_as_far_as_the_limit(judge: FeatureJudge, side: str) -> None:
    sentence = "we talked about the film and the weather ."

    def scored(*texts: str) -> Scores:
        given = [{"response": text} if side == "response" else {side: (text,)} for text in texts]
        return rejoinder.score([replace(BOTH, **own) for own in given], judge, out_of_domain="keep")

    inside = " ".join([sentence] * (SUBWORDS // 10))
    read = scored(inside, f"{inside} no")
    assert read.values[0] != read.values[1], "the last word counts"
    noted = CONTEXT_CUT if side == "context" else CUT
    assert not any(noted in notes for notes in read.warnings.values())
    beyond = " ".join([sentence] * (SUBWORDS // 4))
    cut = scored(beyond, f"no {beyond}" if side == "context" else f"{beyond} no")
    assert cut.values[0] == cut.values[1], "the end of a turn counts, and the beginning of other texts"
    assert all(noted in cut.warnings[row] for row in (0, 1))


def test_it_is_small_and_says_what_it_is(run: Run) -> None:
    assert sum(file.stat().st_size for file in JUDGE.iterdir()) < 31e6  # 27 MB as a wheel packs it
    shown = run("show", "rejoinder").out
    for part in ("On sets that it never saw", "What fools it", "Corpora", "- conture_turn: CC BY 4.0"):
        assert part in shown


def test_its_folder_is_sound() -> None:
    assert read_folder(JUDGE).config["kind"] == "views"


def test_every_score_has_an_interval_that_holds_it(judge: FeatureJudge) -> None:
    scores = rejoinder.score(SAMPLE, judge, out_of_domain="keep")
    assert scores.low is not None and scores.high is not None
    assert (scores.low <= scores.values).all() and (scores.values <= scores.high).all()


def test_its_models_are_those_of_the_recipes() -> None:
    for inside, recipe in (("encoder", "student-wide"), ("selector", "selector-small")):
        wanted = tomllib.loads((PROJECT / "recipes" / f"{recipe}.toml").read_text(encoding="utf-8"))["model"]
        sizes = read_folder(JUDGE).inner(inside).config["sizes"]
        assert {name: sizes[name] for name in wanted} == wanted
