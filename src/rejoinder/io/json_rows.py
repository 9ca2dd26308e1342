"""Values in JSON, of files and of texts: lines, or one array."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rejoinder.errors import DataError
from rejoinder.io.chat import is_conversation
from rejoinder.io.lines import STDIN, OnBad, name_of, text_lines
from rejoinder.io.values import decoded

Found = tuple[str, Any]
"""(`file:line`, a decoded value)."""
A_LINE = "Write one JSON object a line"
_ON_STDIN = "Standard input is read as JSON lines, one object a line; of anything else say --input-format csv"
_AN_ARRAY = "Write one JSON array; of JSON lines say --input-format jsonl"


def json_lines(path: str | Path, on_bad: OnBad) -> Iterator[Found]:
    """The values of JSON lines; blank lines are passed over."""
    remedy = _ON_STDIN if str(path) == STDIN else A_LINE
    for number, line in text_lines(path, on_bad):
        if not line.strip():
            continue
        where = f"{name_of(path)}:{number}"
        try:
            record = of_line(line, where, remedy)
        except DataError as error:
            on_bad(error)
        else:
            yield where, record


def of_line(line: str, where: str, remedy: str = A_LINE) -> Any:
    """The value of one line.

    Args:
        line: JSON.
        where: `file:line`.
        remedy: what to do where it is none.

    Raises:
        DataError: it is no JSON, or none that can be read (see `values.decoded`).
    """
    try:
        return decoded(line.rstrip(), where)  # else the column of a cut line counts from its line end
    except DataError:
        raise
    except (ValueError, RecursionError) as error:
        raise _broken(error, where, remedy) from error


def json_array(path: str | Path, on_bad: OnBad) -> Iterator[Found]:
    """The values in one JSON array: records, conversations, or the messages of a single conversation."""
    bad = False

    def note(error: DataError) -> None:
        nonlocal bad
        bad = True
        on_bad(error)

    text = "".join(line for _, line in text_lines(path, note, whole=True))
    if bad or not text.strip():
        return
    try:
        value = _value(text, name_of(path), _AN_ARRAY)
    except DataError as error:
        on_bad(error)
    else:
        yield from items(value, name_of(path))


def of_array(text: str, name: str, remedy: str = _AN_ARRAY) -> list[Found]:
    """The values in one JSON array, or the single value that stands there.

    Args:
        text: JSON.
        name: what it is called in messages.
        remedy: what to do where it is none.

    Raises:
        DataError: it is no JSON, or none that can be read (see `values.decoded`).
    """
    return listed(_value(text, name, remedy), name)


def _value(text: str, name: str, remedy: str) -> Any:
    """The value of a document; see `of_array`."""
    try:
        return decoded(text, name)
    except DataError:
        raise
    except (ValueError, RecursionError) as error:
        line = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise _broken(error, f"{name}{line}", remedy) from error


def items(value: Any, name: str) -> Iterator[Found]:
    """The items of a decoded array, or the value itself where it is one record or one conversation."""
    single = not isinstance(value, list) or is_conversation(value)
    for number, record in enumerate([value] if single else value, start=1):
        yield f"{name}:item {number}", record


def listed(value: Any, name: str) -> list[Found]:
    """The same as a list."""
    return list(items(value, name))


def _broken(error: ValueError | RecursionError, where: str, remedy: str) -> DataError:
    """The error of text that is not JSON."""
    if isinstance(error, json.JSONDecodeError):
        what = f"{error.msg} at column {error.colno}"
    else:
        what = "nested too deep" if isinstance(error, RecursionError) else "a number of thousands of digits"
    return DataError(f"broken JSON ({what})", remedy, where=where)
