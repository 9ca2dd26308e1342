"""Members of a zip file from a stranger: read by name, one after the other, each no larger than can be held."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rejoinder.errors import DataError, MissingExtra
from rejoinder.io.limits import require_few_members

LARGEST = 200_000_000
"""Most bytes that a member may unpack to."""
_ZSTANDARD = 93  # as zip files call it; Python unpacks it from 3.14 on
_AGAIN = "Get the file again"
_MARK = b"PK\x03\x04"
_HEAD = struct.Struct("<4s22xHH")  # how a member begins, with the lengths of its name and of what else is told of it


class Archive:
    """A zip file; nothing of it is ever written anywhere, whatever its members are called.

    Args:
        archive: the open file.
        where: its name, for messages.
    """

    def __init__(self, archive: zipfile.ZipFile, where: str) -> None:
        self._archive, self._where = archive, where
        self._members = {one.filename: one for one in archive.infolist()}
        require_few_members(len(self._members), where)

    @property
    def names(self) -> list[str]:
        """The names of its members, in their order."""
        return list(self._members)

    def read(self, name: str) -> bytes:
        """What a member holds.

        Raises:
            DataError: it is damaged, or larger than `LARGEST`.
            MissingExtra: it is packed with Zstandard and nothing here unpacks that.
        """
        member = self._members[name]
        try:
            with self._opened(member) as stream:
                data = stream.read(LARGEST + 1)
        except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError) as error:
            raise DataError(f"its zip is damaged ({error})", _AGAIN, where=self._where) from error
        if len(data) > LARGEST:
            problem = f"unpacks to more than {LARGEST:,} bytes"
            raise DataError(problem, "Leave what is not needed out of the log", where=self._where)
        return data

    @contextmanager
    def _opened(self, member: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
        """A member, unpacked as it is read."""
        if member.compress_type != _ZSTANDARD:
            with self._archive.open(member) as stream:
                yield stream
            return
        try:
            import zstandard
        except ImportError as error:
            purpose = "Reading this log as it is (`inspect log convert --to json` writes it anew)"
            raise MissingExtra("zstandard", "logs", purpose) from error
        packed = io.BytesIO(self._packed(member))
        try:
            with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as stream:
                yield stream
        except zstandard.ZstdError as error:
            raise zipfile.BadZipFile(str(error)) from error

    def _packed(self, member: zipfile.ZipInfo) -> bytes:
        """A member as it lies in the file."""
        file = self._archive.fp
        assert file is not None  # noqa: S101 - it is open
        file.seek(member.header_offset)
        mark, name, more = _HEAD.unpack(file.read(_HEAD.size))
        if mark != _MARK:
            raise zipfile.BadZipFile("a member does not begin where it should")
        file.seek(name + more, io.SEEK_CUR)
        return file.read(min(member.compress_size, LARGEST))  # a size that is not true would be taken from memory


@contextmanager
def opened(file: Path | IO[bytes], where: str) -> Iterator[Archive]:
    """A zip file to read from.

    Raises:
        DataError: it is none, or is cut off.
    """
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, NotImplementedError, struct.error, EOFError, ValueError) as error:
        raise DataError(f"no zip file, or one that is cut off ({error})", _AGAIN, where=where) from error
    with archive:
        yield Archive(archive, where)
