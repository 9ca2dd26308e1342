"""Tables of every container as people save them: the same rows from each, and back from what we write."""

from __future__ import annotations

import gzip
import io
import json
import sys
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from conftest import Run, drawn
from rejoinder.data.files import Row, rows
from rejoinder.data.write import guarded, open_writer
from rejoinder.errors import DataError, UsageError

TABLE: list[list[Any]] = [
    ["Prompt", "Response", "Stars", "Topic"],
    ["Tea or coffee?", "Tea, please; “hot” – 3 €\nNow.", 4, "drinks"],
    ["Why?", "because", 2, ""],
]
CELLS = [dict(zip(TABLE[0], map(str, row), strict=True)) for row in TABLE[1:]]


def workbook(path: Path, *sheets: list[list[Any]]) -> Path:
    book = xlsxwriter.Workbook(path, {"strings_to_formulas": False, "default_date_format": "yyyy-mm-dd"})
    for table in sheets:
        sheet = book.add_worksheet()
        for number, row in enumerate(table):
            sheet.write_row(number, 0, row)
    book.close()
    return path


def as_text(separator: str) -> str:
    lines = []
    for row in TABLE:
        cells = [str(cell) for cell in row]
        quoted = (f'"{cell}"' if separator in cell or "\n" in cell else cell for cell in cells)
        lines.append(separator.join(quoted))
    return "\r\n".join(lines) + "\r\n"


def stop(error: DataError) -> None:
    raise error


def cells(path: Path | str, kind: str | None = None, note: Callable[[str], None] = print) -> list[dict[str, Any]]:
    found = list(rows(path, stop, kind, note))
    assert all(row.flat for row in found)
    return [row.data for row in found]


SAVED = {
    "CSV UTF-8": ("a.csv", as_text(",").encode("utf-8-sig")),
    "semicolons": ("a.csv", as_text(";").encode("utf-8-sig")),
    "tabs in .csv": ("a.csv", as_text("\t").encode()),
    "Unicode text": ("a.txt", as_text("\t").encode("utf-16")),
    "UTF-16, the other order": ("a.tsv", "\ufeff".encode("utf-16-be") + as_text("\t").encode("utf-16-be")),
    "UTF-16 in .csv": ("a.csv", as_text("\t").encode("utf-16")),
    "sep=": ("a.csv", b"sep=;\r\n" + as_text(";").encode()),
    "blank rows": ("a.csv", ("\r\n \r\n" + as_text(";") + ";;;\r\n ; ;;\r\n").encode()),
    "gzip": ("a.csv.gz", gzip.compress(as_text(",").encode())),
    "gzip by another name": ("a.csv", gzip.compress(as_text(",").encode())),
}


@pytest.mark.parametrize(("name", "data"), SAVED.values(), ids=SAVED)
def test_a_text_table_is_read_as_it_was_saved(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    assert cells(tmp_path / name) == CELLS


def containers(folder: Path) -> dict[str, bytes]:
    polars.DataFrame(CELLS).write_parquet(folder / "made.parquet")
    return {
        "csv": as_text(",").encode(),
        "tsv": as_text("\t").encode(),
        "jsonl": "".join(json.dumps(row) + "\n\n" for row in CELLS).encode(),
        "json": json.dumps(CELLS).encode(),
        "xlsx": workbook(folder / "made.xlsx", TABLE).read_bytes(),
        "parquet": (folder / "made.parquet").read_bytes(),
    }


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json", "xlsx", "parquet"])
@pytest.mark.parametrize("packed", [False, True])
def test_each_container_from_a_pipe_and_by_another_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, packed: bool
) -> None:
    data = containers(tmp_path)[kind]
    data = gzip.compress(data) if packed else data
    (tmp_path / "a[1].dat").write_bytes(data)
    paths: list[str | Path] = ["-", tmp_path / "a[1].dat"]
    for path in paths:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        found = list(rows(path, stop, kind))
        assert [row.data for row in found] == CELLS
        assert found[0].where.startswith("stdin:" if path == "-" else f"{path}:")
    (tmp_path / "a.csv").write_bytes(data)
    if kind in ("xlsx", "parquet"):
        assert cells(tmp_path / "a.csv") == CELLS, "the first bytes decide"


