"""Features of references: by hand, and what holds for copies and further references."""

from __future__ import annotations

from math import isnan, log

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from examples_for_views import SENTENCES, features, names_of, phrases
from rejoinder.example import Example
from rejoinder.judges.features.reference import reference_block
from rejoinder.judges.features.text import read_text

BLOCK = reference_block(phrases())
NEAREST = [name for name in names_of(BLOCK) if name.endswith("best")]


def of(response: str, *references: str) -> dict[str, float]:
    return features(BLOCK, Example((), response, references))


def test_by_hand() -> None:
    values = of("feed the ducks", "feed the geese", "quack")
    assert values["words_best"] == pytest.approx(2 / 3) and values["words_mean"] == pytest.approx(1 / 3)
    assert values["pairs_best"] == pytest.approx(1 / 2) and values["in_order_best"] == pytest.approx(2 / 3)
    feed, ducks, geese = (phrases().rarity.get(word, phrases().rarest) for word in ("feed", "ducks", "geese"))
    assert values["topics_best"] == pytest.approx(2 * feed / (2 * feed + ducks + geese))
    assert values["length_best"] == 0 and values["length_mean"] == pytest.approx(log(2 / 4) / 2)
    assert values["references"] == 2
    # "abcd" and "abce" share ab, bc; abc; nothing of four.
    assert of("abcd", "abce")["characters_best"] == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)


@given(SENTENCES, st.lists(SENTENCES, max_size=2))
@settings(max_examples=30)
def test_a_copy_is_nearest(response: str, others: list[str]) -> None:
    values = of(response, *others, response)
    assume(len(read_text(response).words) > 1 and values["topics_best"] and values["characters_best"] > 0.99)
    assert all(values[name] == pytest.approx(1) for name in NEAREST if name != "length_best")
    assert values["length_best"] == 0


@given(SENTENCES, st.lists(SENTENCES, min_size=1, max_size=3), SENTENCES)
@settings(max_examples=30)
def test_a_further_reference_never_lowers_the_nearest(response: str, references: list[str], further: str) -> None:
    fewer, more = of(response, *references), of(response, *references, further)
    assume(fewer["references"])
    assert all(more[name] >= fewer[name] for name in NEAREST)
    assert all(more[name] >= more[name.replace("best", "mean")] - 1e-6 for name in NEAREST)


@given(SENTENCES, SENTENCES)
@settings(max_examples=30)
def test_reply_and_reference_may_change_places(reply: str, reference: str) -> None:
    assume(reply.strip() and reference.strip())
    first, second = of(reply, reference), of(reference, reply)
    assert all(first[name] == pytest.approx(second[name]) for name in NEAREST)


def test_blank_references_do_not_count() -> None:
    values = of("hello", " ")
    assert values.pop("references") == 0 and all(map(isnan, values.values()))
