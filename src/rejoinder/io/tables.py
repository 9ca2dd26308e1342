"""Rows of tables: CSV and TSV, Parquet. Cells come as they stand; what they mean is for others to say."""

from __future__ import annotations

import csv
import io
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rejoinder.errors import DataError, MissingExtra
from rejoinder.io import limits
from rejoinder.io.blanks import FILLED_DOWN
from rejoinder.io.formulas import plain
from rejoinder.io.lines import SAVE_AS_UTF8, OnBad, name_of, open_bytes, text_lines
from rejoinder.io.names import deciding, is_known

if TYPE_CHECKING:
    import polars

_MARK = re.compile(r"sep=(.)\s*", re.IGNORECASE)  # how a CSV file tells Excel what separates its cells
_QUALTRICS = '{"ImportId":'
_SURVEY_MONKEY = frozenset(("Response", "Open-Ended Response"))

Row = tuple[str, dict[str, Any]]
"""(`file:line`, cells by column)."""
Table = Iterator[tuple[str, list[str] | None]]
"""(`file:line`, cells) of rows that are not blank; None for cells that cannot be read."""


def csv_rows(path: str | Path, on_bad: OnBad, *, usual: str = ",") -> Iterator[Row]:
    """Rows of a CSV or TSV file; without a header that can be used nothing is read."""
    yield from named_rows(_csv(path, on_bad, usual), on_bad)


def parquet_rows(path: str | Path, on_bad: OnBad) -> Iterator[Row]:
    """Rows of a Parquet file, a slice of it at a time."""
    try:
        import polars
    except ImportError as error:
        raise MissingExtra("polars", "parquet", "Reading Parquet") from error
    name = name_of(path)
    with open_bytes(path) as stream:
        try:
            table = polars.scan_parquet(seekable(stream, path), glob=False)
            limits.require_few_columns(len(table.collect_schema()), name)
            count = table.select(polars.len()).collect().item()
            for start in range(0, count, limits.PARQUET_ROWS):
                part = table.slice(start, limits.PARQUET_ROWS).collect()
                _require_small(part, name)
                for number, row in enumerate(part.iter_rows(named=True), start=start + 1):
                    yield f"{name}:row {number}", row
        except polars.exceptions.PolarsError as error:
            problem = f"not a readable Parquet file ({str(error).splitlines()[0]})"
            on_bad(DataError(problem, "Write it again", where=name))
        except DataError as error:
            on_bad(error)


def _require_small(part: polars.DataFrame, name: str) -> None:
    """Raise `DataError` where the texts of some rows are too much: a small file can hold one long text in each row."""
    if sum(map(_text_size, part.get_columns())) > limits.TEXTS:
        problem = f"{len(part):,} rows with more than {limits.TEXTS >> 20:,} MiB of texts"
        raise DataError(problem, "Write JSON lines (.jsonl), or shorten the texts", where=name)


def _text_size(column: polars.Series) -> int:
    """Bytes of the texts in a column, those in lists and structs too."""
    import polars

    if column.dtype == polars.String:
        return int(column.str.len_bytes().sum())
    if column.dtype == polars.Binary:
        return int(column.bin.size().sum())
    if isinstance(column.dtype, (polars.List, polars.Array)):
        return _text_size(column.explode())
    if isinstance(column.dtype, polars.Struct):
        return sum(map(_text_size, column.struct.unnest().get_columns()))
    return 0


def named_rows(table: Table, on_bad: OnBad) -> Iterator[Row]:
    """Rows with the names of the header, which is the first; a column without a name is called by its place."""
    where, header = next(table, ("", None))
    if header is None:
        return
    header = [name or f"column {place}" for place, name in enumerate(header, start=1)]
    try:
        limits.require_few_columns(len(header), where)
        _require_once(header, where)
    except DataError as error:
        on_bad(error)
        return
    for where, cells in _without_second_header(table):
        if cells is None or not any(cells) or (len(cells) < len(header) and not "".join(cells).strip()):
            continue
        if len(header) > 1 and FILLED_DOWN.issuperset(filter(None, cells)):
            continue
        try:
            _require_as_many(cells, header, where)
        except DataError as error:
            on_bad(error)
        else:
            yield where, dict(zip(header, cells, strict=True))


