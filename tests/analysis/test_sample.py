"""Rated lines joined to all lines: by id, by text, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rejoinder.analysis.sample import WEIGHT, joined, weights_of
from rejoinder.errors import DataError
from rejoinder.example import Example, Rating


def line(number: int, **other: object) -> Example:
    fields = {"context": (f"q {number}",), "response": f"a {number}", "system": "a", "where": f"f:{number}", **other}
    return Example(**fields)  # type: ignore[arg-type]


def rated(one: Example, value: float, **other: object) -> Example:
    return replace(one, quality={"overall": value}, scales={"overall": (1, 5)}, **other)  # type: ignore[arg-type]


LINES = [line(number, id=f"l{number}") for number in range(4)]
BARE = [line(number, id=f"f:{number}") for number in range(4)]  # as read from a file without ids


def test_joined_by_id_if_the_context_differs() -> None:
    sample = joined(LINES, [rated(LINES[2], 4.0, context=(), where="g:1", extra={WEIGHT: 2.0, "note": "x"})])
    assert [one.rating() for one in sample.lines] == [None, None, 4.0, None]
    assert sample.lines[2].context == LINES[2].context and sample.lines[2].scale() == (1, 5)
    assert sample.lines[2].extra == {WEIGHT: 2.0, "note": "x"}
    assert (sample.rated, sample.matched, sample.population.tolist()) == (1, 1, [True] * 4)


def test_joined_by_text_without_an_id() -> None:
    sample = joined(BARE, [rated(BARE[1], 3.0, id="g:7", where="g:7"), rated(LINES[3], 2.0)])
    assert [one.rating() for one in sample.lines] == [None, 3.0, None, 2.0]


def test_white_space_is_ignored() -> None:
    spaced = replace(BARE[1], context=(" q  1\n",), response="a 1 ")
    sample = joined(BARE, [rated(spaced, 3.0, id="g:7", where="g:7")])
    assert [one.rating() for one in sample.lines] == [None, 3.0, None, None] and sample.matched == 1


def test_the_same_reply_of_two_systems() -> None:
    twins = [replace(BARE[0], system="b", id="f:9", where="f:9"), BARE[0]]
    sample = joined(twins, [rated(BARE[0], 5.0)])
    assert [one.rating() for one in sample.lines] == [None, 5.0]
    nameless = joined(twins, [rated(BARE[0], 5.0, system=None)])
    assert [one.rating() for one in nameless.lines] == [5.0, None]


def test_rated_lines_that_are_not_among_the_lines_come_last() -> None:
    sample = joined(LINES, [rated(line(9), 1.0), line(8)])
    assert [one.response for one in sample.lines] == ["a 0", "a 1", "a 2", "a 3", "a 9"]
    assert sample.population.tolist() == [True] * 4 + [False]
    assert (sample.rated, sample.matched) == (1, 0), "a line without a rating is left out"


def test_the_rating_of_the_rated_line_counts() -> None:
    sample = joined([rated(LINES[0], 1.0)], [rated(LINES[0], 5.0)])
    assert [one.rating() for one in sample.lines] == [5.0]


@pytest.mark.parametrize(
    ("lines", "message"),
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
def test_refused(lines: list[Example], message: str) -> None:
    with pytest.raises(DataError) as error:
        joined(BARE if lines[0].id.startswith("f") else LINES, lines)
    assert message in str(error.value)


def test_weights() -> None:
    given = [line(1), line(2, extra={WEIGHT: 2}), line(3, extra={WEIGHT: "0.5"}), line(4, extra={WEIGHT: ""})]
    assert np.array_equal(weights_of(given), [1.0, 2.0, 0.5, 1.0])


@pytest.mark.parametrize("weight", [0, -1, True, "many", [1], 1e300, "nan"])
def test_invalid_weights(weight: object) -> None:
    with pytest.raises(DataError, match=f'f:1: field "{WEIGHT}": is .*, expected a number over 0'):
        weights_of([line(1, extra={WEIGHT: weight})])


def test_an_id_of_two_systems() -> None:
    lines = [line(1, system=name, response=f"reply of {name}") for name in "ab"]
    sample = joined(lines, [rated(lines[1], 4.0), rated(lines[0], 2.0)])
    assert [one.quality for one in sample.lines] == [{"overall": 2.0}, {"overall": 4.0}]
    bare = [replace(rated(lines[1], 4.0), system=None)]
    assert [one.quality for one in joined(lines, bare).lines] == [{}, {"overall": 4.0}]


def test_an_id_alone_needs_no_data_set_but_other_replies_do() -> None:
    lines = [line(number, id=f"l{number}", dataset="mine") for number in range(2)]
    alone = replace(rated(lines[1], 4.0), context=(), response="", dataset=None)
    assert [one.rating() for one in joined(lines, [alone]).lines] == [None, 4.0]
    other = replace(rated(line(7), 4.0), id="l1", dataset=None)
    assert [one.rating() for one in joined(lines, [other]).lines] == [None, None, 4.0]


def test_files_of_several_people_are_ratings_of_one_reply() -> None:
    files = [rated(LINES[0], 0.0, where=f"{name}.csv:2", context=(), response="") for name in ("ann", "bob")]
    files = [replace(one, quality={}, ratings=(Rating(value),)) for one, value in zip(files, (4, 2), strict=True)]
    (first, *_) = joined(LINES, files).lines
    assert first.ratings == (Rating(4, rater="ann"), Rating(2, rater="bob"))
    with pytest.raises(DataError, match="none of 1 ids"):
        joined(LINES, [replace(files[0], id="x")])
