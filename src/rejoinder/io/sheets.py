"""Rows of spreadsheets (.xlsx), with the texts that the same table would have as CSV."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from rejoinder.errors import DataError
from rejoinder.io.lines import Note, OnBad, name_of, open_bytes
from rejoinder.io.names import is_known
from rejoinder.io.tables import Row, Table, named_rows, seekable

# A sheet is held as one block from its first to its last cell, so a single cell far out would fill the memory.
_MOST_CELLS = 50_000_000
_MOST_TITLES = 6  # rows among which the header is looked for, below rows of one cell
_CELL = re.compile(rb'<c r="([A-Z]{1,3})(\d{1,7})"')
_SHEET = re.compile(r"xl/worksheets/.*\.xml")
_OF_ERROR = b' t="e"'
_ERROR = re.compile(rb'(<c [^<>]*)t="e"')
_CHUNK = 1 << 20

_Range = tuple[tuple[int, int], tuple[int, int]]
"""The first and the last (row, column) of a merged cell, from 0."""


def sheet_rows(path: str | Path, on_bad: OnBad, note: Note) -> Iterator[Row]:
    """Rows of the first sheet whose header has a name that we know, or else of the first that holds anything.

    Args:
        path: the file; read whole.
        on_bad: is given the error of a row, or of the file.
        note: is told which sheet it was, where several hold something.
    """
    yield from named_rows(_table(path, on_bad, note), on_bad)


def _table(path: str | Path, on_bad: OnBad, note: Note) -> Table:
    """The rows of that sheet which hold anything, the header first."""
    import python_calamine

    name = name_of(path)
    with open_bytes(path) as stream:
        source = seekable(stream, path)
        try:
            book = python_calamine.load_workbook(source)
            if _has_errors(source, name):
                book = python_calamine.load_workbook(_with_errors(source))
            sheets = [book.get_sheet_by_name(sheet) for sheet in book.sheet_names]
            tables = {sheet.name: rows for sheet in sheets if (rows := _filled(sheet.iter_rows()))}
            merged = {sheet.name: _merged(sheet) for sheet in sheets}
            yield from _chosen(tables, merged, name, note)
        except python_calamine.CalamineError as error:
            problem = f"not a readable spreadsheet ({' '.join(str(error).split())})"
            on_bad(DataError(problem, "Save it again as .xlsx, or as CSV", where=name))
        except DataError as error:
            on_bad(error)


def _filled(rows: Iterator[list[Any]]) -> list[tuple[int, list[str]]]:
    """Number and texts of the rows that hold anything, from the header on: a title may stand above it."""
    texts = ((number, [_as_text(cell) for cell in row]) for number, row in enumerate(rows, start=1))
    filled = [(number, cells) for number, cells in texts if any(cells)]
    for place, (_, cells) in enumerate(filled[:_MOST_TITLES]):
        if len(list(filter(None, cells))) > 1:
            return filled[place:] if any(map(is_known, cells)) else filled
    return filled


def _merged(sheet: Any) -> list[_Range]:
    """The merged cells of a sheet, their columns counted from the first that holds anything."""
    _, first = sheet.start or (0, 0)
    ranges = sheet.merged_cell_ranges or []
    return [((top, left - first), (bottom, right - first)) for (top, left), (bottom, right) in ranges if left >= first]


def _chosen(
    tables: dict[str, list[tuple[int, list[str]]]], merged: dict[str, list[_Range]], name: str, note: Note
) -> Table:
    """The rows of the sheet to read; where there are several that is said."""
    if not tables:
        return
    known = [sheet for sheet, rows in tables.items() if any(map(is_known, rows[0][1]))]
    sheet = (known or list(tables))[0]
    if len(tables) > 1:
        others = ", ".join(repr(other) for other in tables if other != sheet)
        note(f"{name}: read the sheet {sheet!r}, not {others}")
    if columns := _spread(tables[sheet], merged[sheet]):
        note(f"{name}: cells merged over several rows were read as the same in each: {', '.join(columns)}")
    for number, cells in tables[sheet]:
        yield f"{name}:row {number}", cells


def _spread(rows: list[tuple[int, list[str]]], merged: list[_Range]) -> list[str]:
    """Write what a cell merged over several rows says into each of them, and name the columns where that was done.

    Rows that hold nothing else stay empty, and what is merged with the header is a part of it.
    """
    (first, header), *_ = rows
    by_number, last = dict(rows), rows[-1][0]
    found = dict[str, None]()
    for (top, left), (bottom, _) in merged:
        known = first <= top and top + 1 in by_number and left < len(header)
        value = by_number[top + 1][left] if known else ""
        for number in range(top + 2, min(bottom + 1, last) + 1) if value else ():
            if number in by_number and not by_number[number][left]:
                by_number[number][left] = value
                found[header[left] or f"column {left + 1}"] = None
    return list(found)


def _as_text(cell: Any) -> str:
    """The text of a cell, as it would stand in a CSV file."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, (datetime.date, datetime.time)) else str(cell)


def _has_errors(source: Path | IO[bytes], name: str) -> bool:
    """Whether a formula of some sheet came to an error.

    Raises:
        DataError: a sheet has a cell so far out that it cannot be held.
    """
    try:
        with zipfile.ZipFile(source) as archive:
            found = [_scanned(archive, part, name) for part in archive.namelist() if _SHEET.fullmatch(part)]
            return any(found)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        return False  # damage is for the reader of the sheets to tell


def _scanned(archive: zipfile.ZipFile, part: str, name: str) -> bool:
    """Whether a sheet holds an error; raise `DataError` where the block of its cells is larger than can be held."""
    rows = columns = 0
    rest, found = b"", False
    with archive.open(part) as sheet:
        while chunk := sheet.read(_CHUNK):
            for letters, digits in _CELL.findall(rest + chunk):
                rows, columns = max(rows, int(digits)), max(columns, _column(letters))
            if rows * columns > _MOST_CELLS:
                problem = f"a cell far out makes a sheet of {rows:,} rows and {columns:,} columns"
                raise DataError(problem, "Delete what stands outside the table, or save it as CSV", where=name)
            found = found or _OF_ERROR in rest + chunk
            rest = chunk[-32:]
    return found


def _with_errors(source: Path | IO[bytes]) -> io.BytesIO:
    """The workbook with the errors of its formulas as texts, as in a CSV file: its reader takes them for nothing."""
    copy = io.BytesIO()
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        for part in archive.namelist():
            data = archive.read(part)
            new.writestr(part, _ERROR.sub(rb'\1t="str"', data) if _SHEET.fullmatch(part) else data)
    copy.seek(0)
    return copy


def _column(letters: bytes) -> int:
    """The number of a column: 1 for A, 27 for AA."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number
