"""Phrases and moods of a corpus: by hand, by the published formula, and the folders that keep them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import PROJECT, Run, drawn, refused
from rejoinder.data.dialogues import Dialogue
from rejoinder.data.folders import Parts, read_folder
from rejoinder.errors import DataError
from rejoinder.models import load_encoder, mood, phrases
from rejoinder.models.mood import REACTION, TURN, Mood
from rejoinder.models.phrases import NgramModel, Phrases
from rejoinder.pretraining.recipe import Counts, PhraseRecipe, read_recipe
from rejoinder.pretraining.statistics import (
    answered_turns,
    count_phrases,
    fit_witten_bell,
    is_sympathy,
)

TURNS = ("the cat sat .", "the dog sat .", "the cat ran !", "Hello", "hello", "hello ")
ALL = Counts(vocabulary=10, bigrams=1, trigrams=1, replies=2)
V = START = 6
sequences = st.lists(st.lists(st.integers(0, V - 1), max_size=8), min_size=1, max_size=30).filter(any)
texts = st.lists(st.text(alphabet="ab c.'é", max_size=12), min_size=1, max_size=20).filter(
    lambda turns: any(turn.strip() for turn in turns)
)


def counted(counts: Counts = ALL) -> Phrases:
    return count_phrases(TURNS, counts)


def test_words_and_replies_by_hand() -> None:
    of_corpus = counted()
    assert list(of_corpus.words) == ["the", "hello", "cat", "sat", ".", "dog", "ran", "!"]
    assert of_corpus.rarity["the"] == pytest.approx(log(6 / 4)) and of_corpus.rarity["dog"] == pytest.approx(log(6 / 2))
    assert of_corpus.rarest == pytest.approx(log(6))
    assert of_corpus.reply_count(("hello",)) == 3 and of_corpus.reply_count(("the", "cat", "ran", "!")) == 0
    assert of_corpus.tokens(["the", "bird"]) == [2, 1, 0]
    with pytest.raises(DataError, match="no word to count"):
        count_phrases(("", " "), ALL)


def test_rare_ngrams_are_dropped() -> None:
    assert len(counted(ALL.model_copy(update={"vocabulary": 3})).words) == 3
    model = counted(ALL.model_copy(update={"bigrams": 2, "trigrams": 3})).model
    start = model.vocabulary_size
    the, cat, sat, stop, hello, end = counted().tokens(["the", "cat", "sat", ".", "hello"])
    kept = {divmod(int(gram), start + 1) for gram in model.levels[1].grams}
    assert kept == {(start, the), (the, cat), (sat, stop), (stop, end), (start, hello), (hello, end)}


def fitted(train: list[list[int]], *least: int) -> NgramModel:
    lengths = np.array([len(sequence) for sequence in train])
    return fit_witten_bell(np.concatenate(train).astype(np.int64), lengths, least, vocabulary_size=V)


def witten_bell(train: list[list[int]], order: int, history: tuple[int, ...], token: int) -> float:
    """Interpolated Witten-Bell written out: a history of start symbols alone counts as one of them."""
    history = history[len(history) - order + 1 :]
    if order == 1:
        flat = [number for sequence in train for number in sequence]
        return (flat.count(token) + 0.1) / (len(flat) + 0.1 * V)
    below = witten_bell(train, order - 1, history, token)
    if order > 2 and set(history) == {START}:
        return below
    padded = [[START] * (order - 1) + sequence for sequence in train]
    after = Counter(
        row[end] for row in padded for end in range(order - 1, len(row)) if tuple(row[end - order + 1 : end]) == history
    )
    return (after[token] + len(after) * below) / (after.total() + len(after)) if after else below


@given(sequences, st.lists(st.lists(st.integers(0, V - 1), max_size=6), max_size=4))
@drawn(60)
def test_probabilities_are_the_formula_written_out(train: list[list[int]], asked: list[list[int]]) -> None:
    values = fitted(train, 1, 1).probabilities(asked)
    expected = [
        [
            witten_bell(train, order, (START, START, *text)[place : place + 2], text[place])
            for text in asked
            for place in range(len(text))
        ]
        for order in (1, 2, 3)
    ]
    np.testing.assert_allclose(values, expected)


@given(sequences, st.lists(st.integers(0, V - 1), max_size=3), st.integers(1, 3), st.integers(1, 3))
@drawn(60)
def test_probabilities_sum_to_one(train: list[list[int]], history: list[int], two: int, three: int) -> None:
    model = fitted(train, two, three)
    assert sum(model.probabilities([[*history, token]])[-1, -1] for token in range(V)) == pytest.approx(1.0)


@given(texts, st.integers(1, 3), st.integers(0, 2))
@drawn(30)
def test_a_folder_keeps_what_was_counted(turns: list[str], bigrams: int, more: int) -> None:
    of_corpus = count_phrases(turns, ALL.model_copy(update={"bigrams": bigrams, "trigrams": bigrams + more}))
    other = count_phrases(turns[::-1], ALL.model_copy(update={"vocabulary": 50}))
    assert dict(other.rarity) == dict(count_phrases(turns, ALL.model_copy(update={"vocabulary": 50})).rarity)
    again = phrases.from_parts(of_corpus.parts)
    assert again.parts.digest == of_corpus.parts.digest == phrases.from_parts(again.parts).parts.digest
    for mine, theirs in zip(again.model.levels, of_corpus.model.levels, strict=True):
        assert np.array_equal(mine.grams, theirs.grams)
        np.testing.assert_allclose(mine.shares, theirs.shares, rtol=5e-3)  # 16 bits


def damaged(**changed: np.ndarray | None) -> Parts:
    parts = counted().parts
    tensors = {name: value for name, value in {**parts.tensors, **changed}.items() if value is not None}
    return Parts(parts.config, tensors, parts.files)


@pytest.mark.parametrize(
    "parts",
    [
        damaged(idf=None),
        damaged(replies=None),
        damaged(often=np.zeros(9, dtype=np.uint32)),
        damaged(bigrams=None),
        damaged(bigrams=np.zeros_like(counted().parts.tensors["bigrams"])),
        damaged(trigrams=np.full_like(counted().parts.tensors["trigrams"], 999)),
        damaged(trigram_shares=None),
        damaged(unigrams=np.zeros(2, dtype=np.float32)),
        replace(counted().parts, files={"words.json": '["a", "a"]'}),
        replace(counted().parts, config={"kind": "phrases"}),
    ],
)
def test_damaged_phrases_are_refused(parts: Parts) -> None:
    with pytest.raises(DataError):
        phrases.from_parts(parts)


def test_the_command_counts_phrases(run: Run, tmp_path: Path) -> None:
    recipe, out, file = PROJECT / "recipes" / "phrases.toml", tmp_path / "phrases", tmp_path / "corpus.jsonl"
    assert read_recipe(recipe) == PhraseRecipe(kind="phrases")
    file.write_text(
        '{"turns": ["the cat sat", "the cat ran"]}\n{"turns": ["a secret", "word"], "judged": true}\n', encoding="utf-8"
    )
    ran = run("pretrain", recipe, file, "-o", out)
    assert (ran.code, ran.out) == (0, f"saved in {out}\n"), ran.err
    summary = "2 turns: 4 words, 2 pairs of words, 1 of three, 0 usual replies"
    assert ran.err.splitlines()[-1] == summary and summary in (out / "card.md").read_text()
    assert set(phrases.from_parts(read_folder(out)).words) == {"the", "cat", "sat", "ran"}
    refused(
        run("pretrain", recipe, file, "-o", tmp_path / "s", "--start", out),
        2,
        "--start is for networks that read dialogues, and students, not for a phrases. Remove it",
    )


BAD = ("my dog died", "i lost my money", "she is very sick", "we missed the train", "the storm killed the cat")
GOOD = ("we won the game", "i bought a house", "she loves her school", "we saw a new film", "the band played music")
RECIPE = PROJECT / "recipes" / "mood.toml"


@pytest.mark.parametrize(
    ("reply", "expected"),
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
def test_sympathy_and_joy(reply: str, expected: bool | None) -> None:
    assert is_sympathy(reply) is expected


def test_every_answered_turn_counts() -> None:
    dialogues = [Dialogue(("my cat died", "oh no", "that's great", "why ?"), "a:1"), Dialogue(("hi", "cool"), "a:2")]
    turns, reactions, bad = answered_turns(dialogues)
    assert list(zip(turns, reactions, bad.tolist(), strict=True)) == [
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
            turn = (BAD if bad else GOOD)[number % 5]
            turns = [f"hello {number}", "what happened", turn, (sorry if bad else glad)[number // 5 % 3]]
            stream.write(json.dumps({"id": str(number), "turns": turns}) + "\n")
    return file


def test_the_command_learns_which_turns_are_bad_news(corpus: Path, tmp_path: Path, run: Run) -> None:
    out = tmp_path / "mood"
    ran = run("pretrain", RECIPE, corpus, "-o", out, "--teacher", "rejoinder")
    assert ran.code == 0, ran.err
    assert "auc of a turn: 1" in ran.out and "turns answered with sympathy" in ran.err
    moods, encoder = mood.from_parts(read_folder(out)), load_encoder("rejoinder")
    moods.require(encoder)
    bad, good = (moods.of_turn(encoder.encode(list(side))) for side in (BAD, GOOD))
    assert 1 > bad.min() > 0 > good.max() > -1
    sorry, fine = moods.of_reaction(encoder.encode(["oh no , that's awful", "wow , that is great"]))
    assert sorry > 0 > fine
    with pytest.raises(DataError, match="over another encoder"):
        moods.require(load_encoder("word-vectors"))
    again = run("pretrain", RECIPE, corpus, "-o", tmp_path / "again", "--teacher", "rejoinder")
    assert again.out.replace("again", "mood") == ran.out
    assert (tmp_path / "again" / "weights.safetensors").read_bytes() == (out / "weights.safetensors").read_bytes()


def test_moods_without_a_teacher_or_enough_turns_are_refused(corpus: Path, tmp_path: Path, run: Run) -> None:
    out, few = tmp_path / "mood", tmp_path / "few.jsonl"
    refused(
        run("pretrain", RECIPE, corpus, "-o", out),
        2,
        "a mood reads the vectors of an encoder. Name one with --teacher",
    )
    few.write_text("".join(corpus.read_text().splitlines(keepends=True)[:12]))
    ran = run("pretrain", RECIPE, few, "-o", out, "--teacher", "rejoinder")
    assert (ran.code, ran.out) == (3, "") and ran.err.endswith("Give a larger corpus of English talk\n")
    assert not out.exists()


def test_moods_by_hand() -> None:
    probes = {TURN: np.array([1, 0, 0.5], np.float32), REACTION: np.array([0, -2, 0], np.float32)}
    moods = Mood(Parts({"kind": "mood", "encoder": {}}, probes))
    vectors = np.array([[0.6, 0.8], [np.nan, 0]])
    assert moods.of_turn(vectors) == pytest.approx([2 / (1 + np.exp(-1.1)) - 1, np.nan], nan_ok=True)
    assert moods.of_reaction(vectors[0]) == pytest.approx(2 / (1 + np.exp(1.6)) - 1)


@pytest.mark.parametrize("lengths", [{TURN: 3}, {TURN: 3, REACTION: 4}, {TURN: 1, REACTION: 1}])
def test_damaged_moods_are_refused(lengths: dict[str, int]) -> None:
    with pytest.raises(DataError):
        mood.from_parts(
            Parts({"kind": "mood", "encoder": {}}, {name: np.zeros(n, np.float32) for name, n in lengths.items()})
        )
