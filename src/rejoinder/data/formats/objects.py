"""Small helpers of adapters: values of any kind as lists, objects and short texts."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from typing import Any

from rejoinder.data.values import from_cell
from rejoinder.errors import DataError


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(text.split())


def peek(cell: Any) -> Any:
    """Return the list or object in a cell, or the cell where it cannot be read; for looking at, not for reading."""
    try:
        return from_cell(cell, "", "")
    except DataError:
        return cell


def list_in(value: Any) -> list[Any]:
    """Return a list as it is; an empty list for other values."""
    return value if isinstance(value, list) else []


def objects_in(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects in a list; an empty list for other values."""
    return [item for item in list_in(value) if isinstance(item, Mapping)]


def object_in(value: Any) -> Mapping[str, Any]:
    """Return an object as it is; an empty object for other values."""
    return value if isinstance(value, Mapping) else {}


def short(text: Any, length: int = 120) -> str:
    """Return the beginning of a text, in one line."""
    return textwrap.shorten(str(text), length, placeholder=" ...")


def shown(value: Any) -> str:
    """Return a value as JSON, in one short line."""
    return short(json.dumps(value, ensure_ascii=False, default=str), 40)
