"""Every limit on what a file from a stranger may cost, in one place, and the guarded ways to read."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from typing import IO

from rejoinder.errors import DataError

LINE = 64 << 20  # bytes of one line, cell or zip member's line
DOCUMENT = 512 << 20  # bytes of a file that is read whole, after unpacking
MEMBERS = 100_000  # files in an archive
VALUES = (
    20_000_000  # lists, objects and items of one document: `[],[],[], ...` takes twenty times its size once decoded
)
CELLS = 50_000_000  # the sheet is held as one block from its first to its last cell
ROWS, COLUMNS = 1_048_576, 16_384  # Excel's own; a cell beyond them aborts the spreadsheet library
DEPTH = 100  # lists and objects inside each other
LITERAL = 1 << 20  # characters of a list as Python writes it; parsing more takes seconds

_CELL = re.compile(rb"<c\b([^>]*?)(/>|>(.*?)</c>)", re.DOTALL)
_REF = re.compile(rb'\br="([A-Za-z]+)(\d+)"')


def read_whole(stream: IO[bytes], where: str, most: int = DOCUMENT) -> bytes:
    """All that a stream holds, at most `most` bytes: a gzip bomb stops here."""
    data = stream.read(most + 1)
    if len(data) > most:
        raise DataError(
            f"more than {most >> 20} MiB", "Write JSON lines (.jsonl), which are read one at a time", where=where
        )
    return data


def lines(stream: IO[bytes], where: str, most: int = LINE) -> Iterator[bytes]:
    """The lines of a stream, each at most `most` bytes."""
    number = 0
    while line := stream.readline(most + 1):
        number += 1
        if len(line) > most:
            raise DataError(
                f"a line of more than {most >> 20} MiB",
                "Is it JSON lines? Of one JSON array say --input-format json",
                where=f"{where}:{number}",
            )
        yield line


def require_sane_json(raw: bytes, where: str) -> bytes:
    """Raise where a document would take far more memory decoded than it has bytes."""
    if len(raw) > VALUES and raw.count(b",") + raw.count(b"[") + raw.count(b"{") > VALUES:
        raise DataError(
            f"more than {VALUES:,} values in one document",
            "Write JSON lines (.jsonl), which are read one at a time",
            where=where,
        )
    return raw


def member(archive: zipfile.ZipFile, name: str, where: str, most: int = DOCUMENT) -> bytes:
    """One member of an archive, bounded while it is unpacked: its header's size may lie."""
    with archive.open(name) as stream:
        return read_whole(stream, f"{where}:{name}", most)


def require_sane_sheet(xml: bytes, where: str) -> set[str]:
    """Raise where a sheet would abort or mislead its reader; return the places of cells that hold errors.

    calamine allocates from the first to the last cell and panics (SIGABRT) on a reference outside Excel's own range;
    it gives an empty cell for an error and for a formula whose value was never saved.
    """
    rows = columns = 0
    errors = set()
    for match in _CELL.finditer(xml):
        ref = _REF.search(match[1])
        if ref is None:
            continue
        row, column = int(ref[2]), _column(ref[1])
        place = (ref[1] + ref[2]).decode()
        if not (1 <= row <= ROWS and 1 <= column <= COLUMNS):
            raise DataError(
                f"a cell at {place[:20]}, outside any spreadsheet",
                "Save it again from a spreadsheet program, or as CSV",
                where=where,
            )
        rows, columns = max(rows, row), max(columns, column)
        body = match[3] or b""
        if b"<f" in body and not re.search(rb"<v[^>]*>[^<]", body) and b't="str"' not in match[1]:
            raise DataError(
                f"cell {place} is a formula without a value",
                "Open it in a spreadsheet program and save it, which calculates it",
                where=where,
            )
        if b't="e"' in match[1]:
            errors.add(place)
    if rows * columns > CELLS:
        raise DataError(
            f"a cell far out makes a sheet of {rows:,} by {columns:,}",
            "Delete what stands outside the table, or save it as CSV",
            where=where,
        )
    return errors


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters.upper()[:8]:
        number = number * 26 + letter - ord("A") + 1
    return number
