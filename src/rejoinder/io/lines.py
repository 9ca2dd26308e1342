"""Text lines of a file or of standard input, plain or gzip, with the place of each and with errors that name it."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from rejoinder.assets import asset
from rejoinder.errors import DataError, MissingAsset
from rejoinder.io import limits

STDIN = "-"
SAVE_AS_UTF8 = "Save it as UTF-8 (from Excel: .xlsx or CSV UTF-8; else: iconv -f CP1252 -t UTF-8)"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""How a file in UTF-16 begins."""
_PEEKED, _LEAST = 64, 4  # bytes
_MARK = "\ufeff"  # of the order of bytes
_CHUNK = 1 << 20  # bytes of UTF-16 that are decoded at once
OnBad = Callable[[DataError], None]
Note = Callable[[str], None]
"""Is told what was understood."""


class Row(NamedTuple):
    """What a line, an item or a row holds.

    Attributes:
        where: `file:line`.
        record: a decoded JSON value, or cells by column.
        flat: whether it is a row of a table.
    """

    where: str
    record: Any
    flat: bool


def raise_bad(error: DataError) -> None:
    """The strict way to meet a bad line: raise its error."""
    raise error


def silent(_said: str) -> None:
    """Keep what was understood to oneself: the default of every `note`."""


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
        raw = Path(asset(path)).open("rb")  # noqa: SIM115 (closed by the block below; only opening may fail here)
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


def text_lines(
    path: str | Path, on_bad: OnBad = raise_bad, *, errors: str = "strict", whole: bool = False
) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line with its line end) of a file in UTF-8, or in UTF-16 with its byte order mark.

    A byte order mark is dropped. A line that is not UTF-8 goes to `on_bad` and is left out; with
    `errors="surrogateescape"` it comes like any other, for formats whose records cross line ends. The end of a file
    whose gzip is cut off or damaged goes to `on_bad` after the lines before it; so does a line that is too long
    (`io.limits`), which ends the file, and a file without a single line. Of a `whole` document the lines together are
    limited, not each.
    """
    name, number = name_of(path), 0
    with open_bytes(path) as stream:
        try:
            if kind := _unmarked(stream):
                problem = f"looks like {kind} without its byte order mark"
                on_bad(DataError(problem, f"Save it as UTF-8: iconv -f {kind} -t UTF-8", where=f"{name}:1"))
                return
            for number, line in enumerate(_decoded(stream, errors, name, whole=whole), start=1):
                if isinstance(line, str):
                    yield number, line
                else:
                    on_bad(no_text(line, f"{name}:{number}"))
        except DataError as error:
            on_bad(error)
            return
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            what = "its gzip is cut off" if isinstance(error, EOFError) else f"its gzip is damaged ({error})"
            on_bad(DataError(f"{what} after line {number}", "Get the file again", where=f"{name}:{number + 1}"))
            return
    if number == 0:
        on_bad(DataError("the file is empty", "Give a file with at least one line", where=name))


def _decoded(stream: IO[bytes], errors: str, name: str, *, whole: bool) -> Iterator[str | UnicodeDecodeError]:
    """The lines of a stream, in UTF-8 or, where it begins so, in UTF-16; the error of those that are not.

    Raises:
        DataError: see `limits.lines`.
    """
    if cast("io.BufferedReader", stream).peek(2)[:2] in UTF_16:
        yield from _wide(stream, name, whole=whole)
        return
    for number, raw in enumerate(limits.lines(stream, name, whole=whole)):
        try:
            yield raw.decode("utf-8" if number else "utf-8-sig", errors)
        except UnicodeDecodeError as error:
            yield error


def _unmarked(stream: IO[bytes]) -> str:
    """The kind of UTF-16 that a stream without a byte order mark seems to be in, or "": it has zeros in every pair."""
    first = cast("io.BufferedReader", stream).peek(_PEEKED)[:_PEEKED]
    high, low = first[::2], first[1::2]
    if first[:2] in UTF_16:
        return ""
    for kind, empty, full in (("UTF-16LE", low, high), ("UTF-16BE", high, low)):
        if len(first) >= _LEAST and 2 * empty.count(0) > len(empty) and not full.count(0):
            return kind
    return ""


def _wide(stream: IO[bytes], name: str, *, whole: bool) -> Iterator[str | UnicodeDecodeError]:
    """The lines of a stream in UTF-16; they end where a character is damaged.

    Raises:
        DataError: a line is too long.
    """
    decoder, rest, size = codecs.getincrementaldecoder("utf-16")(), "", 0
    damage: UnicodeDecodeError | None = None
    for raw in chain(iter(partial(stream.read, _CHUNK), b""), [b""]):
        try:
            text = decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            damage, text = error, error.object[: error.start].decode(error.encoding).removeprefix(_MARK)
        *lines, rest = f"{rest}{text}".split("\n")
        size = size + len(text) if whole else max(map(len, (*lines, rest)))
        if size > (limits.DOCUMENT if whole else limits.LINE):
            raise limits.too_large(limits.DOCUMENT, name) if whole else limits.line_too_long(name)
        yield from (f"{line}\n" for line in lines)
        if damage is not None:
            yield damage
            return
    yield from [rest] if rest else []


def no_text(error: UnicodeDecodeError, where: str) -> DataError:
    """What to say of a line that cannot be decoded."""
    kind = "UTF-16" if error.encoding.startswith("utf-16") else "UTF-8"
    problem = f"byte {error.object[error.start]:#04x} at column {error.start + 1} is not {kind}"
    return DataError(problem, SAVE_AS_UTF8, where=where)


def _unpacked(raw: IO[bytes]) -> IO[bytes]:
    """`raw`, or what its gzip holds."""
    buffered = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)  # type: ignore[type-var]
    if buffered.peek(2)[:2] == b"\x1f\x8b":
        return cast("IO[bytes]", gzip.open(buffered, "rb"))
    return buffered
