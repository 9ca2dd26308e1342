"""The columns of references: by hand, and what holds whatever the texts are."""

from __future__ import annotations

from math import isnan, log

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from examples_for_views import EXAMPLES, SENTENCES, features, phrases, require_rows_of_their_own
from rejoinder.example import Example
from rejoinder.judges.features.reading import words_of
from rejoinder.judges.features.reference import MEASURES, ReferenceView

VIEW = ReferenceView(phrases())
NEAREST = [f"{name}_best" for name in MEASURES]
SHARES = [name for name in MEASURES if name != "length"]


def of(response: str, *references: str) -> dict[str, float]:
    return features(VIEW, Example((), response, references))


@given(st.lists(EXAMPLES, max_size=4))
@settings(max_examples=15)
def test_a_row_depends_on_its_example_alone(examples: list[Example]) -> None:
    found = require_rows_of_their_own(VIEW, examples)
    for example, row in zip(examples, found, strict=True):
        given_ones = [text for text in example.references if text.strip()]
        assert row[-1] == len(given_ones)
        assert (np.isfinite(row[:-1]) if given_ones else np.isnan(row[:-1])).all()
        values = row[:-1].reshape(-1, 2)
        assert not given_ones or (values[:, 0] >= values[:, 1] - 1e-6).all()
        assert not given_ones or ((values[:-1] >= 0) & (values[:-1] <= 1 + 1e-6)).all()


def test_by_hand() -> None:
    found = of("feed the ducks", "feed the geese", "quack")
    assert found["words_best"] == pytest.approx(2 / 3) and found["words_mean"] == pytest.approx(1 / 3)
    assert found["pairs_best"] == pytest.approx(1 / 2) and found["in_order_best"] == pytest.approx(2 / 3)
    feed, ducks, geese = (phrases().rarity.get(word, phrases().rarest) for word in ("feed", "ducks", "geese"))
    assert found["topics_best"] == pytest.approx(2 * feed / (2 * feed + ducks + geese))
    assert found["length_best"] == 0 and found["length_mean"] == pytest.approx(log(2 / 4) / 2)
    assert found["references"] == 2
    # "abcd" and "abce" share ab, bc; abc; nothing of four.
    assert of("abcd", "abce")["characters_best"] == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)


@given(SENTENCES, st.lists(SENTENCES, max_size=2))
@settings(max_examples=30)
def test_a_copy_is_nearest(response: str, others: list[str]) -> None:
    found = of(response, *others, response)
    assume(len(words_of(response)) > 1 and found["topics_best"] and found["characters_best"] > 0.99)
    assert all(found[name] == pytest.approx(1) for name in NEAREST if name != "length_best")
    assert found["length_best"] == 0


@given(SENTENCES, st.lists(SENTENCES, min_size=1, max_size=3), SENTENCES)
@settings(max_examples=30)
def test_a_further_reference_never_lowers_the_nearest(response: str, references: list[str], further: str) -> None:
    fewer, more = of(response, *references), of(response, *references, further)
    assume(fewer["references"])
    assert all(more[name] >= fewer[name] for name in NEAREST)


@given(SENTENCES, SENTENCES)
@settings(max_examples=30)
def test_which_is_which_does_not_matter(one: str, other: str) -> None:
    assume(one.strip() and other.strip())
    first, second = of(one, other), of(other, one)
    assert all(first[name] == pytest.approx(second[name]) for name in NEAREST)


def test_none_is_nan_and_said() -> None:
    found = of("hello", " ")
    assert found.pop("references") == 0 and all(map(isnan, found.values()))
