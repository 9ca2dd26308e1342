"""Features of alignment: by hand, and for copies and longer contexts."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan

import numpy as np
import pytest
from hypothesis import assume, given, settings

from examples_for_views import SENTENCES, features
from rejoinder.example import Example
from rejoinder.judges.features.alignment import LONGEST_CONTEXT, Floats, alignment_block

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
    def scales(self) -> Floats:
        return np.asarray(1 / np.linalg.norm(self.table, axis=1), np.float32)

    def pieces(self, text: str) -> list[int]:
        return [NAMES.index(word) if word in NAMES else len(NAMES) + len(word) % 100 for word in text.split()]


BLOCK = alignment_block(Known())
MEASURES = ("met", "met_weighted", "least_met", "taken_up", "nearest")


def of(response: str, *context: str) -> dict[str, float]:
    return features(BLOCK, Example(context, response))


def test_by_hand() -> None:
    half = np.sqrt(0.5)
    values = of("dog tree", "x", "the", "the puppy")
    assert [values[f"last_{name}"] for name in MEASURES] == pytest.approx(
        [half, half, half, (0.5 * 0 + 1 * half) / 1.5, half], abs=1e-5
    )
    weighted = of("dog the", "the oak")
    assert weighted["last_met"] == pytest.approx((0 + 1) / 2)
    assert weighted["last_met_weighted"] == pytest.approx(0.5 / 3.5, abs=1e-5)
    assert weighted["last_least_met"] == pytest.approx(0)


@given(SENTENCES, SENTENCES)
@settings(max_examples=30)
def test_a_copy_is_met_throughout(response: str, before: str) -> None:
    assume(response.split())
    values = of(response, before, response)
    assert [values[f"last_{name}"] for name in MEASURES[:4]] == pytest.approx([1] * 4, abs=1e-5)
    assert [values[f"three_{name}"] for name in MEASURES[:3]] == pytest.approx([1] * 3, abs=1e-5)


@given(SENTENCES, SENTENCES, SENTENCES)
@settings(max_examples=30)
def test_more_context_never_lowers_what_is_met(response: str, before: str, last: str) -> None:
    assume(response.split() and last.split())
    values = of(response, before, last)
    for name in ("met", "met_weighted", "least_met"):
        assert values[f"three_{name}"] >= values[f"last_{name}"] - 1e-6


def test_a_side_without_pieces_is_missing() -> None:
    empty, blank = of("", "dog"), of("dog", "puppy", " ")
    assert all(map(isnan, empty.values()))
    assert [isnan(blank[f"{part}_met"]) for part in ("last", "three")] == [True, False]


def test_the_end_of_a_long_context_is_read() -> None:
    long = "tree " * (2 * LONGEST_CONTEXT)
    assert of("dog", f"dog {long}")["last_met"] < 1 == of("dog", f"{long} dog")["last_met"]
