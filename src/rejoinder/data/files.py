"""Containers: a file, a pipe, a gzip to rows, one at a time. What the rows mean is not known here."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import date, time
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from rejoinder.data import limits
from rejoinder.data.chat import is_chat
from rejoinder.data.columns import is_known
from rejoinder.data.values import decoded
from rejoinder.errors import ColumnError, DataError

OnError = Callable[[DataError], None]
SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
    ".eval": "eval",
}


class Row(NamedTuple):
    """A record of a file: `where` (file:line), the decoded value or the cells by column, and whether it is a table's."""

    where: str
    data: Any
    flat: bool = False


@contextmanager
def open_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """The bytes of a file or of standard input (`-`); gzip is told by its first bytes."""
    raw = sys.stdin.buffer if str(path) == "-" else open(path, "rb")
    try:
        stream = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)
        yield gzip.open(stream, "rb") if stream.peek(2)[:2] == b"\x1f\x8b" else stream
    finally:
        if raw is not sys.stdin.buffer:
            raw.close()


def format_of(path: str | Path, stream: IO[bytes]) -> str:
    """The container: by its first bytes where these say so, else by the suffix; standard input is JSON lines."""
    head = stream.peek(4)[:4]
    if head == b"PAR1":
        return "parquet"
    name = Path(str(path).removesuffix(".gz"))
    if head == b"PK\x03\x04":
        return "eval" if name.suffix == ".eval" else "xlsx"
    kind = SUFFIXES.get(name.suffix.lower(), "jsonl" if str(path) == "-" else "")
    if not kind:
        raise DataError(
            f"unknown format {name.suffix or '(no suffix)'}",
            f"Say --input-format: {', '.join(sorted(set(SUFFIXES.values())))}",
            where=str(path),
        )
    return kind


def rows(path: str | Path, on_error: OnError, kind: str | None = None) -> Iterator[Row]:
    """The rows of one file, in its order."""
    name = "stdin" if str(path) == "-" else str(path)
    with open_bytes(path) as stream:
        try:
            yield from _READERS[kind or format_of(path, stream)](stream, name, on_error)
        except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
            on_error(DataError(f"damaged ({error})", "Get the file again", where=name))


def _jsonl(stream: IO[bytes], name: str, on_error: OnError) -> Iterator[Row]:
    for number, raw in enumerate(limits.lines(stream, name), start=1):
        if not raw.strip():
            continue
        where = f"{name}:{number}"
        try:
            yield Row(where, decoded(raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip(), where))
        except UnicodeDecodeError as error:
            on_error(DataError(f"byte {error.object[error.start]:#04x} is not UTF-8", "Save it as UTF-8", where=where))
        except DataError as error:
            on_error(error)


def _json(stream: IO[bytes], name: str, on_error: OnError) -> Iterator[Row]:
    value = decoded(limits.require_sane_json(limits.read_whole(stream, name), name).decode("utf-8-sig"), name)
    items = value if isinstance(value, list) and not is_chat(value) else [value]
    yield from (Row(f"{name}:item {number}", item) for number, item in enumerate(items, start=1))


