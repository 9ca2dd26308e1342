"""Cells that a spreadsheet would run are written as text, and come back as they were."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import Run, drawn
from rejoinder.example import Example
from rejoinder.io.blanks import is_error, is_sign
from rejoinder.io.formulas import guarded, plain

RISKY = "=+-@\t\r\n"
TEXTS = st.text(st.sampled_from(f"{RISKY}'0.eE a"), max_size=6) | st.text(max_size=8)


@given(TEXTS)
def test_a_cell_comes_back_as_it_was(text: str) -> None:
    assert plain(guarded(text)) == text


@given(TEXTS)
def test_no_cell_begins_as_a_formula_but_a_number(text: str) -> None:
    written = guarded(text)
    if written[:1] in RISKY and written:
        float(written)


@pytest.mark.parametrize("number", ["-3", "+1.5e2", "-.5", -3, -0.5, None])
def test_numbers_stay_as_they_are(number: object) -> None:
    assert guarded(number) == number


@drawn(50)
@given(
    response=TEXTS.filter(lambda text: not (is_sign(text) or is_error(text))),
    key=TEXTS.filter(lambda text: text.strip().isalnum() is False and text != ""),
)
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_tables_come_back_with_such_texts_and_columns(tmp_path: Path, name: str, response: str, key: str) -> None:
    example = Example((), response, id="=1+1", extra={f"={key}": "@x"})
    rejoinder.write([example], tmp_path / name)
    assert list(rejoinder.read(tmp_path / name)) == [example]


def test_scored_lines_run_nothing_in_a_spreadsheet(run: Run, tmp_path: Path) -> None:
    texts = ['=HYPERLINK("http://x";"y")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "'=1", "-3", "fine"]
    rejoinder.write(
        [Example((text,), text, references=(text,), system=text, id=text) for text in texts], tmp_path / "a.jsonl"
    )
    done = run("score", tmp_path / "a.jsonl", "-s", "length", "--format", "csv")
    assert done.code == 0, done.err
    table = list(csv.reader(done.out.splitlines()))
    for cell in (cell for row in table for cell in row if cell[:1] in RISKY and cell):
        float(cell)
    (tmp_path / "scored.csv").write_text(done.out, encoding="utf-8")
    assert [example.response for example in rejoinder.read(tmp_path / "scored.csv")] == texts


def test_a_study_runs_nothing_in_a_spreadsheet(run: Run, tmp_path: Path) -> None:
    examples = [
        Example(
            (f"q {number}",), "word " * (number % 7), dataset="=1+1", id=str(number), quality={"overall": number % 5}
        )
        for number in range(30)
    ]
    rejoinder.write(examples, tmp_path / "a.jsonl")
    done = run("study", tmp_path / "a.jsonl", "-s", "length", "--resamples", "100", "-o", tmp_path / "study.csv")
    assert done.code == 0, done.err
    rows = list(csv.DictReader((tmp_path / "study.csv").read_text(encoding="utf-8").splitlines()))
    assert {row["dataset"] for row in rows} == {"'=1+1"}
