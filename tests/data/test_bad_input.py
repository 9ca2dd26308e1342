"""Files that cannot be read, or only in part: the class of the error, its file, line and field, and all other rows."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from conftest import drawn
from rejoinder.data import files, limits
from rejoinder.data.files import Row, rows
from rejoinder.errors import ColumnError, DataError, MissingAsset, RejoinderError, UsageError

LINE = b'{"response": "a"}\n'
TABLE = b"prompt,response\nhi,ho\n"
SHEET = "xl/worksheets/sheet1.xml"
LONG = b"x" * 1_500
ROW_3 = b'<row r="3"><c r="A3"><v>1</v></c><c r="B3" %s</c></row>'


def workbook(edit: Callable[[str, bytes], bytes] = lambda _, data: data, more: dict[str, bytes] | None = None) -> bytes:
    """A workbook of a header and a row, its members edited."""
    buffer, out = io.BytesIO(), io.BytesIO()
    book = xlsxwriter.Workbook(buffer)
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["prompt", "response"])
    sheet.write_row(1, 0, ["hi", "ho"])
    book.close()
    with zipfile.ZipFile(buffer) as made, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in made.namelist():
            new.writestr(name, edit(name, made.read(name)))
        for name, data in (more or {}).items():
            new.writestr(name, data)
    return out.getvalue()


def with_row(xml: bytes) -> bytes:
    return workbook(lambda name, data: data.replace(b"</sheetData>", xml + b"</sheetData>") if name == SHEET else data)


def parquet(**columns: list[str]) -> bytes:
    buffer = io.BytesIO()
    polars.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


def log(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/") + ".json", data)
    return buffer.getvalue()


# name of the file, its bytes, class of the error, place behind the file's name, field, rows that are read
BAD: list[tuple[str, bytes, type[RejoinderError], str, str, int]] = [
    ("empty.jsonl", b"", DataError, "", "", 0),
    ("empty.csv.gz", gzip.compress(b""), DataError, "", "", 0),
    ("header.csv", b"prompt,response\n", DataError, "", "", 0),
    ("nothing.json", b"[]", DataError, "", "", 0),
    ("broken.jsonl", LINE + b'{"response": \n' + LINE, DataError, ":2", "", 2),
    ("text.jsonl", b"Hello\n" + LINE, DataError, ":1", "", 1),
    ("latin-1.jsonl", LINE + '{"response": "é"}\n'.encode("latin-1") + LINE, DataError, ":2", "", 2),
    ("twice.jsonl", b'{"response": "a", "response": "b"}\n' + LINE, DataError, ":1", "response", 1),
    ("half.jsonl", LINE + b'{"response": "\\ud83d"}\n', DataError, ":2", "response", 1),
    ("deep.jsonl", b"[" * 100_000 + b"\n" + LINE, DataError, ":1", "", 1),
    ("long.jsonl", LINE + b'{"response": "' + LONG + b'"}\n' + LINE, DataError, ":2", "", 1),
    ("endless.jsonl", b'{"response": "' + LONG, DataError, ":1", "", 0),
    ("blank.jsonl", b"\n" * 100 + LINE, DataError, ":51", "", 0),
    ("values.jsonl", b'{"x": [' + b"[]," * 270 + b"[]]}\n" + LINE, DataError, ":1", "", 1),
    ("unmarked.jsonl", LINE.decode().encode("utf-16-le"), DataError, ":1", "", 0),
    ("unmarked.csv", TABLE.decode().encode("utf-16-be"), DataError, ":1", "", 0),
    ("half.tsv", "response\na\n".encode("utf-16") + b"\x00\xd8\n\0b\0\n\0", DataError, ":3", "", 2),
    ("odd.jsonl", LINE.decode().encode("utf-16") + b"{", DataError, ":2", "", 1),
    ("cut.jsonl.gz", gzip.compress(LINE * 9)[:-9], DataError, ":10", "", 9),
    ("damaged.csv.gz", gzip.compress(TABLE)[:-8] + b"\0" * 8, DataError, ":3", "", 1),
    ("broken.json", b'[\n{"response": "a"},\n{]', DataError, ":3", "", 0),
    ("lines.json", LINE + LINE, DataError, ":2", "", 0),
    ("latin-1.json", '["é"]'.encode("latin-1"), DataError, "", "", 0),
    ("large.json", b"[" + LINE * 400, DataError, "", "", 0),
    ("values.json", b"[" + b"[]," * 600 + b"[]]", DataError, "", "", 0),
    ("short.csv", TABLE + b"hi\n" + b"hi,ho\n", DataError, ":3", "", 2),
    ("surplus.csv", TABLE + b"Well, hi,ho\n", DataError, ":3", "", 1),
    ("quote.csv", TABLE + b'hi,"ho" no\n' + b"hi,ho\n", DataError, ":3", "", 2),
    ("open.csv", TABLE + b'hi,"ho\n', DataError, ":3", "", 1),
    ("long-row.csv", TABLE + b'hi,"' + b"x\n" * 1_500, DataError, ":3", "", 1),
    ("long-cell.tsv", b"prompt\tresponse\nhi\t" + LONG + b"\n", DataError, ":2", "", 0),
    ("latin-1.csv", TABLE + "hé,ho\n".encode("latin-1") + b"hi,ho\n", DataError, ":3", "", 2),
    ("latin-1-header.csv", "réponse,response\na,b\n".encode("latin-1"), DataError, ":1", "", 0),
    ("twice.csv", b"response,response\na,b\n", ColumnError, ":1", "response", 0),
    ("pandas.csv", b"\nresponse,response.1\na,b\n", ColumnError, ":2", "response.1", 0),
    ("wide.csv", b",".join(b"c%d" % n for n in range(50)) + b"\n", DataError, ":1", "", 0),
    ("error.csv", TABLE + b"hi,#NAME?\n" + b"hi,ho\n", DataError, ":3", "response", 2),
    ("text.xlsx", b"no workbook", DataError, "", "", 0),
    ("cut.xlsx", workbook()[:-99], DataError, "", "", 0),
    ("other.xlsx", workbook(more={"content.xml": b"<a/>"}), DataError, "", "", 0),
    ("many.xlsx", workbook(more={f"{n}": b"" for n in range(60)}), DataError, "", "", 0),
    ("member.xlsx", workbook(more={"xl/a.png": b"x" * 60_000}), DataError, ":xl/a.png", "", 0),
    (
        "twice.xlsx",
        workbook(lambda _, xml: xml.replace(b"prompt", b"response")),
        ColumnError,
        ":row 1",
        "response",
        0,
    ),
    ("error.xlsx", with_row(ROW_3 % b't="e"><v>#REF!</v>'), DataError, ":row 3", "response", 1),
    ("formula.xlsx", with_row(ROW_3 % b"><f>A3</f><v></v>"), DataError, ":row 3", "response", 1),
    ("cut.parquet", parquet(response=["a"])[:50], DataError, "", "", 0),
    ("texts.parquet", parquet(response=["x" * 3_000] * 200), DataError, "", "", 0),
    ("wide.parquet", parquet(**{f"c{n}": ["a"] for n in range(50)}), DataError, "", "", 0),
    ("no-header.eval", log(samples__1_epoch_1=b"{}"), DataError, "", "", 0),
    ("no-samples.eval", log(header=b"{}"), DataError, "", "", 0),
    ("sample.eval", log(header=b"{}", samples__1=b"{", samples__2=b"{}"), DataError, ":samples/1.json", "", 1),
    ("unknown.doc", LINE, UsageError, "", "", 0),
]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that small files exceed."""
    values = {"LINE": 1_000, "DOCUMENT": 50_000, "VALUES": 500, "BLANK_LINES": 50, "COLUMNS": 40, "MEMBERS": 50}
    for name, value in {**values, "TEXTS": 500_000}.items():
        monkeypatch.setattr(limits, name, value)


