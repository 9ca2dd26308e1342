"""Tokenizers: what each makes of a text, and that it never changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.errors import UsageError
from rejoinder.text import TOKENIZERS, tokenizer


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("whitespace", " I  am\tfine .\n", ["I", "am", "fine", "."]),
        ("whitespace", "", []),
        ("space-1", " I am\tFine . ", ["I", "am\tFine", "."]),
        ("space-1", "a  b", ["a", "", "b"]),
        ("space-1", "", [""]),
        ("words-1", "", []),
        ("words-1", " \r\n ", []),
        ("words-1", "I don't know, OK?!", ["i", "don't", "know", ",", "ok", "?", "!"]),
        ("words-1", "I don’t ‘know’", ["i", "don't", "‘", "know", "’"]),
        ("words-1", "rock'n'roll dogs' 'tis", ["rock'n'roll", "dogs", "'", "'", "tis"]),
        ("words-1", "B2B, 3.14 ½", ["b2b", ",", "3", ".", "14", "½"]),
        ("words-1", "snake_case", ["snake", "_", "case"]),
        ("words-1", "<first_speaker>", ["<", "first", "_", "speaker", ">"]),
        ("words-1", "ÉTÉ e\u0301te\u0301 İzmir", ["été", "été", "i̇zmir"]),
        ("words-1", "नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("words-1", "我爱你。", ["我爱你", "。"]),
        ("words-1", "ok👍🏽👍🏽 🇩🇪🇫🇷 👨‍👩‍👧!", ["ok", "👍🏽", "👍🏽", "🇩🇪", "🇫🇷", "👨‍👩‍👧", "!"]),
        ("words-1", "a\x00b\u200bc\ud800d", ["a", "b", "c", "d"]),
    ],
)
def test_tokens(name: str, text: str, tokens: list[str]) -> None:
    assert tokenizer(name)(text) == tokens


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UsageError) as error:
        tokenizer("words")
    assert str(error.value) == "no tokenizer is called 'words'. There are: whitespace, space-1, words-1"


@given(st.text())
def test_words_hold_no_space_and_nothing_is_empty(text: str) -> None:
    for token in tokenizer("words-1")(text):
        assert token.strip() == token != ""


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["M", "Sk", "So", "Cf", "Cn", "Co"])))
def test_words_of_joined_words_are_the_same_words(text: str) -> None:
    tokens = tokenizer("words-1")(text)
    assert tokenizer("words-1")(" ".join(tokens)) == tokens


@given(st.text(), st.sampled_from(sorted(TOKENIZERS)))
def test_outer_space_does_not_matter(text: str, name: str) -> None:
    assert tokenizer(name)(f" \n{text}\t ") == tokenizer(name)(text)


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_text_takes_a_faster_way_to_the_same_words(text: str) -> None:
    # A trailing typographic sign sends the same text the general way.
    assert [*tokenizer("words-1")(text), "“"] == tokenizer("words-1")(f"{text} “")
