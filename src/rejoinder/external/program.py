"""Any program, run without a shell: a line of JSON goes to its standard input, and it answers with a line."""

from __future__ import annotations

import json
import os
import select
import shlex
import signal
import subprocess
import tempfile
import textwrap
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any, cast

from rejoinder.data.values import require_whole_characters
from rejoinder.errors import DataError, MissingAsset, UsageError

PATIENCE = 120.0
"""Seconds that a program has for an answer; a model that loads with the first needs some."""

_LEAVE = 5.0
_SETTLE = 0.05  # seconds after the first answer, in which a warm-up line shows
_LONGEST_LINE = 10_000_000
_NOT_FINITE = frozenset(("nan", "inf", "-inf"))  # what programs print for numbers that JSON has not
_REMEDY = "What is no answer belongs on standard error"


RUNNING: weakref.WeakSet[Program] = weakref.WeakSet()
"""The programs that were asked and may have more to say."""


class NoAnswer(DataError):
    """A program ended, was silent for too long, or wrote something else than an answer.

    Attributes:
        short: why, in words that are the same for all of its kind.
    """

    def __init__(self, short: str, problem: str, remedy: str, *, where: str) -> None:
        super().__init__(problem, remedy, where=where)
        self.short = short


class OutOfStep(DataError):
    """A program wrote a line that nobody asked for, or one that is not JSON: any answer may belong to another line."""


@dataclass(frozen=True)
class _Running:
    """A program that runs, its three streams, and what was read of its output and not yet used."""

    process: subprocess.Popen[bytes]
    asked: IO[bytes]
    said: IO[bytes]
    complaints: IO[bytes]
    unread: bytearray = field(default_factory=bytearray)

    def line(self) -> bytes:
        """The next line of its output, waited for; what is left where the output ends; b"" behind that."""
        searched = 0
        while (end := self.unread.find(b"\n", searched)) < 0 and len(self.unread) < _LONGEST_LINE:
            searched = len(self.unread)
            if not self._read():
                end = len(self.unread) - 1
                break
        end = min(end if end >= 0 else _LONGEST_LINE - 1, _LONGEST_LINE - 1)
        line = bytes(self.unread[: end + 1])
        del self.unread[: end + 1]
        return line

    def waiting(self, seconds: float) -> bytes:
        """What of its output waits to be read, or comes within `seconds`; b"" where nothing does."""
        if not self.unread and select.select([self.said], [], [], seconds)[0]:
            self._read()
        return bytes(self.unread)

    def rest(self) -> bytes:
        """Its output up to the end, for which it has some seconds; its input is closed before."""
        until = time.monotonic() + _LEAVE
        while (left := until - time.monotonic()) > 0:
            ended = self.process.poll() is not None
            if select.select([self.said], [], [], 0 if ended else min(left, 0.05))[0]:
                if not self._read() or len(self.unread) >= _LONGEST_LINE:
                    break
            elif ended:  # what it started may hold its output open
                break
        else:
            _kill(self.process)
        return bytes(self.unread)

    def _read(self) -> bytes:
        """More of its output, waited for; b"" at its end."""
        found = os.read(self.said.fileno(), 65_536)
        self.unread.extend(found)
        return found