def read(path: Path) -> tuple[list[Row], list[DataError]]:
    errors: list[DataError] = []
    return list(rows(path, errors.append)), errors


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("case", BAD, ids=[name for name, *_ in BAD])
def test_each_bad_row_has_an_error_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: tuple[str, bytes, type[RejoinderError], str, str, int]
) -> None:
    name, data, kind, place, field, count = case
    (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    if name == "large.json":
        monkeypatch.setattr(limits, "DOCUMENT", 5_000)
    if name == "deep.jsonl":
        monkeypatch.setattr(limits, "LINE", 200_000)
        monkeypatch.setattr(limits, "VALUES", 200_000)
    if kind in (ColumnError, UsageError):
        with pytest.raises(kind) as raised:
            read(Path(name))
        found, error = list[Row](), raised.value
    else:
        found, errors = read(Path(name))
        (error,) = errors
    assert type(error) is kind and len(found) == count and "\n" not in str(error)
    if isinstance(error, DataError):
        assert (error.where, error.field) == (name + place, field)


FAR = {
    "columns": b'<row r="3"><c r="ZZZZZ99999999" t="str"><v>x</v></c></row>',
    "row": b'<row r="4000000000"><c t="str"><v>x</v></c></row>',
    "cells without places": b'<row r="1048577"><c/></row>',
    "row 0": b'<row r="3"><c r="A0" t="str"><v>x</v></c></row>',
    "no number": b'<row r="-1"><c/></row>',
    "a namespace": b'<x:row r="3" xmlns:x="x"><x:c r="ZZZ3" t="str"><v>x</v></x:c></x:row>',
    "two places": b'<row r="3"><c r="A3" r="ZZZ3" t="str"><v>x</v></c></row>',
    "no blank": b'<row r="3"><c t="str"r="ZZZ3"><v>x</v></c></row>',
    "comments": b"""<row r="3"><!-- <c y=" --><c r='ZZZ3' t='str'><v>x</v></c><!-- "> --></row>""",
    "a row within a cell": b'<row r="3"><c t="str"><row r="1"/><v>x</v></c></row>',
    "an open cell": b'<row r="3"></row><c r="A3">',
    "many cells": b'<row r="1048576"><c r="CV1048576" t="str"><v>x</v></c></row>',
    "no shared text": b'<row r="3"><c r="A3" t="s"><v>99</v></c></row>',
    "an instruction": b'<?x y?><row r="3"><c r="A3"><v>1</v></c></row>',
}


@pytest.mark.parametrize("xml", FAR.values(), ids=FAR)
def test_a_sheet_that_would_abort_the_process_is_refused(tmp_path: Path, xml: bytes) -> None:
    (tmp_path / "a.xlsx").write_bytes(with_row(xml))
    found, (error,) = read(tmp_path / "a.xlsx")
    assert not found and error.where.startswith(str(tmp_path))


@pytest.mark.parametrize("name", ["badref.xlsx", "badref2.xlsx"])
def test_hostile_workbooks_are_refused(name: str) -> None:
    found, (error,) = read(Path(__file__).parent / "hostile" / name)
    assert not found and error.where.endswith(f"{name}:{SHEET}")


@pytest.mark.parametrize("value", [b"<v>4</v>", b"<v>&#52;</v>", b"<v><!-- -->4</v>"])
def test_a_long_text_repeated_in_many_cells_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: bytes
) -> None:
    cells = b"".join(b'<row r="%d"><c r="A%d" t="s">%s</c></row>' % (n, n, value) for n in range(3, 103))

    def edit(name: str, data: bytes) -> bytes:
        text = b"<si><t>" + b"x" * 10_000 + b"</t></si></sst>"
        return data.replace(b"</sst>", text).replace(b"</sheetData>", cells + b"</sheetData>")

    (tmp_path / "a.xlsx").write_bytes(workbook(edit))
    monkeypatch.setattr(limits, "TEXTS", 900_000)
    found, errors = read(tmp_path / "a.xlsx")
    assert not found and len(errors) == 1


