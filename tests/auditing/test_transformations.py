"""Every attack: what it must change, what it must not, the same by the same seed, and no text that it falls over."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rejoinder.errors import MissingAsset, MissingExtra
from rejoinder.example import Example, Rating
from rejoinder.perturbations import PERTURBATIONS, Corpus, Goal
from rejoinder.perturbations.degrading import first_half
from rejoinder.perturbations.perturbation import LISTS, WORD, Rng, split_words
from rejoinder.perturbations.preserving import COMMON_WORDS, STOP_WORDS
from sentences import SENTENCES

WORDS = ("i", "like", "you", ",", "do", "n't", "we", "don't", "New", "York", "is", "very", "nice", ".")
TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join),
    st.sampled_from([sentence for sentences in SENTENCES.values() for sentence in sentences]),
)
ODD = {
    "empty": "",
    "blank": "  \t",
    "one word": "yes",
    "one letter": "k",
    "one sign": "?",
    "emoji": "🙂🙂",
    "Chinese": "我昨天看了一部很好的电影",
    "Arabic": "كيف حالك اليوم يا صديقي؟",
    "Thai": "ฉันไม่รู้ว่ากุญแจอยู่ที่ไหน",
    "German": "Ich weiß nicht, wo die Schlüssel sind.",
    "long": "the dog does not like my cat in New York " * 220,
    "controls": "\x1b[31mred\x00 text\u202e",
    "lines": "first\nsecond\r\nthird",
}
OTHERS = tuple(
    Example((f"what is number {n} ?", f"it is {n}"), f"the {n} is a fine number indeed", context_id=f"other {n}")
    for n in range(5)
)


def rng(seed: int = 0) -> Rng:
    return np.random.default_rng(seed)


def by(name: str) -> Callable[..., str | None]:
    """The change of a text that a perturbation makes."""

    def change(text: str, drawn: Rng | None = None) -> str | None:
        made = PERTURBATIONS[name].apply(Example((), text), drawn or rng(), Corpus(()))
        return None if made is None else made.response

    return change


def example(text: str) -> Example:
    return Example(
        ("Hello you.", "Do you like my dog?"),
        text,
        references=("I do like dogs.",),
        id="one",
        system="mine",
        ratings=(Rating(4.0),),
        extra={"dialogue_id": 3},
    )


def attacked(name: str, one: Example, seed: int = 0) -> list[Example]:
    """Return the perturbed example, if there is one; the test is skipped without what it needs."""
    try:
        for _, load in PERTURBATIONS[name].tools:
            load()
    except (MissingAsset, MissingExtra) as missing:
        pytest.skip(str(missing))
    made = PERTURBATIONS[name].apply(one, rng(seed), Corpus((one, *OTHERS)))
    return [] if made is None else [made]


@pytest.mark.parametrize("name", PERTURBATIONS)
@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_no_text_is_too_odd(name: str, text: str) -> None:
    one = example(text)
    for found in attacked(name, one):
        assert (found.response, found.references) != (one.response, one.references)
        found.response.encode()
        # Everything but the reply is as it was; where the reference changes, that is the attack.
        kept = replace(found, response=one.response, references=one.references, ratings=one.ratings)
        assert kept == one and (name == "swapped" or found.references == one.references)


@pytest.mark.parametrize("name", PERTURBATIONS)
@settings(max_examples=25)
@given(text=TEXTS, seed=st.integers(0, 5))
def test_the_seed_decides(name: str, text: str, seed: int) -> None:
    one = example(text)
    assert attacked(name, one, seed) == attacked(name, one, seed)


def test_the_battery_is_large_and_its_names_are_told_apart() -> None:
    assert len(PERTURBATIONS) >= 30
    assert all(each.about and each.ideal for each in PERTURBATIONS.values())


@given(text=TEXTS, seed=st.integers(0, 9))
def test_words_in_another_order(text: str, seed: int) -> None:
    before = Counter(split_words(text)[0])
    for found in (by("jumbled")(text, rng(seed)), by("reversed")(text)):
        if found is not None:
            assert Counter(split_words(found)[0]) == before and split_words(found)[0] != split_words(text)[0]
    assert (by("jumbled")(text, rng(seed)) is None) == (len(before) < 2)


@given(text=TEXTS)
def test_twice_reversed_is_as_before(text: str) -> None:
    found = by("reversed")(text)
    assert found is None or split_words(by("reversed")(found) or "")[0] == split_words(text)[0]


@given(text=TEXTS, seed=st.integers(0, 9))
def test_half_of_the_words_are_repeated_beside_themselves(text: str, seed: int) -> None:
    before, found = split_words(text)[0], by("words-repeated")(text, rng(seed))
    if len(before) < 2:
        assert found is None
        return
    after = split_words(found or "")[0]
    assert len(after) == len(before) + len(before) // 2
    remaining = iter(after)
    assert all(word in remaining for word in before)  # in their order
    assert set(after) == set(before)


def test_one_word_is_one_of_it_or_one_that_fits_anywhere() -> None:
    said = {by("one-word")("we went to the cinema yesterday", rng(seed)) for seed in range(20)}
    assert {"cinema.", "yesterday."} < said <= {"cinema.", "yesterday.", *LISTS["single"]}
    assert by("one-word")("oh really", rng()) is None  # hardly more than a word before


@given(text=TEXTS)
def test_half_a_reply_is_its_beginning_and_goes_on(text: str) -> None:
    (before, between), found = split_words(text), first_half(text)
    if found is None:
        assert not any(one[-1].isalnum() and other[0].isalnum() for one, other in pairwise(before))
        return
    kept = len(split_words(found)[0])
    assert found == between.join(before[:kept]) and 0 < kept < len(before)
    assert before[kept - 1][-1].isalnum() and before[kept][0].isalnum()


@pytest.mark.parametrize(
    ("said", "cut"),
    [
        ("we went to the cinema", "we went"),
        ("That is great! What is your favorite food?", "That is great! What"),
        ("i am fine . how are you ?", "i am fine . how"),
        ("Yes. No.", None),
        ("Hello", None),
    ],
)
def test_half_a_reply_is_cut_inside_a_sentence(said: str, cut: str | None) -> None:
    assert first_half(said) == cut


@given(text=TEXTS)
def test_more_text_keeps_what_was_there(text: str) -> None:
    for change in (by("said-twice"), by("padding")):
        found = change(text)
        assert found is None if not text.strip() else (found or "").startswith(text)
    padded = by("padding")(text)
    assert padded is None or len(padded.split()) >= 200


@given(text=TEXTS, seed=st.integers(0, 9))
def test_gibberish_has_no_vowel_and_words_as_long(text: str, seed: int) -> None:
    found = by("gibberish")(text, rng(seed))
    if found is None:
        assert not text.split()
        return
    assert not set(found) & set("aeiou")
    assert len("".join(found.split())) == len("".join(text.split()))
    if text.isascii():
        assert [*map(len, found.split())] == [*map(len, text.split())]


@pytest.mark.parametrize(("change", "gone"), [(by("no-stop-words"), STOP_WORDS), (by("no-common-words"), COMMON_WORDS)])
@given(text=TEXTS)
def test_stop_words_go_and_nothing_else(change: object, gone: frozenset[str], text: str) -> None:
    assert callable(change)
    found = change(text)
    if found is None:
        return
    left = WORD.findall(found)
    assert not {word.lower().replace("’", "'") for word in left} & gone
    assert left == [word for word in WORD.findall(text) if word.lower().replace("’", "'") not in gone]


def test_the_lists_of_stop_words() -> None:
    assert len(STOP_WORDS) == 179 and len(COMMON_WORDS) == 25
    assert by("no-common-words")("It is the end of a dog, and that is it.") == "end dog,."
    assert by("no-stop-words")("It's not my dog") == "dog"


@given(text=TEXTS, seed=st.integers(0, 9))
def test_a_typing_error_swaps_two_letters(text: str, seed: int) -> None:
    found = by("typing-error")(text, rng(seed))
    if found is None:
        return
    wrong = [place for place, (a, b) in enumerate(zip(text, found, strict=True)) if a != b]
    assert len(wrong) == 2 and wrong[1] == wrong[0] + 1 and sorted(text) == sorted(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I am sure you are right", "you are sure I am right"),
        ("that's my dog", "that's your dog"),
        ("I love it", "you love it"),
        ("nice weather", None),
        ("i", "you"),
        ("İ know you are", "İ know I am"),
    ],
)
def test_the_wrong_speaker(text: str, expected: str | None) -> None:
    assert by("wrong-speaker")(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is late.", "It is late. It is not late."),
        ("It is not late.", "It is not late. It is late."),
        ("Can you come? I can.", "Can you come? I can. Can not you come? I can."),
        ("I don't know", None),
        ("late again", None),
    ],
)
def test_a_contradiction(text: str, expected: str | None) -> None:
    assert by("contradiction")(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't know", "I do not know"),
        ("Can't say, won’t say", "Cannot say, will not say"),
        ("they're here and we've won", "they are here and we have won"),
        ("i'm", "I am"),
        ("i 'm sure you do n't", "I am sure you do not"),
        ("Let's go", "Let us go"),
        ("John's dog", None),
    ],
)
def test_contractions_are_written_out(text: str, expected: str | None) -> None:
    assert by("spelled-out")(text) == expected


# how it is written


@given(text=TEXTS)
def test_punctuation_goes_and_letters_stay(text: str) -> None:
    found = by("no-punctuation")(text)
    if found is None:
        return
    assert not any(unicodedata.category(sign).startswith("P") for sign in found)
    kept = [sign for sign in "".join(text.split()) if not unicodedata.category(sign).startswith("P")]
    assert "".join(found.split()) == "".join(kept)


@given(text=TEXTS)
def test_look_alikes_are_as_many_characters(text: str) -> None:
    found = by("look-alikes")(text)
    assert found is None or (len(found) == len(text) and found != text)
    if found and text.isascii():
        assert all(new == old or "CYRILLIC" in unicodedata.name(new) for new, old in zip(found, text, strict=True))


@given(text=TEXTS)
def test_what_is_not_seen_can_be_taken_out(text: str) -> None:
    unseen, spaced = by("unseen-characters")(text), by("spaces")(text)
    assert unseen is None or unseen.replace("\u200b", "") == text.replace("\u200b", "")
    assert spaced is None or spaced.split() == text.split()
    decomposed = by("decomposed")(text)
    assert decomposed is None or unicodedata.normalize("NFC", decomposed) == unicodedata.normalize("NFC", text)


@given(text=TEXTS)
def test_quotes_alone_change(text: str) -> None:
    def straight(said: str) -> str:
        return said.translate(str.maketrans("“”’", '""\''))

    found = by("quotes")(text)
    assert found is None or straight(found) == straight(text)


@given(text=TEXTS)
def test_case_alone_changes(text: str) -> None:
    for found in (by("upper-case")(text), by("lower-case")(text)):
        assert found is None or found.casefold() == text.casefold() or not text.isascii()


@given(text=TEXTS)
def test_signs_before_and_after(text: str) -> None:
    smiling, tag, stop = by("emoji")(text), by("speaker-tag")(text), by("final-stop")(text)
    assert (smiling is None) == (not text.strip()) and (smiling is None or smiling == f"{text.rstrip()} 🙂")
    assert tag is None or tag == f"Bot: {text}"
    assert stop is None or stop.rstrip(".!?… ") == text.rstrip().rstrip(".!?…").rstrip().rstrip(".!?… ")


def test_no_attack_of_nothing_adds_or_drops_a_letter() -> None:
    text = 'She said "don’t", café is not it\'s name'
    for name, each in PERTURBATIONS.items():
        if each.goal is Goal.SAME:
            for found in attacked(name, example(text)):
                plain = unicodedata.normalize("NFC", found.response).replace("\u200b", "")
                assert sum(map(str.isalpha, plain)) == sum(map(str.isalpha, text)), name


# parts of speech


def test_nouns_names_and_synonyms() -> None:
    attacked("nouns", example("a"))
    text = "I bought a small house in New York with my sister"
    assert by("nouns")(text) == "house New York sister"
    assert by("nouns-and-verbs")(text) == "I bought house New York my sister"
    assert by("no-entities")(text) == "I bought a small house in with my sister"
    assert by("no-entities")("I didn't see a thing") is None
    assert by("no-entities")("WHO SAID SO") is None or "SAID" in str(by("no-entities")("WHO SAID SO"))


def test_synonyms_keep_names_stop_words_and_the_number_of_words() -> None:
    attacked("synonyms", example("a"))
    text = "The film in Boston was boring, and my automobile is broken."
    found = by("synonyms")(text)
    assert found is not None and found != text
    assert len(found.split()) == len(text.split()) and found.startswith("The ") and "Boston" in found
    assert "car" in found and "movie" in found
    assert by("synonyms")("it was with me") is None


@given(text=TEXTS)
def test_what_is_left_was_there(text: str) -> None:
    attacked("nouns", example("a"))
    for change in (by("nouns"), by("nouns-and-verbs")):
        found = change(text)
        if found is not None:
            rest = iter(WORD.findall(text.replace("-", " ")))
            assert all(word in rest for word in WORD.findall(found.replace("-", " ")))


# what was said before, and elsewhere


def test_replies_from_the_conversation() -> None:
    one = example("I love it.")
    said = {
        name: found.response
        for name in ("context-repeated", "parrot-last", "parrot-earlier", "parrot-half", "reference", "swapped")
        for found in attacked(name, one)
    }
    assert said == {
        "context-repeated": "Hello you. Do you like my dog?",
        "parrot-last": "Do you like my dog?",
        "parrot-earlier": "Hello you.",
        "parrot-half": "Do you",
        "reference": "I do like dogs.",
        "swapped": "I do like dogs.",
    }
    (swap,) = attacked("swapped", one)
    assert swap.references == ("I love it.",)


def test_without_context_and_reference_there_is_nothing_to_repeat() -> None:
    bare = Example((), "I love it.")
    for name in ("context-repeated", "parrot-last", "parrot-earlier", "parrot-half", "reference", "swapped"):
        assert attacked(name, bare) == []


def test_a_question_is_answered_by_one_only_where_there_is_one() -> None:
    asked, told = example("yes"), replace(example("yes"), context=("I have a dog.",))
    (found,) = attacked("counter-question", asked)
    assert found.response.endswith("?") and attacked("counter-question", told) == []


@pytest.mark.parametrize("name", ["other-random", "other-nearest"])
def test_the_reply_to_another_context(name: str) -> None:
    lines = [
        Example(("do you like dogs ?",), "yes i like dogs", context_id="a"),
        Example(("do you like dogs ?",), "dogs are what i like", context_id="a"),
        Example(("what about the weather ?",), "the weather like dogs", context_id="b"),
        Example(("who are you ?",), "yes i like dogs", context_id="c"),
        Example(("who is there ?",), "nobody", context_id="d"),
    ]
    for seed in range(20):
        found = PERTURBATIONS[name].apply(lines[0], rng(seed), Corpus(lines))
        assert found is not None and found.response in {"the weather like dogs", "nobody"}
        if name == "other-nearest":
            assert found.response == "the weather like dogs"
    assert PERTURBATIONS[name].apply(lines[0], rng(), Corpus(lines[:2])) is None


def test_irrelevant_replies_that_stand_in_the_line() -> None:
    one = replace(example("yes"), extra={"random_negative_responses": ["no 1", "no 2", 3], "more": "x"})
    for seed in range(9):
        (found,) = attacked("irrelevant-random", one, seed)
        assert found.response in {"no 1", "no 2"}
    assert attacked("irrelevant-hard", one) == []
    assert attacked("irrelevant-random", replace(one, extra={"random_negative_responses": "no"})) == []


def test_a_bigram_model_says_what_follows_what() -> None:
    found = PERTURBATIONS["machine-response"].apply(example("hello"), rng(), Corpus(OTHERS))
    pairs = {pair for one in OTHERS for pair in pairwise(one.response.split())}
    assert found is not None
    said = found.response.split()
    assert said[0] == "the" and set(pairwise(said)) <= pairs


def test_bad_replies_of_a_fixed_kind_are_no_part_of_the_conversation() -> None:
    one = example("I love it.")
    for name in ("empty", "near-empty", "lone-punctuation", "dull", "insult", "another-language", "prompt-like"):
        (found,) = attacked(name, one)
        assert (
            found.response not in (*one.context, one.response, *one.references)
            and PERTURBATIONS[name].goal is Goal.WORSE
        )
