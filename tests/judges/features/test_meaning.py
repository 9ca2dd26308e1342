"""Features of sentence vectors: by hand, where a vector is missing, and that their models belong together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from examples_for_views import features
from rejoinder.data.folders import Parts
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.features.meaning import (
    SHORT_WORDS,
    meaning_block,
    mood_block,
    reference_meaning_block,
    selection_block,
)
from rejoinder.judges.features.resources import Resources, default_resources, load_resources
from rejoinder.judges.features.table import FeatureBlock
from rejoinder.models.mood import Mood

LONG = "word " * (SHORT_WORDS + 1)
TURNS = ("the cat sat", "how are you", "thanks", "hello you")


@pytest.fixture(scope="module")
def resources() -> Resources:
    return default_resources()


@pytest.fixture(scope="module")
def selection(resources: Resources) -> FeatureBlock:
    return selection_block(resources.selector, resources.student)


@pytest.fixture(scope="module")
def moods(resources: Resources) -> FeatureBlock:
    assert resources.mood
    return mood_block(resources.mood, resources.student)


def test_cosines_by_hand(resources: Resources) -> None:
    *turns, context, reply = resources.student.encode([*TURNS, " ".join(TURNS[-3:]), "the dog ran"])
    values = features(meaning_block(resources.student), Example(TURNS, "the dog ran"))
    cosines = [float(turn @ reply) for turn in turns]
    expected = [*cosines[:0:-1], context @ reply, max(cosines), np.mean(cosines), turns[3] @ turns[2]]
    assert list(values.values()) == pytest.approx(expected, abs=1e-6)
    alone = features(meaning_block(resources.student), Example((" ", "hello you"), "the dog ran"))
    assert alone["last"] == alone["nearest"] == alone["mean"] == pytest.approx(cosines[3], abs=1e-6)
    assert np.isnan([alone["before_last"], alone["two_before_last"], alone["drift"]]).all()


def test_references_by_hand(resources: Resources) -> None:
    reply, cat, thanks = resources.student.encode(["the dog ran", "the cat sat", "thanks"])
    block = reference_meaning_block(resources.student)
    values = features(block, Example((), "the dog ran", ("the cat sat", " ", "thanks")))
    cosines = (reply @ cat, reply @ thanks)
    assert values == pytest.approx({"best": max(cosines), "mean": sum(cosines) / 2}, abs=1e-6)
    assert np.isnan(block.compute([Example((), "the dog ran"), Example((), "", ("thanks",))])).all()


def test_selection_by_hand(resources: Resources, selection: FeatureBlock) -> None:
    selector, values = resources.selector, features(selection, Example(TURNS, "the dog ran"))
    vectors = resources.student.encode([*TURNS[:0:-1], "the dog ran"])
    last_turn, before, _, reply = selector.replies(vectors)
    (last,), (context,) = selector.contexts(vectors[None, :3])
    common = selector.common @ context
    expected = [context @ reply, last @ reply, last_turn @ reply, before @ reply, context @ reply - common.mean()]
    assert list(values.values()) == pytest.approx([*expected, (common > context @ reply).mean()], abs=1e-6)


def test_blank_turns_do_not_count(selection: FeatureBlock) -> None:
    whole, blanks = (features(selection, Example(turns, "bye")) for turns in (("hello",), (" ", "hello", "\n")))
    assert np.isnan(whole["like_before_last"])
    np.testing.assert_equal(blanks, whole)
    copy = features(selection, Example(("hello", "the cat sat"), "the cat sat"))
    assert copy["like_last"] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(("context", "reply"), [((), "bye"), (("",), "bye"), (("hello",), "")])
def test_without_a_vector_there_is_nothing(selection: FeatureBlock, context: tuple[str, ...], reply: str) -> None:
    assert np.isnan(selection.compute([Example(context, reply)])).all()


def test_moods_by_hand(resources: Resources, moods: FeatureBlock) -> None:
    example = Example(("hello there", "fine", " ", "my dog died"), "oh no , that is terrible")
    vectors = resources.student.encode(["my dog died", "hello there fine my dog died", example.response])
    mood = resources.mood
    assert mood
    (turn, context, reply), reaction = mood.of_turn(vectors), mood.of_reaction(vectors[2])
    assert turn > 0.5 and reaction > 0.5, "bad news, and sympathy"
    expected = [turn, context, reply, reaction, turn * reaction, context * reaction, turn * reply]
    assert list(features(moods, example).values()) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("context", "reply"),
    [((), "yes"), ((" ",), "yes"), (("hello",), " "), (("hello",), LONG), (("hello", LONG), "yes")],
)
def test_long_and_blank_texts_have_no_mood(moods: FeatureBlock, context: tuple[str, ...], reply: str) -> None:
    assert np.isnan(moods.compute([Example(context, reply)])).all()
    assert np.isfinite(moods.compute([Example((LONG, "hello"), "word " * SHORT_WORDS)])).all()


def test_a_folder_holds_moods_or_none(resources: Resources) -> None:
    again = load_resources(resources.store(Parts({}, {})))
    assert again.features.columns == resources.features.columns and again.options == resources.options
    without = load_resources(replace(resources, mood=None).store(Parts({}, {})))
    assert without.mood is None
    assert [name for name in again.features.columns if not name.startswith("mood.")] == [*without.features.columns]


def test_models_over_another_encoder_are_refused(resources: Resources) -> None:
    assert resources.mood
    config = {**resources.mood.parts.config, "encoder": {"encoder": "another"}}
    with pytest.raises(DataError, match="over another encoder"):
        mood_block(Mood(replace(resources.mood.parts, config=config)), resources.student)
    config = {**resources.selector.parts.config, "encoder": {"encoder": "another"}}
    other = replace(resources.selector, parts=replace(resources.selector.parts, config=config))
    with pytest.raises(DataError, match="a selector over the encoder encoder another, not encoder student"):
        selection_block(other, resources.student)