def test_an_error_that_the_caller_raises_ends_the_reading_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"{\n" * 3)
    calls: list[DataError] = []

    def stop(error: DataError) -> None:
        calls.append(error)
        raise error

    with pytest.raises(DataError):
        list(rows(tmp_path / "a.jsonl", stop))
    assert len(calls) == 1


def test_missing_inputs(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "mixed").mkdir()
    for name in ("a.parquet", "thesis.txt"):
        (tmp_path / "mixed" / name).touch()
    for path in (tmp_path / "none.jsonl", tmp_path / "empty", "@none"):
        with pytest.raises(MissingAsset):
            list(rows(path, print))
    for path in (tmp_path / "mixed", f"{'n' * 300}.jsonl", "a\0.jsonl"):
        with pytest.raises(UsageError):
            list(rows(path, print))


@drawn(300)
@given(
    kind=st.sampled_from(sorted(set(files.SUFFIXES.values()) - {"parquet"})),
    start=st.sampled_from([b"", LINE, TABLE, b"[1, ", b"\xff\xfe", b"\x1f\x8b", gzip.compress(LINE), workbook()]),
    data=st.binary(max_size=60),
    place=st.integers(0, 5_000),
)
def test_any_bytes_give_rows_or_a_data_error(tmp_path: Path, kind: str, start: bytes, data: bytes, place: int) -> None:
    (tmp_path / "a").write_bytes(start[:place] + data + start[place + len(data) :])
    errors: list[DataError] = []
    try:
        found = list(rows(tmp_path / "a", errors.append, kind))
    except DataError as error:
        errors.append(error)
        found = []
    assert all(isinstance(row, Row) for row in found)
    assert all(error.where.startswith(str(tmp_path / "a")) for error in errors)
