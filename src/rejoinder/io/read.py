"""Readers: every file format to `Example`s, one at a time, so that a file larger than memory passes through."""

from __future__ import annotations

import csv
import json
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from rejoinder.errors import DataError, MissingExtra, UsageError
from rejoinder.io.box import in_the_box
from rejoinder.io.flat import LISTS, OBJECTS, from_cells
from rejoinder.io.formulas import plain
from rejoinder.io.lines import SAVE_AS_UTF8, STDIN, OnBad, name_of, open_bytes, raise_bad, text_lines
from rejoinder.io.pairs import parse_either, parse_only_pair, parse_single
from rejoinder.io.parse import FIELDS
from rejoinder.io.values import require_whole_characters
from rejoinder.records import Example, Pair

# The default limit of 128 KiB a cell is less than a long dialogue; 1 GiB still stops a file that is one open quote.
_LONGEST_CELL = 2**30
_PARQUET_ROWS = 4096
_COLUMNS = {*FIELDS, *LISTS, *OBJECTS}

Parsed = TypeVar("Parsed")
Rows = Iterator[tuple[str, Any]]
"""(`file:line`, decoded record)."""


def read(*paths: str | Path, on_bad: OnBad = raise_bad) -> Iterator[Example]:
    """Yield the examples of one or more files, in their order.

    Formats, by suffix: `.jsonl` (also `.ndjson` and standard input, `-`), `.json` (an array; read whole), `.csv`,
    `.tsv`, `.parquet`. Text formats may be gzip, whatever their name. `@NAME` is a file in the box.

    Args:
        paths: files.
        on_bad: what to do with the error of a line that cannot be used; raises it unless told otherwise. With
            `on_bad=skipped.append` reading goes on and `skipped` tells what was left out.

    Raises:
        DataError: a bad line, unless `on_bad` keeps it. One that concerns a whole file ends that file.
        MissingAsset: a file is not there.
        UsageError: the suffix is of no known format.
    """
    return _parsed(paths, parse_single, on_bad)


def read_either(*paths: str | Path, on_bad: OnBad = raise_bad) -> Iterator[Example | Pair]:
    """As `read`, but lines with two replies and which of them people prefer come too, as `Pair`s (`io.pairs`)."""
    return _parsed(paths, parse_either, on_bad)


def read_pairs(*paths: str | Path, on_bad: OnBad = raise_bad) -> Iterator[Pair]:
    """As `read`, for files whose every line is a pair of replies."""
    return _parsed(paths, parse_only_pair, on_bad)


def _parsed(paths: Sequence[str | Path], parse: Callable[[Any, str], Parsed], on_bad: OnBad) -> Iterator[Parsed]:
    """What `parse` makes of every row of the files, in their order."""
    for path in paths:
        for where, record in rows(path, on_bad):
            try:
                found = parse(record, where)
            except DataError as error:
                on_bad(error)
            else:
                yield found


def rows(path: str | Path, on_bad: OnBad) -> Rows:
    """Yield (`file:line`, decoded record) of each row of a file; one that has none, good or bad, is an error."""
    met = False

    def note(error: DataError) -> None:
        nonlocal met
        met = True
        on_bad(error)

    for row in _rows_of(path)(path, note):
        met = True
        yield row
    if not met:
        note(DataError("holds no record", "Give a file with at least one", where=name_of(path)))


def _rows_of(path: str | Path) -> Callable[[str | Path, OnBad], Rows]:
    """The reader of a file's format."""
    formats: dict[str, Callable[[str | Path, OnBad], Rows]] = {
        ".jsonl": _json_lines,
        ".ndjson": _json_lines,
        ".json": _json_array,
        ".csv": _csv,
        ".tsv": partial(_csv, usual="\t"),
        ".parquet": _parquet,
    }
    if str(path) == STDIN:
        return _json_lines
    name = Path(in_the_box(path))
    suffix = (Path(name.stem) if name.suffix == ".gz" else name).suffix.lower()
    if suffix not in formats:
        with open_bytes(path):  # a file that is not there has no format
            pass
        raise UsageError(
            f"{path}: unknown format {suffix or '(no suffix)'}. Known: {', '.join(formats)}, each also with .gz"
        )
    return formats[suffix]


def _json_lines(path: str | Path, on_bad: OnBad) -> Rows:
    """Rows of JSON lines; blank lines are passed over."""
    remedy = (
        "Standard input must be JSON lines, one object a line" if str(path) == STDIN else "Write one JSON object a line"
    )
    for number, line in text_lines(path, on_bad):
        if not line.strip():
            continue
        where = f"{name_of(path)}:{number}"
        try:
            record = json.loads(line.rstrip())  # else the column of a cut line counts from its line end
            require_whole_characters(line, record, where)
        except DataError as error:
            on_bad(error)
        except (ValueError, RecursionError) as error:
            on_bad(_broken(error, where, remedy))
        else:
            yield where, record


def _json_array(path: str | Path, on_bad: OnBad) -> Rows:
    """Rows of one JSON array: records, conversations, or the messages of a single conversation."""
    bad = False

    def note(error: DataError) -> None:
        nonlocal bad
        bad = True
        on_bad(error)

    text = "".join(line for _, line in text_lines(path, note))
    if bad or not text.strip():
        return
    try:
        value = json.loads(text)
        require_whole_characters(text, value, name_of(path))
    except DataError as error:
        on_bad(error)
        return
    except (ValueError, RecursionError) as error:
        line = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        on_bad(_broken(error, f"{name_of(path)}{line}", "Write one JSON array, or call a file of JSON lines .jsonl"))
        return
    single = not isinstance(value, list) or (value and isinstance(value[0], dict) and "role" in value[0])
    for number, record in enumerate([value] if single else value, start=1):
        yield f"{name_of(path)}:item {number}", record


