"""Standard output and standard error of the command line: control characters in data are shown, not obeyed."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TextIO, cast

from rejoinder.text.normalize import escape_controls

TYPED: ContextVar[tuple[str, ...]] = ContextVar("typed", default=())
"""The words of the command that is running, as they were typed."""


class EscapedStream:
    """A text stream that escapes control characters; everything else is that of the stream.

    After its reader has gone (`| head`), text is discarded, so that outputs and the exit code do not depend on who
    reads the messages. Records bypass it (`data.outputs.data_output`) and end with their reader.

    Attributes:
        unescaped: the stream itself, for data that no terminal reads and for rejoinder's own control characters.
    """

    def __init__(self, stream: TextIO) -> None:
        self.unescaped = stream

    def write(self, text: str) -> int:
        """Write a text and return its length."""
        with self._discarding():
            self.unescaped.write(escape_controls(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Write what the stream still holds."""
        with self._discarding():
            self.unescaped.flush()

    @contextmanager
    def _discarding(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            discard(self.unescaped)

    def __getattr__(self, name: str) -> Any:
        # Without encoding and errors, as the stream of a progress bar is, click would write past this into the buffer.
        value = getattr(self.unescaped, name)
        return {"encoding": "utf-8", "errors": "backslashreplace"}.get(name) if value is None else value


@contextmanager
def escaped_streams() -> Iterator[None]:
    """Escape control characters on standard output and standard error until the block ends."""
    before = sys.stdout, sys.stderr
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123 - for a stream that is closed (`>&-`)
        sys.stdout, sys.stderr = (cast("TextIO", EscapedStream(unescaped(stream or nowhere))) for stream in before)
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before


def discard(stream: TextIO) -> None:
    """Discard what a stream holds and all later text; otherwise it would complain again at exit."""
    with suppress(io.UnsupportedOperation):  # not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def ignore_closed_output() -> None:
    """Discard what is written to standard output if it is closed (`>&-`): it takes only messages."""
    stream = unescaped(sys.stdout)
    with suppress(io.UnsupportedOperation):  # not a file
        try:
            os.write(stream.fileno(), b"")
        except OSError:
            discard(stream)


def unescaped(stream: TextIO) -> TextIO:
    """Return the stream behind an `EscapedStream`, or the stream itself."""
    return stream.unescaped if isinstance(stream, EscapedStream) else stream
