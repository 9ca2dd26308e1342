"""Spreadsheets as people have them: .xlsx, what Excel saves as text, wrong suffixes, and every format from a pipe."""

from __future__ import annotations

import io
import json
import random
import sys
import zipfile
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import polars
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import Run, drawn, refused
from rejoinder.errors import DataError
from rejoinder.example import Example, Rating

ROWS: list[list[Any]] = [
    ["Prompt", "Response", "Stars", "Topic"],
    ["Tea or coffee?", "Tea, please; “hot” – 3 €", 4, "drinks"],
    ["Why?", "=because", 2, None],
]
TEXTS = ["Tea, please; “hot” – 3 €", "=because"]


def workbook(path: Path, *sheets: list[list[Any]]) -> Path:
    book = xlsxwriter.Workbook(path, {"strings_to_formulas": False, "default_date_format": "yyyy-mm-dd"})
    for rows in sheets:
        sheet = book.add_worksheet()
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
    book.close()
    return path


def as_text(mark: str) -> str:
    """The same table as Excel saves it: cells quoted only where they must be, lines ended by CR and LF."""
    lines = []
    for row in ROWS:
        cells = ["" if cell is None else str(cell) for cell in row]
        lines.append(mark.join(f'"{cell}"' if mark in cell or '"' in cell else cell for cell in cells))
    return "\r\n".join(lines) + "\r\n"


def check(found: list[Example]) -> None:
    assert [example.response for example in found] == TEXTS
    assert [example.context for example in found] == [("Tea or coffee?",), ("Why?",)]
    assert [example.ratings for example in found] == [(Rating(4),), (Rating(2),)]
    assert [example.extra for example in found] == [{"Topic": "drinks"}, {}]


def test_a_workbook(tmp_path: Path) -> None:
    path, said = workbook(tmp_path / "a.xlsx", ROWS), list[str]()
    found = list(rejoinder.read(path, note=said.append))
    check(found)
    assert found[1].where == f"{path}:row 3" and said == [f"{path}: read Prompt as context, Stars as rating"]


EXCEL = {
    "CSV UTF-8": ("a.csv", as_text(",").encode("utf-8-sig")),
    "CSV UTF-8 where the comma is decimal": ("a.csv", as_text(";").encode("utf-8-sig")),
    "Unicode text": ("a.txt", as_text("\t").encode("utf-16")),
    "Unicode text, renamed": ("a.csv", as_text("\t").encode("utf-16")),
    "UTF-16 of the other order": ("a.tsv", "\ufeff".encode("utf-16-be") + as_text("\t").encode("utf-16-be")),
    "with a line for Excel": ("a.csv", b"sep=;\r\n" + as_text(";").encode()),
    "with rows of nothing at the end": ("a.csv", (as_text(";") + ";;;\r\n;;;\r\n").encode("utf-8-sig")),
}


