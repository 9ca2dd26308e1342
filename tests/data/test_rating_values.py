"""Ratings: cells, scales, raters, and rows that belong together."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reading_tables import read_from
from rejoinder.data import scales
from rejoinder.data.read import lines_of
from rejoinder.data.values import number
from rejoinder.errors import ColumnError, DataError, UsageError
from rejoinder.example import Example, Rating

CELLS: list[tuple[Any, tuple[str, ...], tuple[float, float | None] | None]] = [
    # a cell, the words of the scale, the value and the top that the cell states
    ("3", (), (3, None)),
    (" 3.5 ", (), (3.5, None)),
    ("3,5", (), (3.5, None)),
    ("0,234", (), (0.234, None)),
    ("-1", (), (-1, None)),
    ("3/5", (), (3, 5)),
    ("3 out of 5", (), (3, 5)),
    ("60%", (), (60, 100)),
    ("3 stars", (), (3, None)),
    ("★★★", (), (3, None)),
    ("★★☆☆☆", (), (2, 5)),
    ("1e-2", (), (0.01, None)),
    (4, (), (4, None)),
    (np.float64(2.5), (), (2.5, None)),
    (True, (), (1, 1)),
    ("yes", (), (1, 1)),
    ("Incorrect", (), (0, 1)),
    ("Thumbs-Down", (), (0, 1)),
    ("👍🏽", (), (1, 1)),
    ("FAIL", (), (0, 1)),
    ("Fair", ("bad", "fair", "good"), (2, 3)),
    ("good", ("bad", "fair", "good"), (3, 3)),
    ("2", ("bad", "fair", "good"), (2, 3)),
    ({"rating": 4}, (), (4, None)),
    ("", (), None),
    ("n/a", (), None),
    (math.nan, (), None),
    (None, (), None),
]


@pytest.mark.parametrize(("cell", "words", "wanted"), CELLS)
def test_a_cell_is_a_number(cell: Any, words: tuple[str, ...], wanted: tuple[float, float | None] | None) -> None:
    assert number(cell, "a.csv:2", "rating", words) == wanted


@pytest.mark.parametrize(
    "cell",
    [
        "5-Mar",
        "5. Mrz",
        "03/05/2024",
        "2026-03-05",
        "1 = Strongly agree",
        "Excellent (1)",
        "3 (good)",
        "1,234",
        "3-4",
        "great",
        "#NAME?",
        math.inf,
        10**400,
        [3],
        "[3 4]",
        "9" * 400,
    ],
)
def test_any_other_cell_stops(cell: Any) -> None:
    with pytest.raises(ColumnError) as caught:
        number(cell, "a.csv:2", "rating")
    assert (caught.value.where, caught.value.field) == ("a.csv:2", "rating")


def test_a_word_outside_the_scale_stops() -> None:
    for cell in ("excellent", "4", "0", "yes"):
        with pytest.raises(ColumnError):
            number(cell, "a:1", "rating", ("bad", "fair", "good"))


RATED: list[tuple[str, dict[str, Any], list[Any]]] = [
    # cells of a column of ratings, how they are read, (values, scale) of each line
    ("3 4", {}, [([3], None), ([4], None)]),
    ("3/5 4/5", {}, [([3], [1, 5]), ([4], [1, 5])]),
    ("3/20", {}, [([3], [0, 20])]),
    ("60% 0%", {}, [([60], [0, 100]), ([0], [0, 100])]),
    ("yes no", {}, [([1], [0, 1]), ([0], [0, 1])]),
    ("3/5 0/5", {"scale": "0,5"}, [([3], [0, 5]), ([0], [0, 5])]),
    ("3 4", {"scale": (1, 5)}, [([3], [1, 5]), ([4], [1, 5])]),
    ("fair good", {"scale": "bad,fair,good"}, [([2], [1, 3]), ([3], [1, 3])]),
    ("3 -", {}, [([3], None), (None, None)]),
]


@pytest.mark.parametrize(("cells", "how", "wanted"), RATED)
def test_ratings_have_the_scale_that_is_stated(
    cells: str, how: dict[str, Any], wanted: list[Any], tmp_path: Path
) -> None:
    rows = "".join(f"Tea?,No.,{cell}\n" for cell in cells.split())
    found = read_from(tmp_path, "a.csv", f"prompt,answer,rating\n{rows}", **how)
    assert [(one.get("ratings", {}).get("overall"), one.get("scale")) for one in found] == wanted


def test_ratings_without_a_dimension_are_the_overall_ones(tmp_path: Path) -> None:
    content = 'response,ratings,quality,raters\nA.,"[3, 4]",3/5,"[""x"", ""y""]"\nB.,3/5,,\n'
    first, second = read_from(tmp_path, "a.csv", content)
    assert (first["ratings"], first["quality"]) == ({"overall": [3, 4]}, {"overall": 3})
    assert first["raters"] == {"overall": ["x", "y"]}
    assert (second["ratings"], second["scale"]) == ({"overall": [3]}, [1, 5])


@pytest.mark.parametrize("cells", ["3/5 7/10", "3/5 0/5", "3 great", "3 5-Mar"])
def test_a_doubtful_column_stops_and_is_never_skipped(cells: str, tmp_path: Path) -> None:
    rows = "".join(f"Tea?,No.,{cell}\n" for cell in cells.split())
    with pytest.raises(ColumnError) as caught:
        read_from(tmp_path, "a.csv", f"prompt,answer,rating\n{rows}", on_error=lambda error: None)
    assert caught.value.where.endswith("a.csv:3")
    assert caught.value.field == "rating"


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({"ratings": {"overall": [6]}, "scale": [1, 5]}, "ratings"),
        ({"ratings": {"overall": [None]}}, "ratings"),
        ({"ratings": {"overall": "x"}}, "ratings"),
        ({"ratings": {"overall": [True]}, "scale": [1, 5]}, "ratings"),
        ({"ratings": {"overall": ["3/5"]}, "scale": [1, 10]}, "ratings"),
        ({"rating": "yes", "scale": [1, 5]}, "rating"),
        ({"rating": "3/5", "scales": {"overall": [1, 10]}}, "rating"),
        ({"Rating (1-5)": "3/7"}, "Rating (1-5)"),
        ({"rating_1": "3/5", "rating_2": "3/7"}, "rating_2"),
        ({"rating": 3, "rater": ["a", "b"]}, "rater"),
        ({"rating": "3/5", "scales": [1, 5]}, "scales"),
        ({"rating_1": 3, "rating_2": 4, "raters": ["a"]}, "raters"),
        ({"ratings": {"overall": [3]}, "raters": {"overall": ["a", "b"]}}, "raters"),
        ({"quality": {"overall": 9}, "scale": [1, 5]}, "quality"),
        ({"ratings": {"overall": [3]}, "scale": [5, 1]}, "scale"),
        ({"scales": [1, 5]}, "scales"),
        ({"scores": 3}, "scores"),
        ({"id": 1.5}, "id"),
        ({"references": [3]}, "references"),
    ],
)
def test_a_bad_field_is_a_bad_line(record: dict[str, Any], field: str, tmp_path: Path) -> None:
    skipped: list[DataError] = []
    found = read_from(tmp_path, "a.jsonl", [{"response": "A.", **record}], on_error=skipped.append)
    assert found == []
    assert [(error.where[-2:], error.field) for error in skipped] == [(":1", field)]


JOINED: list[tuple[str, str, list[dict[str, Any]]]] = [
    (
        "rows of one id",
        "item,prompt,response,annotator,rating,note\n7,T?,No.,ann,2,x\n8,T?,Yes.,ann,5,x\n7,T?,No.,3.0,3,y\n",
        [
            {
                "id": "7",
                "context": ["T?"],
                "response": "No.",
                "ratings": {"overall": [2, 3]},
                "raters": {"overall": ["ann", "3"]},
            },
            {
                "id": "8",
                "context": ["T?"],
                "response": "Yes.",
                "ratings": {"overall": [5]},
                "raters": {"overall": ["ann"]},
                "note": "x",
            },
        ],
    ),
    (
        "ids that number rows",
        "id,prompt,response,rater,rating\n1,T?,No.,ann,2\n2,T?,No.,bob,3\n",
        [
            {
                "id": "1",
                "context": ["T?"],
                "response": "No.",
                "ratings": {"overall": [2, 3]},
                "raters": {"overall": ["ann", "bob"]},
            }
        ],
    ),
    (
        "an id of each system",
        "id,system,prompt,response,rater,rating\n1,a,T?,No.,ann,2\n1,b,T?,Yes.,ann,3\n1,b,T?,Yes.,bob,4\n",
        [
            {
                "id": "1",
                "context": ["T?"],
                "response": "No.",
                "system": "a",
                "ratings": {"overall": [2]},
                "raters": {"overall": ["ann"]},
            },
            {
                "id": "1",
                "context": ["T?"],
                "response": "Yes.",
                "system": "b",
                "ratings": {"overall": [3, 4]},
                "raters": {"overall": ["ann", "bob"]},
            },
        ],
    ),
    (
        "the same row again, and a second rating",
        "prompt,response,rater,rating\nT?,No.,ann,2\nT?,No.,ann,2\nT?,No.,ann,3\nT?,No.,,\n",
        [{"context": ["T?"], "response": "No.", "ratings": {"overall": [2, 3]}, "raters": {"overall": ["ann", "ann"]}}],
    ),
    (
        "two columns of ratings, with the names of raters",
        "response,rating_1,rating_2,rater_1,rater_2\nNo.,2,3,ann,bob\n",
        [{"context": [], "response": "No.", "ratings": {"overall": [2, 3]}, "raters": {"overall": ["ann", "bob"]}}],
    ),
]


@pytest.mark.parametrize(("content", "wanted"), [case[1:] for case in JOINED], ids=[case[0] for case in JOINED])
def test_rows_of_raters_are_joined(content: str, wanted: list[dict[str, Any]], tmp_path: Path) -> None:
    assert read_from(tmp_path, "a.csv", content) == wanted


def test_an_id_of_two_replies_is_a_bad_line(tmp_path: Path) -> None:
    skipped: list[DataError] = []
    content = "id,prompt,response,rater,rating\n1,T?,No.,ann,2\n1,T?,Yes.,bob,3\n"
    assert len(read_from(tmp_path, "a.csv", content, on_error=skipped.append)) == 1
    assert [(error.where[-2:], error.field) for error in skipped] == [(":3", "id")]


def rated(values: list[float], **more: Any) -> list[Example]:
    """Return an example for each rating."""
    rater = more.pop("rater", None)
    return [Example((), "A.", ratings=(Rating(value, rater=rater),), where="a.csv:1", **more) for value in values]


def test_scales_are_read_from_text() -> None:
    assert scales.scale_of("1,5") == (1, 5)
    assert scales.scale_of("0, 2.5") == (0, 2.5)
    assert scales.scale_of("bad, fair,good") == ("bad", "fair", "good")
    for wrong in ("5,1", "1", "bad", "a,a", "1,x,", "1,inf", ""):
        with pytest.raises(UsageError):
            scales.scale_of(wrong)


def test_a_scale_is_given_to_lines_that_state_none() -> None:
    stated = rated([2], scales={"overall": (0, 2)})
    lines = [*rated([3]), *stated, Example((), "B.")]
    assert [line.scale() for line in scales.with_scale(lines, (1, 5))] == [(1, 5), (0, 2), None]
    skipped: list[DataError] = []
    assert list(scales.with_scale(rated([9]), (1, 5), skipped.append)) == []
    assert skipped[0].where == "a.csv:1"
    with pytest.raises(DataError):
        list(scales.with_scale(rated([9]), (1, 5)))


ALIKE = [1.0, 2, 3, 4, 5] * 5


@pytest.mark.parametrize(
    "lines",
    [
        rated(ALIKE, dataset="a") + rated([7.0], dataset="b"),
        rated(ALIKE, rater="ann") + rated([20.0 * value for value in ALIKE], rater="bob"),
        rated(ALIKE, system="x") + rated([value / 5 * 100 for value in ALIKE], system="y"),
        rated([value - 3 for value in ALIKE], rater="ann") + rated(ALIKE, rater="bob"),
    ],
    ids=["data sets", "raters", "systems", "a centred scale"],
)
def test_ratings_on_unlike_scales_stop(lines: list[Example]) -> None:
    with pytest.raises(DataError):
        scales.require_alike(lines)
    scales.require_alike(list(scales.with_scale(lines, (-2, 100))))


def test_notes_and_maps_of_scales() -> None:
    assert scales.scale_note(rated(ALIKE)) == ""
    lines = lines_of(
        [{"id": n, "response_a": "a", "response_b": "b", "rating_a": n, "rating_b": 5} for n in range(1, 6)]
    )
    scales.require_alike([line for line in lines if isinstance(line, Example)])
    assert "a" in scales.scale_note(rated(ALIKE, dataset="a") + rated(ALIKE, dataset="b"))
    mixed = rated([1], scales={"overall": (0, 1)}) + rated([3], scales={"overall": (1, 5)})
    assert scales.scale_note(mixed)
    assert [*scales.scales_in(mixed)] == [(0, 1), (1, 5)]
    assert scales.rescaled(3.0, (1, 5), (0, 100)) == 50
    assert scales.on_unit(3, (1, 5)) == 0.5
    assert math.isnan(scales.on_unit(3, None))
    assert [line.scale() for line in lines_of(rated([3]), scale="1,5") if isinstance(line, Example)] == [(1, 5)]
