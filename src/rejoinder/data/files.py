"""Containers: a file, a pipe or a gzip to rows, one at a time. The meaning of the rows is not known here."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import textwrap
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date, time
from decimal import Decimal
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from rejoinder.assets import asset
from rejoinder.data import limits
from rejoinder.data.chat import is_chat
from rejoinder.data.columns import is_known, plain
from rejoinder.data.spreadsheets import UNCALCULATED, sheet_rows
from rejoinder.data.values import A_LINE, EMPTY, decoded
from rejoinder.errors import (
    ColumnError,
    DataError,
    MissingAsset,
    MissingExtra,
    UsageError,
    require_one_of,
)

OnError = Callable[[DataError], None]
Note = Callable[[str], None]
STDIN = "-"
KINDS = ("jsonl", "json", "csv", "tsv", "xlsx", "parquet", "eval")
SUFFIXES = {f".{kind}": kind for kind in KINDS} | {".ndjson": "jsonl", ".xlsm": "xlsx"}
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
SAVE_AS_UTF8 = "Save it as UTF-8 (from Excel: .xlsx or CSV UTF-8; else: iconv -f CP1252 -t UTF-8)"
_HEADERS = ("header.json", "_journal/start.json")  # of an Inspect log; the second alone if the run did not end
_ERRORS = frozenset((UNCALCULATED, "#NAME?", "#VALUE!", "#REF!", "#DIV/0!", "#NUM!", "#NULL!"))
_FILLED_DOWN = _ERRORS | {"#N/A"}  # formulas below the table, without data to calculate them from
_SEPARATOR = re.compile(r"sep=(.)\s*", re.IGNORECASE)  # how a CSV file names its separator to Excel
_GUARDED = re.compile(r"''*[=+\-@\t\r\n]")
_TEXTS = re.compile(r"chosen|rejected|text|content|body|(response|answer|output|completion|reply)_\w")  # of formats
_Stream = io.BufferedReader | gzip.GzipFile
_Table = Iterator[tuple[str, list[str] | DataError]]  # place and cells, or the error of a row


class Row(NamedTuple):
    """A record of a file: `where` (file:line), a decoded value or the cells by column, and whether it is a table's."""

    where: str
    data: Any
    flat: bool = False


_Rows = Iterator[Row | DataError]


def rows(path: str | Path, on_error: OnError, kind: str | None = None, note: Note = lambda _: None) -> Iterator[Row]:
    """Yield the rows of a file, a folder of Parquet files, a rating project, standard input (`-`) or `@NAME`.

    Args:
        path: the input.
        on_error: receives the error of a row, or of the file, which it ends.
        kind: a word of `KINDS`; by default that of the first bytes, else of the suffix.
        note: receives what was chosen: the sheet of a workbook, merged cells.

    Raises:
        MissingAsset: the file does not exist or cannot be opened.
        UsageError: the suffix has no known format.
        MissingExtra: a library for this kind is not installed.
        ColumnError: the header has a name twice.
    """
    from rejoinder.data.formats.annotation import is_project, project_rows

    if is_project(asset(path)):
        yield from (Row(where, record) for where, record in project_rows(path))
        return
    is_folder, is_empty = str(path) != STDIN and Path(asset(path)).is_dir(), True
    for file in parts_of(path) if is_folder else [path]:
        for row in _file_rows(file, "parquet" if is_folder else kind, note):
            is_empty = False
            if isinstance(row, Row):
                yield row
            else:
                on_error(row)
    if is_empty and (is_folder or not str(path).endswith(".parquet")):  # a part of a folder may be empty
        name = "stdin" if str(path) == STDIN else str(path)
        on_error(DataError("holds no record", "Name a file with at least one", where=name))


def _file_rows(path: str | Path, kind: str | None, note: Note) -> _Rows:
    """Yield the rows of a file and the errors of rows, in the end that of the file."""
    name = "stdin" if str(path) == STDIN else str(path)
    try:
        with open_bytes(path) as stream:
            if not stream.peek(1):
                raise DataError("the file is empty", "Name a file with at least one line", where=name)
            kind = kind or format_of(path, stream)
            require_one_of("the input format", kind, KINDS)
            yield from _READERS[kind](stream, name, note)
    except ColumnError:
        raise
    except DataError as error:
        yield error
    except (MemoryError, RecursionError) as error:
        yield DataError(f"too large or nested too deep ({type(error).__name__})", "Split it", where=name)
    except (*limits.DAMAGED, ValueError, RuntimeError) as error:
        if kind not in ("xlsx", "eval") and not isinstance(error, limits.DAMAGED):
            raise
        yield DataError(f"damaged or cut off ({error})", "Get the file again", where=name)


