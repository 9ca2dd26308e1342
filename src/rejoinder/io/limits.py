"""Limits on what a file from a stranger may cost, in one place, and guarded ways to read.

Limits hold on unpacked bytes, so a compressed bomb stops while it is unpacked. What is refused, and what to do, is one
line: `docs/safety.md` lists the limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import IO

from rejoinder.errors import DataError

LINE = 64 << 20  # bytes of a line; characters of a row or cell of a table
DOCUMENT = 256 << 20  # bytes, after unpacking, of a file or a member of an archive that is read whole
BLANK_LINES = 10_000_000  # blank lines in a row
MEMBERS = 100_000  # files in an archive
VALUES = 20_000_000  # lists, objects and items of one document: `[],[],[]` takes twenty times its size once decoded
CELLS = 50_000_000  # of all sheets of a workbook; a sheet is held as one block from its first to its last cell
ROWS, COLUMNS = 1_048_576, 16_384  # Excel's own limits; a cell beyond them aborts the spreadsheet library
TEXTS = 1 << 30  # bytes of all members of a workbook, of its texts cell by cell, and of the texts in PARQUET_ROWS rows
PARQUET_ROWS = 4096  # rows of a Parquet file that are held at once

_AS_LINES = "Write JSON lines (.jsonl), which are read one at a time"
_ATTRIBUTE = rb"""\s+([^\s=<>/"']+)\s*=\s*("[^"<]*"|'[^'<]*')"""
_ATTRIBUTES = re.compile(_ATTRIBUTE)
# Every start and end of a row or a cell, with any namespace; what follows is looked at, not consumed, so that no tag
# can hide in a value of another.
_TAG = re.compile(
    rb"<(/?)(?:[^\s<>/]*:)?(row|c)(?=[\s/>])(?:(?=((?:%s)*)\s*(/?)>)|)" % _ATTRIBUTE.replace(b"(", b"(?:")
)
_SHARED = re.compile(rb"<(?:[^\s<>/]*:)?v(?:\s[^<>]*)?>(?:\s*(\d{1,9})\s*</|[^<]*(?:&#|<[!?]))")
_PLACE = re.compile(rb"([A-Za-z]{1,3})([0-9]{1,7})")


def read_whole(stream: IO[bytes], where: str, most: int | None = None) -> bytes:
    """All bytes of a stream.

    Raises:
        DataError: there are more than `most`, or than `DOCUMENT`.
    """
    most = DOCUMENT if most is None else most
    data = stream.read(most + 1)
    if len(data) > most:
        raise too_large(most, where)
    return data


def too_large(most: int, where: str) -> DataError:
    """The refusal of a document that is read whole."""
    return DataError(f"holds more than {_size(most)}", _AS_LINES, where=where)


def lines(stream: IO[bytes], where: str, *, whole: bool) -> Iterator[bytes]:
    """The lines of a stream, with their line ends.

    Args:
        stream: the stream.
        where: its name.
        whole: whether it is a document, which may stand on a single line.

    Raises:
        DataError: a line is longer than `LINE`, or the document than `DOCUMENT`; more than `BLANK_LINES` are blank in a
            row.
    """
    number = blank = size = 0
    most = DOCUMENT if whole else LINE
    while line := stream.readline(most + 1):
        number += 1
        size = size + len(line) if whole else len(line)
        if size > most:
            raise too_large(most, where) if whole else line_too_long(f"{where}:{number}")
        blank = 0 if len(line) > 2 or line.strip() else blank + 1
        if blank > BLANK_LINES:
            raise DataError(f"more than {BLANK_LINES:,} blank lines", "Remove them", where=f"{where}:{number}")
        yield line


def line_too_long(where: str) -> DataError:
    """The refusal of a line, or of a row of a table."""
    remedy = "Write one record a line; of one JSON array say --input-format json"
    return DataError(f"a line of more than {_size(LINE)}", remedy, where=where)


def require_few_values(text: str, where: str) -> None:
    """Raise `DataError` where a document in JSON would take far more memory decoded than it has characters."""
    if len(text) > VALUES and sum(map(text.count, ",[{")) > VALUES:
        raise DataError(f"more than {VALUES:,} values in one document", _AS_LINES, where=where)


def require_few_columns(count: int, where: str) -> None:
    """Raise `DataError` where a table or record has more columns or keys than any spreadsheet has columns."""
    if count > COLUMNS:
        problem = f"{count:,} columns or keys, expected at most {COLUMNS:,}"
        raise DataError(problem, "Leave out columns, or write JSON lines with lists", where=where)


def require_few_members(count: int, where: str) -> None:
    """Raise `DataError` where an archive holds more files than is sensible."""
    if count > MEMBERS:
        raise DataError(f"{count:,} files in one archive, expected at most {MEMBERS:,}", "Split it", where=where)


def cells_of_sheet(xml: bytes, where: str) -> int:
    """The cells of the block that a sheet of a workbook takes in memory.

    The spreadsheet library allocates from the first to the last cell, and aborts the process on a reference outside
    Excel's own range; so this counts as the library does, also where rows or cells do not say their place.

    Raises:
        DataError: a cell or row is outside any spreadsheet, or damaged.
    """
    row = column = rows = columns = 0
    inside = False
    hidden = b"<!" in xml or xml.count(b"<?") > 1  # a comment may hold tags that the library does not see
    for tag in _TAG.finditer(xml):
        if tag[3] is None or (inside and (tag[2] == b"row" or not tag[1])):
            raise _damaged(where)
        inside = tag[2] == b"c" and not tag[1] and not tag[4]
        if tag[1]:
            continue
        found = [value[1:-1] for name, value in _ATTRIBUTES.findall(tag[3]) if name == b"r"]
        reference = found[0] if found else None
        if len(found) > 1 or (hidden and reference is None):
            raise _damaged(where)
        if tag[2] == b"row":
            row, column = (row + 1 if reference is None else _number(reference)), 0
        elif reference is None:
            column += 1
        elif place := _PLACE.fullmatch(reference):
            column, row = _column(place[1]), int(place[2])
        else:
            raise _outside(reference, where)
        if row > ROWS or column > COLUMNS or (tag[2] == b"c" and row < 1) or row < 0:
            raise _outside(reference or b"%d:%d" % (row, column), where)
        rows, columns = max(rows, row), max(columns, column)
    if inside:
        raise _damaged(where)
    return rows * columns


def require_short_texts(sheet: bytes, lengths: Sequence[int], where: str) -> None:
    """Raise `DataError` where cells repeat long texts that are stored once: each would be a text of its own.

    Args:
        sheet: the XML of a sheet.
        lengths: bytes of each shared text of the workbook.
        where: place of the sheet.
    """
    longest = max(lengths, default=0)
    if longest * sheet.count(b"</v>") <= TEXTS and longest * sheet.count(b":v>") <= TEXTS:
        return
    places = (int(index[1] or -1) for index in _SHARED.finditer(sheet))  # -1: an index that is not plainly written
    if sum(longest if place < 0 else lengths[place] for place in places if place < len(lengths)) > TEXTS:
        problem = f"its cells hold more than {_size(TEXTS)} of texts"
        raise DataError(problem, "Split it, or save it as CSV", where=where)


def require_few_cells(count: int, where: str) -> None:
    """Raise `DataError` where sheets would take too much memory."""
    if count > CELLS:
        problem = f"a cell far out makes sheets of {count:,} cells, expected at most {CELLS:,}"
        raise DataError(problem, "Delete what stands outside the table, or save it as CSV", where=where)


def _outside(reference: bytes, where: str) -> DataError:
    """The refusal of a cell that no spreadsheet has."""
    place = ascii(reference[:20].decode("latin-1"))
    return DataError(f"a cell at {place}, outside any spreadsheet", "Save it again, or as CSV", where=where)


def _damaged(where: str) -> DataError:
    """The refusal of a row or cell that different readers would understand differently."""
    return DataError("a damaged row or cell", "Save it again, or as CSV", where=where)


def _number(digits: bytes) -> int:
    """The number of a row; one that is none, or far too large, is outside any spreadsheet."""
    return int(digits) if digits.isdigit() and len(digits) <= len(str(ROWS)) else ROWS + 1


def _column(letters: bytes) -> int:
    """The number of a column: 1 for A, 27 for AA."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - ord("A") + 1
    return number


def _size(count: int) -> str:
    """A number of bytes for a message."""
    return f"{count >> 20:,} MiB" if count >= 1 << 20 else f"{count:,} bytes"
