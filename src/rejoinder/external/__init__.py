"""Numbers from a column, a Python function or a program of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rejoinder.registry import Entry

if TYPE_CHECKING:
    from rejoinder.scorer import Scorer


def _column_or_function(name: str) -> Scorer:
    from rejoinder.external.elsewhere import load

    return load(name)


def _program(name: str) -> Scorer:
    from rejoinder.external.command import load

    return load(name)


EXTERNAL: tuple[Entry[Scorer], ...] = (
    Entry("column:KEY", "the number under a key of the line", _column_or_function),
    Entry("python:MODULE:FUNCTION", "a Python function", _column_or_function),
    Entry("command:PROGRAM", "a program, examples in and scores out", _program),
)
