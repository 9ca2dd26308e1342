"""The columns of the view `selection`: by hand, where a vector is missing, and what holds whatever the texts are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("lightning", reason="needs the extra train")

from examples_for_views import EXAMPLES, features, require_rows_of_their_own
from rejoinder.data.folders import read_folder
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.features.selection import SelectionView
from rejoinder.models import load_encoder
from rejoinder.models.encoders import CachedEncoder
from rejoinder.models.selector import from_parts
from tiny import dialogue_model, selector_model, student_model


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> SelectionView:
    """A view over numbers at random."""
    place = tmp_path_factory.mktemp("view")
    encoder = load_encoder(student_model(place / "student"))
    return SelectionView(
        from_parts(read_folder(selector_model(place / "selector", encoder))), CachedEncoder(encoder, 8)
    )


@given(examples=st.lists(EXAMPLES, max_size=4))
def test_a_row_depends_on_its_example_alone(view: SelectionView, examples: list[Example]) -> None:
    found = require_rows_of_their_own(view, examples)
    for row, example in zip(found, examples, strict=True):
        one = dict(zip(view.columns, row.tolist(), strict=True))
        there = ~np.isnan(view.encoder.encode([example.response, *example.context]))[:, 0]
        spoken = [known for known, turn in zip(there[1:], example.context, strict=True) if turn.strip()]
        assert np.isfinite(one["answers_context"]) == (there[0] and bool(spoken) and spoken[-1])
        for name in ("answers_context", "answers_last", "like_last", "like_before_last"):
            assert np.isnan(one[name]) or -1.0001 < one[name] < 1.0001
        assert np.isnan(one["common_that_fit_better"]) or 0 <= one["common_that_fit_better"] <= 1


def test_by_hand(view: SelectionView) -> None:
    example = Example(("the cat sat", "how are you", "thanks", "hello you"), "the dog ran")
    vectors = view.encoder.encode([*example.context[1:], example.response])
    selector, found = view.selector, features(view, example)
    (last,), (context,) = selector.contexts(vectors[None, 2::-1])
    _, said_before, said_last, reply = selector.replies(vectors)
    assert found["answers_context"] == pytest.approx(context @ reply, abs=1e-6)
    assert found["answers_last"] == pytest.approx(last @ reply, abs=1e-6)
    assert found["like_last"] == pytest.approx(said_last @ reply, abs=1e-6)
    assert found["like_before_last"] == pytest.approx(said_before @ reply, abs=1e-6)
    common = selector.common @ context
    assert found["beyond_common"] == pytest.approx(found["answers_context"] - common.mean(), abs=1e-6)
    assert found["common_that_fit_better"] == pytest.approx((common > found["answers_context"]).mean())


def test_a_parrot_is_like_the_last_turn(view: SelectionView) -> None:
    found = features(view, Example(("hello", "the cat sat on the mat"), "the cat sat on the mat"))
    assert found["like_last"] == pytest.approx(1, abs=1e-5)


def test_a_blank_turn_is_none(view: SelectionView) -> None:
    whole, blanks = (features(view, Example(turns, "bye")) for turns in (("hello",), (" ", "hello", "\n")))
    assert np.isnan(whole["like_before_last"])
    np.testing.assert_equal(blanks, whole)


@pytest.mark.parametrize(("context", "reply"), [((), "bye"), (("",), "bye"), (("hello",), ""), (("hello", "<s>"), "b")])
def test_without_a_vector_there_is_nothing(view: SelectionView, context: tuple[str, ...], reply: str) -> None:
    assert np.isnan(view.compute([Example(context, reply)])).all()


def test_a_turn_without_a_vector_counts_as_none_that_is_known(view: SelectionView) -> None:
    found = features(view, Example(("<s>", "hello"), "bye"))
    assert found["answers_context"] == features(view, Example(("hello",), "bye"))["answers_context"]
    assert np.isnan(found["like_before_last"])


def test_another_encoder_is_refused(view: SelectionView, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a selector over the encoder encoder student, weights .*, not encoder hred"):
        SelectionView(view.selector, load_encoder(dialogue_model(tmp_path / "hred")))
