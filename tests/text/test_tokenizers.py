"""Tokenizers: golden strings that never change (`words-1` and `words-2` have more in the golden file), properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.errors import UsageError
from rejoinder.text import TOKENIZERS, tokenizer

TABLE = {"我", "想吃", "火锅", "吃火", "iPhone", "Haus", "haus", "straße", "the", "don't", "ไทย"}
TEXT = st.text(alphabet=st.characters(codec="utf-8") | st.sampled_from("aB'’我想吃火锅ーメไท ยั้"))


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("whitespace", " I  am\tfine .\n", ["I", "am", "fine", "."]),
        ("whitespace", "", []),
        ("space-1", " I am\tFine . ", ["I", "am\tFine", "."]),
        ("space-1", "a  b", ["a", "", "b"]),
        ("space-1", "", [""]),
        ("words-1", "I don’t ‘know’ B2B, 3.14", ["i", "don't", "‘", "know", "’", "b2b", ",", "3", ".", "14"]),
        ("words-1", "ok👍🏽👍🏽 🇩🇪🇫🇷 👨‍👩‍👧!", ["ok", "👍🏽", "👍🏽", "🇩🇪", "🇫🇷", "👨‍👩‍👧", "!"]),
        ("words-1", "a\x00b\u200bc\ud800d 我爱你", ["a", "b", "c", "d", "我爱你"]),
        ("words-2", "我用iPhone 15拍的 L’été", ["我", "用", "iphone", "15", "拍", "的", "l'été"]),
        ("words-2", "ผัดไทยน้ำ 먹고", ["ผั", "ด", "ไ", "ท", "ย", "น้ำ", "먹고"]),
    ],
)
def test_tokens(name: str, text: str, tokens: list[str]) -> None:
    assert tokenizer(name)(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("我想吃火锅。", ["我", "想吃", "火锅", "。"]),  # from the left: 想吃 comes before 吃火
        ("想 吃火锅", ["想", "吃火", "锅"]),  # a space separates
        ("我用iPhone拍", ["我", "用", "iPhone", "拍"]),
        ("ผัดไทย", ["ผั", "ด", "ไทย"]),
        ("Haus HAUS haus Straße IPHONE The Don’t", ["Haus", "haus", "haus", "straße", "iphone", "the", "don't"]),
        ("Haus HAUS IPHONE iPhone The don't", ["Haus", "haus", "iphone", "iPhone", "the", "don't"]),
    ],
)
def test_words_of_a_table(text: str, tokens: list[str]) -> None:
    assert tokenizer("words-2", TABLE)(text) == tokens


def test_words_above_the_maximum_length_are_found_only_as_a_whole() -> None:
    long = "很" * 20
    assert tokenizer("words-2", {long})(long) == [long]
    assert tokenizer("words-2", {long})(f"{long}好") == [*long, "好"]


def test_an_unknown_name() -> None:
    with pytest.raises(UsageError):
        tokenizer("words")


@given(TEXT)
def test_a_table_loses_no_character(text: str) -> None:
    assert "".join(tokenizer("words-2", TABLE)(text)).lower() == "".join(tokenizer("words-2")(text))


@given(st.text(), st.sampled_from(sorted(TOKENIZERS)))
def test_outer_space_does_not_matter_and_words_have_none(text: str, name: str) -> None:
    tokens = tokenizer(name)(text)
    assert tokenizer(name)(f" \n{text}\t ") == tokens
    assert name == "space-1" or all(token.strip() == token != "" for token in tokens)


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_the_fast_path_for_ascii_finds_the_same_words(text: str) -> None:
    # A typographic sign at the end takes the same text along the general path.
    assert [*tokenizer("words-1")(text), "“"] == tokenizer("words-1")(f"{text} “")