def _broken(error: ValueError | RecursionError, where: str, remedy: str) -> DataError:
    """The error of text that is not JSON."""
    if isinstance(error, json.JSONDecodeError):
        what = f"{error.msg} at column {error.colno}"
    else:
        what = "nested too deep" if isinstance(error, RecursionError) else "a number of thousands of digits"
    return DataError(f"broken JSON ({what})", remedy, where=where)


def _csv(path: str | Path, on_bad: OnBad, *, usual: str = ",") -> Rows:
    """Rows of a CSV or TSV file; without a header that can be used nothing is read."""
    table = _table(path, on_bad, usual)
    where, header = next(table, ("", None))
    if header is None:
        return
    header = _named(header)
    if twice := next((name for name in header if header.count(name) > 1), None):
        on_bad(DataError("the header has this name twice", "Rename one column", where=where, field=twice))
        return
    for where, cells in table:
        if cells is None:
            continue
        try:
            _require_as_many(cells, header, where)
            record = from_cells(dict(zip(header, cells, strict=True)), where)
        except DataError as error:
            on_bad(error)
        else:
            yield where, record


def _named(header: list[str]) -> list[str]:
    """The header with our names for columns that differ from them in case or outer blanks only."""
    meant = [name.strip().lower() for name in header]
    ours = [new in _COLUMNS and new not in header for new in meant]
    return [new if known else old for old, new, known in zip(header, meant, ours, strict=True)]


def _require_as_many(cells: list[str], header: list[str], where: str) -> None:
    """Raise where a row has more or fewer cells than the header, and say which."""
    surplus = len(cells) - len(header)
    if surplus > 0:
        problem = f"{len(cells)} cells, {surplus} too many; the last is {textwrap.shorten(cells[-1], 30)!r}"
        raise DataError(problem, "Quote cells that hold the separator", where=where)
    if surplus < 0:
        problem = f"{len(cells)} cells, {-surplus} too few; none for {', '.join(header[surplus:])}"
        raise DataError(problem, "Leave cells empty, not out; quote those that hold a line end", where=where)


def _separator(header: str, usual: str) -> str:
    """What stands between the names of a header, `,`, `;` or a tab: it finds most of our columns, then most at all."""

    def found(mark: str) -> tuple[int, int]:
        names = [name.strip(' "\r\n').lower() for name in header.split(mark)]
        return len(_COLUMNS.intersection(names)), len(names)

    return max((usual, ",", ";", "\t"), key=found)


def _table(path: str | Path, on_bad: OnBad, usual: str) -> Iterator[tuple[str, list[str] | None]]:
    """Yield (`file:line` where it begins, cells) of each row that is not blank; None for one that cannot be read."""
    csv.field_size_limit(_LONGEST_CELL)
    # A line left out for a bad byte would glue its neighbours together, so such lines come and spoil their own row.
    lines = (line for _, line in text_lines(path, on_bad, errors="surrogateescape"))
    head = list(_first(lines))
    delimiter = _separator(head[-1] if head else "", usual)
    rows = csv.reader(chain(head, lines), delimiter=delimiter, strict=True)
    while True:
        where = f"{name_of(path)}:{rows.line_num + 1}"
        try:
            cells = next(rows, None)
            if cells is None:
                return
            _require_utf8(cells, where)
        except csv.Error as error:
            on_bad(DataError(f"broken CSV ({error})", "Close every quote; double those inside a cell", where=where))
            yield where, None
        except DataError as error:
            on_bad(error)
            yield where, None
        else:
            if cells:
                yield where, list(map(plain, cells))


def _first(lines: Iterator[str]) -> Iterator[str]:
    """The lines up to the first that is not blank."""
    for line in lines:
        yield line
        if line.strip():
            return


def _require_utf8(cells: list[str], where: str) -> None:
    """Raise `DataError` where a cell holds a byte that is not UTF-8, escaped as half a character."""
    for place, cell in enumerate(cells, start=1):
        try:
            cell.encode()
        except UnicodeEncodeError as error:
            byte = ord(error.object[error.start]) - 0xDC00
            raise DataError(f"byte {byte:#04x} in cell {place} is not UTF-8", SAVE_AS_UTF8, where=where) from error


def _parquet(path: str | Path, on_bad: OnBad) -> Rows:
    """Rows of a Parquet file, a slice of it at a time."""
    try:
        import polars
    except ImportError as error:
        raise MissingExtra("polars", "parquet", "Reading Parquet") from error
    with open_bytes(path):
        pass
    name = name_of(path)
    try:
        table = polars.scan_parquet(Path(path), glob=False)
        count = table.select(polars.len()).collect().item()
        for start in range(0, count, _PARQUET_ROWS):
            for number, row in enumerate(
                table.slice(start, _PARQUET_ROWS).collect().iter_rows(named=True), start=start + 1
            ):
                where = f"{name}:row {number}"
                try:
                    record = from_cells(row, where)
                except DataError as error:
                    on_bad(error)
                else:
                    yield where, record
    except polars.exceptions.PolarsError as error:
        on_bad(DataError(f"not a readable Parquet file ({str(error).splitlines()[0]})", "Write it again", where=name))