def parts_of(folder: str | Path) -> list[Path]:
    """Return the Parquet files of a folder by name, without those that begin with `.` or `_`.

    Raises:
        MissingAsset: there is none.
        UsageError: the folder holds other files too.
    """
    visible = sorted(path for path in Path(folder).iterdir() if not path.name.startswith((".", "_")))
    parts = [path for path in visible if path.suffix == ".parquet" and path.is_file()]
    if not parts:
        remedy = "Name a file; each scorer or responder needs its own -s or -r"
        raise MissingAsset(f"{folder}: is a folder without .parquet files. {remedy}")
    if other := [path.name for path in visible if path not in parts]:
        raise UsageError(f"{folder}: holds {', '.join(other[:3])} next to .parquet files. Name the files to read")
    return parts


@contextmanager
def open_bytes(path: str | Path) -> Iterator[_Stream]:
    """Open an input as unpacked bytes; gzip is recognised by its first bytes."""
    try:
        raw = sys.stdin.buffer if str(path) == STDIN else Path(asset(path)).open("rb")  # noqa: SIM115 - closed below
    except OSError as error:
        if isinstance(error, MissingAsset):
            raise
        problem = f"cannot be opened ({error.strerror}). Name a readable file"
        if isinstance(error, FileNotFoundError):
            problem = "no such file. Check the name; bundled files begin with @ (rejoinder doctor)"
        hint = "" if Path(path).suffix else "; each scorer or responder needs its own -s or -r"
        raise MissingAsset(f"{path}: {problem}{hint}") from error
    stream = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(cast("io.RawIOBase", raw))
    try:
        yield gzip.GzipFile(fileobj=stream) if stream.peek(2)[:2] == b"\x1f\x8b" else stream
    finally:
        if str(path) != STDIN:
            raw.close()


def format_of(path: str | Path, stream: _Stream) -> str:
    """Return the kind of an open file: by its first bytes, else by its suffix; standard input is JSON lines."""
    head = stream.peek(4)[:4]
    suffix = Path(str(asset(path)).removesuffix(".gz")).suffix.lower()
    if head in (b"PAR1", b"PK\x03\x04"):
        return "parquet" if head == b"PAR1" else "xlsx"
    if suffix == ".txt" and head[:2] in UTF_16:  # Excel's "Unicode text"
        return "tsv"
    if str(path) == STDIN or suffix in SUFFIXES:
        return SUFFIXES.get(suffix, "jsonl")
    problem = f"unknown format {suffix or '(no suffix)'}, expected {', '.join(SUFFIXES)}, or a text format with .gz"
    raise UsageError(f"{path}: {problem}. State it: --input-format csv")


def _lines(stream: _Stream, name: str) -> Iterator[bytes]:
    """Yield lines in UTF-8 without a byte order mark, also of UTF-16 with one."""
    head = stream.peek(64)[:64]
    for encoding, high, low in (("UTF-16LE", head[1::2], head[::2]), ("UTF-16BE", head[::2], head[1::2])):
        if head[:2] not in UTF_16 and len(high) > 1 and 2 * high.count(0) > len(high) and not low.count(0):
            problem = f"looks like {encoding} without its byte order mark"
            raise DataError(problem, f"Save it as UTF-8: iconv -f {encoding} -t UTF-8", where=f"{name}:1")
    if head[:2] in UTF_16:
        yield from _narrowed(stream, name)
        return
    lines = limits.lines(stream, name)
    yield next(lines, b"").removeprefix(b"\xef\xbb\xbf")
    yield from lines


def _narrowed(stream: _Stream, name: str) -> Iterator[bytes]:
    """Yield the lines of UTF-16 in UTF-8; half a character becomes bytes that are not UTF-8, so its line is refused."""
    text, number = io.TextIOWrapper(stream, "utf-16", "surrogatepass", newline="\n"), 1
    try:
        while line := text.readline(limits.LINE + 1):
            if len(line) > limits.LINE:
                raise limits.too_long(f"{name}:{number}")
            yield line.encode("utf-8", "surrogatepass")
            number += 1
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-16 ({error.reason})", SAVE_AS_UTF8, where=f"{name}:{number}") from error
    finally:
        with suppress(ValueError):  # the stream may be closed already
            text.detach()


def not_utf8(error: UnicodeDecodeError, where: str) -> DataError:
    """Make the error of a line that is not UTF-8."""
    problem = f"byte {error.object[error.start]:#04x} at column {error.start + 1} is not UTF-8"
    return DataError(problem, SAVE_AS_UTF8, where=where)


