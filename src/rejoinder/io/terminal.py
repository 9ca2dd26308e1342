"""Texts for terminals and pages: what data could make them do (colours, titles, turned writing) is shown, not done.

The command line puts both its streams behind `Inert`, so whatever it prints passes here: tables, messages, lists. A
character that a terminal would obey becomes its escape as JSON writes it, so JSON stays JSON and means the same.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

# C0 but tab and line end, DEL, C1, what turns the direction of writing, line ends of Unicode, halves of characters.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u202a-\u202e\u2028\u2029\u2066-\u2069\ud800-\udfff]")


def inert(text: str) -> str:
    r"""`text` with each character that a terminal obeys as its escape, `\u001b` for ESC; tabs and line ends stay."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Inert:
    """A text stream that writes what `inert` makes of a text; all else is the stream's.

    Where nobody reads it any more (`| head`), what is written goes nowhere: outputs and exit code do not depend on who
    reads the messages. Records are written past it (`data_output`), and end with their reader.

    Args:
        stream: where to.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text, and say how long it was."""
        with self._unread():
            self.stream.write(inert(text))
        return len(text)

    def flush(self) -> None:
        """Write what is still held back."""
        with self._unread():
            self.stream.flush()

    @contextmanager
    def _unread(self) -> Iterator[None]:
        """Let what the stream still holds go nowhere where its reader is gone."""
        try:
            yield
        except BrokenPipeError:
            close(self.stream)

    def writelines(self, lines: list[str]) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def inert_streams() -> Iterator[None]:
    """Put standard output and standard error behind `Inert` until the block ends."""
    before = sys.stdout, sys.stderr
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123 - for a stream that is closed (`>&-`)
        sys.stdout, sys.stderr = (cast("TextIO", Inert(exact(stream or nowhere))) for stream in before)
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before


def close(stream: TextIO) -> None:
    """Let what a stream holds, and all that is yet written to it, go nowhere; it would complain once more at exit."""
    with suppress(io.UnsupportedOperation):  # it is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def ignore_closed_output() -> None:
    """Let what is written to standard output go nowhere where that is closed (`>&-`): it takes only messages."""
    stream = exact(sys.stdout)
    with suppress(io.UnsupportedOperation):  # it is no file
        try:
            os.write(stream.fileno(), b"")
        except OSError:
            close(stream)


def exact(stream: TextIO) -> TextIO:
    """The stream behind `Inert`, for what rejoinder itself lets a terminal do, and for data that no terminal reads."""
    return stream.stream if isinstance(stream, Inert) else stream


def data_output() -> TextIO:
    """Standard output for records: as they are into a file or a pipe, inert onto a terminal."""
    return sys.stdout if sys.stdout.isatty() else exact(sys.stdout)
