"""Tokenizers: what each makes of a text, and that it never changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.errors import UsageError
from rejoinder.text import TOKENIZERS, tokenizer
from rejoinder.text.scripts import UNSPACED


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
        ("words-2", "I DON'T know", ["i", "don't", "know"]),
        ("words-2", "Das L’été!", ["das", "l'été", "!"]),
        ("words-2", "我爱你。", ["我", "爱", "你", "。"]),
        ("words-2", "我用iPhone 15拍的", ["我", "用", "iphone", "15", "拍", "的"]),
        ("words-2", "ラーメンか", ["ラ", "ー", "メ", "ン", "か"]),
        ("words-2", "ผัดไทยน้ำ", ["ผั", "ด", "ไ", "ท", "ย", "น้ำ"]),
        ("words-2", "먹고 싶어요", ["먹고", "싶어요"]),
    ],
)
def test_tokens(name: str, text: str, tokens: list[str]) -> None:
    assert tokenizer(name)(text) == tokens


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UsageError) as error:
        tokenizer("words")
    assert str(error.value) == "no tokenizer is called 'words'. There are: whitespace, space-1, words-1, words-2"


TABLE = {"我", "想吃", "火锅", "吃火", "iPhone", "Haus", "haus", "straße", "the", "don't", "ไทย"}


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("我想吃火锅。", ["我", "想吃", "火锅", "。"]),  # from the left: 想吃 comes before 吃火
        ("吃火锅", ["吃火", "锅"]),
        ("想 吃火锅", ["想", "吃火", "锅"]),  # a space is kept
        ("我用iPhone拍", ["我", "用", "iPhone", "拍"]),
        ("ผัดไทย", ["ผั", "ด", "ไทย"]),
        ("Haus HAUS haus Straße IPHONE The Don’t", ["Haus", "haus", "haus", "straße", "iphone", "the", "don't"]),
        ("Haus HAUS IPHONE iPhone The don't", ["Haus", "haus", "iphone", "iPhone", "the", "don't"]),
    ],
)
def test_words_of_a_table(text: str, tokens: list[str]) -> None:
    assert tokenizer("words-2", TABLE)(text) == tokens


def test_words_longer_than_are_looked_for_stand_alone_or_not_at_all() -> None:
    long = "很" * 20
    assert tokenizer("words-2", {long})(long) == [long]
    assert tokenizer("words-2", {long})(f"{long}好") == [*long, "好"]


TEXT = st.text(alphabet=st.characters(codec="utf-8") | st.sampled_from("aB'’我想吃火锅ーメไท ยั้"))


@given(TEXT)
def test_the_two_kinds_of_words_differ_in_scripts_without_spaces_alone(text: str) -> None:
    import regex  # type: ignore[import-untyped]

    if not regex.search(rf"[{UNSPACED}Σ]", text):  # a small Σ depends on what follows in the text
        assert tokenizer("words-2")(text) == tokenizer("words-1")(text)


@given(TEXT)
def test_no_character_of_a_text_is_lost_whatever_the_table(text: str) -> None:
    assert "".join(tokenizer("words-2", TABLE)(text)).lower() == "".join(tokenizer("words-2")(text))


@given(st.text(), st.sampled_from(["words-1", "words-2"]))
def test_words_hold_no_space_and_nothing_is_empty(text: str, name: str) -> None:
    for token in tokenizer(name)(text):
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
