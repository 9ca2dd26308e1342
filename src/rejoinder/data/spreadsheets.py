"""Rows of Excel workbooks (.xlsx), with the texts that the same table has as CSV."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterator
from datetime import date, time
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from rejoinder.data import limits
from rejoinder.data.columns import is_known
from rejoinder.errors import DataError

UNCALCULATED = "#UNCALCULATED!"  # for a formula whose value the file does not hold
_MOST_TITLES = 6  # rows among which the header is searched, below rows of one cell
_PLACE, _ROW = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})"), re.compile(r"[0-9]{1,7}")
_LONGEST_CODE = 40  # characters of a cell's value that are kept, enough for an error or the number of a text
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_AGAIN = "Save it again as .xlsx, or as CSV"


def sheet_rows(data: bytes, name: str, note: Callable[[str], None]) -> Iterator[tuple[str, list[str]]]:
    """Yield place and cells of each row that is not blank, from the header on.

    The sheet is the first with a known name in its header, else the first that is not empty. A cell merged over several
    rows is repeated in each; a cell with an error holds its code, such as `#NAME?`.

    Raises:
        DataError: it is no workbook, a damaged one, or one that would take too much memory.
    """
    import python_calamine

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            errors = _errors(archive, name)
        book = python_calamine.load_workbook(io.BytesIO(data))
        sheets = [book.get_sheet_by_name(sheet) for sheet in book.sheet_names]
        tables = {sheet.name: (sheet, rows) for sheet in sheets if (rows := _filled(sheet, errors.get(sheet.name, {})))}
    except (python_calamine.CalamineError, KeyError, expat.ExpatError) as error:
        problem = f"not a readable spreadsheet ({' '.join(str(error).split())})"
        raise DataError(problem, _AGAIN, where=name) from error
    if not tables:
        return
    known = [sheet for sheet, (_, rows) in tables.items() if any(map(is_known, rows[0][1]))]
    chosen = (known or list(tables))[0]
    if len(tables) > 1:
        others = ", ".join(repr(other) for other in tables if other != chosen)
        note(f"{name}: read the sheet {chosen!r}, not {others}")
    sheet, rows = tables[chosen]
    if spread := _spread_merged(sheet, rows):
        note(f"{name}: repeated cells merged over several rows in {', '.join(spread)}")
    yield from ((f"{name}:row {number}", cells) for number, cells in rows)


def _filled(sheet: Any, errors: dict[tuple[int, int], str]) -> list[tuple[int, list[str]]]:
    """Return number and cells of the rows that are not blank, from the header on: titles may be above it."""
    first = sheet.start[1] + 1 if sheet.start else 1
    rows = []
    for number, row in enumerate(sheet.iter_rows(), start=1):
        cells = [_text(cell) for cell in row]
        if errors:
            cells = [errors.get((number, column), text) for column, text in enumerate(cells, start=first)]
        if any(cells):
            rows.append((number, cells))
    for place, (_, cells) in enumerate(rows[:_MOST_TITLES]):
        if sum(map(bool, cells)) > 1:
            return rows[place:] if any(map(is_known, cells)) else rows
    return rows


def _text(cell: Any) -> str:
    """Return the text of a cell as in a CSV file."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, (date, time)) else str(cell)


def _spread_merged(sheet: Any, rows: list[tuple[int, list[str]]]) -> list[str]:
    """Repeat cells merged over several rows in each of them, and return the names of their columns."""
    first = sheet.start[1]  # ranges count from column A, rows from the first column with a cell
    by_number, header_row, header = dict(rows), rows[0][0], rows[0][1]
    names = dict[str, None]()
    for (top, left), (bottom, _) in sheet.merged_cell_ranges or []:
        column, cells = left - first, by_number.get(top + 1, [])
        if top + 1 <= header_row or not 0 <= column < len(header) or not cells or not cells[column]:
            continue
        for number in range(top + 2, min(bottom + 1, rows[-1][0]) + 1):
            if number in by_number and not by_number[number][column]:
                by_number[number][column] = cells[column]
                names[header[column] or f"column {column + 1}"] = None
    return list(names)