def _require_once(header: list[str], where: str) -> None:
    """Raise where a header has a name twice, or a name that decides and what pandas calls its namesake: `name.1`."""
    twice, times = Counter(header).most_common(1)[0]
    if times > 1:
        raise DataError("the header has this name twice", "Rename one column", where=where, field=twice)
    if doubled := next((name for name in deciding(header) if f"{name}.1" in header), None):
        problem = f"pandas doubled the column {doubled!r}, and only one of the two can be read"
        raise DataError(problem, "Rename or delete one column", where=where, field=f"{doubled}.1")


def _without_second_header(table: Table) -> Table:
    """The rows below a header, but for what survey tools write between it and the answers.

    Qualtrics has two rows there, the questions and `{"ImportId": ...}`; SurveyMonkey one, `Response` and the like.
    """
    first = list(islice(table, 2))
    for place, (_, cells) in enumerate(first):
        held = {cell for cell in cells or [] if cell}
        if held and (all(cell.startswith(_QUALTRICS) for cell in held) or (place == 0 and held <= _SURVEY_MONKEY)):
            first = first[place + 1 :]
            break
    return chain(first, table)


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
    """What stands between the names of a header, `,`, `;` or a tab: it finds most that we know, then most at all."""

    def found(mark: str) -> tuple[int, int]:
        names = [name.strip(' "\r\n') for name in header.split(mark, limits.COLUMNS)]
        return sum(map(is_known, names)), len(names)

    return max((usual, ",", ";", "\t"), key=found)


def _csv(path: str | Path, on_bad: OnBad, usual: str) -> Table:
    """Rows of a CSV file."""
    csv.field_size_limit(limits.LINE)  # the library's own limit of 128 KiB is less than a long dialogue
    # A line left out for a bad byte would glue its neighbours together, so such lines come and spoil their own row.
    lines = _Lines(line for _, line in text_lines(path, on_bad, errors="surrogateescape"))
    head = list(_first(lines))
    skipped = 0
    if head and (mark := _MARK.fullmatch(head[-1])):
        usual, skipped = mark[1], len(head)
        head = list(_first(lines))
    delimiter = usual if skipped else _separator(head[-1] if head else "", usual)
    _, *others = (head[-1] if head else "").split(delimiter)
    apart = bool(others) and all(name.startswith(" ") for name in others)  # a blank behind each separator, as in prose
    rows = csv.reader(chain(head, lines), delimiter=delimiter, strict=True, skipinitialspace=apart)
    while True:
        where = f"{name_of(path)}:{rows.line_num + skipped + 1}"
        lines.characters = 0
        try:
            cells = next(rows, None)
            if cells is None:
                return
            _require_utf8(cells, where)
        except _RowTooLong:
            on_bad(limits.line_too_long(where))
            return
        except csv.Error as error:
            on_bad(DataError(f"broken CSV ({error})", "Close every quote; double those inside a cell", where=where))
            yield where, None
        except DataError as error:
            on_bad(error)
            yield where, None
        else:
            if cells:
                yield where, list(map(plain, cells))


class _RowTooLong(Exception):
    """A row goes on for too long: a quote is open."""


class _Lines:
    """Lines of a table, counted, because one open quote makes all that follow a single row.

    Attributes:
        characters: those since it was set to 0.
    """

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines, self.characters = lines, 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.characters += len(line)
        if self.characters > limits.LINE:
            raise _RowTooLong
        return line


def _first(lines: _Lines) -> Iterator[str]:
    """The lines up to the first that is not blank."""
    for line in lines:
        lines.characters = 0
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


def seekable(stream: IO[bytes], path: str | Path) -> Path | io.BytesIO:
    """What a reader that jumps about can read: the file itself, or all that a pipe or a gzip holds.

    Raises:
        DataError: that is too much.
    """
    file = Path(path)
    if file.is_file() and isinstance(stream, io.BufferedReader):
        return file
    return io.BytesIO(limits.read_whole(stream, name_of(path)))
