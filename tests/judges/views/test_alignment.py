"""The columns of alignment: by hand, and what holds whatever the texts are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from every import made
from examples_for_views import EXAMPLES, SENTENCES, features, require_rows_of_their_own
from rejoinder.example import Example
from rejoinder.judges.features.alignment import RECENT, AlignmentView, Floats
from rejoinder.models import load_encoder
from rejoinder.models.student_encoder import StudentEncoder

NAMES = ("dog", "puppy", "tree", "oak", "the")
NEAR = np.array([[2, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1]], dtype=np.float32)


@dataclass(frozen=True)
class Known:
    """Has vectors of a few words; every other word is one of a hundred without a name."""

    table: Floats = field(
        default_factory=lambda: np.vstack([NEAR, np.random.default_rng(0).normal(size=(100, 3))]).astype(np.float32)
    )
    weights: Floats = field(default_factory=lambda: np.array([3, 1, 1, 1, 0.5] + [1] * 100, dtype=np.float32))

    @property
    def options(self) -> Mapping[str, Any]:
        return {"encoder": "known"}

    def pieces(self, text: str) -> list[int]:
        return [NAMES.index(word) if word in NAMES else len(NAMES) + len(word) % 100 for word in text.split()]


VIEW = AlignmentView(Known())
MEASURES = ("met", "met_weighted", "least_met", "taken_up", "nearest")


def of(response: str, *context: str) -> dict[str, float]:
    return features(VIEW, Example(context, response))


def test_by_hand() -> None:
    half = np.sqrt(0.5)
    found = of("dog tree", "x", "the", "the puppy")
    assert [found[f"last_{name}"] for name in MEASURES] == pytest.approx(
        [half, half, half, (0.5 * 0 + 1 * half) / 1.5, half], abs=1e-5
    )
    weighted = of("dog the", "the oak")
    assert weighted["last_met"] == pytest.approx((0 + 1) / 2)
    assert weighted["last_met_weighted"] == pytest.approx(0.5 / 3.5, abs=1e-5)
    assert weighted["last_least_met"] == pytest.approx(0)


@given(st.lists(EXAMPLES, max_size=4))
@settings(max_examples=15)
def test_a_row_depends_on_its_example_alone(examples: list[Example]) -> None:
    for example, row in zip(examples, require_rows_of_their_own(VIEW, examples), strict=True):
        sides = (example.context[-1:], example.context[-3:])
        for turns, side in zip(sides, row.reshape(2, -1), strict=True):
            there = bool(example.response.split() and " ".join(turns).split())
            assert (np.isfinite(side) if there else np.isnan(side)).all()
        assert (np.nan_to_num(np.abs(row)) <= 1 + 1e-5).all()


@given(SENTENCES, SENTENCES)
@settings(max_examples=30)
def test_a_parrot_is_met_throughout(response: str, before: str) -> None:
    assume(response.split())
    found = of(response, before, response)
    assert [found[f"last_{name}"] for name in MEASURES[:4]] == pytest.approx([1] * 4, abs=1e-5)
    assert [found[f"three_{name}"] for name in MEASURES[:3]] == pytest.approx([1] * 3, abs=1e-5)


@given(SENTENCES, SENTENCES, SENTENCES)
@settings(max_examples=30)
def test_more_context_never_lowers_what_is_met(response: str, before: str, last: str) -> None:
    assume(response.split() and last.split())
    found = of(response, before, last)
    for name in ("met", "met_weighted", "least_met"):
        assert found[f"three_{name}"] >= found[f"last_{name}"] - 1e-6


@given(SENTENCES, st.lists(SENTENCES, max_size=3), SENTENCES)
def test_what_meets_the_last_turn_is_the_same_bit_by_bit_whatever_stands_before_it(
    response: str, before: list[str], last: str
) -> None:
    alone, found = of(response, last), of(response, *before, last)
    for name in MEASURES:
        np.testing.assert_equal(found[f"last_{name}"], alone[f"last_{name}"])


def test_the_end_of_a_long_context_is_read() -> None:
    long = "tree " * (2 * RECENT)
    assert of("dog", f"dog {long}")["last_met"] < 1 == of("dog", f"{long} dog")["last_met"]


def test_the_groups_are_those_of_fit() -> None:
    assert set(VIEW.groups) == {"context fit"} and len(set(VIEW.columns)) == len(VIEW.columns) == 10


def test_it_reads_the_vectors_of_a_student(tmp_path: Path) -> None:
    encoder = load_encoder(made("student", tmp_path / "student"))
    assert isinstance(encoder, StudentEncoder)
    view = AlignmentView(encoder)
    examples = [Example(("hello you", "the cat sat"), "the cat"), Example(("thanks",), "bye"), Example((), "bye")]
    found = require_rows_of_their_own(view, examples)
    assert found[0, 0] == pytest.approx(1, abs=1e-5) and np.isfinite(found[1]).all() and np.isnan(found[2]).all()
    assert view.options["weights"] == encoder.parts.digest