def _errors(archive: zipfile.ZipFile, name: str) -> dict[str, dict[tuple[int, int], str]]:
    """Check what a workbook costs, and return its cells with an error or a formula without a value, by sheet."""
    members = archive.namelist()
    if len(members) > limits.MEMBERS:
        raise DataError(f"{len(members):,} files in one workbook", _AGAIN, where=name)
    if {"content.xml", "xl/workbook.bin"} & {*members}:  # OpenDocument, .xlsb: the checks do not know their sheets
        raise DataError("no Excel workbook", _AGAIN, where=name)
    sheets, lengths, cells, size = dict[str, Any](), list[int](), 0, 0
    for part in sorted(members, key=lambda part: "sharedstrings" not in part.lower()):
        data = limits.member(archive, part, name)
        size += len(data)
        limits.require_few_texts(size, name)
        is_texts = data[:64].lstrip(b"\xef\xbb\xbf\r\n\t ")[:1] == b"<" and (b"<sst" in data or b":sst" in data)
        if b"sheetData" in data or is_texts:  # whatever its name is
            scan = _Scan(data, f"{name}:{part}", lengths)
            cells += scan.rows * scan.columns
            sheets[part] = scan.errors
    if cells > limits.CELLS:
        problem = f"a cell far outside the table makes sheets of {cells:,} cells, expected at most {limits.CELLS:,}"
        raise DataError(problem, "Delete all cells outside the table, or save it as CSV", where=name)
    related = ElementTree.fromstring(limits.member(archive, "xl/_rels/workbook.xml.rels", name))  # noqa: S314
    target = {part.get("Id"): posixpath.join("/xl", part.get("Target", ""))[1:] for part in related}
    book = ElementTree.fromstring(limits.member(archive, "xl/workbook.xml", name))  # noqa: S314
    return {
        sheet.get("name", ""): sheets.get(target.get(sheet.get(_ID), ""), {})
        for sheet in book.iterfind("{*}sheets/{*}sheet")
    }


class _Scan:
    """A strict pass over the XML of a sheet or of the shared texts, before calamine sees it.

    calamine allocates from the first to the last cell, aborts the process on a reference outside a sheet, repeats a
    shared text in each cell, and gives an empty cell for an error. So each row and cell is placed as calamine does.

    Args:
        lengths: characters of each shared text; a pass over these appends them.

    Raises:
        DataError: a cell is outside any spreadsheet, the XML is damaged, or the texts are too long.
    """

    def __init__(self, xml: bytes, where: str, lengths: list[int]) -> None:
        self.where, self.lengths = where, lengths
        self.rows = self.columns = self.row = self.column = self.length = self.texts = 0
        self.errors: dict[tuple[int, int], str] = {}
        self.cell: dict[str, str] | None = None
        self.formula, self.text = False, ""
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self.start, self.end
        parser.CharacterDataHandler = self.characters
        parser.StartDoctypeDeclHandler = parser.ProcessingInstructionHandler = self.refuse
        parser.Parse(xml, True)

    def refuse(self, *_: object) -> None:
        raise DataError("a damaged sheet", _AGAIN, where=self.where)

    def characters(self, text: str) -> None:
        self.length += len(text)
        self.text += text[:_LONGEST_CODE]

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag, place = tag.rpartition(":")[2], attributes.get("r")
        if tag not in ("row", "c"):
            self.formula = self.formula or tag == "f"
            self.text = ""
            return
        if self.cell is not None:
            self.refuse()
        if tag == "c":
            self.cell, self.formula, self.text = attributes, False, ""
            match = _PLACE.fullmatch(place or "")
            self.column = self.column + 1 if place is None else _column(match[1]) if match else 0
            self.row = self.row if place is None else int(match[2]) if match else 0
            self.rows, self.columns = max(self.rows, self.row), max(self.columns, self.column)
        else:
            self.column = 0
            self.row = self.row + 1 if place is None else int(place) if _ROW.fullmatch(place) else limits.ROWS + 1
        if self.row > limits.ROWS or self.column > limits.COLUMNS or (tag == "c" and self.row < 1):
            problem = f"a cell at {(place or f'{self.row}:{self.column}')[:20]!a}, outside any spreadsheet"
            raise DataError(problem, _AGAIN, where=self.where)

    def end(self, tag: str) -> None:
        tag = tag.rpartition(":")[2]
        if tag == "si":
            self.lengths.append(self.length)
            self.length = 0
        elif tag == "f":
            self.text = ""
        elif tag == "c" and self.cell is not None:
            kind, text = self.cell.get("t"), self.text.strip()
            if kind == "e" or (self.formula and not text and kind != "str"):
                self.errors[self.row, self.column] = text or UNCALCULATED
            elif kind == "s" and text:
                if not (text.isdecimal() and int(text) < len(self.lengths)):
                    self.refuse()
                self.texts += self.lengths[int(text)]
                limits.require_few_texts(self.texts, self.where)
            self.cell = None


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
