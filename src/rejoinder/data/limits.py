"""Limits on the cost of a file from a stranger, and guarded ways to read.

Limits hold for unpacked bytes, so that a compressed bomb stops while it is unpacked. `docs/safety.md` lists them.
"""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, cast

from rejoinder.errors import DataError, MissingExtra

LINE = 64 << 20  # bytes of a line, or of a row of a table
DOCUMENT = 256 << 20  # unpacked bytes of a file or a member of an archive that is read whole
BLANK_LINES = 10_000_000  # consecutive blank lines
MEMBERS = 100_000  # files in an archive
VALUES = 20_000_000  # lists, objects and items of a document: `[],[],[]` takes twenty times its size once decoded
CELLS = 50_000_000  # of all sheets of a workbook; a sheet is held as a block from its first to its last cell
ROWS, COLUMNS = 1_048_576, 16_384  # Excel's own; a cell outside them aborts the spreadsheet library
TEXTS = 1 << 30  # bytes of all members of a workbook, of the texts in its cells, of the texts in PARQUET_ROWS rows
PARQUET_ROWS = 4096  # rows of a Parquet file that are held at once
LITERAL = 1 << 20  # characters of a list as Python writes it; parsing more takes seconds
DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, struct.error, NotImplementedError)
_AS_LINES = "Write JSON lines (.jsonl), which are read one at a time"
_ZSTANDARD = 93  # in zip files; Python unpacks it from 3.14 on


def read_whole(stream: IO[bytes] | io.BufferedIOBase, where: str) -> bytes:
    """Return all bytes of a stream, at most `DOCUMENT`."""
    data = stream.read(DOCUMENT + 1)
    if len(data) > DOCUMENT:
        raise DataError(f"holds more than {_size(DOCUMENT)}", _AS_LINES, where=where)
    return data


def lines(stream: io.BufferedIOBase, name: str) -> Iterator[bytes]:
    """Yield the lines of a stream with their line ends, each at most `LINE`.

    Raises:
        DataError: a line is longer, too many lines are blank, or the gzip is damaged; lines before it come first.
    """
    number = blank = 0
    try:
        while line := stream.readline(LINE + 1):
            number += 1
            blank = 0 if len(line) > 2 or line.strip() else blank + 1
            if len(line) > LINE:
                raise too_long(f"{name}:{number}")
            if blank > BLANK_LINES:
                raise DataError(f"more than {BLANK_LINES:,} blank lines", "Remove them", where=f"{name}:{number}")
            yield line
    except DAMAGED as error:
        problem = f"its gzip is damaged or cut off after line {number} ({error})"
        raise DataError(problem, "Get the file again", where=f"{name}:{number + 1}") from error


def too_long(where: str) -> DataError:
    """Make the error of a line, or a row of a table, that is too long."""
    remedy = "Write one record per line and close each quote; a JSON array needs --input-format json"
    return DataError(f"a line of more than {_size(LINE)}", remedy, where=where)


def require_few_values(raw: bytes, where: str) -> bytes:
    """Check that a document in JSON does not take far more memory decoded than it has bytes."""
    if len(raw) > VALUES and sum(map(raw.count, (b",", b"[", b"{"))) > VALUES:
        raise DataError(f"more than {VALUES:,} values in one document", _AS_LINES, where=where)
    return raw


def require_few_columns(count: int, where: str) -> None:
    """Check that a table or record has no more columns than a spreadsheet may have."""
    if count > COLUMNS:
        problem = f"{count:,} columns or keys, expected at most {COLUMNS:,}"
        raise DataError(problem, "Remove columns, or write JSON lines with lists", where=where)


def require_few_texts(size: int, where: str) -> None:
    """Check the size of texts that a small file can repeat in many cells."""
    if size > TEXTS:
        raise DataError(f"its cells hold more than {_size(TEXTS)}", "Split it, or write JSON lines", where=where)


def member(archive: zipfile.ZipFile, name: str, where: str) -> bytes:
    """Return a member of an archive, limited while it is unpacked, since its stated size may be wrong.

    Raises:
        MissingExtra: it is packed with Zstandard, and zstandard is not installed.
    """
    try:
        with archive.open(name) as stream:
            return read_whole(stream, f"{where}:{name}")
    except NotImplementedError:
        if archive.getinfo(name).compress_type != _ZSTANDARD:
            raise
    try:
        import zstandard
    except ImportError as error:
        raise MissingExtra("zstandard", "logs", "Reading this log (or: inspect log convert --to json)") from error
    raw, info = cast("IO[bytes]", archive.fp), archive.getinfo(name)
    raw.seek(info.header_offset)
    raw.seek(sum(struct.unpack("<26xHH", raw.read(30))), io.SEEK_CUR)  # over the name and the extra field
    packed = io.BytesIO(raw.read(min(info.compress_size, DOCUMENT)))
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as stream:
            return read_whole(stream, f"{where}:{name}")
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(str(error)) from error


def _size(count: int) -> str:
    return f"{count >> 20:,} MiB" if count >= 1 << 20 else f"{count:,} bytes"
