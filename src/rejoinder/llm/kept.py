"""Answers that were paid for, kept in a file: a table of SQLite from a digest of the question to the answer."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from threading import Lock
from typing import Any

from rejoinder.errors import DataError, WriteError
from rejoinder.llm.endpoint import Completion

_MADE = "CREATE TABLE IF NOT EXISTS answers (question TEXT PRIMARY KEY, text TEXT, tokens_read INT, tokens_written INT)"


class Kept:
    """The answers in a file, which is made where there is none; several processes may share it.

    Args:
        file: where.

    Raises:
        DataError: it is something else.
        WriteError: it cannot be opened or made.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._lock = Lock()
        try:
            self._answers = sqlite3.connect(file, check_same_thread=False, isolation_level=None, timeout=60)
            self._answers.execute(_MADE)
        except sqlite3.OperationalError as error:
            raise WriteError(f"{file}: no answers can be kept there ({error}). Name another file") from error
        except sqlite3.DatabaseError as error:
            raise DataError(f"no file of answers ({error})", "Name another file for cache=", where=file) from error

    def get(self, question: Any) -> Completion | None:
        """The answer to a question, JSON values; None where there is none.

        Raises:
            WriteError: the file cannot be used any more.
        """
        rows = self._run("SELECT text, tokens_read, tokens_written FROM answers WHERE question = ?", _digest(question))
        return Completion([rows[0][0]], rows[0][1], rows[0][2]) if rows else None

    def put(self, question: Any, answer: Completion) -> None:
        """Keep the first text of an answer; one without a text, or that was cut off, is not kept.

        Raises:
            WriteError: the file cannot be used any more.
        """
        if answer.texts and not answer.cut:
            row = (_digest(question), answer.texts[0], answer.read, answer.written)
            self._run("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", *row)

    def _run(self, statement: str, *values: Any) -> list[Any]:
        """What a statement gives; one at a time, because threads share the connection."""
        with self._lock:
            try:
                return self._answers.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                raise WriteError(
                    f"{self._file}: no answers can be kept there ({error}). Make room, or name another file"
                ) from error


def _digest(question: Any) -> str:
    """A question's digest."""
    return hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()
