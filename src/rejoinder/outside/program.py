"""Any program, run without a shell: a line of JSON goes to its standard input, and it answers with a line."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import tempfile
import textwrap
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any, cast

from rejoinder.errors import DataError, MissingAsset, UsageError
from rejoinder.io.values import require_whole_characters

PATIENCE = 120.0
"""Seconds that a program has for an answer; a model that loads with the first needs some."""

_LEAVE = 5.0
_LONGEST_LINE = 10_000_000


class NoAnswer(DataError):
    """A program ended, was silent for too long, or wrote something else than an answer.

    Attributes:
        short: why, in words that are the same for all of its kind.
    """

    def __init__(self, short: str, problem: str, remedy: str, *, where: str) -> None:
        super().__init__(problem, remedy, where=where)
        self.short = short


@dataclass(frozen=True)
class _Running:
    """A program that runs, and its three streams."""

    process: subprocess.Popen[bytes]
    asked: IO[bytes]
    said: IO[bytes]
    complaints: IO[bytes]


class Program:
    """A program that answers each line it reads with one, before it is given the next.

    It is started with the first question, and again after it failed. Where it fails, its last line on standard error is
    shown.

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
        """The JSON value with which it answers `question`, another one.

        Args:
            question: what is asked.
            expected: what an answer is, for messages.

        Raises:
            MissingAsset: it cannot be started.
            NoAnswer: it ended, was silent for too long, or wrote something else than JSON.
            DataError: its answer holds half a character.
        """
        if self._running is None:
            self._running = _start(self._words, self.name)
            self._release = weakref.finalize(self, _end, self._running)
        line = self._exchange(self._running, json.dumps(question).encode() + b"\n")
        self._answers += 1
        try:
            text = line.decode()
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.refused(line, expected) from error
        require_whole_characters(text, record, self._where)
        return record

    def refused(self, answer: Any, expected: str) -> NoAnswer:
        """The error of an answer that is none: the line, or the JSON value in it."""
        said = answer.decode(errors="replace") if isinstance(answer, bytes) else json.dumps(answer, ensure_ascii=False)
        shown = textwrap.shorten(said, 80)
        return NoAnswer(
            "the program wrote something else than an answer",
            f"{repr(shown) if shown else 'a blank line'}, {expected}",
            "What is no answer belongs on standard error",
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
                line = running.said.readline(_LONGEST_LINE)
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
