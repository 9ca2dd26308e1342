"""Values in files of JSON: lines, or one array."""

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


def json_lines(path: str | Path, on_bad: OnBad) -> Iterator[Found]:
    """The values of JSON lines; blank lines are passed over."""
    remedy = (
        "Standard input is read as JSON lines, one object a line; of anything else say --input-format csv"
        if str(path) == STDIN
        else "Write one JSON object a line"
    )
    for number, line in text_lines(path, on_bad):
        if not line.strip():
            continue
        where = f"{name_of(path)}:{number}"
        try:
            record = decoded(line.rstrip(), where)  # else the column of a cut line counts from its line end
        except DataError as error:
            on_bad(error)
        except (ValueError, RecursionError) as error:
            on_bad(_broken(error, where, remedy))
        else:
            yield where, record


def json_array(path: str | Path, on_bad: OnBad) -> Iterator[Found]:
    """The values in one JSON array: records, conversations, or the messages of a single conversation."""
    bad = False

    def note(error: DataError) -> None:
        nonlocal bad
        bad = True
        on_bad(error)

    text = "".join(line for _, line in text_lines(path, note))
    if bad or not text.strip():
        return
    try:
        value = decoded(text, name_of(path))
    except DataError as error:
        on_bad(error)
        return
    except (ValueError, RecursionError) as error:
        line = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        on_bad(_broken(error, f"{name_of(path)}{line}", "Write one JSON array; of JSON lines say --input-format jsonl"))
        return
    single = not isinstance(value, list) or is_conversation(value)
    for number, record in enumerate([value] if single else value, start=1):
        yield f"{name_of(path)}:item {number}", record


def _broken(error: ValueError | RecursionError, where: str, remedy: str) -> DataError:
    """The error of text that is not JSON."""
    if isinstance(error, json.JSONDecodeError):
        what = f"{error.msg} at column {error.colno}"
    else:
        what = "nested too deep" if isinstance(error, RecursionError) else "a number of thousands of digits"
    return DataError(f"broken JSON ({what})", remedy, where=where)
