"""Rows of totals at the foot of a table: no reply was rated there."""

from __future__ import annotations

from pathlib import Path

import pytest

import rejoinder
from conftest import Run
from rejoinder.errors import DataError

SOUND = [
    "Tea?,No.,2,a",
    "Why?,,1,a",
    "Total?,,1,a",
    "What is the average?,,1,a",
    ",,1,a",
    "Mean,So so.,3,a",
    "Total of 3/5?,,2,a",
    "Mean 3 of 5 men?,,2,a",
]


def read(path: Path, header: str, *rows: str) -> tuple[list[str], list[str]]:
    """The replies of a table, and what is said of its bad lines."""
    path.write_text("\n".join([header, *rows]) + "\n")
    bad: list[DataError] = []
    return [one.response for one in rejoinder.read(path, on_bad=bad.append)], [error.problem for error in bad]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("Average,,3.4,", "the row of 'Average' has no reply, so it seems to sum up others"),
        ("TOTAL:,,17,", "the row of 'TOTAL:' has no reply"),
        ('Mean rating,,"3,4",', "the row of 'Mean rating' has no reply"),
        (",Grand total,17,", "the row of 'Grand total' has no reply"),
        (",,60%,Average", "the row of 'Average' has no reply"),
        ("Total,,,", "the row of 'Total' has no reply"),
        ("Average: 3.4,,3.4,", "the row of 'Average: 3.4' has no reply"),
        ("Total: 20.5,,,", "the row of 'Total: 20.5' has no reply"),
        ("Average: 60%,,60%,", "the row of 'Average: 60%' has no reply"),
        ("Average: 3.4/5,,3.4,", "the row of 'Average: 3.4/5' has no reply"),
        ("Average,,3.4/5,", "the row of 'Average' has no reply"),
        (",Average rating: 3.4 out of 5,3.4,", "the row of 'Average rating: 3.4 out of 5' has no reply"),
        ("Mean (n=50): 3.4 ± 1.1,,3.4,", "the row of 'Mean (n=50): 3.4 ± 1.1' has no reply"),
        ("Total (n=50),,60 %,", "the row of 'Total (n=50)' has no reply"),
        ("Total: 50 ratings,,,", "the row of 'Total: 50 ratings' has no reply"),
        ("Total n = 50,,,", "the row of 'Total n = 50' has no reply"),
        ("n=50,,3.4,", "the row of 'n=50' has no reply"),
        ("Total (n=20),,17,", "the row of 'Total (n=20)' has no reply"),
        (",Average score (1-5),3.4,", "the row of 'Average score (1-5)' has no reply"),
        ("Mean (SD),,3.4,", "the row of 'Mean (SD)' has no reply"),
        (",,3.4,", "nothing but numbers, neither a reply nor what it replies to"),
    ],
)
def test_a_row_of_totals_is_a_bad_line(tmp_path: Path, row: str, problem: str) -> None:
    replies, bad = read(tmp_path / "a.csv", "prompt,answer,stars,model", *SOUND, row)
    assert replies == ["No.", "", "", "", "", "So so.", "", ""]
    assert len(bad) == 1
    assert bad[0].startswith(problem)


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("answer,stars", ["No.,2", ",1", "Average,3", "Total,1"]),  # nobody says what was asked
        ("id,prompt,answer,stars", ["1,Tea?,No.,2", "2,,,1", "3,Total?,,1"]),
        ("id,prompt,answer,stars", ["1,Tea?,No.,2", "4,Count,,1", "5,,Max,4", "6,Total (n=20),,1"]),
    ],
)
def test_an_empty_reply_that_was_rated_is_none(tmp_path: Path, header: str, rows: list[str]) -> None:
    replies, bad = read(tmp_path / "a.csv", header, *rows)
    assert len(replies) == len(rows)
    assert not bad


def test_a_label_for_an_id_is_a_row_of_totals(tmp_path: Path) -> None:
    replies, bad = read(tmp_path / "a.csv", "id,prompt,answer,stars", "1,Tea?,No.,2", "Mean (n=1),,,2", ",Total,,2")
    assert replies == ["No."]
    assert [problem.partition(" has ")[0] for problem in bad] == ["the row of 'Mean (n=1)'", "the row of 'Total'"]


def test_a_study_is_not_given_a_row_of_totals(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "a.csv"
    rows = [f"Question {n}?,{'No. ' * (n % 5 + 1)},{n % 5 + 1}" for n in range(20)]
    path.write_text("\n".join(["prompt,answer,stars", *rows, "Average,,3"]) + "\n")
    stopped = run("study", str(path), "-s", "length")
    assert stopped.code == 3
    assert f"{path}:22: the row of 'Average' has no reply, so it seems to sum up others" in stopped.err
    skipping = run("study", str(path), "-s", "length", "--on-error", "skip")
    assert (skipping.code, "20 lines" in skipping.out) == (0, True)
