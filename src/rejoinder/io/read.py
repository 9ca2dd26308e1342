"""Readers: every file format to `Example`s, one at a time, so that a file larger than memory passes through."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rejoinder.errors import DataError, MissingExtra, UsageError
from rejoinder.io.box import in_the_box
from rejoinder.io.flat import from_cells
from rejoinder.io.lines import OnBad, name_of, open_bytes, raise_bad, text_lines
from rejoinder.io.parse import parse_record
from rejoinder.records import Example

# The default limit of 128 KiB a cell is less than a long dialogue; 1 GiB still stops a file that is one open quote.
_LONGEST_CELL = 2**30
_PARQUET_ROWS = 4096

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
    for path in paths:
        source = in_the_box(path)
        for where, record in _rows_of(source)(source, on_bad):
            try:
                example = parse_record(record, where)
            except DataError as error:
                on_bad(error)
            else:
                yield example


def _rows_of(path: str | Path) -> Callable[[str | Path, OnBad], Rows]:
    """The reader of a file's format."""
    formats: dict[str, Callable[[str | Path, OnBad], Rows]] = {
        ".jsonl": _json_lines,
        ".ndjson": _json_lines,
        ".json": _json_array,
        ".csv": _csv,
        ".tsv": _csv,
        ".parquet": _parquet,
    }
    if str(path) == "-":
        return _json_lines
    name = Path(path)
    suffix = (Path(name.stem) if name.suffix == ".gz" else name).suffix.lower()
    if suffix not in formats:
        raise UsageError(
            f"{path}: unknown format {suffix or '(no suffix)'}. Known: {', '.join(formats)}, each also with .gz"
        )
    return formats[suffix]


def _json_lines(path: str | Path, on_bad: OnBad) -> Rows:
    """Rows of JSON lines; blank lines are passed over."""
    some, bad = False, False

    def note(error: DataError) -> None:
        nonlocal bad
        bad = True
        on_bad(error)

    for number, line in text_lines(path, note):
        if not line.strip():
            continue
        some = True
        where = f"{name_of(path)}:{number}"
        try:
            record = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            note(_broken(error, where))
        else:
            yield where, record
    if not some and not bad:
        on_bad(DataError("only blank lines", "Give a file with at least one record", where=name_of(path)))


def _json_array(path: str | Path, on_bad: OnBad) -> Rows:
    """Rows of one JSON array: records, conversations, or the messages of a single conversation."""
    text = "".join(line for _, line in text_lines(path, on_bad))
    if not text.strip():
        return
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        line = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        on_bad(_broken(error, f"{name_of(path)}{line}"))
        return
    single = isinstance(value, dict) or (
        isinstance(value, list) and value and isinstance(value[0], dict) and "role" in value[0]
    )
    for number, record in enumerate([value] if single else value, start=1):
        yield f"{name_of(path)}:item {number}", record


def _broken(error: json.JSONDecodeError | RecursionError, where: str) -> DataError:
    """The error of text that is not JSON."""
    what = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else "nested too deep"
    return DataError(f"broken JSON ({what})", "Write one JSON object a line", where=where)


def _csv(path: str | Path, on_bad: OnBad) -> Rows:
    """Rows of a CSV or TSV file with a header."""
    name = name_of(path)
    csv.field_size_limit(_LONGEST_CELL)
    delimiter = "\t" if ".tsv" in Path(path).suffixes else ","
    rows = csv.reader((line for _, line in text_lines(path, on_bad)), delimiter=delimiter, strict=True)
    header: list[str] = []
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as error:
            on_bad(
                DataError(
                    f"broken CSV ({error})",
                    "Close every quote; double the quotes inside a cell",
                    where=f"{name}:{rows.line_num}",
                )
            )
            return
        where = f"{name}:{rows.line_num}"
        if cells is None:
            return
        if not header:
            header = cells
        elif len(cells) != len(header):
            if cells:
                problem = f"{len(cells)} cells, the header has {len(header)}"
                on_bad(DataError(problem, "Quote cells that hold the separator", where=where))
        else:
            try:
                yield where, from_cells(dict(zip(header, cells, strict=True)), where)
            except DataError as error:
                on_bad(error)


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
        table = polars.scan_parquet(Path(path))
        count = table.select(polars.len()).collect().item()
    except polars.exceptions.PolarsError as error:
        on_bad(DataError(f"not a readable Parquet file ({str(error).splitlines()[0]})", "Write it again", where=name))
        return
    if count == 0:
        on_bad(DataError("the file is empty", "Give a file with at least one row", where=name))
    for start in range(0, count, _PARQUET_ROWS):
        for number, row in enumerate(
            table.slice(start, _PARQUET_ROWS).collect().iter_rows(named=True), start=start + 1
        ):
            where = f"{name}:row {number}"
            try:
                yield where, from_cells(row, where)
            except DataError as error:
                on_bad(error)
