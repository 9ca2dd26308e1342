"""Writers: examples and scored lines as JSON lines, CSV, Excel, Parquet or chat messages, complete or absent."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from datetime import datetime
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, Literal, get_args

from rejoinder.assets import as_path
from rejoinder.data.chat import as_chat
from rejoinder.data.examples import to_record
from rejoinder.data.limits import COLUMNS, ROWS
from rejoinder.data.outputs import STANDARD, atomic_file, data_output
from rejoinder.data.read import examples_of
from rejoinder.data.scored_keys import is_number_column, to_cells
from rejoinder.data.values import as_json
from rejoinder.errors import MissingExtra, UsageError
from rejoinder.example import Example, Given

Format = Literal["jsonl", "csv", "tsv", "parquet", "xlsx", "chat"]
Put = Callable[[Mapping[str, Any]], None]
_SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
}
_RISKY = re.compile(r"'*[=+\-@\t\r\n]")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_PLAIN_NUMBER = re.compile(r"(?=.{1,15}$)-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?(?<!-0)")  # Excel keeps 15 digits
_LONGEST_CELL = 32_767  # characters, Excel's limit


def write(examples: Given, path: str | Path, *, format: Format | None = None) -> int:  # noqa: A002
    """Write examples to a file and return their number.

    Args:
        examples: any form that `examples_of` accepts; an iterator of examples is not held in memory.
        path: the file; `-` is standard output; `.gz` compresses the text formats.
        format: by default that of the suffix; `chat` writes JSON lines of `messages`, unchanged if read from messages.

    Raises:
        UsageError: an item is no example, the suffix has no known format, or the folder does not exist.
        MissingExtra: Parquet without polars.
    """
    count = 0
    with open_writer(path, format) as put:
        for example in examples if isinstance(examples, Iterator) else examples_of(examples):
            if not isinstance(example, Example):
                remedy = "Make examples of it: rejoinder.examples_of(...)"
                raise UsageError(f"a {type(example).__name__}, expected Example. {remedy}")
            put(to_record(example))
            count += 1
    return count


def format_of(path: str | Path) -> Format:
    """Return the format that the suffix of `path` names; JSON lines for standard output.

    Raises:
        UsageError: the suffix has no known format.
    """
    if str(path) == STANDARD:
        return "jsonl"
    name = as_path(path)
    suffix = (Path(name.stem) if name.suffix == ".gz" else name).suffix.lower()
    if suffix not in _SUFFIXES:
        problem = f"unknown output format {suffix or '(no suffix)'}"
        raise UsageError(f"{path}: {problem}. Use one of {', '.join(_SUFFIXES)}")
    return _SUFFIXES[suffix]


@contextmanager
def open_writer(path: str | Path, format: Format | None = None) -> Iterator[Put]:  # noqa: A002
    """Yield a function that writes one record; the file appears if the block succeeds.

    A table needs all columns first, and records may differ in keys, so tables pass through a temporary file.

    Raises:
        UsageError: see `format_of`; or Parquet or Excel is to go to a pipe.
    """
    chosen = format or format_of(path)
    if chosen not in get_args(Format):
        raise UsageError(f"unknown format {chosen!r}. Use one of {', '.join(get_args(Format))}")
    packed, special = str(path).endswith(".gz"), as_path(path).exists() and not Path(path).is_file()
    if chosen in ("parquet", "xlsx") and (packed or special or str(path) == STANDARD):
        raise UsageError(f"{path}: {chosen} needs a file, not standard output, a pipe, a folder or gzip. Name a file.")
    with nullcontext(data_output()) if str(path) == STANDARD else atomic_file(Path(path)) as target:
        if chosen in ("jsonl", "chat"):
            with _text(target, packed=packed) as stream:
                yield lambda record: _put_line(stream, as_chat(record) if chosen == "chat" else record)
            return
        with tempfile.TemporaryFile("w+", encoding="utf-8") as lines:
            names: dict[str, None] = {}

            def put(record: Mapping[str, Any]) -> None:
                cells = to_cells(record)
                names.update(dict.fromkeys(cells))
                _put_line(lines, cells)

            yield put
            lines.seek(0)
            rows, columns = map(json.loads, lines), list(names)
            if chosen in ("csv", "tsv"):
                with _text(target, packed=packed) as stream:
                    write_csv(rows, columns, stream, "\t" if chosen == "tsv" else ",")
            elif isinstance(target, Path):
                (_write_parquet if chosen == "parquet" else _write_xlsx)(rows, columns, target, str(path))


@contextmanager
def _text(target: Path | IO[str], *, packed: bool) -> Iterator[IO[str]]:
    """Yield a text stream into `target`; gzip has no time in it, so that equal data gives equal bytes."""
    if not isinstance(target, Path):
        yield target
        target.flush()
        return
    with ExitStack() as stack:
        raw: Any = stack.enter_context(target.open("wb"))
        if packed:
            raw = stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0))
        yield stack.enter_context(io.TextIOWrapper(raw, encoding="utf-8", newline=""))


def _put_line(stream: IO[str], record: Mapping[str, Any]) -> None:
    stream.write(as_json(record, str(record.get("id") or "")) + "\n")


def guarded(cell: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet would run as a formula (CSV injection).

    Numbers stay as they are. A text that already has such an apostrophe gets another, so reading restores each text.
    """
    return f"'{cell}" if isinstance(cell, str) and _RISKY.match(cell) and not _NUMBER.fullmatch(cell) else cell


