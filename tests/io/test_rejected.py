"""Rows of crowd workers whose work was not accepted are left out, and their number is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rejoinder
from conftest import Run
from rejoinder.example import Example

MTURK = {"HITId": "H1", "WorkerId": "W1", "Input.context": "Open?", "Input.response": "Yes.", "Answer.rating": "5"}
PROLIFIC = {"participant_id": "p1", "context": "Open?", "response": "Yes.", "rating": "5"}


@pytest.fixture
def ratings(tmp_path: Path) -> Callable[..., list[tuple[float, str | None]]]:
    """The ratings, and who gave them, that are read of rows in a table and in JSON."""

    def read(*rows: dict[str, Any], **how: Any) -> list[tuple[float, str | None]]:
        found = []
        lines, table = tmp_path / "in.jsonl", tmp_path / "in.csv"
        lines.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        cells = [[json.dumps(str(cell)) for cell in row.values()] for row in rows]
        table.write_text("\n".join(",".join(line) for line in [list(rows[0]), *cells]) + "\n")
        for file in (lines, table):
            (example,) = (line for line in rejoinder.read(file, **how) if isinstance(line, Example))
            found.append([(rating.value, rating.rater) for rating in example.ratings])
        assert found[0] == found[1]
        return found[0]

    return read


@pytest.mark.parametrize(
    ("form", "key", "state"),
    [
        (MTURK, "AssignmentStatus", "Rejected"),
        (MTURK, "AssignmentStatus", "Returned"),
        (MTURK, "AssignmentStatus", "Abandoned"),
        (MTURK, "AssignmentStatus", "REJECTED "),
        (MTURK, "ASSIGNMENT:status", "EXPIRED"),
        (MTURK, "_tainted", "true"),
        (PROLIFIC, "status", "REJECTED"),
        (PROLIFIC, "status", "RETURNED"),
        (PROLIFIC, "status", "TIMED-OUT"),
        (PROLIFIC, "Status", "Timed out"),
        (PROLIFIC, "submission_status", "timed_out"),
    ],
)
def test_rejected_rows_do_not_count(ratings: Any, form: dict[str, str], key: str, state: str) -> None:
    rater = "WorkerId" if form is MTURK else "participant_id"
    rating = "Answer.rating" if form is MTURK else "rating"
    fine = "false" if key == "_tainted" else "APPROVED"
    notes: list[str] = []
    rows = [{**form, key: fine}, {**form, rater: "x", rating: "1", key: state}]
    assert ratings(*rows, note=notes.append) == [(5.0, form[rater])]
    assert [note for note in notes if "1 row is left out" in note and state.strip() in note]


@pytest.mark.parametrize(
    ("form", "key", "state"),
    [
        (MTURK, "AssignmentStatus", "Submitted"),
        (MTURK, "AssignmentStatus", ""),
        (MTURK, "Input.status", "rejected"),
        (MTURK, "Answer.status", "rejected"),
        (PROLIFIC, "status", "AWAITING REVIEW"),
        (PROLIFIC, "status", "cancelled"),
        ({"rater": "p1", **dict(list(PROLIFIC.items())[1:])}, "status", "rejected"),
    ],
)
def test_what_is_not_rejected_counts(ratings: Any, form: dict[str, str], key: str, state: str) -> None:
    rater = next(iter({"WorkerId", "participant_id", "rater"} & form.keys()))
    rating = "Answer.rating" if form is MTURK else "rating"
    assert len(ratings({**form, key: "Approved"}, {**form, rater: "x", rating: "1", key: state})) == 2


def test_a_requester_who_fills_in_reject_rejects(ratings: Any) -> None:
    rows = [
        {**MTURK, "AssignmentStatus": "Submitted", "Approve": "x", "Reject": ""},
        {**MTURK, "WorkerId": "W2", "AssignmentStatus": "Submitted", "Approve": "", "Reject": "Random answers"},
        {**MTURK, "WorkerId": "W3", "AssignmentStatus": "Submitted", "Approve": "", "Reject": ""},
    ]
    assert [rater for _, rater in ratings(*rows)] == ["W1", "W3"]


def test_the_user_may_say_what_a_column_means(ratings: Any) -> None:
    rows = [{**PROLIFIC, "status": "Approved"}, {**PROLIFIC, "participant_id": "x", "status": "Rejected"}]
    with pytest.raises(ValueError, match="too many values"):  # two systems, so two replies
        ratings(*rows, map={"system": "status"})


def test_ratings_says_how_many(run: Run, tmp_path: Path) -> None:
    rows = [(w, s, r) for w, s, r in (("W1", "Approved", 5), ("W2", "Rejected", 1), ("W3", "Rejected", 1))]
    head = "HITId,WorkerId,AssignmentStatus,Input.context,Input.response,Answer.rating\n"
    (tmp_path / "in.csv").write_text(head + "".join(f"H1,{w},{s},Open?,Yes.,{r}\n" for w, s, r in rows))
    done = run("ratings", tmp_path / "in.csv", "--scale", "1,5", "-o", tmp_path / "out.jsonl")
    assert done.code == 0, done.err
    assert json.loads((tmp_path / "out.jsonl").read_text())["quality"] == {"overall": 5.0}
    assert "2 rows are left out" in done.err and "AssignmentStatus Rejected" in done.err
