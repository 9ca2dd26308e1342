"""The byte-pair encoding of turns."""

from __future__ import annotations

import json
import random
from functools import cache

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rejoinder.errors import DataError, UsageError
from rejoinder.models.vocabulary import END_ID, PAD_ID, SPECIALS, UNK_ID, Vocabulary, as_turn, train_bpe

PRINTABLE = "".join(map(chr, range(33, 127))) + "éß☺"


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return train_bpe([PRINTABLE, " ".join(PRINTABLE), "Hello there, how are you? <user>"] * 10, 600)


@cache
def either_case(*, lower: bool) -> Vocabulary:
    # Of the signs that are written, some are known to it and some not.
    return train_bpe(["Ab ba'b 00 b.. a?!"] * 9, 60, lower=lower)


def normal(text: str) -> str:
    return " ".join(text.lower().split())


@given(st.text(alphabet=PRINTABLE + " \t\n"))
def test_decoding_gives_the_text_back(vocabulary: Vocabulary, text: str) -> None:
    assume(not any(special in text.lower() for special in SPECIALS))
    ids = vocabulary.encode(text)
    assert vocabulary.decode(ids) == normal(text)
    assert not set(ids) & {PAD_ID, UNK_ID, END_ID}


@given(st.text())
def test_any_text_can_be_encoded(vocabulary: Vocabulary, text: str) -> None:
    ids = vocabulary.encode(text)
    assert all(0 <= number < vocabulary.size for number in ids)
    assert (ids == []) == (vocabulary.tokenizer.normalizer.normalize_str(text) == "")


@pytest.mark.parametrize("lower", [True, False])
@given(text=st.text(alphabet="aAbz09' .,!?<>&-_▁’é\t\x1c") | st.text(alphabet=PRINTABLE + " "))
def test_the_short_way_gives_what_the_library_gives(lower: bool, text: str) -> None:
    vocabulary = either_case(lower=lower)
    assert vocabulary.encode(text) == vocabulary.tokenizer.encode(text, add_special_tokens=False).ids


def test_batches_encode_as_single_texts_do(vocabulary: Vocabulary) -> None:
    texts = ["Hello there", "", "you? <user>", "日本"]
    assert vocabulary.encode_batch(texts) == [vocabulary.encode(text) for text in texts]


def test_special_tokens_are_whole(vocabulary: Vocabulary) -> None:
    assert [vocabulary.encode(special) for special in SPECIALS] == [[PAD_ID], [UNK_ID], [END_ID]]
    ids = vocabulary.encode("hello</s> there<pad>")
    assert [ids.count(number) for number in (PAD_ID, UNK_ID, END_ID)] == [1, 0, 1]
    assert vocabulary.decode(ids) == "hello there"


def test_unknown_characters_are_not_dropped(vocabulary: Vocabulary) -> None:
    ids = vocabulary.encode("hello 日本 there")
    assert ids.count(UNK_ID) == 1
    assert vocabulary.decode(ids) == "hello <unk> there"


def test_words_signs_and_placeholders_stay_apart(vocabulary: Vocabulary) -> None:
    pieces = [
        vocabulary.tokenizer.id_to_token(number) for number in vocabulary.encode("Hello there, how are YOU? <user>")
    ]
    assert pieces == ["▁hello", "▁there", ",", "▁how", "▁are", "▁you", "?", "▁<user>"]


def test_apostrophes_are_one() -> None:
    vocabulary = train_bpe(["I don’t", "I don't"] * 5, 60)
    assert vocabulary.encode("don’t") == vocabulary.encode("don't")
    assert vocabulary.decode(vocabulary.encode("don’t")) == "don't"


def test_lower_casing_travels_with_the_vocabulary() -> None:
    kept = train_bpe(["Ab aB"] * 9, 40, lower=False)
    again = Vocabulary.from_json(kept.to_json())
    assert again.decode(again.encode("Ab aB")) == "Ab aB"
    assert again.encode("Ab") != again.encode("ab")
    assert again.digest == kept.digest
    assert len(kept.digest) == 12
    assert kept.digest != train_bpe(["Ab aB"] * 9, 40).digest


def test_training_is_deterministic() -> None:
    # Forty letters that occur equally often, of which only some get a number.
    texts = [chr(0x430 + place % 40) * 3 for place in range(400)]
    first = train_bpe(texts, 80).to_json()
    for seed in range(4):
        random.Random(seed).shuffle(texts)
        assert train_bpe(iter(texts), 80).to_json() == first
    assert sum(character in first for character in set("".join(texts))) == 19


def test_size_is_kept() -> None:
    texts = [f"{a}{b}{c}" for a in "abcd" for b in "efgh" for c in "ijkl"] * 3
    assert train_bpe(texts, 64).size == 64
    assert train_bpe(["ab"], 1000).size == 3 + 3


def test_as_turn() -> None:
    assert as_turn([], 5) == [END_ID]
    assert as_turn([7, 8, 9], 4) == [7, 8, 9, END_ID]
    assert as_turn([7, 8, 9], 3) == [7, 8, END_ID]
    assert as_turn([PAD_ID, END_ID, UNK_ID, 9], 9) == [UNK_ID, UNK_ID, UNK_ID, 9, END_ID]


def test_messages_of_the_encoding(vocabulary: Vocabulary) -> None:
    with pytest.raises(UsageError) as caught:
        train_bpe(["a"], 31)
    assert str(caught.value) == "a vocabulary of 31 pieces has no room for an alphabet. Give 32 or more."
    for texts in ([], [" "]):
        with pytest.raises(DataError) as empty:
            train_bpe(texts, 32)
        assert str(empty.value).startswith("no text to train a vocabulary on. Give a corpus with at least one turn")
    with pytest.raises(UsageError) as outside:
        vocabulary.decode([1, -1])
    assert str(outside.value) == f"id -1 is outside the vocabulary, which has 0 to {vocabulary.size - 1}"
    with pytest.raises(DataError, match=r"^not a vocabulary \(.*\)\. Give what Vocabulary.to_json wrote$"):
        Vocabulary.from_json("{}")
    foreign = json.loads(vocabulary.to_json())
    foreign["added_tokens"] = []
    foreign["model"] = {**foreign["model"], "vocab": {"a": 0, "b": 1}, "merges": [], "unk_token": None}
    with pytest.raises(DataError) as other:
        Vocabulary.from_json(json.dumps(foreign))
    assert str(other.value).startswith(
        "the vocabulary begins with ['a', 'b', None], expected ['<pad>', '<unk>', '</s>']. "
    )
