"""Features of words: each by an example, and how repetition and copies change them."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from examples_for_views import SENTENCES, feature, features, phrases
from rejoinder.example import Example
from rejoinder.judges.features.overlap import REPETITION
from rejoinder.judges.features.resources import LEXICAL, lexical_block
from rejoinder.judges.features.text import Text, common_subsequence

BLOCK = lexical_block(phrases())
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


def of(response: str, *context: str) -> dict[str, float]:
    return features(BLOCK, Example(context, response))


@pytest.mark.parametrize(("name", "response", "context", "value"), CASES)
def test_every_feature_by_an_example(name: str, response: str, context: tuple[str, ...], value: float) -> None:
    assert feature(BLOCK, Example(context, response), name) == pytest.approx(value)


def test_every_feature_but_sums_of_idf_has_an_example() -> None:
    names = {feature.name for feature in LEXICAL}
    assert names - {case[0] for case in CASES} == {"idf_mean", "idf_max", "idf_sum", "last_idf_mean"}


def test_idf() -> None:
    hello, unknown = phrases().rarity["hello"], phrases().rarest
    values = of("hello zebra", "hello")
    assert values["idf_mean"] == pytest.approx((hello + unknown) / 2)
    assert values["idf_max"] == pytest.approx(unknown) and values["idf_sum"] == pytest.approx(hello + unknown)
    assert values["last_idf_mean"] == pytest.approx(hello)


@given(SENTENCES, st.lists(SENTENCES, max_size=4).map(tuple))
@settings(max_examples=30)
def test_saying_it_twice_is_more_repetition(response: str, context: tuple[str, ...]) -> None:
    once, twice = of(response, *context), of(f"{response} {response}", *context)
    assume(once["words"] > 1 and twice["words"] == 2 * once["words"])
    within = [feature.name for feature in REPETITION if not feature.name.startswith("own_")]
    assert all(twice[name] >= once[name] - 1e-6 for name in within)
    assert twice["equal_halves"] and twice["repeated_words"] >= 0.5


@given(SENTENCES, st.lists(SENTENCES, max_size=4).map(tuple))
@settings(max_examples=30)
def test_a_copy_shares_all(response: str, context: tuple[str, ...]) -> None:
    values = of(response, *context, response)
    assume(values["words"])
    assert values["is_copy"] == values["words_of_last"] == values["in_order_of_last"] == values["last_in_order"] == 1
    assert values["topics_of_last"] == pytest.approx(min(1, values["content_words"]))
    assert values["pairs_of_last"] == (values["words"] > 1)


@given(SENTENCES)
@settings(max_examples=30)
def test_an_empty_context_shares_nothing(response: str) -> None:
    values = of(response)
    assert not any(values[feature.name] for feature in LEXICAL if feature.group in ("context overlap", "context fit"))


def test_long_texts_are_read_to_their_end() -> None:
    long = "quack " * 3000
    values = of(f"{long} ducks", f"{long} ducks")
    assert values["words"] == 3001 and values["words_of_last"] == 1
    assert of(long)["markup"] == 0 < of(long + " </b>")["markup"]


@given(*[st.lists(st.sampled_from("abc"), max_size=12)] * 2)
@settings(max_examples=30)
def test_the_common_subsequence_is_the_longest(first: list[str], second: list[str]) -> None:
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for row, one in enumerate(first):
        for column, other in enumerate(second):
            longer = max(table[row][column + 1], table[row + 1][column])
            table[row + 1][column + 1] = table[row][column] + 1 if one == other else longer
    assert common_subsequence(Text(" ".join(first)), Text(" ".join(second))) == table[-1][-1]