def _csv(stream: IO[bytes], name: str, on_error: OnError, usual: str = ",") -> Iterator[Row]:
    csv.field_size_limit(limits.LINE)
    first = next(stream, b"")
    encoding = "utf-16" if first[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    if encoding == "utf-16":
        text: Iterable[str] = io.StringIO((first + limits.read_whole(stream, name)).decode(encoding), newline="")
    else:
        text = (
            raw.decode("utf-8" if n else "utf-8-sig", "surrogateescape")
            for n, raw in enumerate(chain([first], limits.lines(stream, name)))
        )
    lines, skipped = iter(text), 0
    header = next(lines, "")
    if mark := re.fullmatch(r"sep=(.)\s*", header):
        usual, header, skipped = mark[1], next(lines, ""), 1
    elif usual == ",":
        usual = max(
            (",", ";", "\t"),
            key=lambda mark: (sum(is_known(cell.strip(' "\r\n')) for cell in header.split(mark)), header.count(mark)),
        )
    reader = csv.reader(chain([header], lines), delimiter=usual, strict=True)

    def table() -> Iterator[tuple[str, list[str]]]:
        while True:
            where = f"{name}:{reader.line_num + skipped + 1}"
            try:
                cells = next(reader, None)
            except csv.Error as error:
                on_error(DataError(f"broken CSV ({error})", "Close every quote; double those inside a cell", where=where))
                continue
            if cells is None:
                return
            if any("\udc80" <= character <= "\udcff" for cell in cells if not cell.isascii() for character in cell):
                on_error(
                    DataError(
                        "a byte that is not UTF-8", "Save it as UTF-8 (from Excel: .xlsx or CSV UTF-8)", where=where
                    )
                )
                continue
            yield where, cells

    yield from _named(table(), name, on_error)


def _named(table: Iterator[tuple[str, list[str]]], name: str, on_error: OnError) -> Iterator[Row]:
    """Rows of a table under its header; blank rows and the second header of survey tools are passed over."""
    where, header = next(((where, cells) for where, cells in table if any(cell.strip() for cell in cells)), (name, []))
    header = [cell or f"column {place}" for place, cell in enumerate(header, start=1)]
    if twice := next((cell for cell in header if header.count(cell) > 1), None):
        raise ColumnError("the header has this name twice", "Rename one column", where=where, field=twice)
    for where, cells in table:
        if not any(cell.strip() for cell in cells) or all(cell.startswith('{"ImportId"') for cell in cells if cell):
            continue
        if len(cells) != len(header):
            on_error(
                DataError(
                    f"{len(cells)} cells, expected {len(header)}",
                    "Quote cells that hold the separator or a line end",
                    where=where,
                )
            )
            continue
        yield Row(
            where,
            {
                key: cell[1:] if cell[:1] == "'" and re.match(r"''*[=+\-@\t\r\n]", cell) else cell
                for key, cell in zip(header, cells)
            },
            flat=True,
        )


def _xlsx(stream: IO[bytes], name: str, on_error: OnError) -> Iterator[Row]:
    import python_calamine

    data = limits.read_whole(stream, name)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sheets = [part for part in archive.namelist() if re.fullmatch(r"xl/worksheets/[^/]*\.xml", part)]
        if len(archive.namelist()) > limits.MEMBERS:
            raise DataError("more files than any spreadsheet has", "Save it again", where=name)
        for part in sheets:
            errors = limits.require_sane_sheet(limits.member(archive, part, name), name)
            if errors:
                raise DataError(
                    f"cell {sorted(errors)[0]} shows an error (#NAME?, #REF!)",
                    "Correct the formula, or write the text as text ('= ...)",
                    where=name,
                )
    try:
        book = python_calamine.load_workbook(io.BytesIO(data))
        tables = [(sheet, book.get_sheet_by_name(sheet).to_python()) for sheet in book.sheet_names]
    except python_calamine.CalamineError as error:
        raise DataError(
            f"not a readable spreadsheet ({error})", "Save it again as .xlsx, or as CSV", where=name
        ) from error
    filled = [(sheet, table) for sheet, table in tables if any(cell != "" for row in table for cell in row)]
    known = [(sheet, table) for sheet, table in filled if any(is_known(str(cell)) for row in table[:6] for cell in row)]
    _, table = (known or filled or [("", [])])[0]
    start = next((place for place, row in enumerate(table) if sum(cell != "" for cell in row) > 1), 0)
    texts = (
        (f"{name}:row {number}", [_cell(cell) for cell in row])
        for number, row in enumerate(table[start:], start=start + 1)
    )
    yield from _named(texts, name, on_error)


def _cell(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, (date, time)) else str(cell)


def _parquet(stream: IO[bytes], name: str, on_error: OnError) -> Iterator[Row]:
    import polars

    table = polars.scan_parquet(name if Path(name).is_file() else io.BytesIO(stream.read()), glob=False)
    for start in range(0, table.select(polars.len()).collect().item(), 4096):
        for number, cells in enumerate(table.slice(start, 4096).collect().iter_rows(named=True), start=start + 1):
            yield Row(f"{name}:row {number}", cells, flat=True)


def _eval(stream: IO[bytes], name: str, on_error: OnError) -> Iterator[Row]:
    """A log of Inspect: its header, then a sample a member, as one row each (`{"eval": ..., "sample": ...}`)."""
    with zipfile.ZipFile(stream if stream.seekable() else io.BytesIO(limits.read_whole(stream, name))) as archive:
        header = next((part for part in ("header.json", "_journal/start.json") if part in archive.namelist()), None)
        if header is None:
            raise DataError("a zip file without header.json, no log of Inspect", "Give a .eval file", where=name)
        about = decoded(limits.member(archive, header, name).decode(), name)
        for part in archive.namelist():
            if part.startswith("samples/") and part.endswith(".json"):
                yield Row(
                    f"{name}:{part}",
                    {
                        "version": about.get("version"),
                        "eval": about.get("eval"),
                        "sample": decoded(limits.member(archive, part, name).decode(), name),
                    },
                )


_READERS = {
    "jsonl": _jsonl,
    "json": _json,
    "csv": _csv,
    "tsv": lambda *given: _csv(*given, usual="\t"),
    "xlsx": _xlsx,
    "parquet": _parquet,
    "eval": _eval,
}
