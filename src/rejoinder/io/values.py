"""What JSON values are and are called, and which of them a file can hold."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from rejoinder.errors import DataError

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    names = {
        type(None): "null",
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "text",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), type(value).__name__)


def is_number(value: Any) -> bool:
    """Whether `value` is a finite number; true and false are none."""
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer beyond what a float can hold
        return False


def require_whole_characters(text: str, record: Any, where: str) -> None:
    """Raise where a text holds half a character, one surrogate without the other: no file in UTF-8 can hold that.

    Args:
        text: the JSON; only an escape in it can bring in a surrogate, and most texts have none.
        record: what it was decoded to.
        where: `file:line`.
    """
    if not _SURROGATE.search(text):
        return
    for field, value in record.items() if isinstance(record, Mapping) else [("", record)]:
        try:
            json.dumps([field, value], ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            problem = f"holds \\u{ord(error.object[error.start]):04x}, half a character"
            raise DataError(problem, "Write the whole character or none", where=where, field=field) from error


def plain_json(extra: Mapping[str, Any], where: str) -> dict[str, Any]:
    """`extra` as JSON can write it: null for NaN and infinity, text for what Parquet knows beyond JSON (dates)."""
    if not extra:
        return {}
    try:
        plain: dict[str, Any] = json.loads(json.dumps(extra, default=str), parse_constant=lambda _: None)
    except RecursionError as error:
        raise DataError("nested too deep", "Flatten it", where=where) from error
    return plain
