"""Exports of tools that ask people: Qualtrics, SurveyMonkey, Mechanical Turk, Label Studio."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import rejoinder
from rejoinder.example import Example, Rating


def written(path: Path, *rows: list[Any]) -> list[Example]:
    """What is read of a table with these rows."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)
    return list(rejoinder.read(path))


QUALTRICS = [
    ["ResponseId", "prompt", "response", "rating"],
    ["Response ID", "prompt", "response", "How good is\nthis reply?"],
    [*(json.dumps({"ImportId": name}, separators=(",", ":")) for name in ("_recordId", "prompt", "response", "QID1"))],
]


def test_the_rows_of_questions_below_a_header_are_no_replies(tmp_path: Path) -> None:
    found = written(tmp_path / "a.csv", *QUALTRICS, ["R_1", "Tea?", "No.", 4], ["R_2", "Tea?", "Yes.", 2])
    assert [(one.id, one.response, one.rating()) for one in found] == [("R_1", "No.", 4), ("R_2", "Yes.", 2)]
    assert found[0].where.endswith("a.csv:5"), "the question is of two lines"
    head = [["Respondent ID", "Prompt", "Reply", "Stars"], ["", "", "Open-Ended Response", "Response"]]
    (one,) = written(tmp_path / "b.csv", *head, [7, "Tea?", "No.", 4])
    assert one.response == "No." and one.ratings == (Rating(4, rater="7"),)
    assert [one.response for one in written(tmp_path / "c.csv", ["reply"], ["Hi"], ["Response"])] == ["Hi", "Response"]


def test_what_mechanical_turk_puts_before_names_is_passed_over(tmp_path: Path) -> None:
    head = ["HITId", "WorkerId", "Input.prompt", "Input.response", "Answer.rating"]
    (one,) = written(tmp_path / "a.csv", head, ["H", "A1", "Tea?", "No.", 4], ["H", "A2", "Tea?", "No.", 3])
    assert (one.context, one.response) == (("Tea?",), "No.")
    assert one.ratings == (Rating(4, rater="A1"), Rating(3, rater="A2"))


def test_a_column_for_each_choice_is_one_rating(tmp_path: Path) -> None:
    head = ["WorkerId", "Input.response", *(f"Answer.rating.{number}" for number in range(1, 6))]
    rows = [["A1", "No.", *(str(number == 4).lower() for number in range(1, 6))], ["A2", "No.", *["false"] * 5]]
    (one,) = written(tmp_path / "a.csv", head, *rows)
    assert one.ratings == (Rating(4, rater="A1"),)


def test_tasks_of_label_studio(tmp_path: Path) -> None:
    def said(who: Any, *results: tuple[str, str, Any], **more: Any) -> dict[str, Any]:
        told = [
            {"from_name": name, "to_name": "t", "type": kind, "value": {kind: value}} for name, kind, value in results
        ]
        return {"id": 1, "completed_by": who, "result": told, **more}

    task = {
        "id": 7,
        "data": {"prompt": "Tea?", "response": "No.", "model": "v2"},
        "annotations": [
            said(1, ("rating", "rating", 4), ("fluency", "number", 3), ("topic", "choices", ["drinks"])),
            said({"id": 2, "email": "b@x.org"}, ("rating", "rating", 2), ("helpful", "choices", ["Yes"])),
            said(3, ("rating", "rating", 1), was_cancelled=True),
        ],
    }
    (tmp_path / "a.json").write_text(json.dumps([task, {**task, "id": 8, "annotations": []}]))
    one, bare = rejoinder.read(tmp_path / "a.json")
    assert (one.id, one.context, one.response, one.system) == ("7", ("Tea?",), "No.", "v2")
    assert one.ratings == (
        Rating(4, rater="1"),
        Rating(2, rater="b@x.org"),
        Rating(3, "fluency", "1"),
        Rating(1, "helpful", "b@x.org"),
    )
    assert bare.id == "8" and bare.ratings == ()


@pytest.mark.parametrize("cell", ['[{"rating": 4}]', '[{"rating":4}]'])
def test_ratings_in_the_tables_of_label_studio(tmp_path: Path, cell: str) -> None:
    (one,) = written(tmp_path / "a.csv", ["id", "prompt", "response", "rating", "annotator"], [1, "a", "b", cell, 3])
    assert one.ratings == (Rating(4, rater="3"),)
    (tmp_path / "a.json").write_text(json.dumps([{"response": "b", "rating": [{"rating": 4}], "annotator": 3}]))
    (one,) = rejoinder.read(tmp_path / "a.json")
    assert one.ratings == (Rating(4, rater="3"),)