@pytest.mark.parametrize(("name", "data"), EXCEL.values(), ids=EXCEL)
def test_what_excel_saves_is_read(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    check(list(rejoinder.read(tmp_path / name)))


def test_what_windows_saves_in_its_own_code_page_is_told_in_one_line(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(as_text(";").encode("cp1252"))
    message = (
        f"{path}:2: byte 0x93 in cell 2 is not UTF-8. Save it as UTF-8 (from Excel: .xlsx or CSV UTF-8; else: iconv -f "
        "CP1252 -t UTF-8)"
    )
    done = run("score", path, "-s", "length")
    assert (done.code, done.out) == (3, "") and done.err.endswith(f"rejoinder: {message}\n")
    path.write_bytes(path.read_bytes().decode("cp1252").encode())  # what the message says
    check(list(rejoinder.read(path)))


@pytest.mark.parametrize("kind", ["UTF-16LE", "UTF-16BE"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_utf_16_without_its_mark_is_told_with_what_helps(tmp_path: Path, name: str, kind: str) -> None:
    path = tmp_path / name
    text = "id;prompt;answer\n1;Tea, ja?;Nein ü\n" if name == "a.csv" else '{"response": "ü"}\n'
    path.write_bytes(text.encode(kind))
    remedy = f"looks like {kind} without its byte order mark. Save it as UTF-8: iconv -f {kind} -t UTF-8"
    with pytest.raises(DataError) as caught:
        list(rejoinder.read(path))
    assert str(caught.value) == f"{path}:1: {remedy}"
    path.write_bytes(path.read_bytes().decode(kind).encode())
    assert len(list(rejoinder.read(path))) == 1, "the remedy is one"


@drawn(40)
@given(texts=st.lists(st.text(max_size=20), min_size=1, max_size=4), order=st.sampled_from(["utf-16-le", "utf-16-be"]))
def test_utf_16_is_read_as_utf_8_is(tmp_path: Path, texts: list[str], order: str) -> None:
    text = "".join(json.dumps({"response": one}, ensure_ascii=False) + "\n" for one in texts)
    (tmp_path / "a.jsonl").write_bytes(f"\ufeff{text}".encode(order))
    assert [example.response for example in rejoinder.read(tmp_path / "a.jsonl")] == texts


def test_damaged_utf_16_is_told_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"response": "a"}\n{"response": "b"}\n'.encode("utf-16") + b"\x00\xd8x\x00\n\x00")
    skipped: list[DataError] = []
    assert [example.response for example in rejoinder.read(path, on_bad=skipped.append)] == ["a", "b"]
    assert str(skipped[0]).startswith(f"{path}:3: byte 0x00 at column")


def test_cells_of_a_workbook_are_the_texts_of_a_csv_file(tmp_path: Path) -> None:
    row = ["", 42, 4.0, 3.5, True, date(2026, 1, 2), " x "]
    path = workbook(tmp_path / "a.xlsx", [["", "response", "rating", "half", "ok", "on", "note"], row])
    (example,) = rejoinder.read(path)
    assert (example.response, example.ratings) == ("42", (Rating(4),))
    assert example.extra == {"half": "3.5", "ok": "TRUE", "on": "2026-01-02", "note": " x "}


def test_blank_rows_before_the_header_and_between_rows(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [[], [None], ROWS[0], [], ROWS[1], ["", ""], ROWS[2], []])
    found = list(rejoinder.read(path))
    check(found)
    assert [example.where for example in found] == [f"{path}:row 5", f"{path}:row 7"]


def test_which_of_several_sheets_is_read_is_said(tmp_path: Path) -> None:
    path, said = workbook(tmp_path / "a.xlsx", [], [["How to rate"], ["Be fair"]], ROWS), list[str]()
    check(list(rejoinder.read(path, note=said.append)))
    assert said[0] == f"{path}: read the sheet 'Sheet3', not 'Sheet2'"


def test_a_workbook_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    path = tmp_path / "a.xlsx"
    workbook(path, [])
    refused(run("score", path), 3, f"{path}: holds no record. Give a file with at least one")
    path.write_bytes(b"PK\x03\x04 and no more")
    done = run("score", path)
    assert done.code == 3 and "not a readable spreadsheet (" in done.err and done.err.count("\n") == 1
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<a/>")
    assert "not a readable spreadsheet (" in run("score", path).err


def test_a_workbook_damaged_anywhere_is_never_a_fault_of_ours(tmp_path: Path) -> None:
    noise, path = random.Random(0), workbook(tmp_path / "a.xlsx", ROWS)
    whole = path.read_bytes()
    for _ in range(80):
        data = bytearray(whole)
        data[noise.randrange(4, len(data))] ^= 1 << noise.randrange(8)
        path.write_bytes(data)
        skipped: list[DataError] = []
        read = list(rejoinder.read(path, on_bad=skipped.append))
        assert skipped or len(read) == 2


def test_one_cell_far_out_does_not_fill_the_memory(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "a.xlsx"
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["prompt", "response"])
    sheet.write_row(1, 0, ["hi", "ho"])
    sheet.write(1_048_575, 16_383, "x")
    book.close()
    refused(
        run("score", path),
        3,
        f"{path}: a cell far out makes sheets of 17,179,869,184 cells, expected at most 50,000,000. Delete what stands "
        "outside the table, or save it as CSV",
    )


# By another name, and from a pipe


def every_format(tmp_path: Path) -> dict[str, bytes]:
    records = [{"prompt": row[0], "response": row[1], "stars": row[2]} for row in ROWS[1:]]
    workbook(tmp_path / "made.xlsx", ROWS)
    polars.DataFrame(records).write_parquet(tmp_path / "made.parquet")
    return {
        "csv": as_text(",").encode(),
        "tsv": as_text("\t").encode(),
        "jsonl": "\n".join(map(json.dumps, records)).encode(),
        "json": json.dumps(records, indent=1).encode(),
        "xlsx": (tmp_path / "made.xlsx").read_bytes(),
        "parquet": (tmp_path / "made.parquet").read_bytes(),
    }


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json", "xlsx", "parquet"])
def test_every_format_from_a_pipe_and_by_a_wrong_name(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    data = every_format(tmp_path)[kind]
    (tmp_path / "a.dat").write_bytes(data)
    for path in ("-", tmp_path / "a.dat"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        done = run("score", path, "-s", "length", "--input-format", kind)
        assert done.code == 0, done.err
        assert [record["response"] for record in done.records] == TEXTS
        assert [record["ratings"]["overall"] for record in done.records] == [[4], [2]]


def test_what_its_first_bytes_tell_is_read_whatever_its_name(tmp_path: Path) -> None:
    data = every_format(tmp_path)
    for kind in ("xlsx", "parquet"):
        (tmp_path / "a.csv").write_bytes(data[kind])
        assert [example.response for example in rejoinder.read(tmp_path / "a.csv")] == TEXTS


def test_another_name_is_told_with_the_remedy(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "a.dat"
    path.write_text("response\na\n")
    done = run("score", path)
    assert done.code == 2 and done.err.endswith("Of a file by another name say what it is: --input-format csv\n")


def test_a_table_on_standard_input_is_told_with_the_remedy(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(as_text(",").encode())))
    refused(
        run("score", "-"),
        3,
        "stdin:1: broken JSON (Expecting value at column 1). Standard input is read as JSON lines, one object a line; "
        "of anything else say --input-format csv",
    )


# Cells


@pytest.mark.parametrize(
    ("cell", "turns"),
    [
        ("[laughs] hi", ("[laughs] hi",)),
        ("{not json", ("{not json",)),
        ('["one", "two"]', ("one", "two")),
        ("['one', \"it's\"]", ("one", "it's")),
        ('["one", ]', ('["one", ]',)),
        ("[5]", ("[5]",)),
        ("['one' 'two']", ("['one' 'two']",)),
        ('[{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]', ("one", "two")),
        ("one __eou__ two __eou__", ("one", "two")),
        ("User: one\nBot: two\nand more\nUser: three", ("one", "two\nand more", "three")),
        ("\n\nHuman: one\n\nAssistant: two", ("one", "two")),
        ("System: be kind\nUser: one", ("one",)),
        ("Customer: one\nAgent: two\nCustomer: three", ("one", "two", "three")),
        ("Support: one\nVisitor: two", ("one", "two")),
        ("Customer: one\nJo: two\nCustomer: three", ("Customer: one\nJo: two\nCustomer: three",)),
        ("He said: User: no", ("He said: User: no",)),
        ("[" * 5000, ("[" * 5000,)),
    ],
)
def test_a_context_cell_holds_a_list_speakers_or_just_text(tmp_path: Path, cell: str, turns: tuple[str, ...]) -> None:
    path = workbook(tmp_path / "a.xlsx", [["context", "response", "references"], [cell, "[sic]", cell]])
    (example,) = rejoinder.read(path)
    assert (example.context, example.response) == (turns, "[sic]")
    path = tmp_path / "a.jsonl"
    if cell[:1] not in "[{":
        path.write_text(json.dumps({"context": cell, "response": "x"}))
        (example,) = rejoinder.read(path)
        assert example.context == turns, "a text in JSON is read by the same rules"


def test_a_cell_merged_over_several_rows_is_of_each(tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(tmp_path / "a.xlsx")
    sheet = book.add_worksheet()
    sheet.merge_range(0, 1, 0, 4, "Our study")  # above the header, which stands in the third row
    sheet.write_row(2, 1, ["prompt", "answer", "rater", "rating"])
    sheet.merge_range(3, 1, 8, 1, "Tea?")
    for row, answer in ((3, "No."), (5, "Yes.")):
        sheet.merge_range(row, 2, row + 1, 2, answer)
        for place, name in enumerate(("ann", "bob")):
            sheet.write_row(row + place, 3, [name, row + place])
    book.close()
    said: list[str] = []
    found = list(rejoinder.read(tmp_path / "a.xlsx", note=said.append))
    assert [(one.context, one.response, [rating.value for rating in one.ratings]) for one in found] == [
        (("Tea?",), "No.", [3, 4]),
        (("Tea?",), "Yes.", [5, 6]),
    ]
    assert said[0].endswith("a.xlsx: cells merged over several rows were read as the same in each: prompt, answer")


def test_errors_of_formulas_are_what_they_are_in_a_csv_file(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        *(["prompt", "answer", "rating", "topic"], ["Tea?", "No.", 1, "t"], ["Tea?", "#NAME?", 2, "t"]),
        *(["Tea?", "Yes.", "#DIV/0!", "t"], ["#REF!", "Yes.", 4, "t"], ["Tea?", "#N/A", 5, "t"]),
        *(["Why?", "So.", 3, "#VALUE!"], ["", "", "#DIV/0!", ""]),
    ]
    book = xlsxwriter.Workbook(tmp_path / "a.xlsx")
    book.add_worksheet().write(0, 0, "Our study")
    sheet = book.add_worksheet()
    for row, column in product(range(len(rows)), range(4)):
        cell = rows[row][column]
        if str(cell).startswith("#"):
            sheet.write_formula(row, column, "=1/0", None, cell)
        else:
            sheet.write(row, column, cell)
    book.close()
    (tmp_path / "a.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    for name in ("a.xlsx", "a.csv"):
        said, bad = list[str](), list[DataError]()
        found = list(rejoinder.read(tmp_path / name, on_bad=bad.append, note=said.append))
        assert [(one.response, one.rating(), one.extra["topic"]) for one in found] == [
            *(("No.", 1, "t"), ("", 5, "t"), ("So.", 3, "#VALUE!")),
        ]
        assert [one.field for one in bad] == ["response", "rating", "context"]
        assert said[-1].endswith("cells with '#N/A' are read as empty: 1 under answer")


def test_a_title_above_the_header_is_passed_over(tmp_path: Path) -> None:
    check(list(rejoinder.read(workbook(tmp_path / "a.xlsx", [["Our study"], [None, "second wave"], [], *ROWS]))))
    path = workbook(tmp_path / "b.xlsx", [["Text"], ["Answer"], ["No."]])
    assert [one.response for one in rejoinder.read(path, map={"response": "Text"})] == ["Answer", "No."]


def test_a_blank_behind_each_separator_is_no_part_of_the_cell(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('prompt, answer, rating\n"Tea, or?", "No, ""not"" now.", 3\nWhy?, So., 4\n   \nHow?, x, 2\n')
    first, second, third = rejoinder.read(path)
    assert (first.context, first.response, second.response, third.response) == (
        *(("Tea, or?",), 'No, "not" now.', "So.", "x"),
    )
    path.write_text("prompt,answer\nTea?, No.\n")
    assert [one.response for one in rejoinder.read(path)] == [" No."]  # the text may begin so


@pytest.mark.parametrize(
    ("header", "doubled"),
    [
        ("prompt,answer,answer.1", "answer"),
        ("Prompt,answer,Prompt.1", "Prompt"),
        ("prompt,answer,rating,rating.1", "rating"),
        ("prompt,answer,score,score.1", "score"),
        ("id,messages,messages.1", "messages"),
        ("id,prompt,answer,rating,id.1", None),
        ("prompt,answer,rating,label,label.1", None),
        ("prompt,answer,rating,agent,agent.1", None),  # beside an answer it is no reply
    ],
)
def test_a_column_that_pandas_doubled_is_told_where_it_decides(
    tmp_path: Path, header: str, doubled: str | None
) -> None:
    path, names = tmp_path / "a.csv", header.split(",")
    path.write_text(f"{header}\n{','.join(map(str, range(1, len(names) + 1)))}\n")
    if doubled is None:
        (example,) = rejoinder.read(path)
        assert example.extra[names[-1]] == str(len(names))
        return
    with pytest.raises(DataError, match=f'field "{doubled}.1": pandas doubled the column {doubled!r}, and only one'):
        list(rejoinder.read(path))
