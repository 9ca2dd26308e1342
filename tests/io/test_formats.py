"""The page of accepted forms: every example on it is read, and gives what stands below it."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import xlsxwriter

import rejoinder
from conftest import PROJECT
from rejoinder.cli.inputs import _mapped
from rejoinder.errors import RejoinderError
from rejoinder.io.names import NAMES, PERHAPS, RATING
from rejoinder.io.parse import to_record

PAGE = (PROJECT / "docs" / "formats.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"^```(csv|tsv|jsonl|json|xlsx)\n(.*?)^```\n\n```result\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `(\w+)` \| (`.*) \|$", re.MULTILINE)


class Shown(NamedTuple):
    """An example of the page and what is stated of it."""

    suffix: str
    text: str
    options: list[str]
    said: list[str]
    error: str
    records: list[dict[str, Any]]


def shown() -> list[Shown]:
    found = []
    for suffix, text, stated in EXAMPLE.findall(PAGE):
        lines = stated.splitlines()
        part = {mark: [line.removeprefix(mark) for line in lines if line.startswith(mark)] for mark in MARKS}
        records = [json.loads(line) for line in lines if line.startswith("{")]
        assert len(records) + sum(map(len, part.values())) == len(lines), stated
        found.append(Shown(suffix, text, part["--"], part["said: "], "".join(part["error: "]), records))
    return found


MARKS = ("--", "said: ", "error: ")


def written(path: Path, one: Shown) -> Path:
    if one.suffix == "xlsx":
        book = xlsxwriter.Workbook(path, {"strings_to_numbers": True})
        sheet = book.add_worksheet()
        for number, row in enumerate(csv.reader(one.text.splitlines())):
            sheet.write_row(number, 0, row)
        book.close()
    else:
        path.write_text(one.text, encoding="utf-8")
    return path


def how(options: list[str]) -> dict[str, Any]:
    (line,) = options or [""]
    name, _, value = line.partition(" ")
    return {"map": _mapped([value]), "turns": "last"} if name == "map" else {"turns": value or "last"}


@pytest.mark.parametrize("one", shown(), ids=lambda one: " ".join(one.text.split())[:50])
def test_every_example_of_the_page_is_read_as_it_says(tmp_path: Path, one: Shown) -> None:
    path, said = written(tmp_path / f"example.{one.suffix}", one), list[str]()
    if one.error:
        with pytest.raises(RejoinderError) as caught:
            list(rejoinder.read(path))
        assert str(caught.value) == f"{path}: {one.error}"
        return
    found = list(rejoinder.read(path, note=said.append, **how(one.options)))
    assert [line.removeprefix(f"{path}: ") for line in said] == one.said
    assert len(found) == len(one.records)
    for example, stated in zip(found, one.records, strict=True):
        record = to_record(example)
        if example.id == example.where:
            del record["id"]
        for beside in {"messages", "request", "reply"} - stated.keys():  # the page says that they stay
            record.pop(beside, None)
        assert record == stated


def test_the_page_is_all_examples() -> None:
    assert len(shown()) == PAGE.count("```result") > 15
    assert {one.suffix for one in shown()} == {"csv", "tsv", "jsonl", "json", "xlsx"}


def test_every_name_on_the_page_means_what_it_says() -> None:
    table = PAGE.partition("## Names that are understood")[2].partition("## ")[0]
    stated = {field: re.findall(r"`(\w+)`", names) for field, names in ROW.findall(table)}
    assert set(stated) == set(NAMES) - {"dataset"}
    for field, names in stated.items():
        known = frozenset().union(*NAMES[field], PERHAPS if field == RATING else ())
        assert set(names) <= known, field
