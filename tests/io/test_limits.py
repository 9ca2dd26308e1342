"""Files from strangers that cost more than they weigh: each is refused in one line, in little memory and time."""

from __future__ import annotations

import gzip
import io
import json
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import polars
import pytest
import xlsxwriter

import rejoinder
from rejoinder.data.dialogues import read_contexts, read_dialogues
from rejoinder.errors import DataError
from rejoinder.io import limits

RECIPE = str(Path(__file__).parents[2] / "recipes" / "dan-tiny.toml")
SHEET = "xl/worksheets/sheet1.xml"


def refusals(path: Path, **how: str) -> list[DataError]:
    bad: list[DataError] = []
    for _ in rejoinder.read(path, on_bad=bad.append, **how):  # type: ignore[arg-type]
        pass
    return bad


def the_refusal(path: Path, **how: str) -> DataError:
    (error,) = refusals(path, **how)
    assert error.where.startswith(str(path)) and "\n" not in str(error)
    return error


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that small files exceed."""
    for name, value in (("LINE", 1_000), ("DOCUMENT", 5_000), ("VALUES", 500), ("BLANK_LINES", 50), ("COLUMNS", 40)):
        monkeypatch.setattr(limits, name, value)


LONG = "x" * 1_500
TEXTS: dict[str, tuple[str, str]] = {
    "a line of JSON": ("a.jsonl", '{"response": "a"}\n{"response": "' + LONG + '"}\n{"response": "b"}\n'),
    "a line without an end": ("a.jsonl", '{"response": "' + LONG),
    "a line of CSV": ("a.csv", f"response\na\n{LONG}\n"),
    "an open quote": ("a.csv", 'response\na\n"' + "x\n" * 1_500),
    "a row of many long cells": ("a.csv", "a,response\n" + ",".join(['"' + "x\n" * 300 + '"'] * 2) + "\n"),
    "blank lines": ("a.jsonl", "\n" * 100 + '{"response": "a"}\n'),
    "blank lines of CSV": ("a.csv", "\r\n" * 100 + "response\na\n"),
    "a document": ("a.json", "[" + '{"response": "a"},\n' * 400 + '{"response": "a"}]'),
    "many values": ("a.json", "[" + "[],\n" * 600 + "[]]"),
    "many values in a line": ("a.jsonl", '{"response": "a", "x": [' + "[]," * 270 + "[]]}\n"),
    "columns": ("a.csv", ",".join(f"c{n}" for n in range(50)) + "\n" + ",".join("1" * 50) + "\n"),
    "keys": ("a.jsonl", json.dumps({"response": "a", **{f"k{n}": 1 for n in range(50)}}) + "\n"),
}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("name", "text"), TEXTS.values(), ids=TEXTS)
def test_a_text_that_is_too_large_is_refused(tmp_path: Path, name: str, text: str, packed: bool, encoding: str) -> None:
    if encoding == "utf-16" and "\n" * 100 in text.replace("\r", ""):
        pytest.skip("blank lines are counted in UTF-8 alone; a file in UTF-16 is as large as they are")
    raw = text.encode(encoding)
    path = tmp_path / name
    path.write_bytes(gzip.compress(raw) if packed else raw)
    the_refusal(path)


@pytest.mark.usefixtures("small")
def test_lines_before_one_that_is_too_long_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(TEXTS["a line of JSON"][1])
    bad: list[DataError] = []
    assert [line.response for line in rejoinder.read(tmp_path / "a.jsonl", on_bad=bad.append)] == ["a"]
    assert [error.where for error in bad] == [f"{tmp_path / 'a.jsonl'}:2"]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_an_array_may_stand_on_one_long_line(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.json").write_bytes(json.dumps([{"response": "a", "x": LONG}] * 2).encode(encoding))
    assert [line.response for line in rejoinder.read(tmp_path / "a.json")] == ["a", "a"]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("reader", [read_dialogues, read_contexts])
def test_corpora_and_contexts_have_the_same_limit(tmp_path: Path, reader: Callable[..., Sequence[object]]) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"turns": ["hi", LONG]}) + "\n")
    with pytest.raises(DataError, match="a line of more than"):
        list(reader(tmp_path / "a.jsonl"))


def test_a_line_of_utf_16_that_is_full_of_bytes_of_line_ends_takes_linear_time(tmp_path: Path) -> None:
    """Two bytes of a line end are one other character; a million of them took a copy of the line each."""
    (tmp_path / "a.jsonl").write_bytes(b"\xff\xfe" + '{"response": "'.encode("utf-16-le") + b"\x0a\x0a" * 1_000_000)
    assert "broken JSON" in str(the_refusal(tmp_path / "a.jsonl"))


def test_a_key_that_stands_twice_among_very_many_is_found(tmp_path: Path) -> None:
    keys = ", ".join(f'"k{n}": 1' for n in range(100_000))
    (tmp_path / "a.jsonl").write_text(f'{{"response": "a", {keys}, "k99999": 2}}\n')
    assert the_refusal(tmp_path / "a.jsonl").field == "k99999"


@pytest.mark.parametrize("depth", [800, 950, 100_000])
@pytest.mark.parametrize("key", ["context", "extra", "messages", "ratings"])
def test_deep_nesting_never_ends_the_reading(tmp_path: Path, depth: int, key: str) -> None:
    deep = "[" * depth + "]" * depth
    (tmp_path / "a.jsonl").write_text(f'{{"response": "a", "{key}": {deep}}}\n{{"response": "b"}}\n')
    bad: list[DataError] = []
    found = [line.response for line in rejoinder.read(tmp_path / "a.jsonl", on_bad=bad.append)]
    assert found[-1] == "b" and len(found) + len(bad) == 2


def test_a_conversation_of_100_000_messages_is_read_in_linear_memory(tmp_path: Path) -> None:
    messages = [{"role": ("user", "assistant")[n % 2], "content": f"hi {n}"} for n in range(100_000)]
    (tmp_path / "a.jsonl").write_text(json.dumps({"messages": messages}) + "\n")
    (line,) = rejoinder.read(tmp_path / "a.jsonl")
    assert len(line.context) == 99_999
    assert "Split the conversation" in str(the_refusal(tmp_path / "a.jsonl", turns="all"))


# Workbooks


def workbook(path: Path, edit: Callable[[str, bytes], bytes], more: dict[str, bytes] | None = None) -> Path:
    """A workbook of two rows, its members edited."""
    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer)
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["prompt", "response"])
    sheet.write_row(1, 0, ["hi", "ho"])
    book.close()
    with zipfile.ZipFile(buffer) as made, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in made.namelist():
            new.writestr(name, edit(name, made.read(name)))
        for name, data in (more or {}).items():
            new.writestr(name, data)
    return path


def with_cell(xml: bytes) -> Callable[[str, bytes], bytes]:
    return lambda name, data: data.replace(b"</sheetData>", xml + b"</sheetData>") if name == SHEET else data


FAR = {
    "columns": b'<row r="3"><c r="ZZZZZ99999999" t="str"><v>x</v></c></row>',
    "row of a cell": b'<row r="3"><c r="A9999999" t="str"><v>x</v></c></row>',
    "row": b'<row r="4000000000"><c t="str"><v>x</v></c></row>',
    "row without cells that say their place": b'<row r="1048577"><c/></row>',
    "row 0": b'<row r="3"><c r="A0" t="str"><v>x</v></c></row>',
    "row of no number": b'<row r="-1"><c/></row>',
    "single quotes": b"<row r='3'><c r='ZZZ3' t='str'><v>x</v></c></row>",
    "a sign within an attribute": b'<row r="3"><c s=">" r="ZZZ3" t="str"><v>x</v></c></row>',
    "a namespace": b'<x:row r="3"><x:c r="ZZZ3" t="str"><v>x</v></x:c></x:row>',
    "a line end before the place": b'<row r="3"><c\nr="ZZZ3" t="str"><v>x</v></c></row>',
    "a namespace with a hyphen": b'<row r="3"><a-b:c r="ZZZ3" t="str"><v>x</v></a-b:c></row>',
    "a place within an attribute": b"""<row r="3"><c x=" r='A3' " r="ZZZ3" t="str"><v>x</v></c></row>""",
    "a row within an attribute": b"""<row x=" r='3' " r="4000000000"><c t="str"><v>x</v></c></row>""",
    "two places": b'<row r="3"><c r="A3" r="ZZZ3" t="str"><v>x</v></c></row>',
    "no blank before the place": b'<row r="3"><c t="str"r="ZZZ3"><v>x</v></c></row>',
    "hidden by comments": b"""<row r="3"><!-- <c y=" --><c r='ZZZ3' t='str'><v>x</v></c><!-- "> --></row>""",
    "a row within a cell": b'<row r="3"><c t="str"><row r="1"/><v>x</v></c></row>',
    "an open cell": b'<row r="3"></row><c r="A3">',
    "a comment, and no place": b'<row r="3"><!-- a --><c t="str"><v>x</v></c></row>',
    "many cells far out": b'<row r="1048576"><c r="CV1048576" t="str"><v>x</v></c></row>',
}


@pytest.mark.parametrize("xml", FAR.values(), ids=FAR)
def test_a_cell_outside_any_spreadsheet_does_not_abort_the_process(tmp_path: Path, xml: bytes) -> None:
    the_refusal(workbook(tmp_path / "a.xlsx", with_cell(xml)))


def test_starts_without_ends_take_linear_time(tmp_path: Path) -> None:
    open_texts = {"xl/more.xml": b"<sst>" + b"<si>" * 300_000, "xl/other.xml": b"sheetData" + b"<c-x>" * 300_000}
    assert not refusals(workbook(tmp_path / "a.xlsx", lambda _, data: data, open_texts))


def test_a_sheet_with_comments_is_read(tmp_path: Path) -> None:
    xml = b'<!-- a --><row r="3"><c r="A3" t="str"><v>hi</v></c><c r="B3" t="str"><v>you</v></c></row>'
    assert [example.response for example in rejoinder.read(workbook(tmp_path / "a.xlsx", with_cell(xml)))] == [
        "ho",
        "you",
    ]


def test_a_cell_in_a_sheet_by_another_name_is_found(tmp_path: Path) -> None:
    path = workbook(tmp_path / "made.xlsx", with_cell(FAR["columns"]))
    with zipfile.ZipFile(path) as made, zipfile.ZipFile(tmp_path / "a.xlsx", "w") as new:
        for name in made.namelist():
            data = made.read(name)
            new.writestr(name.replace("worksheets/sheet1", "w/x"), data.replace(b"worksheets/sheet1.xml", b"w/x.xml"))
    the_refusal(tmp_path / "a.xlsx")


def test_members_that_unpack_to_too_much_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    padded = workbook(tmp_path / "a.xlsx", lambda name, data: data + b" " * 90_000 if "sharedStrings" in name else data)
    assert not refusals(padded)
    monkeypatch.setattr(limits, "DOCUMENT", 50_000)
    assert "sharedStrings" in the_refusal(padded).where
    monkeypatch.setattr(limits, "MEMBERS", 3)
    the_refusal(padded)


@pytest.mark.parametrize("value", [b"<v>4</v>", b"<a-b:v>4</a-b:v>", b"<v>&#52;</v>", b"<v><!-- -->4</v>"])
def test_long_texts_that_many_cells_repeat_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: bytes
) -> None:
    rows = b"".join(b'<row r="%d"><c r="A%d" t="s">%s</c></row>' % (n, n, value) for n in range(3, 103))

    def edit(name: str, data: bytes) -> bytes:
        text = b"<si><t>" + b"x" * 10_000 + b"</t></si></sst>"
        return data.replace(b"</sst>", text) if "sharedStrings" in name else with_cell(rows)(name, data)

    path = workbook(tmp_path / "a.xlsx", edit)
    monkeypatch.setattr(limits, "TEXTS", 900_000)
    the_refusal(path)


def test_other_kinds_of_spreadsheets_are_not_opened(tmp_path: Path) -> None:
    the_refusal(workbook(tmp_path / "a.xlsx", lambda _, data: data, {"content.xml": b"<a/>"}))


@pytest.mark.parametrize("value", [b"", b"<v></v>", b"<v/>"])
def test_a_formula_without_a_value_is_told_where_its_column_is_read(tmp_path: Path, value: bytes) -> None:
    made = with_cell(b'<row r="3"><c r="A3" t="s"><v>2</v></c><c r="B3"><f>A3</f>' + value + b"</c></row>")
    error = the_refusal(workbook(tmp_path / "a.xlsx", made))
    assert "formula" in error.problem and error.where.endswith(":row 3") and error.field == "response"
    empty = with_cell(b'<row r="3"><c r="A3" t="s"><v>2</v></c><c r="B3" t="str"><f>A9</f><v></v></c></row>')
    assert [line.response for line in rejoinder.read(workbook(tmp_path / "b.xlsx", empty))] == ["ho", ""]


def test_long_texts_that_rows_of_parquet_repeat_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    polars.DataFrame({"response": ["x" * 10_000] * 200}).write_parquet(tmp_path / "a.parquet")
    polars.DataFrame({"response": ["a"], "x": [[{"y": ["x" * 2_000_000]}]]}).write_parquet(tmp_path / "b.parquet")
    assert not refusals(tmp_path / "a.parquet")
    monkeypatch.setattr(limits, "TEXTS", 1_000_000)
    the_refusal(tmp_path / "a.parquet")
    the_refusal(tmp_path / "b.parquet")
    monkeypatch.setattr(limits, "COLUMNS", 1)
    the_refusal(tmp_path / "b.parquet")


# A real bomb, in a process of its own


@pytest.mark.slow
@pytest.mark.parametrize("command", [("score",), ("study",), ("pretrain", RECIPE, "-o", "model")])
def test_a_compressed_bomb_is_refused_within_a_gibibyte(tmp_path: Path, command: tuple[str, ...]) -> None:
    with gzip.open(tmp_path / "bomb.jsonl.gz", "wb", compresslevel=1) as stream:
        stream.write(b'{"response": "')
        for _ in range(2_000):
            stream.write(b"x" * (1 << 20))
    more = ("-s", "length") if command[0] in ("score", "study") else ()
    call = [sys.executable, "-m", "rejoinder", command[0], *command[1:2], "bomb.jsonl.gz", *command[2:], *more]

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))

    ran = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, preexec_fn=bounded, check=False)
    assert ran.returncode == 3, ran.stderr
    assert ran.stderr.count("rejoinder: ") == 1 and "a line of more than 64 MiB" in " ".join(ran.stderr.split())
