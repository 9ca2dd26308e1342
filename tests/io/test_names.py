"""Names of columns that state a scale: which are ratings, which numbers are a scale, what is said and refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import Run
from rejoinder.cli.inputs import _mapped
from rejoinder.errors import UsageError
from rejoinder.example import Rating
from rejoinder.io.names import header, plain, scaled
from rejoinder.io.parse import to_record
from rejoinder.io.scales import scales_said

OPENS_AND_ENDS = ["()", "[]"]
BETWEEN = ["-", " - ", "–", " — ", "−", "..", "...", "…", "~", ", ", " to "]
RATINGS = ["Rating", "Human rating", "quality", "Overall", "user_score", "stars", "mean score", "Rater 2", "MOS"]
SCALE = st.tuples(st.sampled_from([0, 1, -1]), st.integers(2, 100)).map(
    lambda ends: (-ends[1] if ends[0] < 0 else ends[0], ends[1])
)


@pytest.mark.parametrize("name", ["session_id", "Ticket ID", "ticket", "session", "callId"])
def test_what_tells_a_conversation_has_many_names(name: str) -> None:
    example, said = understood(name, "c 7")
    assert example.extra["dialogue_id"] == "c 7" and any("as dialogue_id" in one for one in said)
    (beside,) = rejoinder.examples_of([{"response": "ho", "session": "app", "conv_id": "c 7"}])
    assert beside.extra["dialogue_id"] == "c 7" and beside.extra["session"] == "app"


def table(path: Path, *rows: list[str]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    return path


def understood(name: str, value: Any) -> tuple[rejoinder.Example, list[str]]:
    said: list[str] = []
    (example,) = rejoinder.examples_of([{"response": "ho", name: value}], note=said.append)
    return example, said


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        ("Human rating (1-5)", (1, 5)),
        ("Overall (1 to 7)", (1, 7)),
        ("quality [0-100]", (0, 100)),
        ("humanRating(1–5)", (1, 5)),
        ("Quality score (scale 1-10):", (1, 10)),
        ("Stars (1-5 stars) *", (1, 5)),
        ("Mean score [0.0, 1.0]", (0, 1)),
        ("Score (from -3 to +3)", (-3, 3)),
        ("rating (−2−2)", (-2, 2)),
        ("MOS (0..5)", (0, 5)),
    ],
)
def test_a_rating_stands_on_the_scale_that_its_name_states(tmp_path: Path, name: str, scale: tuple[int, int]) -> None:
    path, said = table(tmp_path / "a.csv", ["response", name], ["ho", "1"], ["hey", ""]), list[str]()
    rated, bare = rejoinder.read(path, note=said.append)
    assert (rated.rating(), rated.scale()) == (1, scale)
    assert (bare.rating(), bare.scales) == (None, {}), "an empty cell is on no scale"
    field = "quality" if rated.quality else "rating"
    assert said == [f"{path}: read {name} as {field} from {scale[0]} to {scale[1]}"]


@pytest.mark.parametrize(
    "name",
    [
        "Rating (2024)",
        "Rating (5)",
        "Rating (2023-2024)",
        "Rating (1-2024)",
        "Rating (05-06)",
        "Rating (01-12)",
        "Rating (5-1)",
        "Rating (3-4)",
        "Rating (1.0-1.5)",
        "Rating (1-1)",
        "Rating (v1-5b)",
        "Rating (1-5",
        "Rating (1-5) of Ann",
        "Rating (1-5) (2024)",
        "(1-5)",
        "Page (1-5)",
        "Age [0-100]",
        "response (1-5)",
        "prompt (1-5)",
    ],
)
def test_other_numbers_and_other_names_are_left_alone(name: str) -> None:
    example, said = understood(name, "3")
    assert (example.rating(), example.scales, dict(example.extra), said) == (None, {}, {name: "3"}, [])


@given(st.sampled_from(RATINGS), st.sampled_from(OPENS_AND_ENDS), st.sampled_from(BETWEEN), SCALE)
def test_every_way_to_write_a_scale_is_read_and_comes_back(
    name: str, brackets: str, between: str, scale: tuple[int, int]
) -> None:
    written = f"{name} {brackets[0]}{scale[0]}{between}{scale[1]}{brackets[1]}"
    assert header(written) == (name, plain(name), scale)
    if name == "Rater 2":  # one column of several
        return
    example, _ = understood(written, scale[1])
    assert (example.rating(), example.scale()) == (scale[1], scale)
    (again,) = rejoinder.examples_of([to_record(example)])
    assert (again.ratings, again.quality, again.scales) == (example.ratings, example.quality, example.scales)


@given(st.integers(-200, 3000), st.integers(-200, 3000), st.sampled_from(BETWEEN))
def test_two_numbers_are_a_scale_only_where_people_rate_on_such(low: int, high: int, between: str) -> None:
    name = f"Rating ({low}{between}{high})"
    usual = low in (0, 1, -high) and low < high <= 100
    assert header(name).scale == ((low, high) if usual else None)
    assert header(name).word == ("rating" if usual else plain(name))


@given(st.text(st.sampled_from("rating quality([1-5)] –to.0\n_"), max_size=40) | st.text(max_size=40))
def test_no_name_is_too_strange(name: str) -> None:
    text, word, scale = header(name)
    assert word == plain(text) and (scale is not None or text == name)
    assert scaled(name).scale or header(name).scale is None


def test_a_name_as_long_as_a_file_takes_no_time() -> None:
    assert scaled("Rating " + "(" * 10**6 + " " * 10**6 + "1-5)").scale is None


def test_columns_of_raters_may_state_their_scale(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", ["response", "Rater 1 (1-7)", "Rater 2 (1-7)", "Rater 3"], ["ho", "7", "6", "5"])
    (example,) = rejoinder.read(path)
    names = ("Rater 1 (1-7)", "Rater 2 (1-7)", "Rater 3")
    assert example.ratings == tuple(Rating(7 - place, rater=name) for place, name in enumerate(names))
    assert example.scale() == (1, 7)


@pytest.mark.parametrize(
    ("names", "remedy"),
    [
        (["Rater 1 (1-5)", "Rater 2 (0-100)"], "rating=Rater 2 (0-100)"),
        (["mean rating (0-10)", "rating (1-5)"], "rating=rating (1-5),quality="),
        (["rating (1-5)", "quality [0-100]"], "rating=rating (1-5),quality="),
    ],
)
def test_two_scales_of_one_rating_are_refused_with_the_remedy(tmp_path: Path, names: list[str], remedy: str) -> None:
    path = table(tmp_path / "a.csv", ["response", *names], ["ho", "4", "5"])
    with pytest.raises(UsageError, match=" state 2 scales of one rating. ") as refusal:
        list(rejoinder.read(path))
    assert str(refusal.value).endswith(f"say which counts: --map '{remedy}'")
    (example,) = rejoinder.read(path, map=_mapped([remedy]))
    assert example.scale() == header(_mapped([remedy])["rating"][0]).scale


def test_a_rating_outside_the_scale_of_its_name_is_refused_with_its_line(tmp_path: Path, run: Run) -> None:
    path = table(tmp_path / "a.csv", ["response", "Rating (1-5)"], ["ho", "4"], ["hey", "9"])
    done = run("score", path, "-s", "length")
    message = f'{path}:3: field "ratings": overall is 9, outside its scale [1, 5]. Correct the rating or the scale'
    assert (done.code, done.out, done.err.splitlines()[1:]) == (3, "", [f"rejoinder: {message}"])


def test_other_dimensions_and_names_that_the_user_gives_state_scales_too(tmp_path: Path, run: Run) -> None:
    rows = [["response", "rating.fluency (1-7)", "Note [0-10]"], ["ho", "5", "8"]]
    path = table(tmp_path / "a.csv", *rows)
    done = run("score", path, "-s", "length", "--map", "rating=Note [0-10]")
    (record,) = done.records
    assert record["ratings"] == {"overall": [8], "fluency": [5]}
    assert record["scales"] == {"overall": [0, 10], "fluency": [1, 7]}
    read = "Note [0-10] as rating from 0 to 10, rating.fluency (1-7) as rating.fluency from 1 to 7"
    assert done.err == f"{path}: read {read}\n"


def test_what_a_line_states_itself_goes_before_the_name() -> None:
    (example,) = rejoinder.examples_of([{"response": "ho", "Rating (1-5)": 9, "scale": [0, 10]}])
    assert (example.rating(), example.scale()) == (9, (0, 10))


def test_two_columns_of_one_dimension_are_refused() -> None:
    with pytest.raises(
        UsageError, match=r"rating.tone and Rating.tone \(1-5\) could each be the rating.tone. Say which"
    ):
        rejoinder.examples_of([{"response": "ho", "rating.tone": 4, "Rating.tone (1-5)": 3}])


@pytest.mark.parametrize("name", ["ratings", "Ratings (1-9)"])
@pytest.mark.parametrize("own", ["4", "[4]", '{"overall": [4]}'])
def test_a_cell_of_ratings_beside_those_of_a_dimension(tmp_path: Path, own: str, name: str) -> None:
    path = table(tmp_path / "a.csv", ["response", name, "rating.fluency"], ["ho", own, "5"], ["hey", "", "2"])
    first, second = rejoinder.read(path)
    assert first.ratings == (Rating(4), Rating(5, "fluency")) and second.ratings == (Rating(2, "fluency"),)


def test_several_scales_of_names_are_brought_together(tmp_path: Path) -> None:
    old = table(tmp_path / "old.csv", ["answer", "Human rating (1-5)"], ["ho", "4"])
    new = table(tmp_path / "new.csv", ["answer", "Overall [0-100]"], ["hey", "80"])
    said = f"ratings on 2 scales are brought together: 0 to 100 ({new}); 1 to 5 ({old})"
    assert scales_said(list(rejoinder.read(old, new))) == said


@pytest.mark.parametrize(
    ("more", "scales"),
    [
        ({"scales": {"fluency": [1, 7]}}, {"overall": (1, 5), "fluency": (1, 7)}),
        ({"scales": {"overall": [1, 7]}}, {"overall": (1, 7)}),
    ],
)
def test_scales_of_other_dimensions_leave_that_of_a_name(
    tmp_path: Path, more: dict[str, Any], scales: dict[str, Any]
) -> None:
    given = {"response": "ho", "Rating (1-5)": 4, **more}
    (example,) = rejoinder.examples_of([given])
    assert example.scales == scales
    cells = [json.dumps(cell) if isinstance(cell, dict) else str(cell) for cell in given.values()]
    (example,) = rejoinder.read(table(tmp_path / "a.csv", list(given), cells))
    assert example.scales == scales
