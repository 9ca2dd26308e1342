"""Several replies in one line and a rating of each: rated lines that share a context, not pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rejoinder
from conftest import Run
from rejoinder.errors import DataError
from rejoinder.example import Example, Pair, Rating
from rejoinder.io.read import read_either

TWO = {"prompt": "Tea?", "response_a": "No.", "response_b": "Yes, please."}


def lines(path: Path, *records: dict[str, Any], **how: Any) -> tuple[list[Example | Pair], list[str]]:
    """What is read of a table and of JSON lines, which is the same, and what is said of it."""
    found: list[tuple[list[Example | Pair], list[str]]] = []
    header = list(records[0])
    table = [",".join(header), *(",".join(f'"{one[name]}"' for name in header) for one in records)]
    for suffix, text in (("csv", "\n".join(table)), ("jsonl", "\n".join(map(json.dumps, records)))):
        file, said = path / f"a.{suffix}", list[str]()
        file.write_text(text + "\n")
        found.append((list(read_either(file, note=said.append, **how)), [one.partition(": ")[2] for one in said]))
    assert [one.__class__ for one in found[0][0]] == [one.__class__ for one in found[1][0]]
    assert [one.response for one in found[0][0] if isinstance(one, Example)] == [
        one.response for one in found[1][0] if isinstance(one, Example)
    ]
    return found[1]


@pytest.mark.parametrize("names", [("rating_a", "rating_b"), ("Score A", "Score B"), ("starsA", "starsB")])
def test_a_rating_of_each_reply_makes_two_rated_lines(tmp_path: Path, names: tuple[str, str]) -> None:
    models = {"model_a": "m1", "model_b": "m2"}
    found, said = lines(tmp_path, {**TWO, names[0]: 2, names[1]: 5, **models, "id": "7"})
    first, second = (one for one in found if isinstance(one, Example))
    assert (first.id, first.response, first.system, first.ratings) == ("7/a", "No.", "m1", (Rating(2),))
    assert (second.id, second.response, second.system) == ("7/b", "Yes, please.", "m2")
    assert second.ratings == (Rating(5),) and first.context_key == second.context_key
    assert said[0] == f"read response_a, response_b, {names[0]} and {names[1]} as 2 rated lines of one context"


def test_scales_and_dimensions_go_along(tmp_path: Path) -> None:
    record = {**TWO, "Rating A (1-5)": 2, "Rating B (1-5)": 5, "rating.tone_a": 1, "rating.tone_b": 3}
    first, second = (one for one in lines(tmp_path, record)[0] if isinstance(one, Example))
    assert first.scale() == second.scale() == (1, 5)
    assert {one.dimension: one.value for one in second.ratings} == {"overall": 5, "tone": 3}


def test_three_replies_without_a_prompt_share_their_line(tmp_path: Path) -> None:
    record = {f"{name}_{place}": f"{name[0] * 3} {place}" for name in ("answer",) for place in (1, 2, 3)}
    found, _ = lines(
        tmp_path,
        {**record, "score_1": 1, "score_2": 2, "score_3": 3},
        {**record, "score_1": 1, "score_2": 2, "score_3": 5},
    )
    assert len(found) == 6
    assert len({one.context_key for one in found}) == 2
    assert len({one.id for one in found}) == 6


@pytest.mark.parametrize(
    "more",
    [
        {"preferred": "a"},  # people were asked which is better: the numbers are some judge's
        {"vote_a": 1, "vote_b": 0},  # a choice, maybe
        {"length_a": 1, "length_b": 3},
    ],
)
def test_what_is_no_rating_of_each_is_a_pair_as_before(tmp_path: Path, more: dict[str, Any]) -> None:
    rated = {"rating_a": 1, "rating_b": 2} if "preferred" in more else {}
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps({**TWO, **rated, **more}) + "\n")
    if "preferred" in more:
        assert isinstance(next(read_either(file)), Pair)
    else:
        with pytest.raises(rejoinder.RejoinderError, match='field "preferred": missing'):
            next(read_either(file))


def test_a_study_and_a_judge_take_them(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "a.csv"
    rows = [f"Question {n}?,{'No. ' * (n % 5 + 1)},Yes.,{n % 5 + 1},{n % 3 + 1}" for n in range(20)]
    path.write_text("\n".join(["prompt,response_a,response_b,rating_a,rating_b", *rows]) + "\n")
    done = run("study", str(path), "-s", "length")
    assert (done.code, "over 40 responses" in done.out) == (0, True)


def test_what_the_user_says_of_a_column_goes_before(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("prompt,response_a,response_b,rating_a,rating_b\nTea?,No.,Yes.,2,5\n")
    (one,) = rejoinder.read(file, map={"response": "response_a", "rating": "rating_a"})
    assert (one.response, one.ratings) == ("No.", (Rating(2),))


@pytest.mark.parametrize("choice", ["best", "overall_preference", "chosen_response", "Which is better"])
def test_what_people_chose_is_not_dropped(tmp_path: Path, choice: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps({**TWO, "rating_a": 2, "rating_b": 5, choice: "b"}) + "\n")
    with pytest.raises(DataError, match="preferred"):
        list(read_either(file))


def test_numbered_columns_that_are_said_of_no_reply_stay_whole(tmp_path: Path) -> None:
    record = {"turn_1": "Hi", "turn_2": "Tea?", "response_1": "No.", "response_2": "Yes.", "rating_1": 1, "rating_2": 2}
    found = [one for one in lines(tmp_path, record)[0] if isinstance(one, Example)]
    assert [(one.extra["turn_1"], one.extra["turn_2"]) for one in found] == [("Hi", "Tea?")] * 2
