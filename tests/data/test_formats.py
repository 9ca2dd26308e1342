"""Formats: each sample is read as its examples say, and each row is of exactly one format."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rejoinder.data import format as format_module
from rejoinder.data.examples import to_record
from rejoinder.data.files import Row, rows
from rejoinder.data.format import Format, candidates, detect, each, formats, keys
from rejoinder.data.formats.annotation import project_rows
from rejoinder.data.formats.surveys import accepted
from rejoinder.data.read import raise_error, read_lines
from rejoinder.errors import ColumnError, DataError
from rejoinder.example import Example, Pair

FOLDER = Path(__file__).parent / "formats"
NAMES = [folder.name for folder in sorted(FOLDER.iterdir())]


def samples(name: str) -> list[Path]:
    return sorted((FOLDER / name).glob("sample*"))


def as_record(line: Example | Pair) -> dict[str, Any]:
    if isinstance(line, Pair):
        replies = [to_record(reply) for reply in line.replies]
        return {"id": line.id, "pair": replies, "preferred": line.preferred, "votes": list(line.votes)}
    return to_record(line)


def holds(record: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return isinstance(record, Mapping) and all(holds(record.get(key), value) for key, value in expected.items())
    if isinstance(expected, list) and expected and isinstance(expected[0], dict):
        return len(record or ()) == len(expected) and all(map(holds, record, expected))
    return bool(record == expected)


def test_every_format_has_a_sample() -> None:
    assert {kind.name for kind in formats()} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_samples_are_read_as_their_examples_say(name: str) -> None:
    expected = [json.loads(line) for line in (FOLDER / name / "examples.jsonl").read_text().splitlines()]
    records = [as_record(line) for file in samples(name) for line in read_lines(file)]
    for record, wanted in zip(records, expected, strict=True):
        assert holds(record, wanted), f"{record}\n{wanted}"


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*/map.json")), ids=lambda file: file.parent.name)
def test_a_map_reads_what_it_names(file: Path) -> None:
    case = json.loads(file.read_text())
    mapping = {ours: tuple(filter(None, [theirs])) for ours, theirs in case["map"].items()}
    (first, *_) = map(as_record, read_lines(file.parent / case["file"], map=mapping))
    assert holds(first, case["first"]), first


def test_each_row_is_of_one_format_in_every_order(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(name, row) for name in NAMES for file in samples(name) for row in rows(file, raise_error)]
    for seed in range(50):
        order = random.Random(seed).sample(formats(), len(formats()))
        monkeypatch.setattr(format_module, "formats", lambda order=tuple(order): order)
        candidates.cache_clear()
        assert [(name, kind.name if (kind := detect(row)) else None) for name, row in found] == [
            (name, name) for name, _ in found
        ]
    candidates.cache_clear()


def test_two_formats_that_do_not_contain_each_other_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = tuple(Format(name, "", keys(*sets), each(None)) for name, *sets in (("x", "a b"), ("y", "b c", "a b c d")))  # type: ignore[arg-type]
    monkeypatch.setattr(format_module, "formats", lambda: kinds)
    candidates.cache_clear()
    with pytest.raises(ColumnError) as caught:
        detect(Row("f:3", dict.fromkeys("abc")))
    assert str(caught.value).startswith("f:3: ") and "--input-format" in str(caught.value)
    assert detect(Row("f:1", dict.fromkeys("abcd"))) is kinds[1]
    candidates.cache_clear()


@pytest.mark.parametrize("name", ["completions", "langfuse-observations", "ollama", "openinference", "otel"])
def test_calls_without_a_reply_are_left_out_and_counted(name: str) -> None:
    notes: list[str] = []
    for file in samples(name):
        list(read_lines(file, note=notes.append, input_format=name))
    assert sum(note.endswith(": 1") for note in notes) == 1, notes


def test_a_bad_part_of_a_document_is_skipped_alone(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    case = {"name": "t", "input": "Tea?", "actualOutput": "No.", "metricsData": []}
    file.write_text(json.dumps({"testCases": [case, {**case, "metricsData": 3}, case], "metricsScores": []}))
    bad: list[DataError] = []
    assert len(list(read_lines(file, on_error=bad.append))) == 2
    assert [error.where.removeprefix(str(file)) for error in bad] == [":item 1#2"]


def test_rows_that_were_not_accepted_are_left_out_and_counted() -> None:
    people = [("W1", "Approved", "5"), ("W2", "Rejected", "1"), ("W3", "Submitted", "4"), ("W4", "Returned", "2")]
    given = [
        {"HITId": "H", "WorkerId": who, "AssignmentStatus": state, "Input.response": "Yes.", "Answer.rating": stars}
        for who, state, stars in people
    ]
    notes: list[str] = []
    kept = list(accepted([Row("a.csv:2", row, flat=True) for row in given], notes.append))
    assert [row.data["WorkerId"] for row in kept] == ["W1", "W3"]
    assert len(notes) == 1 and ": 2 (" in notes[0]
    choices = {"WorkerId": "W1", "Answer.q.1": "false", "Answer.q.2": "true"}
    (row,) = accepted([Row("a.csv:2", choices, flat=True)], notes.append)
    assert row.data == {"WorkerId": "W1", "Answer.q": "2"}


def test_a_rating_project_is_read_without_an_extra(tmp_path: Path) -> None:
    content = {"lines": [{"id": "1", "context": ["Tea?"], "response": "No."}]}
    design = {"question": [{"name": "overall", "scale": [1, 5]}]}
    (tmp_path / "study.json").write_text('{"database": null}')
    with closing(sqlite3.connect(tmp_path / "study.sqlite")) as project, project:
        for table, *row in [
            ("facts(name, value)", "version", "1"),
            ("facts(name, value)", "design", json.dumps(design)),
            ("raters(number, name, checks)", 1, "ann", None),
            ("items(number, block, content)", 1, 0, json.dumps(content)),
            ("answers(rater, item, answers, seconds, at)", 1, 1, '{"overall": 4}', 1.5, 2.0),
        ]:
            project.execute(f"CREATE TABLE IF NOT EXISTS rejoinder_{table}")
            project.execute(f"INSERT INTO rejoinder_{table} VALUES ({','.join('?' * len(row))})", row)
    ((_, record),) = project_rows(tmp_path)
    assert record == {
        **content["lines"][0],
        "scale": [1, 5],
        "ratings": {"overall": [4]},
        "raters": {"overall": ["ann"]},
    }
    (tmp_path / "study.sqlite").write_bytes(b"SQLite format 3\x00" + b"x" * 100)
    with pytest.raises(DataError) as caught:
        list(project_rows(tmp_path))
    assert str(caught.value).startswith(str(tmp_path))
