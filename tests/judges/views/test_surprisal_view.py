"""The columns of the view `surprisal`: by hand, where there is nothing to read, and what holds whatever texts are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs the extra train")

from examples_for_views import EXAMPLES, features, require_rows_of_their_own
from rejoinder.encoders.student import from_parts as student_of
from rejoinder.encoders.surprisal import Surprisal, from_parts
from rejoinder.errors import DataError
from rejoinder.io.folders import Parts, read_folder
from rejoinder.judges.views.surprisal import SurprisalView
from rejoinder.records import Example
from rejoinder.text.bpe import train_bpe
from rejoinder.text.untokenised import untokenised
from tiny import student_model, surprisal_model

TALK = Example(("the cat sat", "how are you", "thanks"), "the dog ran bye")


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> SurprisalView:
    """A view over numbers at random."""
    place = tmp_path_factory.mktemp("view")
    student = student_of(read_folder(student_model(place / "student")))
    return SurprisalView(from_parts(read_folder(surprisal_model(place / "made", student.vocabulary))), student)


@given(examples=st.lists(EXAMPLES, max_size=4))
def test_a_row_depends_on_its_example_alone(view: SurprisalView, examples: list[Example]) -> None:
    found = require_rows_of_their_own(view, examples)
    for row, example in zip(found, examples, strict=True):
        one = dict(zip(view.columns, row.tolist(), strict=True))
        there = not np.isnan(one["mean"])
        assert all(np.isfinite(value) == there for name, value in one.items() if name != "end")
        assert there == bool(untokenised(example.response))
        if there:
            assert one["least"] <= one["mean"] <= 0 <= one["entropy"] and one["sum"] <= one["least"]


def by_hand(view: SurprisalView, example: Example) -> dict[str, float]:
    """The columns of a short reply, of what the network tells word by word."""
    encode = view.student.vocabulary.encode
    network = view.surprisal.network
    told = network.reply(
        [encode(word) for word in example.response.split()], network.context([encode(turn) for turn in example.context])
    )
    after, gains = -told.surprisal[:-1].astype(float), (told.alone - told.surprisal).astype(float)
    return {
        "mean": after.mean(),
        "rest": after[1:].mean(),
        "least": after.min(),
        "sum": after.sum(),
        "end": -told.surprisal[-1],
        "entropy": told.entropy.mean(),
        "alone": -told.alone.mean(),
        "gain": gains.mean(),
        "gain_sum": gains.sum(),
    }


def test_by_hand(view: SurprisalView) -> None:
    found = features(view, TALK)
    assert found == pytest.approx(by_hand(view, TALK), rel=1e-4, abs=1e-5)
    assert found["gain"] != 0 and features(view, replace(TALK, context=("bye",)))["gain"] != found["gain"]
    assert len(view.columns) == len(view.groups) == 9


def test_a_context_may_be_empty(view: SurprisalView) -> None:
    nothing = features(view, replace(TALK, context=()))
    assert nothing["gain"] == nothing["gain_sum"] == 0 and np.isfinite(nothing["mean"])
    assert features(view, replace(TALK, context=(" ", "\n"))) == nothing


def test_one_word_has_no_others(view: SurprisalView) -> None:
    found = features(view, Example(("hello",), "bye"))
    assert found["mean"] == found["rest"] == found["least"] == found["sum"] != found["end"]


@pytest.mark.parametrize("reply", ["", " ", "<s>", "\n\t"])
def test_without_a_word_there_is_nothing(view: SurprisalView, reply: str) -> None:
    assert np.isnan(view.features([Example(("hello",), reply)])).all()


def test_of_a_long_reply_the_beginning_is_read(view: SurprisalView) -> None:
    long, longer = ("thanks " * 900, "thanks " * 2_000)
    found = features(view, Example(("hello",), long))
    assert np.isnan(found.pop("end")) and all(np.isfinite(one) for one in found.values())
    np.testing.assert_equal(features(view, Example(("hello",), longer)), {**found, "end": np.nan})


def test_of_a_long_context_the_end_is_read(view: SurprisalView) -> None:
    short, long, other = ("cat " * count + end for count, end in ((500, "dog"), (5_000, "dog"), (500, "mat")))
    one, same, different = (features(view, replace(TALK, context=(text,))) for text in (short, long, other))
    assert one == same != different


def test_the_last_four_turns_are_read_and_blank_ones_are_none(view: SurprisalView) -> None:
    turns = ("cat", "dog", "", "mat", "bird")
    found = features(view, replace(TALK, context=turns))
    assert features(view, replace(TALK, context=("hello", "", *turns))) == found
    assert features(view, replace(TALK, context=("dog", *turns[1:]))) != found


def test_another_vocabulary_is_refused(view: SurprisalView) -> None:
    other = replace(view.student, vocabulary=train_bpe(["some other words"] * 5, 60))
    with pytest.raises(DataError, match="a surprisal network over the vocabulary .*, not "):
        SurprisalView(view.surprisal, other)


def test_it_is_kept_and_made_again(view: SurprisalView) -> None:
    again = from_parts(view.surprisal.parts)
    assert again.parts.digest == view.surprisal.parts.digest and again.options == view.surprisal.options
    assert SurprisalView(again, view.student).options == view.options
    assert features(SurprisalView(again, view.student), TALK) == features(view, TALK)


def changed(given: Surprisal, drop: str = "", **sizes: Any) -> Parts:
    """Its parts with other sizes, or without a tensor."""
    config = {**given.parts.config, "sizes": {**given.parts.config["sizes"], **sizes}}
    return Parts(config, {name: one for name, one in given.parts.tensors.items() if name != drop})


@pytest.mark.parametrize(
    ("sizes", "drop", "message"),
    [
        ({"layers": 0}, "", 'field "layers": is 0, expected a whole number from 1'),
        ({"heads": 3}, "", 'field "sizes.heads": 3 heads for a width of 8'),
        ({"layers": 3}, "", "no tensor layers.2."),
        ({"inner": 5}, "", "the tensor layers.0.up.weight is float16 of shape (12, 8)"),
        ({"buckets": 51}, "", "the tensor pairs.weight is uint8 of shape (50, 4)"),
        ({}, "pieces.scale", "no tensor pieces.scale in it"),
        ({}, "told.bias", "no tensor told.bias in it"),
        ({"turns": 3}, "", 'field "sizes.turns": unknown'),
    ],
)
def test_parts_that_do_not_fit_are_told(view: SurprisalView, sizes: dict[str, Any], drop: str, message: str) -> None:
    with pytest.raises(DataError) as error:
        from_parts(changed(view.surprisal, drop, **sizes))
    assert message in str(error.value)


def test_a_folder_without_its_vocabulary_is_damaged(view: SurprisalView) -> None:
    config = {name: one for name, one in view.surprisal.parts.config.items() if name != "vocabulary"}
    with pytest.raises(DataError, match="vocabulary"):
        from_parts(Parts(config, view.surprisal.parts.tensors))


def test_a_damaged_folder_is_refused(tmp_path: Path, view: SurprisalView) -> None:
    folder = surprisal_model(tmp_path / "made", view.student.vocabulary)
    weights = folder / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-7] + b"damaged")
    with pytest.raises(DataError):
        read_folder(folder)
