"""The columns of the view `mood`: by hand, where a vector is missing, and a judge that keeps them or has none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples_for_views import EXAMPLES, features, require_rows_of_their_own
from rejoinder.data.folders import Parts
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.features.mood import COLUMNS, LONGEST, MoodView
from rejoinder.judges.features.resources import Resources, default_resources, load_resources
from rejoinder.models.mood import KIND, REACTION, TURN, Mood


@pytest.fixture(scope="module")
def material() -> Resources:
    """That of the judge in the box, with other moods."""
    material = default_resources()
    rng = np.random.default_rng(0)
    lines = {name: rng.normal(size=material.student.width + 1).astype(np.float32) for name in (TURN, REACTION)}
    return replace(material, mood=Mood(Parts({"kind": KIND, "encoder": dict(material.student.options)}, lines)))


@pytest.fixture(scope="module")
def view(material: Resources) -> MoodView:
    assert material.mood
    return MoodView(material.mood, material.student)


@given(examples=st.lists(EXAMPLES, max_size=4))
def test_a_row_depends_on_its_example_alone(view: MoodView, examples: list[Example]) -> None:
    found = require_rows_of_their_own(view, examples)
    known = found[np.isfinite(found)]
    assert (np.abs(known) <= 1).all()


def test_by_hand(view: MoodView) -> None:
    example = Example(("hello there", "fine", " ", "my dog died"), "oh no , that is terrible")
    turn, context, reply = view.encoder.encode(["my dog died", "hello there fine my dog died", example.response])
    found, mood = features(view, example), view.mood
    assert found["turn"] == pytest.approx(mood.of_turn(turn))
    assert found["context"] == pytest.approx(mood.of_turn(context))
    assert found["reply"] == pytest.approx(mood.of_turn(reply))
    assert found["reaction"] == pytest.approx(mood.of_reaction(reply))
    assert found["reaction_to_turn"] == pytest.approx(mood.of_turn(turn) * mood.of_reaction(reply))
    assert found["reaction_to_context"] == pytest.approx(mood.of_turn(context) * mood.of_reaction(reply))
    assert found["reply_to_turn"] == pytest.approx(mood.of_turn(turn) * mood.of_turn(reply))


LONG = "word " * (LONGEST + 1)


@pytest.mark.parametrize(
    ("context", "reply"),
    [((), "yes"), ((" ",), "yes"), (("hello",), " "), (("hello",), LONG), (("hello", LONG), "yes")],
)
def test_without_a_text_or_of_a_long_one_there_is_nothing(view: MoodView, context: tuple[str, ...], reply: str) -> None:
    assert all(np.isnan(value) for value in features(view, Example(context, reply)).values())


def test_an_earlier_turn_may_be_long(view: MoodView) -> None:
    found = features(view, Example((LONG, "hello"), "word " * LONGEST))
    assert all(np.isfinite(value) for value in found.values())


def test_a_folder_keeps_it_or_has_none(material: Resources) -> None:
    names = {f"mood.{column.name}" for column in COLUMNS}
    again = load_resources(material.store(Parts({}, {})))
    assert again.features.columns == material.features.columns and names <= set(again.features.columns)
    assert again.features.options == material.features.options
    without = load_resources(replace(material, mood=None).store(Parts({}, {})))
    assert without.mood is None and not names & set(without.features.columns)


def test_another_encoder_is_refused(material: Resources) -> None:
    assert material.mood
    other = Mood(replace(material.mood.parts, config={"kind": KIND, "encoder": {"encoder": "another"}}))
    with pytest.raises(DataError, match="over another encoder"):
        MoodView(other, material.student)
