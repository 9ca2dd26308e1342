"""Any command as a responder: contexts go to its standard input, replies come from its standard output."""

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
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any, cast

from rejoinder.errors import DataError, MissingAsset, UsageError
from rejoinder.io.values import require_whole_characters
from rejoinder.responder import Answer, Decoding, Request
from rejoinder.responders.plain import plain_answer

PATIENCE = 120.0
"""Seconds that a command has for a reply; a model that loads with the first needs some."""

_LEAVE = 5.0
_LONGEST_LINE = 10_000_000
_EXPECTED = 'expected {"response": "..."} or {"responses": ["...", "..."]}'


@dataclass(frozen=True)
class _Running:
    """A program that runs, and its three streams."""

    process: subprocess.Popen[bytes]
    asked: IO[bytes]
    said: IO[bytes]
    complaints: IO[bytes]


class CommandResponder:
    """Answers contexts with what a program says; it runs without a shell and is started with the first context.

    For each context it is given one line of JSON, `{"context": [turns, oldest first], "seed": n, "count": n}`, and must
    write one before it is given the next: `{"response": "..."}`, or `{"responses": [...]}`, best first. Null or an
    empty list is no answer; a `reason` may stand beside it. Where it fails, its last line on standard error is shown.

    Args:
        command: the program and its arguments, quoted as for a shell.
        patience: seconds that it has for a reply.

    Raises:
        UsageError: `command` is empty or has a quote that does not end.
    """

    def __init__(self, command: str, *, patience: float = PATIENCE) -> None:
        self.name = command
        self.options: Mapping[str, Any] = {"kind": "command"}
        self._words = _words(command)
        self._patience = patience
        self._running: _Running | None = None
        self._answers = 0

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        """The program's answer to each request.

        Raises:
            MissingAsset: it cannot be started.
            DataError: it ended, was silent for too long, or wrote something else than an answer.
        """
        return [self._answer(request, count) for request in requests]

    def _answer(self, request: Request, count: int) -> Answer:
        """The answer to one request."""
        if self._running is None:
            self._running = _start(self._words, self.name)
            weakref.finalize(self, _end, self._running)
        question = {"context": request.context, "seed": request.seed, "count": count}
        line = self._exchange(self._running, json.dumps(question).encode() + b"\n")
        self._answers += 1
        return self._parsed(line, count)

    def _exchange(self, running: _Running, question: bytes) -> bytes:
        """The line with which the program answers `question`."""
        late = threading.Event()

        def stop() -> None:
            late.set()
            _kill(running.process)

        # Killing the program ends whatever call waits for it, so the writing of a long context is guarded as well.
        timer = threading.Timer(self._patience, stop)
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
            raise self._failure(running, late=late.is_set())
        return line

    def _failure(self, running: _Running, *, late: bool) -> DataError:
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
            problem, remedy = (
                f"no answer in {self._patience:g} s, {after}",
                "write and flush one line for each it reads",
            )
        else:
            code = running.process.returncode
            problem = f"{'closed its output' if code is None else f'ended with exit code {code}'} {after}"
            remedy = "go on until its standard input ends"
        return DataError(problem, f"It must {remedy}", where=self.name)

    def _parsed(self, line: bytes, count: int) -> Answer:
        """The answer that a line of JSON holds."""
        where = f"{self.name}: answer {self._answers}"
        try:
            text = line.decode()
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _broken(line, where) from error
        require_whole_characters(text, record, where)
        if not isinstance(record, dict) or not ("response" in record or "responses" in record):
            raise _broken(line, where)
        texts = record["responses"] if "responses" in record else [record["response"]]
        texts = [text for text in texts if text is not None] if isinstance(texts, list) else [texts]
        if not all(isinstance(text, str) for text in texts):
            raise _broken(line, where)
        reason = record.get("reason")
        return plain_answer(texts, count, reason if isinstance(reason, str) and reason else "the command has no reply")


def load(rest: str, _decoding: Decoding) -> CommandResponder:
    """The command that `rest` holds; how it decodes is its own affair."""
    return CommandResponder(rest)


def _words(command: str) -> list[str]:
    """The program and its arguments."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"{command}: not a command ({error}). Quote it as for a shell") from error
    if not words:
        raise UsageError("no command after command:. Write command:PROGRAM ARGUMENTS")
    return words


def _broken(line: bytes, where: str) -> DataError:
    """The error of a line that holds no answer."""
    shown = textwrap.shorten(line.decode(errors="replace"), 80)
    return DataError(
        f"{repr(shown) if shown else 'a blank line'}, {_EXPECTED}",
        "What is no answer belongs on standard error",
        where=where,
    )


def _start(words: Sequence[str], name: str) -> _Running:
    """The program, running."""
    complaints = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the program)
    try:
        process = subprocess.Popen(  # noqa: S603 (to run what the user names is what this is for)
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            # A program in Python would otherwise keep its replies back until it ends.
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