def _value(raw: bytes, where: str, encoding: str = "") -> Any:
    """Return the JSON value of some bytes: of a document with an encoding, else of a line."""
    remedy = (
        "Write one JSON array; JSON lines need --input-format jsonl"
        if encoding
        else f"{A_LINE}; of one JSON array or object say --input-format json"
    )
    try:
        text = limits.require_few_values(raw, where).decode(encoding or "utf-8")
        return decoded(text, where, remedy, document=bool(encoding))
    except UnicodeDecodeError as error:
        raise not_utf8(error, where) from error


def _jsonl(stream: _Stream, name: str, _note: Note) -> _Rows:
    for number, raw in enumerate(_lines(stream, name), start=1):
        if raw := raw.strip():
            where = f"{name}:{number}"
            try:
                row: Row | DataError = Row(where, _value(raw, where))
            except DataError as error:
                row = error
            yield row


def _json(stream: _Stream, name: str, _note: Note) -> _Rows:
    wide = stream.peek(2)[:2] in UTF_16
    value = _value(limits.read_whole(stream, name), name, "utf-16" if wide else "utf-8-sig")
    items = value if isinstance(value, list) and not is_chat(value) else [value]
    yield from (Row(f"{name}:item {number}", item) for number, item in enumerate(items, start=1))


def _csv(stream: _Stream, name: str, _note: Note, usual: str = ",") -> _Rows:
    yield from _named(_cells(stream, name, usual))


def _cells(stream: _Stream, name: str, usual: str) -> _Table:
    """Yield the rows of CSV or TSV; an open quote or a bad byte refuses its own row alone."""
    csv.field_size_limit(limits.LINE)  # the library's limit of 128 KiB is less than a long dialogue
    where, size, damage = f"{name}:1", 0, list[UnicodeDecodeError]()

    def decode(raw: bytes) -> str:
        nonlocal size
        size += len(raw)
        if size > limits.LINE:
            raise limits.too_long(where)
        try:
            return raw.decode()
        except UnicodeDecodeError as error:  # without the line, its neighbours would become one row
            damage.append(error)
            return raw.decode(errors="surrogateescape")

    lines, skipped = map(decode, _lines(stream, name)), 0
    header = next(lines, "")
    while header and not header.strip():
        header, skipped, size = next(lines, ""), skipped + 1, 0
    if mark := _SEPARATOR.fullmatch(header):
        usual, header, skipped = mark[1], next(lines, ""), skipped + 1
    else:
        usual = max((usual, ",", ";", "\t"), key=partial(_known_names, header))
    _, *others = header.split(usual)
    spaced = bool(others) and all(cell.startswith(" ") for cell in others)
    reader = csv.reader(chain([header], lines), delimiter=usual, strict=True, skipinitialspace=spaced)
    while True:
        where, size = f"{name}:{reader.line_num + skipped + 1}", 0
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield where, DataError(f"broken CSV ({error})", "Close each quote; double those inside a cell", where=where)
            continue
        if cells is None:
            return
        if damage:
            yield where, not_utf8(damage.pop(), where)
            damage.clear()
        elif cells:
            yield where, [cell[1:] if cell[:1] == "'" and _GUARDED.match(cell) else cell for cell in cells]


def _known_names(header: str, separator: str) -> tuple[int, int]:
    """Return how many names of a header are known with this separator, and how many there are."""
    names = [name.strip(' "\r\n') for name in header.split(separator, limits.COLUMNS)]
    return sum(map(is_known, names)), len(names)


def _named(table: _Table) -> _Rows:
    """Yield the rows of a table by the names of its header; a column without a name gets the name of its place."""
    where, cells = next(table, ("", []))
    if isinstance(cells, DataError):
        raise cells
    header = [name or f"column {place}" for place, name in enumerate(cells, start=1)]
    limits.require_few_columns(len(header), where)
    pandas = [f"{name}.1" for name in header if f"{name}.1" in header and is_known(name)]
    if twice := [name for name, count in Counter(header).items() if count > 1] + pandas:
        problem = "the header has this name twice, or pandas doubled it"
        raise ColumnError(problem, "Rename or delete one column", where=where, field=twice[0])
    for where, cells in table:
        if isinstance(cells, DataError):
            yield cells
        elif not "".join(cells).strip():
            continue
        elif surplus := len(cells) - len(header):
            remedy = "Quote cells that hold the separator or a line end; leave cells empty, not out"
            last = f"; the last is {textwrap.shorten(cells[-1], 30)!r}" if surplus > 0 else ""
            yield DataError(f"{len(cells)} cells, expected {len(header)}{last}", remedy, where=where)
        elif _ERRORS.isdisjoint(cells):
            yield Row(where, dict(zip(header, cells, strict=True)), flat=True)
        elif len(header) == 1 or not _FILLED_DOWN.issuperset(filter(None, cells)):
            row = dict(zip(header, cells, strict=True))
            read = (name for name in row if is_known(name) or _TEXTS.fullmatch(plain(name)))
            field = next((name for name in read if row[name] in _ERRORS), "")
            problem = f"{row.get(field)!r}, a formula with an error or without a value"
            remedy = "Save the file in a spreadsheet program, which calculates formulas; enter texts as format Text"
            yield DataError(problem, remedy, where=where, field=field) if field else Row(where, row, flat=True)