def test_places_of_rows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('sep=,\n\nresponse\n"a\nb"\nc\n')
    (tmp_path / "a.jsonl").write_text('\ufeff"a"\n\n"b"')
    (tmp_path / "a.json").write_text('[{"role": "user", "content": "hi"}]')
    (tmp_path / "b.json").write_text('["a", "b"]')
    workbook(tmp_path / "a.xlsx", [["Our study"], [], TABLE[0], [], TABLE[1]])
    places: dict[str, list[tuple[str, Any]]] = {
        "a.csv": [("4", {"response": "a\nb"}), ("6", {"response": "c"})],
        "a.jsonl": [("1", "a"), ("3", "b")],
        "a.json": [("item 1", [{"role": "user", "content": "hi"}])],
        "b.json": [("item 1", "a"), ("item 2", "b")],
        "a.xlsx": [("row 5", CELLS[0])],
    }
    for name, expected in places.items():
        flat = name.endswith(("csv", "xlsx"))
        assert list(rows(tmp_path / name, stop)) == [
            Row(f"{tmp_path / name}:{place}", data, flat) for place, data in expected
        ]


def test_blanks_after_each_separator_and_columns_without_a_name(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('prompt, answer, \n"Tea, or?", "No, ""not"" now.", 3\n')
    assert cells(tmp_path / "a.csv") == [{"prompt": "Tea, or?", "answer": 'No, "not" now.', "column 3": "3"}]
    (tmp_path / "a.csv").write_text("prompt, answer\nTea?, No.\n")
    assert cells(tmp_path / "a.csv") == [{"prompt": "Tea?", "answer": "No."}]
    (tmp_path / "a.csv").write_text("a;b,answer;stars\nx;y,no;3\n")
    assert cells(tmp_path / "a.csv") == [{"a": "x", "b,answer": "y,no", "stars": "3"}], "known names decide"


def test_a_folder_of_parquet_files_is_one_table(tmp_path: Path) -> None:
    for part, text in (("b", "2"), ("a", "1")):
        polars.DataFrame({"response": [text], "x": [{"y": None, "z": 1}]}).write_parquet(tmp_path / f"{part}.parquet")
    for name in ("_SUCCESS", ".a.crc"):
        (tmp_path / name).touch()
    found = list(rows(tmp_path, stop))
    assert [row.where for row in found] == [f"{tmp_path / part}.parquet:row 1" for part in "ab"]
    assert [row.data for row in found] == [{"response": text, "x": {"z": 1}} for text in "12"]


def test_cells_of_parquet_and_excel_become_what_json_and_csv_hold(tmp_path: Path) -> None:
    when = datetime(2026, 1, 2, 3, 4)
    frame = polars.DataFrame({"a": [None, when.date()], "b": [when, when], "m": [[{"role": "user", "x": None}], []]})
    frame.write_parquet(tmp_path / "a.parquet")
    assert cells(tmp_path / "a.parquet") == [
        {"a": None, "b": "2026-01-02T03:04:00", "m": [{"role": "user"}]},
        {"a": "2026-01-02", "b": "2026-01-02T03:04:00", "m": []},
    ]
    workbook(tmp_path / "a.xlsx", [["a", "b", "c", "d", "e"], [42, 3.5, True, date(2026, 1, 2), " =x "]])
    assert cells(tmp_path / "a.xlsx") == [{"a": "42", "b": "3.5", "c": "TRUE", "d": "2026-01-02", "e": " =x "}]


def test_the_sheet_with_a_known_name_is_read_and_its_merged_cells_repeated(tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(tmp_path / "a.xlsx")
    book.add_worksheet().write_formula(3, 1, "=1/0", None, "#DIV/0!")
    sheet = book.add_worksheet("Ratings")
    sheet.merge_range(0, 1, 0, 4, "Our study")
    sheet.write_row(2, 1, ["prompt", "answer", "rater", "rating"])
    sheet.merge_range(3, 1, 6, 1, "Tea?")
    for row, answer in ((3, "No."), (5, "Yes.")):
        sheet.merge_range(row, 2, row + 1, 2, answer)
        for place, name in enumerate(("ann", "bob")):
            sheet.write_row(row + place, 3, [name, row + place])
    book.close()
    notes: list[str] = []
    found = cells(tmp_path / "a.xlsx", note=notes.append)
    assert [tuple(row.values()) for row in found] == [
        *(("Tea?", "No.", "ann", "3"), ("Tea?", "No.", "bob", "4")),
        *(("Tea?", "Yes.", "ann", "5"), ("Tea?", "Yes.", "bob", "6")),
    ]
    assert len(notes) == 2 and "'Ratings'" in notes[0] and "prompt, answer" in notes[1]


def test_errors_of_formulas_refuse_rows_only_in_columns_that_are_read(tmp_path: Path) -> None:
    table = [
        *(["prompt", "answer", "topic"], ["Tea?", "#NAME?", "t"], ["Why?", "So.", "#VALUE!"], ["Tea?", "#N/A", "t"]),
        ["", "#DIV/0!", "#N/A"],
    ]
    book = xlsxwriter.Workbook(tmp_path / "a.xlsx")
    sheet = book.add_worksheet()
    for row, values in enumerate(table):
        for column, cell in enumerate(values):
            if cell.startswith("#"):
                sheet.write_formula(row, column, "=1/0", None, cell)
            else:
                sheet.write(row, column, cell)
    book.close()
    (tmp_path / "a.csv").write_text("".join(",".join(row) + "\n" for row in table))
    for name in ("a.xlsx", "a.csv"):
        errors: list[DataError] = []
        found = list(rows(tmp_path / name, errors.append))
        assert [list(row.data.values()) for row in found] == table[2:4]
        assert [error.field for error in errors] == ["answer"]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93])
