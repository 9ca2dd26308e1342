"""What is counted in a corpus: by hand, what holds of any corpus, and the folder that keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import PROJECT, Run
from rejoinder.data.folders import Parts, read_folder
from rejoinder.errors import DataError
from rejoinder.pretraining.phrases import Phrases, count_phrases, from_parts
from rejoinder.pretraining.recipe import Counts, PhraseRecipe, read_recipe

TURNS = ("the cat sat .", "the dog sat .", "the cat ran !", "Hello", "hello", "hello ")
ALL = Counts(vocabulary=10, bigrams=1, trigrams=1, replies=2)
texts = st.lists(st.text(alphabet="ab c.'é", max_size=12), min_size=1, max_size=20).filter(
    lambda turns: any(turn.strip() for turn in turns)
)


def counted(turns: Sequence[str] = TURNS, counts: Counts = ALL) -> Phrases:
    return count_phrases(turns, counts)


def same(one: Phrases, other: Phrases) -> None:
    assert list(one.words) == list(other.words)
    assert one.parts.digest == other.parts.digest
    for mine, theirs in zip(one.model.levels, other.model.levels, strict=True):
        assert np.array_equal(mine.grams, theirs.grams)
        np.testing.assert_allclose(mine.shares, theirs.shares, rtol=5e-3)  # 16 bits


def test_words_by_hand() -> None:
    found = counted()
    assert list(found.words) == ["the", "hello", "cat", "sat", ".", "dog", "ran", "!"]
    assert found.rarity["the"] == pytest.approx(log(6 / 4)) and found.rarity["dog"] == pytest.approx(log(6 / 2))
    assert found.rarest == pytest.approx(log(6))
    assert found.said(("hello",)) == 3 and found.said(("the", "cat", "ran", "!")) == 0
    assert found.tokens(["the", "bird"]) == [2, 1, 0]


def test_likelihoods_by_hand() -> None:
    found = counted()
    (sat, end) = found.model.by_order([found.tokens(["the", "cat", "sat"])])[-1][0][2:]
    # "cat" came twice, before two different words; "the cat" too.
    once = (found.model.levels[0].shares[found.tokens(["sat"])[0]] * 2 + 1) / 4
    assert sat == pytest.approx((once * 2 + 1) / 4)
    assert 0 < end < sat


def test_what_is_rare_is_dropped() -> None:
    assert len(counted(counts=ALL.model_copy(update={"vocabulary": 3})).words) == 3
    model = counted(counts=ALL.model_copy(update={"bigrams": 2, "trigrams": 3})).model
    start, first = model.vocabulary_size, counted().tokens(["the", "cat", "sat", ".", "hello"])
    kept = {divmod(int(gram), start + 1) for gram in model.levels[1].grams}
    the, cat, sat, stop, hello, end = first
    assert kept == {(start, the), (the, cat), (sat, stop), (stop, end), (start, hello), (hello, end)}
    assert len(model.levels[2].grams) == 0 or all(gram // (start + 1) for gram in model.levels[2].grams)


@given(texts, st.integers(1, 3), st.integers(0, 2))
@settings(max_examples=30)
def test_a_folder_keeps_what_was_counted(turns: list[str], bigrams: int, more: int) -> None:
    found = counted(turns, ALL.model_copy(update={"bigrams": bigrams, "trigrams": bigrams + more}))
    again = from_parts(found.parts)
    same(again, found)
    same(from_parts(again.parts), again)


@given(texts)
@settings(max_examples=30)
def test_probabilities_sum_to_one(turns: list[str]) -> None:
    found = counted(turns, ALL.model_copy(update={"bigrams": 2, "trigrams": 2}))
    every = range(found.model.vocabulary_size)
    for model in (found.model, from_parts(found.parts).model):
        after = [float(model.by_order([[2, 2, token]])[-1][0][2]) for token in every]
        assert sum(after) == pytest.approx(1.0, rel=2e-2) and min(after) > 0


@given(texts)
@settings(max_examples=30)
def test_the_order_of_a_corpus_decides_no_more_than_ties(turns: list[str]) -> None:
    one, other = (counted(given, ALL.model_copy(update={"vocabulary": 50})) for given in (turns, turns[::-1]))
    assert dict(one.rarity) == dict(other.rarity)
    assert (one.replies.tolist(), one.often.tolist()) == (other.replies.tolist(), other.often.tolist())


def test_no_word_is_told() -> None:
    with pytest.raises(DataError, match="no word to count"):
        counted(("", " "))


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
def test_damaged_parts_are_told(parts: Parts) -> None:
    with pytest.raises(DataError):
        from_parts(parts)


def test_the_recipe_of_the_project_is_the_default() -> None:
    assert read_recipe(PROJECT / "recipes" / "phrases.toml") == PhraseRecipe(kind="phrases")


def test_trigrams_lie_in_the_order_of_bigrams() -> None:
    grams = counted().model.levels[2].grams.tolist()
    assert all(one < next_ for one, next_ in pairwise(grams))


def test_pretrain_makes_a_folder(run: Run, tmp_path: Path) -> None:
    out, file = tmp_path / "phrases", tmp_path / "corpus.jsonl"
    file.write_text(
        '{"turns": ["the cat sat", "the cat ran"]}\n{"turns": ["a secret", "word"], "judged": true}\n', encoding="utf-8"
    )
    ran = run("pretrain", PROJECT / "recipes" / "phrases.toml", file, "-o", out)
    assert (ran.code, ran.out) == (0, f"saved in {out}\n"), ran.err
    assert ran.err.splitlines(keepends=True)[-1] == "2 turns: 4 words, 2 pairs of words, 1 of three, 0 usual replies\n"
    assert "2 turns: 4 words" in (out / "card.md").read_text()
    found = from_parts(read_folder(out))
    assert set(found.words) == {"the", "cat", "sat", "ran"}
    again = run("pretrain", PROJECT / "recipes" / "phrases.toml", file, "-o", tmp_path / "s", "--start", out)
    assert again.code == 2 and "--start is for networks, a phrases has none" in again.err
