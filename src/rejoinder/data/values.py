"""What a cell or a JSON value is worth: numbers, yes and no, lists in cells. One documented rule each."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from rejoinder.data import limits
from rejoinder.errors import ColumnError, DataError

EMPTY = frozenset(("", "NaN", "nan", "NULL", "null", "<NA>", "#N/A", "\\N"))
UNRATED = EMPTY | frozenset(("n/a", "N/A", "NA", "-"))
YES = frozenset(("yes", "true", "pass", "thumbs up", "👍"))
NO = frozenset(("no", "false", "fail", "thumbs down", "👎"))
_NUMBER = re.compile(r"([+-]?\d+(?:[.,]\d+)?)\s*(?:(%)|(?:/|out of)\s*(\d+))?")
_NUMPY = re.compile(r"""\[(['"]).*\1(?:\s+['"].*)?\]""", re.DOTALL)


def number(value: Any, where: str, field: str, words: tuple[str, ...] = ()) -> tuple[float, float | None] | None:
    """A rating and the top of its scale, where the cell says so (3/5, 60%); None where the cell is empty.

    Args:
        words: the ordered words of `--scale "bad,fair,good"`, lowest first, worth 1, 2, 3 ...

    Raises:
        ColumnError: it is none: a date, a word, a number that can be read in two ways.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return float(value), 1.0
    if isinstance(value, (int, float)) and math.isfinite(value):
        return float(value), None
    text = str(value).strip()
    if text in UNRATED:
        return None
    word = re.sub(r"[\s_-]+", " ", text).casefold()
    if words:
        if word in words:
            return words.index(word) + 1.0, float(len(words))
    elif word in YES | NO:
        return float(word in YES), 1.0
    elif (match := _NUMBER.fullmatch(text)) and not re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", match[1]):
        top = 100.0 if match[2] else float(match[3]) if match[3] else None
        return float(match[1].replace(",", ".")), top
    known = f"one of {', '.join(words)}" if words else "a number (3, 3.5, 3/5, 60%), yes or no, pass or fail"
    remedy = "Correct the column; or give its words in order, lowest first: --scale 'bad,fair,good'; or it is no rating: --map rating="
    raise ColumnError(f"{text[:40]!r}, expected {known}", remedy, where=where, field=field)


def decoded(text: str, where: str) -> Any:
    """The JSON value of a text; a key given twice, or half a character, is an error."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError("the key stands twice in one object", "Keep one of them", where=where, field=twice)
        return record

    try:
        value = json.loads(text, object_pairs_hook=once)
    except DataError:
        raise
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"broken JSON ({error})"[:160],
            "Write one JSON object a line; of one array say --input-format json",
            where=where,
        ) from error
    if "\\ud" in text or "\\uD" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise DataError("holds half a character", "Write the whole character or none", where=where) from error
    return value


def from_cell(text: Any, where: str, field: str) -> Any:
    """What a cell of a column that may hold a list or an object says; any other text is itself."""
    if not isinstance(text, str):
        return text
    bare = text.strip()
    if bare[:1] + bare[-1:] not in ("[]", "{}"):
        return text
    try:
        return json.loads(bare)
    except (ValueError, RecursionError):
        pass
    try:
        value = ast.literal_eval(bare) if len(bare) <= limits.LITERAL else None
        if repr(value) == bare or json.dumps(value) == bare:
            return value
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        pass
    if _NUMPY.fullmatch(bare):
        raise DataError(
            "a list without commas, as numpy writes it",
            "Save the table as Parquet or JSON lines, which keep lists",
            where=where,
            field=field,
        )
    return text


def under(value: Any, path: str) -> Any:
    """What stands under `a.b.0` in nested objects and lists (JSON texts among them), or under that very key."""
    if isinstance(value, Mapping) and path in value:
        return value[path]
    for part in path.split("."):
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                return None
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value
