"""The columns of words: each by an example, and what holds whatever the texts are."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from examples_for_views import EXAMPLES, SENTENCES, feature, features, phrases, require_rows_of_their_own
from rejoinder.example import Example
from rejoinder.judges.features import repetition
from rejoinder.judges.features.lexical import LexicalView
from rejoinder.judges.features.reading import Remembered, common_subsequence

VIEW = LexicalView(phrases())
SHARES = (
    "first_person second_person first_person_to_you signs capitals digits no_letters foreign_letters content_share "  # noqa: SIM905 - words
    "rude_words unknown_words repeated_words repeated_pairs repeated_threes doubled_words repeated_content "
    "own_topics_again own_pairs_again topics_of_last topics_of_three topics_of_all words_of_last words_of_three "
    "in_order_of_last last_in_order in_order_of_before pairs_of_last pairs_of_earlier denies_last denies_own".split()
)
FLAGS = (
    "few_words many_words last_asks asks asks_back begins_as_answer answers_question does_not_know greets sorry thanks "  # noqa: SIM905 - words
    "begins_as_question ends_sentence unfinished equal_halves senseless shares_a_topic is_copy asked_yes_or_no".split()
)
CASES: tuple[tuple[str, str, tuple[str, ...], float], ...] = (
    ("words", "Well , it 's late .", (), 5),
    ("log_words", "it is late .", (), log(4)),
    ("few_words", "no .", (), 1),
    ("many_words", "a " * 26, (), 1),
    ("word_length", "to bed", (), 2.5),
    ("last_asks", "no", ("why ?",), 1),
    ("asks", "why ?", ("no",), 1),
    ("asks_back", "why not ?", ("why ?",), 1),
    ("begins_as_answer", "Yes , I did", ("no",), 1),
    ("answers_question", "Yes , I did", ("did you ?",), 1),
    ("answers_question", "Yes , I did", ("you did .",), 0),
    ("first_person", "i like my dog", (), 0.5),
    ("second_person", "you like your dog", (), 0.5),
    ("first_person_to_you", "i like my dog", ("do you like it ?",), 0.5),
    ("first_person_to_you", "i like my dog", ("is it nice ?",), 0),
    ("does_not_know", "I don't know.", (), 1),
    ("exclamations", "oh ! no !", (), 2),
    ("commas", "one , two , three", (), 2),
    ("greets", "Hello you", (), 1),
    ("sorry", "I am sorry .", (), 1),
    ("thanks", "many thanks", (), 1),
    ("rude_words", "you stupid pig .", (), 0.5),
    ("asked_yes_or_no", "maybe", ("That is far. So, do you walk?",), 1),
    ("asked_yes_or_no", "maybe", ("Where do you walk?",), 0),
    ("asked_yes_or_no", "maybe", ("I do.",), 0),
    ("answers_in_kind", "No, never.", ("Did you sleep?",), 1),
    ("answers_in_kind", "Blue.", ("Did you sleep?",), -1),
    ("answers_in_kind", "In the park.", ("Oh, where did you sleep?",), 1),
    ("answers_in_kind", "Blue.", ("Where did you sleep?",), -1),
    ("answers_in_kind", "About 12", ("How many ducks are there?",), 1),
    ("answers_in_kind", "Seven", ("What time is it?",), 1),
    ("answers_in_kind", "Tomorrow.", ("When? When do you go?",), 1),
    ("answers_in_kind", "Because it rains.", ("Why not?",), 1),
    ("answers_in_kind", "My brother.", ("who was it ?",), 1),
    ("answers_in_kind", "Blue.", ("Which colour is it?",), 0),
    ("answers_in_kind", "Blue.", ("I have slept.",), 0),
    ("begins_as_question", "where to ?", (), 1),
    ("context_turns", "no", ("a",) * 9, 6),
    ("last_words", "no", ("one two three", "one two"), 2),
    ("length_ratio", "one two three", ("one",), log(2)),
    ("signs", "no . yes !", (), 0.5),
    ("ends_sentence", "it is .", (), 1),
    ("unfinished", "and then the", (), 1),
    ("unfinished", "and then .", (), 0),
    ("longest_word", "a tremendous hat", (), 10),
    ("capitals", "HI yo", (), 0.5),
    ("digits", "12ab", (), 0.5),
    ("no_letters", "ab 1!", (), 0.4),
    ("foreign_letters", "ab中文", (), 0.5),
    ("sign_runs", "what ?! yes", (), 1 / 3),
    ("vowelless", "hgfd yes", (), 0.5),
    ("markup", "<b>hello you</b>", (), 1),
    ("markup", "hello _comma_ you", (), 1 / 3),
    ("content_words", "the ducks sleep", (), 2),
    ("content_share", "the ducks sleep well", (), 0.75),
    ("unknown_words", "hello zebra", (), 0.5),
    ("senseless", "zebra zzq , hfgd hello brnq .", (), 1),
    ("senseless", "zebra zzq hfgd hello", (), 0),
    ("senseless", "Zebra Zzq Hfgd Brnq Tss", (), 0),
    ("senseless", "\U0001f389 \U0001f389 \U0001f389 07700 900123 !!", (), 0),
    ("senseless", "hello.say('you')", (), 1),
    ("usual_reply", "Hello", (), log(3)),
    ("repeated_words", "duck duck duck goose", (), 0.5),
    ("repeated_pairs", "a b a b a", (), 0.5),
    ("repeated_threes", "a b c a b c", (), 0.25),
    ("doubled_words", "no no yes no", (), 0.25),
    ("repeated_content", "ducks eat , ducks sleep", (), 0.25),
    ("equal_halves", "go away go away", (), 1),
    ("own_topics_again", "ducks !", ("ducks", "geese"), 1),
    ("own_topics_again", "ducks !", ("geese", "ducks"), 0),
    ("own_pairs_again", "feed the ducks", ("feed the geese", "why ?"), 0.5),
    ("topics_of_last", "the ducks", ("my ducks",), 1),
    ("topics_of_three", "the ducks", ("my ducks", "b", "c"), 1),
    ("topics_of_three", "the ducks", ("my ducks", "b", "c", "d"), 0),
    ("topics_of_all", "the ducks", ("my ducks", "b", "c", "d"), 1),
    ("shared_topics", "ducks and geese", ("geese", "ducks"), 2),
    ("shares_a_topic", "ducks and geese", ("geese",), 1),
    ("words_of_last", "the ducks", ("the geese",), 0.5),
    ("words_of_three", "the ducks", ("the geese", "ducks", "x"), 1),
    ("in_order_of_last", "a b c d", ("a x c",), 0.5),
    ("last_in_order", "a b c d", ("a x c",), 2 / 3),
    ("in_order_of_before", "a b c d", ("a x c", "b"), 0.5),
    ("pairs_of_last", "a b c", ("a b d",), 0.5),
    ("pairs_of_earlier", "a b c", ("a b d", "x"), 0.5),
    ("is_copy", "Feed the ducks.", ("feed the ducks .", "why ?"), 1),
    ("denies_last", "ducks never sleep", ("ducks sleep",), 1),
    ("denies_last", "ducks sleep", ("ducks sleep",), 0),
    ("denies_own", "I don't like ducks", ("I like ducks", "why ?"), 1),
)
sides = st.lists(SENTENCES, max_size=4).map(tuple)


def of(response: str, *context: str) -> dict[str, float]:
    return features(VIEW, Example(context, response))


@given(st.lists(EXAMPLES, max_size=4))
@settings(max_examples=15)
def test_a_row_depends_on_its_example_alone(examples: list[Example]) -> None:
    found = require_rows_of_their_own(VIEW, examples)
    assert np.isfinite(found).all()
    for name in (*SHARES, *FLAGS):
        column = found[:, VIEW.columns.index(name)]
        assert ((column >= 0) & (column <= 1)).all(), name
    for name in FLAGS:
        assert set(found[:, VIEW.columns.index(name)].tolist()) <= {0.0, 1.0}, name


def test_columns_have_names_and_groups() -> None:
    assert len(set(VIEW.columns)) == len(VIEW.columns) == len(VIEW.groups)
    assert set(VIEW.groups) == {"form", "fluency", "specificity", "repetition", "context overlap", "context fit"}


@pytest.mark.parametrize(("name", "response", "context", "value"), CASES)
def test_every_column_by_an_example(name: str, response: str, context: tuple[str, ...], value: float) -> None:
    assert feature(VIEW, Example(context, response), name) == pytest.approx(value)


def test_every_column_but_weights_has_an_example() -> None:
    assert set(VIEW.columns) - {case[0] for case in CASES} == {"idf_mean", "idf_max", "idf_sum", "last_idf_mean"}


def test_weights_of_words() -> None:
    hello, unknown = phrases().rarity["hello"], phrases().rarest
    found = of("hello zebra", "hello")
    assert found["idf_mean"] == pytest.approx((hello + unknown) / 2)
    assert found["idf_max"] == pytest.approx(unknown) and found["idf_sum"] == pytest.approx(hello + unknown)
    assert found["last_idf_mean"] == pytest.approx(hello)


@given(SENTENCES, sides)
@settings(max_examples=30)
def test_saying_it_twice_is_more_repetition(response: str, context: tuple[str, ...]) -> None:
    once, twice = of(response, *context), of(f"{response} {response}", *context)
    assume(once["words"] > 1 and twice["words"] == 2 * once["words"])
    within = [column.name for column in repetition.COLUMNS if not column.name.startswith("own_")]
    assert all(twice[name] >= once[name] - 1e-6 for name in within)
    assert twice["equal_halves"] and twice["repeated_words"] >= 0.5
    assert twice["topics_of_last"] == pytest.approx(once["topics_of_last"])


@given(SENTENCES, sides)
@settings(max_examples=30)
def test_a_parrot_shares_all(response: str, context: tuple[str, ...]) -> None:
    found = of(response, *context, response)
    assume(found["words"])
    assert found["is_copy"] == found["words_of_last"] == found["in_order_of_last"] == found["last_in_order"] == 1
    assert found["topics_of_last"] == pytest.approx(min(1, found["content_words"]))
    assert found["pairs_of_last"] == (found["words"] > 1)


@given(SENTENCES)
@settings(max_examples=30)
def test_an_empty_context_shares_nothing(response: str) -> None:
    found = of(response)
    assert not any(found[name] for name, group in zip(VIEW.columns, VIEW.groups, strict=True) if "context" in group)


def test_long_texts_are_read_to_their_end() -> None:
    long = "quack " * 3000
    found = of(f"{long} ducks", f"{long} ducks")
    assert found["words"] == 3001 and found["words_of_last"] == 1
    assert of(long)["markup"] == 0 < of(long + " </b>")["markup"]


def test_short_texts_are_read_once() -> None:
    read: list[str] = []

    def length(text: str) -> int:
        read.append(text)
        return len(text)

    remembered = Remembered(length)
    assert [remembered(text) for text in ("a", "a", "b" * 2000, "b" * 2000)] == [1, 1, 2000, 2000]
    assert read == ["a", "b" * 2000, "b" * 2000]


words = st.lists(st.sampled_from("abc"), max_size=12)


@given(words, words)
@settings(max_examples=30)
def test_the_common_subsequence_is_the_longest(first: list[str], second: list[str]) -> None:
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for row, one in enumerate(first):
        for column, other in enumerate(second):
            longer = max(table[row][column + 1], table[row + 1][column])
            table[row + 1][column + 1] = table[row][column] + 1 if one == other else longer
    assert common_subsequence(first, second) == table[-1][-1]
