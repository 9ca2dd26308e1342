"""One JSON value that holds the results of a whole evaluation to a record for each reply."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rejoinder.io.evaluations import inspect_log
from rejoinder.io.evaluations.said import Found

_PROGRAMS: tuple[tuple[Callable[[Any], bool], Callable[[Mapping[str, Any], str], Iterator[Found]]], ...] = (
    (inspect_log.is_log, inspect_log.in_value),
)
"""By program, whether a value is of it, and the records in it."""


def unfolded(value: Any, where: str) -> Iterator[Found] | None:
    """The records in the results of an evaluation; None for a value that is no such thing.

    Args:
        value: a decoded JSON value.
        where: `file:place`, for messages.

    Raises:
        DataError: while they are read, where they cannot be used.
    """
    return next((records(value, where) for is_of, records in _PROGRAMS if is_of(value)), None)
