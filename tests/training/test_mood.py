"""The moods of turns: what counts as sympathy and as joy, what is learnt from it, and the folder that keeps it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from conftest import PROJECT, Run, refused
from rejoinder.data.dialogues import Dialogue
from rejoinder.data.folders import Parts, read_folder
from rejoinder.errors import DataError
from rejoinder.models import load_encoder
from rejoinder.pretraining.mood import REACTION, TURN, Mood, from_parts, is_sympathy, news_in

BAD = ("my dog died", "i lost my money", "she is very sick", "we missed the train", "the storm killed the cat")
GOOD = ("we won the game", "i bought a house", "she loves her school", "we saw a new film", "the band played music")
RECIPE = PROJECT / "recipes" / "mood.toml"


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ("Oh no! Are you all right?", True),
        ("I'm so sorry to hear that.", True),
        ("oh, that's terrible", True),
        ("Wow, that is really sad", True),
        ("Too bad.", True),
        ("That's great!", False),
        ("oh wow , how awesome", False),
        ("Congratulations to you both", False),
        ("sounds fun", False),
        ("I am sorry, I can't", None),
        ("not great", None),
        ("Sadly he left", None),
        ("greatly", None),
        ("I had fun", None),
        ("", None),
    ],
)
def test_how_a_reply_takes_what_was_said(reply: str, told: bool | None) -> None:
    assert is_sympathy(reply) is told


def test_every_turn_that_was_answered_so_counts() -> None:
    found = news_in(
        [Dialogue(("my cat died", "oh no", "that's great", "why ?"), "a:1"), Dialogue(("hi", "cool"), "a:2")]
    )
    assert list(zip(found.turns, found.reactions, found.bad.tolist(), strict=True)) == [
        ("my cat died", "oh no", True),
        ("oh no", "that's great", False),
        ("hi", "cool", False),
    ]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three hundred short dialogues, each opening with a number, by which some are held out."""
    file = tmp_path_factory.mktemp("corpus") / "talk.jsonl"
    sorry, glad = ("oh no", "i am so sorry to hear that", "that's awful"), ("great", "that is cool", "wow nice")
    with file.open("w") as stream:
        for number in range(300):
            bad = number % 3 == 0
            said = (BAD if bad else GOOD)[number % 5]
            turns = [f"hello {number}", "what happened", said, (sorry if bad else glad)[number // 5 % 3]]
            stream.write(json.dumps({"id": str(number), "turns": turns}) + "\n")
    return file


def test_the_command_learns_which_turns_are_bad_news(corpus: Path, tmp_path: Path, run: Run) -> None:
    out = tmp_path / "mood"
    ran = run("pretrain", RECIPE, corpus, "-o", out, "--teacher", "rejoinder")
    assert ran.code == 0, ran.err
    assert "auc of a turn: 1" in ran.out and "turns answered with sympathy" in ran.err
    mood, encoder = from_parts(read_folder(out)), load_encoder("rejoinder")
    mood.require(encoder)
    bad, good = ([mood.of_turn(vector) for vector in encoder.encode(list(texts))] for texts in (BAD, GOOD))
    assert 1 > min(bad) > 0 > max(good) > -1
    (sorry, fine) = encoder.encode(["oh no , that's awful", "wow , that is great"])
    assert mood.of_reaction(sorry) > 0 > mood.of_reaction(fine)
    assert np.isnan(mood.of_turn(np.full(mood.width, np.nan)))
    with pytest.raises(DataError, match="over another encoder"):
        mood.require(load_encoder("word-vectors"))
    again = run("pretrain", RECIPE, corpus, "-o", tmp_path / "again", "--teacher", "rejoinder")
    assert again.out.replace("again", "mood") == ran.out
    assert (tmp_path / "again" / "weights.safetensors").read_bytes() == (out / "weights.safetensors").read_bytes()


def test_what_is_refused(corpus: Path, tmp_path: Path, run: Run) -> None:
    out = tmp_path / "mood"
    none = run("pretrain", RECIPE, corpus, "-o", out)
    refused(none, 2, "moods stand on the vectors of an encoder. Name one with --teacher")
    few = tmp_path / "few.jsonl"
    few.write_text("".join(corpus.read_text().splitlines(keepends=True)[:12]))
    ran = run("pretrain", RECIPE, few, "-o", out, "--teacher", "rejoinder")
    assert (ran.code, ran.out) == (3, "") and ran.err.endswith("Give a larger corpus of English talk\n")
    assert not out.exists()


@pytest.mark.parametrize("tensors", [{TURN: 3}, {TURN: 3, REACTION: 4}, {TURN: 1, REACTION: 1}])
def test_lines_that_fit_nothing_are_refused(tensors: dict[str, int]) -> None:
    lines = {name: np.zeros(size, np.float32) for name, size in tensors.items()}
    with pytest.raises(DataError):
        from_parts(Parts({"kind": "mood", "encoder": {}}, lines))


def test_moods_by_hand() -> None:
    lines = {TURN: np.array([1, 0, 0.5], np.float32), REACTION: np.array([0, -2, 0], np.float32)}
    mood = Mood(Parts({"kind": "mood", "encoder": {}}, lines))
    vector = np.array([0.6, 0.8])
    assert mood.of_turn(vector) == pytest.approx(2 / (1 + np.exp(-1.1)) - 1)
    assert mood.of_reaction(vector) == pytest.approx(2 / (1 + np.exp(1.6)) - 1)
