"""The trivial baselines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.example import Example
from rejoinder.metrics.baselines import overlap
from rejoinder.scorer import run
from rejoinder.scoring.catalog import load_scorer


@pytest.mark.parametrize(
    ("response", "count"),
    [
        ("", 0),
        ("...", 0),
        ("I don't know!", 3),
        ("ok 👍🏽 , 42", 3),
        ("«Ça va ?»", 2),
        ("我爱你。", 3),
        ("word " * 5000, 5000),
    ],
)
def test_length(response: str, count: int) -> None:
    found = run(load_scorer("length"), [Example((), response)])
    np.testing.assert_array_equal(found.values, [count])
    assert dict(found.signature.fields)["tokenizer"] == "words-2"


@pytest.mark.parametrize(
    ("response", "context", "value"),
    [
        ("Do you like dogs?", ("do you LIKE dogs", "!"), 1.0),
        ("I like cats", ("do you like dogs",), 2 / 7),  # one word of three and four
        ("like like like", ("like it, like me",), 2 * 2 / 7),  # clipped at two
        ("b c", ("a b", "c d"), 2 * 2 / 6),  # all turns are one text
        ("", ("hello",), 0.0),
        ("?", ("?",), 0.0),
        ("👍", ("👍",), 1.0),
    ],
)
def test_context_overlap(response: str, context: tuple[str, ...], value: float) -> None:
    found = run(load_scorer("context-overlap"), [Example(context, response)])
    assert found.values[0] == pytest.approx(value)


def test_context_overlap_needs_a_context() -> None:
    found = run(load_scorer("context-overlap"), [Example((), "hello"), Example((" ",), "hello")])
    assert found.reasons == {0: "no context", 1: "no context"}


def test_no_direction_is_claimed() -> None:
    assert load_scorer("length").card.higher_is_better is None
    assert load_scorer("context-overlap").card.higher_is_better is None


@given(st.text(), st.text())
def test_overlap_is_symmetric_and_bounded(one: str, other: str) -> None:
    assert overlap(one, [other]) == pytest.approx(overlap(other, [one]))
    assert 0 <= overlap(one, [other]) <= 1
