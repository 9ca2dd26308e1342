"""Text lines of a file or of standard input, plain or gzip, with the place of each and with errors that name it."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from rejoinder.errors import DataError, MissingAsset
from rejoinder.io.box import in_the_box

STDIN = "-"
SAVE_AS_UTF8 = "Save the file as UTF-8 (iconv -f LATIN1 -t UTF-8 may help)"
OnBad = Callable[[DataError], None]


def raise_bad(error: DataError) -> None:
    """The strict way to meet a bad line: raise its error."""
    raise error


@contextmanager
def open_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file, standard input for `-` or a file in the box for `@NAME`, as unpacked bytes.

    Gzip is told by its first bytes, not by its name.

    Raises:
        MissingAsset: there is no such file, or it is a folder or unreadable.
    """
    if str(path) == STDIN:
        yield _unpacked(sys.stdin.buffer)
        return
    try:
        raw = Path(in_the_box(path)).open("rb")  # noqa: SIM115 (closed by the block below; only opening may fail here)
    except FileNotFoundError as error:
        hint = "" if Path(path).suffix else "; each scorer or responder needs its own -s or -r"
        raise MissingAsset(
            f"{path}: no such file. Check the name; files in the box begin with @ (rejoinder doctor){hint}"
        ) from error
    except IsADirectoryError as error:
        raise MissingAsset(
            f"{path}: is a folder. Name a file; each scorer or responder needs its own -s or -r"
        ) from error
    except OSError as error:
        raise MissingAsset(f"{path}: cannot be opened ({error.strerror}). Name a readable file.") from error
    with raw:
        yield _unpacked(raw)


def name_of(path: str | Path) -> str:
    """How a file is called in messages and in the ids of lines that have none: as given, so that two files differ."""
    return "stdin" if str(path) == STDIN else str(path)


def text_lines(path: str | Path, on_bad: OnBad = raise_bad, *, errors: str = "strict") -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line with its line end) of a UTF-8 file; a byte order mark is dropped.

    A line that is not UTF-8 goes to `on_bad` and is left out; with `errors="surrogateescape"` it comes like any other,
    for formats whose records cross line ends. The end of a file whose gzip is cut off or damaged goes to `on_bad` after
    the lines before it; so does a file without a single line.
    """
    name, number = name_of(path), 0
    with open_bytes(path) as stream:
        try:
            for number, raw in enumerate(stream, start=1):
                if number == 1 and raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
                    on_bad(
                        DataError("UTF-16, expected UTF-8", "Convert the file: iconv -f UTF-16 -t UTF-8", where=name)
                    )
                    return
                try:
                    yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8", errors)
                except UnicodeDecodeError as error:
                    on_bad(
                        DataError(
                            f"byte {error.object[error.start]:#04x} at column {error.start + 1} is not UTF-8",
                            SAVE_AS_UTF8,
                            where=f"{name}:{number}",
                        )
                    )
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            what = "its gzip is cut off" if isinstance(error, EOFError) else f"its gzip is damaged ({error})"
            on_bad(DataError(f"{what} after line {number}", "Get the file again", where=f"{name}:{number + 1}"))
            return
    if number == 0:
        on_bad(DataError("the file is empty", "Give a file with at least one line", where=name))


def _unpacked(raw: IO[bytes]) -> IO[bytes]:
    """`raw`, or what its gzip holds."""
    buffered = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)  # type: ignore[type-var]
    if buffered.peek(2)[:2] == b"\x1f\x8b":
        return cast("IO[bytes]", gzip.open(buffered, "rb"))
    return buffered