def test_samples_of_an_inspect_log(tmp_path: Path, method: int) -> None:
    members = {"header.json": {"version": 2, "eval": {"model": "m"}}, "samples/1.json": {"id": 1}, "summaries.json": []}
    with zipfile.ZipFile(tmp_path / "a.zip", "w", method if method != 93 else zipfile.ZIP_STORED) as archive:
        for name, value in members.items():
            data = json.dumps(value).encode()
            if method == 93:
                zstandard = pytest.importorskip("zstandard")
                data = zstandard.compress(data)
            archive.writestr(name, data)
    data = (tmp_path / "a.zip").read_bytes()
    if method == 93:  # Python before 3.14 does not write this method: mark the stored members as such
        for signature, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
            parts = data.split(signature)
            data = signature.join(
                [parts[0], *(part[: place - 4] + b"\x5d\0" + part[place - 2 :] for part in parts[1:])]
            )
    (tmp_path / "a.zip").write_bytes(data)
    found = list(rows(tmp_path / "a.zip", stop))
    assert found == [
        Row(f"{tmp_path / 'a.zip'}:samples/1.json", {"version": 2, "eval": {"model": "m"}, "sample": {"id": 1}})
    ]


# What we write

RISKY = "=+-@\t\r\n"
TEXTS = st.text(st.sampled_from(f"{RISKY}'0.eE a"), max_size=6) | st.text(max_size=8)


def written(path: Path, records: list[dict[str, Any]]) -> Path:
    with open_writer(path) as put:
        for record in records:
            put(record)
    return path


@drawn(60)
@given(text=TEXTS, key=TEXTS.filter(lambda key: key.strip() not in ("", "id")))
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.xlsx"])
def test_tables_come_back_as_they_were_written(tmp_path: Path, name: str, text: str, key: str) -> None:
    record, cell = {"id": "1", f"={key}": text}, guarded(text)
    assert cell[:1] not in RISKY or not cell or float(cell) is not None, "no formula, only a number"
    assert cells(written(tmp_path / name, [record])) == [record]


def test_an_excel_table_keeps_the_columns_and_types(tmp_path: Path) -> None:
    table: list[dict[str, Any]] = [
        {"no": "007", "stars": "4", "share": "0.25", "long": "12345678901234567", "scores": {"length": 3.5}},
        {"no": "-0", "stars": "", "more": "=1+1", "scores": {"length": None}},
    ]
    path = written(tmp_path / "a.xlsx", table)
    assert cells(path) == [
        {**dict.fromkeys(("no", "stars", "share", "long", "scores.length", "more"), ""), **row}
        for row in (
            {"no": "007", "stars": "4", "share": "0.25", "long": "12345678901234567", "scores.length": "3.5"},
            {"no": "-0", "more": "=1+1"},
        )
    ]
    import python_calamine

    sheet = python_calamine.load_workbook(path).get_sheet_by_index(0).to_python()
    assert sheet[1] == ["007", 4, 0.25, "12345678901234567", 3.5, ""]
    assert path.read_bytes() == written(tmp_path / "b.xlsx", table).read_bytes()
    with pytest.raises(UsageError):
        written(tmp_path / "c.xlsx", [{"response": "x" * 40_000}])
    assert not (tmp_path / "c.xlsx").exists()


def test_scores_of_a_table_come_back_in_its_own_columns(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Frage,Antwort,prompt,answer\n1,x,Tea?,No.\n2,y,Why?,So.\n")
    for name in ("b.csv", "b.xlsx"):
        assert run("score", tmp_path / "a.csv", "-s", "length", "-o", tmp_path / name).code == 0
        found = cells(tmp_path / name)
        assert list(found[0])[:5] == ["Frage", "Antwort", "prompt", "answer", "scores.length"]
        assert [(row["Frage"], row["answer"], float(row["scores.length"])) for row in found] == [
            *(("1", "No.", 1), ("2", "So.", 1)),
        ]