class Program:
    """A program that answers each line it reads with one, before it is given the next.

    It is started with the first question, and again after it failed. Where it fails, its last line on standard error is
    shown. A line in excess puts all later answers out of step, so it is looked for before each question and, in
    `finish`, behind the last answer.

    Args:
        command: the program and its arguments, quoted as for a shell.
        patience: seconds that it has for an answer.
        called: what messages call it; "" is its command.

    Raises:
        UsageError: `command` is empty or has a quote that does not end.
    """

    def __init__(self, command: str, *, patience: float = PATIENCE, called: str = "") -> None:
        self.command, self.name = command, called or command
        self._words = _words(command)
        self.patience = patience
        self._running: _Running | None = None
        self._release: Callable[[], object] = lambda: None
        self._answers = 0

    def ask(self, question: Any, expected: str) -> Any:
        """Return the JSON value with which it answers `question`.

        Args:
            question: what is asked.
            expected: what an answer is, for messages.

        Raises:
            MissingAsset: it cannot be started.
            NoAnswer: it ended or was silent for too long.
            OutOfStep: it wrote something else than JSON, or a line before it was asked.
            DataError: its answer holds half a character.
        """
        if self._running is None:
            self._running = _start(self._words, self.name)
            self._release = weakref.finalize(self, _end, self._running)
            RUNNING.add(self)
        self._require_in_step(self._running.waiting(0))
        line = self._exchange(self._running, json.dumps(question).encode() + b"\n")
        self._answers += 1
        try:
            text = line.decode()
            record = float(text) if text.strip().lower() in _NOT_FINITE else json.loads(text)
        except (ValueError, RecursionError) as error:
            self.stop()
            raise OutOfStep(f"{_quoted(line)}, {expected}", _REMEDY, where=self._where) from error
        if self._answers == 1:
            self._require_in_step(self._running.waiting(_SETTLE))
        require_whole_characters(text, record, self._where)
        return record

    def finish(self) -> None:
        """Let it end, and see that no line is left over; the next question starts it anew.

        Raises:
            OutOfStep: it wrote more lines than it was asked for.
        """
        if self._running is None:
            return
        running, self._running = self._running, None
        with suppress(OSError):
            running.asked.close()
        rest = running.rest()
        self._release()
        self._require_in_step(rest)

    def _require_in_step(self, waiting: bytes) -> None:
        """Raise where output waits that nobody asked for; blank lines alone are no answer to anything."""
        if waiting.strip():
            self.stop()
            line = waiting.lstrip().split(b"\n")[0]
            problem = f"the program wrote {_quoted(line)} without a question, so answers may belong to other lines"
            raise OutOfStep(
                problem,
                f"Write one line for each it reads. {_REMEDY}",
                where=f"{self.name}: after answer {self._answers}",
            )

    def refused(self, answer: Any, expected: str) -> NoAnswer:
        """The error of a JSON value that is no answer."""
        return NoAnswer(
            "the program wrote something else than an answer",
            f"{_quoted(json.dumps(answer, ensure_ascii=False).encode())}, {expected}",
            _REMEDY,
            where=self._where,
        )

    def stop(self) -> None:
        """Kill it, so that the next question starts it anew: after a stray line its answers would be out of step."""
        if self._running is not None:
            _kill(self._running.process)
            self._running = None
            self._release()

    @property
    def _where(self) -> str:
        """The last answer, for messages."""
        return f"{self.name}: answer {self._answers}"

    def _exchange(self, running: _Running, question: bytes) -> bytes:
        """The line with which the program answers `question`."""
        late = threading.Event()

        def stop() -> None:
            late.set()
            _kill(running.process)

        # Killing the program ends whatever call waits for it, so the writing of a long question is guarded as well.
        timer = threading.Timer(self.patience, stop)
        timer.start()
        line = b""
        try:
            with suppress(BrokenPipeError):
                running.asked.write(question)
                running.asked.flush()
                line = running.line()
        finally:
            timer.cancel()
        if not line:
            self._running = None
            failure = self._failure(running, late=late.is_set())
            self._release()  # its pipes too: a program may fail thousands of times in a run
            raise failure
        return line

    def _failure(self, running: _Running, *, late: bool) -> NoAnswer:
        """Why the program did not answer."""
        try:
            running.process.wait(_LEAVE)
        except subprocess.TimeoutExpired:  # it has closed its output, and is of no more use
            _kill(running.process)
        running.complaints.seek(0)
        lines = running.complaints.read().decode(errors="replace").split("\n")
        last = next((text.strip() for text in reversed(lines) if text.strip()), "")
        after = f"after {self._answers} answer{'s' * (self._answers != 1)}"
        after += f"; it said last: {textwrap.shorten(last, 200)}" if last else ""
        if late:
            short, remedy = f"no answer in {self.patience:g} s", "write and flush one line for each it reads"
            return NoAnswer(short, f"{short}, {after}", f"It must {remedy}", where=self.name)
        code = running.process.returncode
        what = "closed its output" if code is None else f"ended with exit code {code}"
        remedy = "It must go on until its standard input ends"
        return NoAnswer(f"the program {what}", f"{what} {after}", remedy, where=self.name)


def _quoted(line: bytes) -> str:
    """A line of output for messages."""
    shown = textwrap.shorten(line.decode(errors="replace"), 80)
    return repr(shown) if shown else "a blank line"


def _words(command: str) -> list[str]:
    """The program and its arguments."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"{command}: not a command ({error}). Quote it as for a shell") from error
    if not words:
        raise UsageError("no command after command:. Write command:PROGRAM ARGUMENTS")
    return words


def _start(words: Sequence[str], name: str) -> _Running:
    """The program, running."""
    complaints = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the program)
    try:
        process = subprocess.Popen(  # noqa: S603 (to run what the user names is what this is for)
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            # A program in Python would otherwise keep its answers back until it ends.
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )
    except OSError as error:
        complaints.close()
        remedy = "Check the name; it is run without a shell, in the current folder"
        raise MissingAsset(f"{name}: cannot be started ({error.strerror}). {remedy}") from error
    return _Running(process, cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout), complaints)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the program and what it started, which may hold its output open."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _end(running: _Running) -> None:
    """Let the program end by itself, which the end of its input asks for; else kill it."""
    with suppress(OSError):
        running.asked.close()
    try:
        running.process.wait(_LEAVE)
    except subprocess.TimeoutExpired:
        _kill(running.process)
        running.process.wait()
    running.said.close()
    running.complaints.close()
