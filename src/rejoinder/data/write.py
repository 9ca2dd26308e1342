"""Writers: examples and scored lines to JSON lines, CSV, Parquet and chat messages, whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, Literal, get_args

from rejoinder.assets import as_path
from rejoinder.data.outputs import atomic_file
from rejoinder.errors import MissingExtra, UsageError
from rejoinder.example import Example, Given
from rejoinder.io.chat import as_chat
from rejoinder.io.flat import decoded, is_end, is_moved, to_cells
from rejoinder.io.formulas import guarded
from rejoinder.io.given import examples_of
from rejoinder.io.parse import to_record
from rejoinder.io.terminal import data_output
from rejoinder.io.values import as_json

Format = Literal["jsonl", "csv", "tsv", "parquet", "chat"]
Put = Callable[[Mapping[str, Any]], None]
_SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}


def write(examples: Given, path: str | Path, *, format: Format | None = None) -> int:  # noqa: A002
    """Write examples to a file and return how many there were.

    Args:
        examples: in any form that `examples_of` takes; an iterator of examples is not held in memory.
        path: where to; `-` is standard output; `.gz` packs the text formats.
        format: None takes it from the suffix; `chat` writes JSON lines of `messages`,
            unchanged where the examples were read from such.

    Raises:
        UsageError: something else than an example was given; the suffix is of no known format, or the folder does not
            exist.
        MissingExtra: Parquet without polars.
    """
    count = 0
    with open_writer(path, format) as put:
        for example in examples if isinstance(examples, Iterator) else examples_of(examples):
            if not isinstance(example, Example):
                found = f"a {type(example).__name__}, expected Example"
                raise UsageError(f"{found}. Make examples of it: rejoinder.examples_of(...)")
            put(to_record(example))
            count += 1
    return count


def format_of(path: str | Path) -> Format:
    """The format that the suffix of `path` names; JSON lines for standard output.

    Raises:
        UsageError: it names none.
    """
    if str(path) == "-":
        return "jsonl"
    name = as_path(path)
    suffix = (Path(name.stem) if name.suffix == ".gz" else name).suffix.lower()
    if suffix not in _SUFFIXES:
        raise UsageError(f"{path}: unknown output format {suffix or '(no suffix)'}. Known: {', '.join(_SUFFIXES)}")
    return _SUFFIXES[suffix]


@contextmanager
def open_writer(path: str | Path, format: Format | None = None) -> Iterator[Put]:  # noqa: A002
    """Yield a function that takes one record; the file appears when the block ends well.

    Tables need their columns first and records may differ in keys, so CSV and Parquet go through a temporary file.
    """
    chosen = format or format_of(path)
    if chosen not in get_args(Format):
        raise UsageError(f"{chosen!r} is no format. There are: {', '.join(get_args(Format))}")
    as_path(path)
    if chosen == "parquet" and (str(path) == "-" or (Path(path).exists() and not Path(path).is_file())):
        raise UsageError(f"{path}: Parquet goes to a file, not to standard output, a pipe or a folder. Name a file.")
    with _target(path) as target:
        if chosen in ("jsonl", "chat"):
            with _text(target, packed=str(path).endswith(".gz")) as stream:
                yield lambda record: _put_line(stream, as_chat(record) if chosen == "chat" else record)
        else:
            with tempfile.TemporaryFile("w+", encoding="utf-8") as rows:
                columns: dict[str, None] = {}

                def put(record: Mapping[str, Any]) -> None:
                    cells = to_cells(record)
                    columns.update(dict.fromkeys(cells))
                    _put_line(rows, cells)

                yield put
                rows.seek(0)
                if chosen == "parquet":
                    _write_parquet(map(json.loads, rows), list(columns), Path(str(target)))
                else:
                    with _text(target, packed=str(path).endswith(".gz")) as stream:
                        write_csv(map(json.loads, rows), list(columns), stream, "\t" if chosen == "tsv" else ",")


@contextmanager
def _target(path: str | Path) -> Iterator[Path | IO[str]]:
    """Standard output, or a temporary file that becomes `path`."""
    if str(path) == "-":
        yield data_output()
    else:
        with atomic_file(Path(path)) as partial:
            yield partial


@contextmanager
def _text(target: Path | IO[str], *, packed: bool) -> Iterator[IO[str]]:
    """A text stream into `target`, through gzip where asked; it carries no time, so equal data gives equal bytes."""
    if not isinstance(target, Path):
        yield target
        target.flush()
    elif packed:
        with (
            target.open("wb") as raw,
            gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as zipped,
            io.TextIOWrapper(zipped, encoding="utf-8", newline="") as stream,
        ):
            yield stream
    else:
        with target.open("w", encoding="utf-8", newline="") as stream:
            yield stream


def _put_line(stream: IO[str], record: Mapping[str, Any]) -> None:
    """One record as one line of JSON."""
    stream.write(as_json(record, str(record.get("id") or "")) + "\n")


def write_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], stream: IO[str], delimiter: str = ",") -> None:
    """Rows under one header; a cell that a row lacks is empty, and none is a formula to a spreadsheet."""
    # Python before 3.13 quotes a cell with a carriage return only where that ends lines too.
    lines = SimpleNamespace(write=lambda line: stream.write(line.removesuffix("\r\n") + "\n"))
    table = csv.DictWriter(lines, columns, restval="", delimiter=delimiter, lineterminator="\r\n")
    table.writerow(dict(zip(columns, map(guarded, columns), strict=True)))
    for row in rows:
        table.writerow({column: guarded(row.get(column)) for column in columns})


def _write_parquet(rows: Iterable[dict[str, Any]], columns: list[str], target: Path) -> None:
    """Rows as Parquet: score columns are numbers, `context` and `references` lists of texts, all else text."""
    try:
        import polars
    except ImportError as error:
        raise MissingExtra("polars", "parquet", "Writing Parquet") from error
    lists = [column for column in ("context", "references") if column in columns]
    kinds: dict[str, Any] = {column: polars.List(polars.String) for column in lists}
    told = [column for column in columns if is_end(column, columns) or is_moved(column, columns)]
    kinds |= dict.fromkeys([*told, *(column for column in columns if column.startswith("scores."))], polars.Float64)
    schema = {column: kinds.get(column, polars.String) for column in columns}
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".jsonl") as lines:
        for row in rows:
            cells = {column: row.get(column) for column in columns}
            cells |= {column: decoded(column, row[column], str(target)) for column in lists if row.get(column)}
            texts = {
                column: str(cell)
                for column, cell in cells.items()
                if schema[column] == polars.String and cell is not None
            }
            _put_line(lines, {**cells, **texts})
        lines.flush()
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as place:
            made = Path(place) / "rows.parquet"
            polars.scan_ndjson(lines.name, schema=schema).sink_parquet(made)
            shutil.move(made, target)


def write_arrays(path: str | Path, arrays: Mapping[str, Any]) -> None:
    """Write numpy arrays as one compressed `.npz`, whole or not at all.

    Raises:
        UsageError: the name does not end in `.npz`, or the folder does not exist.
    """
    import numpy as np

    if Path(path).suffix != ".npz":
        raise UsageError(f"{path}: vectors are written as .npz. Name a file that ends so")
    with atomic_file(Path(path)) as partial, partial.open("wb") as stream:
        np.savez_compressed(stream, **arrays)
