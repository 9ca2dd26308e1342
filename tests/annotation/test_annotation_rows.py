"""Rows of raters: what leaves a study is input of the readers, and comes back into a study with all that it knew."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

import rejoinder
from rejoinder.annotation.answers import Answer, all_answers, next_place, save, task_at
from rejoinder.annotation.collected import collected
from rejoinder.annotation.design import PAIRWISE, Design, Question
from rejoinder.annotation.rows import export_rows, import_rows
from rejoinder.annotation.study import Study, annotate
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from studies import rate_all, raters, replies

TWO = Design(questions=(Question(), Question("safe", "Is it safe?", "yes/no", ())))
ODD = ["", "=1+1", "'=x", " a\r\nb ", "مرحبا", "👍\u200d", '["x"]', 'a,b"c;\td', "\x00\x1b[1m", "x" * 3000]


def rated(folder: Path, design: Design | None = None, **given: object) -> Study:
    """A study in which two of three raters have rated everything, the second without heed."""
    study = annotate(given.get("lines", replies()), folder, design=design)
    first, second, _ = raters(study)
    rate_all(study, first, 1)
    rate_all(study, second, 0 if design and design.pairwise else 1, heed=False)
    return study


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.tsv", "rows.jsonl.gz", "rows.parquet"])
@pytest.mark.parametrize("design", [None, TWO], ids=["one question", "two"])
def test_readers_take_the_rows(tmp_path: Path, name: str, design: Design | None) -> None:
    study = rated(tmp_path / "study", design)
    assert export_rows(study, tmp_path / name) == 24
    found = sorted(rejoinder.read(tmp_path / name), key=lambda one: one.id)
    for line, there in zip(found, sorted(collected(study).lines, key=lambda one: one.id), strict=True):
        assert isinstance(there, Example)
        assert (line.context, line.response, line.system) == (there.context, there.response, there.system)
        assert set(line.ratings) == set(there.ratings) and line.scales == there.scales


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.parquet"])
@pytest.mark.parametrize("design", [None, TWO, PAIRWISE], ids=["one question", "two", "pairs"])
def test_rows_come_back_into_a_study(tmp_path: Path, name: str, design: Design | None) -> None:
    study = rated(tmp_path / "study", design)
    export_rows(study, tmp_path / name)
    other = annotate(replies(), tmp_path / "other", design=design, raters=1, seed=3)
    people = tmp_path / f"people-{name}"
    renamed = tmp_path / "renamed.jsonl"
    export_rows(study, renamed)
    people.write_text(renamed.read_text().replace('"rater-', '"person-'))
    people = people.rename(tmp_path / "people.jsonl")
    with pytest.raises(UsageError, match="a rater 'rater-1' is in the study and has not said that"):
        import_rows(other, tmp_path / name)
    assert import_rows(other, people) == len(collected(study).lines) * 2
    assert import_rows(other, people) == 0  # once more is nothing new
    lines = {line.id: line for line in collected(other).lines}
    for line in collected(study).lines:
        there = lines[line.id]
        if isinstance(line, Example):
            assert isinstance(there, Example)
            assert [(one.value, one.dimension) for one in there.ratings] == [
                (one.value, one.dimension) for one in line.ratings
            ]
        else:
            assert not isinstance(there, Example) and there.votes == line.votes
    records = {record.name: record for record in collected(other).raters}
    for record in collected(study).raters[:2]:
        back = records[record.name.replace("rater", "person")]
        assert back == replace(record, name=back.name, assigned=0)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.parquet"])
def test_odd_texts_and_comments_come_back(tmp_path: Path, name: str) -> None:
    lines = [Example((f"{place}", text), text, id=str(place)) for place, text in enumerate(ODD)]
    study = annotate(lines, tmp_path / "study", raters=1, design=Design(checks=0))
    (rater,) = raters(study)
    while (place := next_place(study, rater)) is not None:
        task = task_at(study, rater, place)
        assert task is not None
        save(study, Answer(rater.number, task.item.number, {"overall": 3}, None, 1.5, ODD[task.item.number - 1][:9]))
    export_rows(study, tmp_path / name)
    assert import_rows(study, tmp_path / name) == 0  # all is known, to the last character of the texts
    other = annotate(lines, tmp_path / "other", raters=1, design=Design(checks=0))
    with pytest.raises(UsageError, match="a rater 'rater-1' is in the study"):
        import_rows(other, tmp_path / name)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"response": "Other."}, "the texts are not those that were rated"),
        ({"response": "Other.", "digest": None}, "the texts are none of this study"),
        ({"response": None}, "no texts"),
        ({"rater": ""}, "no name of a rater"),
        ({"rating": 9}, "is 9, expected an answer from 1 to 5"),
        ({"rating": None}, "is None, expected an answer from 1 to 5"),
        ({"rating": "x"}, "is 'x', expected a number"),
        ({"seconds": -5}, "is -5, expected 0 or more"),
        ({"seconds": math.nan}, "is nan, expected 0 or more"),
        ({"checks_failed": math.inf}, "is inf, expected 0 or more"),
        ({"when": "now"}, "is 'now', expected a time such as"),
    ],
)
def test_a_row_that_is_wrong_leaves_the_study_as_it_was(tmp_path: Path, change: dict[str, object], said: str) -> None:
    study = rated(tmp_path / "study")
    export_rows(study, tmp_path / "rows.jsonl")
    records = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    records = [{**record, "rater": f"new-{record['rater']}"} for record in records]
    records[-1] |= change
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    before = all_answers(study)
    with pytest.raises(DataError) as error:
        import_rows(study, tmp_path / "rows.jsonl")
    assert said in str(error.value) and str(error.value).startswith(f"{tmp_path / 'rows.jsonl'}:24: ")
    assert all_answers(study) == before and len(collected(study).raters) == 3


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl"])
def test_rows_without_an_overall_question_are_read_as_rows_of_raters(tmp_path: Path, name: str) -> None:
    design = Design(questions=(Question("fluency", "Is it fluent?"),), checks=0)
    study = annotate(replies(2), tmp_path / "study", raters=2, design=design)
    for rater in raters(study):
        rate_all(study, rater)
    export_rows(study, tmp_path / name)
    read = {line.id: line.ratings for line in rejoinder.read(tmp_path / name)}
    assert read == {line.id: line.ratings for line in collected(study).lines if isinstance(line, Example)}
