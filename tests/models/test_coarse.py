"""Coarse sequences: the tense and the nouns of a turn."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import drawn
from rejoinder.errors import MissingExtra
from rejoinder.models.coarse import coarse_text
from rejoinder.text.parts_of_speech import tagger

pytest.importorskip("textblob", reason="needs the extra train")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I went to the cinema and saw a movie about dogs.", "<past> cinema movie dogs"),
        ("The pizza is good. PIZZA!", "<present> pizza"),
        ("She has gone home", "<past_present> home"),
        ("I think it will rain, as it rained in Paris", "<past_present_future> rain paris"),
        ("will", "<future> <no_nouns>"),
        ("hi", "<no_tenses> <no_nouns>"),
        ("We'll see, but I don't like pizza", "<present_future> pizza"),
        ("he won't come", "<future> <no_nouns>"),
        ("one of those things", "<no_tenses> <no_nouns>"),
        ("3 2 1 !!", "<no_tenses> <no_nouns>"),
        ("", "<no_tenses> <no_nouns>"),
        (" \n", "<no_tenses> <no_nouns>"),
        ("😀", "<no_tenses> <no_nouns>"),
    ],
)
def test_a_coarse_sequence_is_a_tense_and_the_nouns(text: str, expected: str) -> None:
    assert coarse_text(text) == expected


@drawn(40)
@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_a_coarse_sequence_has_a_tense_first_and_each_noun_once(text: str) -> None:
    tense, *nouns = coarse_text(text).split(" ")
    assert tense.startswith("<")
    assert tense.endswith(">")
    assert len(nouns) == len(set(nouns)) >= 1
    assert coarse_text(text) == f"{tense} {' '.join(nouns)}"


def test_a_missing_tagger_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "textblob"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "textblob.en", None)
    tagger.cache_clear()
    with pytest.raises(MissingExtra) as refusal:
        coarse_text("hello")
    assert str(refusal.value) == "A MrRNN needs textblob. Install it: pip install 'rejoinder[train]'"