def write_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], stream: IO[str], delimiter: str = ",") -> None:
    """Write rows under a header, formulas guarded; missing cells are empty."""
    # Before Python 3.13 a cell with a carriage return is quoted only if lines end with one.
    lines = SimpleNamespace(write=lambda line: stream.write(line.removesuffix("\r\n") + "\n"))
    table = csv.writer(lines, delimiter=delimiter, lineterminator="\r\n")
    table.writerow(map(guarded, columns))
    for row in rows:
        table.writerow([guarded(row.get(column)) for column in columns])


def _write_xlsx(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], target: Path, name: str) -> None:
    """Write an Excel sheet: numbers as numbers where they read back the same, all else as text."""
    import xlsxwriter

    book = xlsxwriter.Workbook(target, {"constant_memory": True})
    book.set_properties({"created": datetime(2000, 1, 1)})
    sheet = book.add_worksheet()
    sheet.freeze_panes(1, 0)
    try:
        for number, cells in enumerate(chain([columns], ([row.get(column) for column in columns] for row in rows))):
            if number >= ROWS or len(columns) > COLUMNS:
                raise UsageError(f"{name}: more than {ROWS:,} rows or {COLUMNS:,} columns. Choose .csv or .jsonl")
            for place, cell in enumerate(cells):
                if isinstance(cell, str) and len(cell) > _LONGEST_CELL:
                    problem = f"row {number + 1} has a cell of {len(cell):,} characters in {columns[place]}"
                    raise UsageError(f"{name}: {problem}, and Excel takes {_LONGEST_CELL:,}. Choose .csv or .jsonl")
                if (cell is not None and number and _PLAIN_NUMBER.fullmatch(str(cell))) or isinstance(cell, float):
                    sheet.write_number(number, place, float(cell))
                elif cell is not None:
                    sheet.write_string(number, place, str(cell))
    finally:
        book.close()


def _write_parquet(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], target: Path, _: str) -> None:
    """Write Parquet in flat memory: score columns are numbers, `context` and `references` lists, all else text."""
    try:
        import polars
    except ImportError as error:
        raise MissingExtra("polars", "parquet", "Writing Parquet") from error
    lists = [column for column in ("context", "references", "sources") if column in columns]
    schema: dict[str, Any] = dict.fromkeys(columns, polars.String)
    schema |= dict.fromkeys(lists, polars.List(polars.String))
    schema |= {column: polars.Float64 for column in columns if is_number_column(column, columns)}
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".jsonl") as lines:
        for row in rows:
            cells = {column: row.get(column) for column in columns}
            cells |= {column: _texts(row[column]) for column in lists if row.get(column)}
            texts = (column for column, cell in cells.items() if schema[column] == polars.String and cell is not None)
            _put_line(lines, cells | {column: str(cells[column]) for column in texts})
        lines.flush()
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as place:
            made = Path(place) / "rows.parquet"
            polars.scan_ndjson(lines.name, schema=schema).sink_parquet(made)
            shutil.move(made, target)


def _texts(cell: str) -> list[str]:
    """Return the texts in a cell: those of a list in JSON, else the cell itself."""
    with suppress(ValueError):
        value = json.loads(cell)
        if isinstance(value, list) and all(isinstance(text, str) for text in value):
            return value
    return [cell]


def write_arrays(path: str | Path, arrays: Mapping[str, Any]) -> None:
    """Write numpy arrays as a compressed `.npz`, complete or absent."""
    import numpy as np

    if Path(path).suffix != ".npz":
        raise UsageError(f"{path}: vectors are written as .npz. Choose a name with this suffix")
    with atomic_file(Path(path)) as partial, partial.open("wb") as stream:
        np.savez_compressed(stream, **arrays)