def _zip(stream: _Stream, name: str, note: Note) -> _Rows:
    """Yield the rows of a workbook, or the samples of an Inspect log with its header: `{version, eval, sample}`."""
    whole = not (isinstance(stream, io.BufferedReader) and stream.seekable())
    file = io.BytesIO(limits.read_whole(stream, name)) if whole else cast("IO[bytes]", stream)
    with zipfile.ZipFile(file) as archive:
        members = archive.namelist()
        header = next((part for part in _HEADERS if part in members), None)
        samples = [part for part in members if part.startswith("samples/") and part.endswith(".json")]
        if header is None and not samples:
            file.seek(0)
            yield from _named(sheet_rows(limits.read_whole(file, name), name, note))
            return
        if header is None or not samples or len(members) > limits.MEMBERS:
            problem = "an Inspect log without header.json or samples, or too large"
            raise DataError(problem, "Log with samples", where=name)
        about = _value(limits.member(archive, header, name), name)
        for part in samples:
            where = f"{name}:{part}"
            try:
                sample = _value(limits.member(archive, part, name), where)
            except DataError as error:
                yield error
            else:
                yield Row(where, {"version": about.get("version"), "eval": about.get("eval"), "sample": sample})


def _parquet(stream: _Stream, name: str, _note: Note) -> _Rows:
    try:
        import polars
    except ImportError as error:
        raise MissingExtra("polars", "parquet", "Reading Parquet") from error
    held = isinstance(stream, io.BufferedReader) and name != "stdin" and Path(name).is_file()
    try:
        table = polars.scan_parquet(name if held else io.BytesIO(limits.read_whole(stream, name)), glob=False)
        limits.require_few_columns(len(table.collect_schema()), name)
        for start in range(0, table.select(polars.len()).collect().item(), limits.PARQUET_ROWS):
            part = table.slice(start, limits.PARQUET_ROWS).collect()
            limits.require_few_texts(sum(map(_text_size, part.get_columns())), name)
            for number, cells in enumerate(part.iter_rows(named=True), start=start + 1):
                yield Row(f"{name}:row {number}", _plain(cells), flat=True)
    except polars.exceptions.PolarsError as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"not a readable Parquet file ({reason})", "Write it again", where=name) from error


def _text_size(column: Any) -> int:
    """Return the bytes of the texts in a column, also inside lists and structs."""
    import polars

    if column.dtype in (polars.String, polars.Binary):
        return int((column.str.len_bytes() if column.dtype == polars.String else column.bin.size()).sum())
    if isinstance(column.dtype, polars.List | polars.Array):
        return _text_size(column.explode())
    if isinstance(column.dtype, polars.Struct):
        return sum(map(_text_size, column.struct.unnest().get_columns()))
    return 0


def _plain(value: Any, inner: bool = False) -> Any:
    """Return a cell of Parquet as JSON has it: dates in ISO form, no null inside structs, which have all fields."""
    if isinstance(value, Mapping):
        return {key: _plain(cell, True) for key, cell in value.items() if cell is not None or not inner}
    if isinstance(value, list):
        return [_plain(cell, True) for cell in value]
    if isinstance(value, date | time):
        return value.isoformat()
    return float(value) if isinstance(value, Decimal) else value


_READERS: dict[str, Callable[[_Stream, str, Note], _Rows]] = {
    "jsonl": _jsonl,
    "json": _json,
    "csv": _csv,
    "tsv": partial(_csv, usual="\t"),
    "xlsx": _zip,
    "parquet": _parquet,
    "eval": _zip,
}


def without_signs(row: Row) -> Row:
    """Return a row of a table with an empty text in each cell that stands for nothing."""
    if not row.flat:
        return row
    empty = {key: "" for key, cell in row.data.items() if isinstance(cell, str) and cell.strip() in EMPTY}
    return row._replace(data={**row.data, **empty})
