"""Rows of spreadsheets (.xlsx), with the texts that the same table would have as CSV."""

from __future__ import annotations

import datetime
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from rejoinder.errors import DataError
from rejoinder.io import limits
from rejoinder.io.blanks import NEVER_WORKED_OUT
from rejoinder.io.lines import Note, OnBad, name_of, open_bytes
from rejoinder.io.names import is_known
from rejoinder.io.tables import Row, Table, named_rows, seekable

_MOST_TITLES = 6  # rows among which the header is looked for, below rows of one cell
_SHEET = b"sheetData"  # what only a sheet holds, whatever it is called
_TEXTS = b"sst"  # with any namespace
# Each pattern stops at the next start of its kind, so a file of starts without ends takes linear time.
_TEXT = re.compile(rb"<(?:[^\s<>/]*:)?si[\s>](?:(?!<(?:[^\s<>/]*:)?si[\s>]).)*?</(?:[^\s<>/]*:)?si\s*>", re.DOTALL)
_OTHER_KINDS = frozenset(("content.xml", "xl/workbook.bin"))  # of OpenDocument and of .xlsb, which hold no such sheets
_ERROR = re.compile(rb'(<c [^<>]*)t="e"')
_FORMULA = re.compile(rb"<c\b([^<>]*[^<>/])>((?:(?!</?c\b|<f\b).)*<f\b(?:(?!</?c\b).)*)</c>", re.DOTALL)
_VALUE = re.compile(rb"<v[^>]*>[^<]")
_KIND = re.compile(rb"\bt=\"[^\"]*\"")

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
        try:
            book = python_calamine.load_workbook(_checked(seekable(stream, path), name))
            sheets = [book.get_sheet_by_name(sheet) for sheet in book.sheet_names]
            tables = {sheet.name: rows for sheet in sheets if (rows := _filled(sheet.iter_rows()))}
            merged = {sheet.name: _merged(sheet) for sheet in sheets}
            yield from _chosen(tables, merged, name, note)
        except python_calamine.CalamineError as error:
            on_bad(_unreadable(error, name))
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


def _checked(source: Path | IO[bytes], name: str) -> Path | IO[bytes]:
    """The workbook, with texts in place of formulas that its reader takes for empty cells.

    Raises:
        DataError: it is none, or its reader would take too much memory.
    """
    try:
        with zipfile.ZipFile(source) as archive:
            flawed = _require_sane(archive, name)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error) as error:
        raise _unreadable(error, name) from error
    if isinstance(source, io.BytesIO):
        source.seek(0)
    return _with_texts_for_formulas(source) if flawed else source


def _require_sane(archive: zipfile.ZipFile, name: str) -> bool:
    """Whether a sheet holds an error, or a formula without a value.

    Raises:
        DataError: see `_checked`.
    """
    members = archive.infolist()
    limits.require_few_members(len(members), name)
    if not _OTHER_KINDS.isdisjoint(member.filename for member in members):
        raise DataError("no Excel workbook", "Save it as .xlsx, or as CSV", where=name)
    flawed, cells, size, lengths = False, 0, 0, list[int]()
    for member in sorted(members, key=lambda member: "sharedstrings" not in member.filename.lower()):
        with archive.open(member) as stream:
            data = limits.read_whole(stream, f"{name}:{member.filename}")
        size += len(data)
        if size > limits.TEXTS:
            raise limits.too_large(limits.TEXTS, name)
        if _TEXTS in data:
            lengths += [len(text[0]) for text in _TEXT.finditer(data)]
        if _SHEET in data:
            cells += limits.cells_of_sheet(data, name)
            limits.require_few_cells(cells, name)
            limits.require_short_texts(data, lengths, name)
            flawed = flawed or _ERROR.search(data) is not None or any(map(_lacks_value, _FORMULA.finditer(data)))
    return flawed


def _lacks_value(cell: re.Match[bytes]) -> bool:
    """Whether a cell is a formula whose value was never saved; the empty text is a value."""
    return _VALUE.search(cell[2]) is None and b't="str"' not in cell[1]


def _with_texts_for_formulas(source: Path | IO[bytes]) -> io.BytesIO:
    """The workbook with its errors, and its formulas without a value, as texts: its reader takes them for nothing."""

    def as_text(cell: re.Match[bytes]) -> bytes:
        if not _lacks_value(cell):
            return cell[0]
        attributes = _KIND.sub(b"", cell[1])
        return b'<c%s t="str"><v>%s</v></c>' % (attributes, NEVER_WORKED_OUT.encode())

    copy = io.BytesIO()
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        for part in archive.namelist():
            data = archive.read(part)
            if _SHEET in data:
                data = _FORMULA.sub(as_text, _ERROR.sub(rb'\1t="str"', data))
            new.writestr(part, data)
    copy.seek(0)
    return copy


def _unreadable(error: Exception, name: str) -> DataError:
    """The refusal of a file that is no workbook, or a damaged one."""
    problem = f"not a readable spreadsheet ({' '.join(str(error).split())})"
    return DataError(problem, "Save it again as .xlsx, or as CSV", where=name)
