"""Rated lines find the lines that they are ratings of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.humans.joined import WEIGHT, joined, weights_of


def line(number: int, **other: object) -> Example:
    fields = {"context": (f"q {number}",), "response": f"a {number}", "system": "a", "where": f"f:{number}", **other}
    return Example(**fields)  # type: ignore[arg-type]


def rated(one: Example, value: float, **other: object) -> Example:
    return replace(one, quality={"overall": value}, scales={"overall": (1, 5)}, **other)  # type: ignore[arg-type]


LINES = [line(number, id=f"l{number}") for number in range(4)]
BARE = [line(number, id=f"f:{number}") for number in range(4)]  # as read from a file without ids


def test_by_id_whatever_the_context_is_called() -> None:
    found = joined(LINES, [rated(LINES[2], 4.0, context=(), where="g:1", extra={WEIGHT: 2.0, "note": "x"})])
    assert [one.rating() for one in found.lines] == [None, None, 4.0, None]
    assert found.lines[2].context == LINES[2].context and found.lines[2].scale() == (1, 5)
    assert found.lines[2].extra == {WEIGHT: 2.0}
    assert (found.given, found.matched, found.listed.tolist()) == (1, 1, [True] * 4)


def test_by_text_where_there_is_no_id() -> None:
    found = joined(BARE, [rated(BARE[1], 3.0, id="g:7", where="g:7"), rated(LINES[3], 2.0)])
    assert [one.rating() for one in found.lines] == [None, 3.0, None, 2.0]


def test_white_space_makes_no_other_line() -> None:
    spaced = replace(BARE[1], context=(" q  1\n",), response="a 1 ")
    found = joined(BARE, [rated(spaced, 3.0, id="g:7", where="g:7")])
    assert [one.rating() for one in found.lines] == [None, 3.0, None, None] and found.matched == 1


def test_another_system_with_the_same_words_is_another_line() -> None:
    twins = [replace(BARE[0], system="b", id="f:9", where="f:9"), BARE[0]]
    found = joined(twins, [rated(BARE[0], 5.0)])
    assert [one.rating() for one in found.lines] == [None, 5.0]
    nameless = joined(twins, [rated(BARE[0], 5.0, system=None)])
    assert [one.rating() for one in nameless.lines] == [5.0, None]


def test_what_is_not_among_the_lines_stands_after_them() -> None:
    found = joined(LINES, [rated(line(9), 1.0), line(8)])
    assert [one.response for one in found.lines] == ["a 0", "a 1", "a 2", "a 3", "a 9"]
    assert found.listed.tolist() == [True] * 4 + [False]
    assert (found.given, found.matched) == (1, 0), "a line without a rating is none"


def test_the_rated_line_has_the_last_word() -> None:
    found = joined([rated(LINES[0], 1.0)], [rated(LINES[0], 5.0)])
    assert [one.rating() for one in found.lines] == [5.0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            [rated(LINES[0], 1.0, response="other", where="g:1")],
            "g:1: field \"id\": the id 'l0' belongs to another reply",
        ),
        ([rated(BARE[0], 1.0), rated(BARE[0], 2.0, id="x", where="g:2")], "g:2: this reply was already rated at f:0"),
        (
            [rated(LINES[0], 1.0, where="g:7", extra={WEIGHT: -1})],
            'g:7: field "rating_weight": is -1, expected a number over 0',
        ),
        ([rated(LINES[0], 1.0), rated(LINES[0], 2.0)], "id 'l0' of data set 'all' was already given"),
    ],
)
def test_what_cannot_be(given: list[Example], said: str) -> None:
    with pytest.raises(DataError) as error:
        joined(BARE if given[0].id.startswith("f") else LINES, given)
    assert said in str(error.value)


def test_weights() -> None:
    given = [line(1), line(2, extra={WEIGHT: 2}), line(3, extra={WEIGHT: "0.5"}), line(4, extra={WEIGHT: ""})]
    assert np.array_equal(weights_of(given), [1.0, 2.0, 0.5, 1.0])


@pytest.mark.parametrize("said", [0, -1, True, "many", [1], 1e300, "nan"])
def test_a_weight_that_is_none(said: object) -> None:
    with pytest.raises(DataError, match=f'f:1: field "{WEIGHT}": is .*, expected a number over 0'):
        weights_of([line(1, extra={WEIGHT: said})])


def test_an_id_of_two_systems_is_joined_by_the_system() -> None:
    lines = [line(1, system=name, response=f"reply of {name}") for name in "ab"]
    found = joined(lines, [rated(lines[1], 4.0), rated(lines[0], 2.0)])
    assert [one.quality for one in found.lines] == [{"overall": 2.0}, {"overall": 4.0}]
    bare = [replace(rated(lines[1], 4.0), system=None)]
    assert [one.quality for one in joined(lines, bare).lines] == [{}, {"overall": 4.0}]
