"""One documented rule each for numbers, yes and no, cells that hold lists, and JSON."""

from __future__ import annotations

import ast
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from numbers import Real
from typing import Any

from rejoinder.data import limits
from rejoinder.data.columns import words as split
from rejoinder.errors import ColumnError, DataError

EMPTY = frozenset(("", "nan", "NaN", "NAN", "-nan", "null", "Null", "NULL", "(null)", "<NA>", "#N/A", "\\N"))
UNRATED = EMPTY | frozenset(("n/a", "N/A", "NA", "-", "none", "None"))
YES = frozenset(split("yes y true pass passed good correct thumbs_up thumbsup thumb_up up like liked 👍 ✓ ✔ ✅ ☑"))
NO = frozenset(
    split(
        "no n false fail failed bad incorrect wrong thumbs_down thumbsdown thumb_down down dislike disliked 👎 ✗ ✘ ❌ ☒"
    )
)
_TONES = re.compile("[\U0001f3fb-\U0001f3ff\ufe0e\ufe0f]")  # skin tones and variation selectors
_NUMBER = re.compile(
    r"([+-]?(?:\d{1,15}(?:[.,]\d{1,15})?|\.\d{1,15})(?:[eE][+-]?\d{1,3})?)"
    r"\s*(?:(%)|(?:/|out of|of)\s*(\d{1,4})|stars?)?",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_DAY = re.compile(r"0\d[.,]\d+")  # 01.05 is a day of a month
_STARS = re.compile(r"(★+)(☆*)")
_LOST_LIST = re.compile(  # of numpy, Python 2, PostgreSQL or R, or a Python list that somebody wrote by hand
    r"""(?:(?:array|list)\(\s*)?\[\s*(?:u?['"].*['"]|\{.*\}|array\(.*),?\s*\](?:,\s*dtype=[^()]+)?\)?"""
    r"""|\{".*","\S.*"\}|c\("[^"]*"(?:, "[^"]*")+\)""",
    re.DOTALL,
)
_LIST_ENDS = frozenset(("[]", "{}", "()", '""'))
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_WORD = 40  # characters of the longest word that can be a rating
_KINDS = {str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"} | {
    type(None): "null"
}


def kind_of(value: Any) -> str:
    """Name the kind of a JSON value, for a message."""
    return _KINDS.get(type(value), type(value).__name__)


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number, of numpy too; true and false are none."""
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # an integer beyond what a float can hold
        return False


def native(value: Any) -> Any:
    """Return a number of numpy or of `decimal` as Python's own; anything else as it is."""
    if isinstance(value, Decimal):
        return float(value)
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", None) == 0 else value


def is_missing(value: Any) -> bool:
    """Return whether a value stands for none: null, an empty text, NaN, or what pandas has in their place."""
    if isinstance(value, str):
        return value.strip() in EMPTY
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def yes_or_no(value: Any) -> bool | None:
    """Return whether a value is a word of the table for 1 (`yes`, `pass`, `good`) or for 0; None for any other."""
    if isinstance(value, bool) or not isinstance(value, str) or len(value) > _WORD:
        return value if isinstance(value, bool) else None
    word = folded(value).replace(" ", "_")
    return True if word in YES else False if word in NO else None


def folded(text: str) -> str:
    """Return a word in one form: case, blanks, hyphens and skin tones mean nothing."""
    return re.sub(r"[\s_-]+", " ", _TONES.sub("", text)).strip().casefold()


def number_in(value: Any, words: Sequence[str] = ()) -> tuple[float, float | None] | None:
    """Return the number of a cell and the top of its scale, where the cell names one (`3/5`, `60%`, `yes`).

    None is for all else, and for a number that can be read in two ways (`1,234`). `words` are those of a scale, the
    lowest first, worth 1, 2, 3 ... Label Studio writes `{"rating": 3}`.
    """
    value = native(value)
    if isinstance(value, Mapping) and value.keys() == {"rating"}:
        return number_in(value["rating"], words)
    if is_number(value):
        return value, None
    if not words and (word := yes_or_no(value)) is not None:
        return int(word), 1.0
    if not isinstance(value, str):
        return None
    text, known = value.strip(), [folded(word) for word in words]
    if folded(text) in known:
        return known.index(folded(text)) + 1, float(len(words))
    if stars := _STARS.fullmatch(text):
        return len(stars[1]), float(len(text)) if stars[2] else None
    match = _NUMBER.fullmatch(text)
    if match is None or _THOUSANDS.fullmatch(match[1]) or _DAY.fullmatch(match[1]):
        return None
    top = 100.0 if match[2] else float(match[3]) if match[3] else float(len(words)) if words else None
    number = float(match[1].replace(",", "."))
    if not math.isfinite(number) or (words and not 1 <= number <= len(words)):
        return None
    return int(number) if re.fullmatch(r"[+-]?\d+", match[1]) else number, top


def number(
    value: Any, where: str, field: str, words: Sequence[str] = (), *, labels: bool = False
) -> tuple[float, float | None] | None:
    """Return a rating and the top of its scale, if the cell names one; None if it is not rated. See `number_in`.

    `labels` says that the command takes `--positive`.

    Raises:
        ColumnError: it is a date, a word, or a number that can be read in two ways.
    """
    value = native(value)
    if is_missing(value) or (isinstance(value, str) and value.strip() in UNRATED):
        return None
    if (read := number_in(value, words)) is not None:
        return read
    shown = repr(value[:40]) if isinstance(value, str) else "infinite" if isinstance(value, float) else kind_of(value)
    known = f"one of {', '.join(words)}" if words else "a number (3, 3.5, 3/5, 60%), yes or no, pass or fail"
    problem = f"{shown}, expected {known}"
    remedy = "Correct the column; if it is no rating: --map rating=; if these are words in order, name them, lowest"
    remedy += " first: --scale 'bad,fair,good' (rejoinder inspect -o writes the numbers)"
    if labels:
        remedy = (
            "Name the word for good replies: --positive WORD; or words in order, lowest first: --scale 'bad,fair,good'"
        )
        remedy += "; or correct the column; or, if it is no rating: --map rating="
    raise ColumnError(problem, remedy, where=where, field=field)


class _KeyTwice(ValueError):
    """The name of a key that stands twice in one object."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise _KeyTwice(next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1))
    return record


_DECODER = json.JSONDecoder(object_pairs_hook=_once)
A_LINE = "Write one JSON object a line"


def decoded(text: str, where: str, remedy: str = A_LINE, *, document: bool = False) -> Any:
    """Return the JSON value of a text.

    Args:
        text: the JSON.
        where: `file:line`, or the name of a document.
        remedy: the remedy of text that is no JSON.
        document: whether the text has many lines; an error then names the line.

    Raises:
        DataError: it is no JSON; a key stands twice in one object; it holds half a character.
    """
    try:
        value = _DECODER.decode(text)
    except _KeyTwice as error:
        problem = "the key stands twice in one object"
        raise DataError(problem, "Keep one of them", where=where, field=str(error)) from None
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip())
        problem = f"broken JSON ({error.msg} at column {error.colno}{', where it ends' if cut else ''})"
        raise DataError(problem, remedy, where=f"{where}:{error.lineno}" if document else where) from error
    except (ValueError, RecursionError) as error:
        raise DataError("JSON nested too deep, or a number too long", "Flatten it", where=where) from error
    require_whole_characters(text, value, where)
    return value


def require_whole_characters(text: str, value: Any, where: str) -> None:
    """Raise `DataError` if JSON holds half a character, one surrogate without the other, which UTF-8 cannot hold."""
    if not _SURROGATE.search(text):  # only an escape can bring one in
        return
    for field, part in value.items() if isinstance(value, Mapping) else [("", value)]:
        try:
            json.dumps([field, part], ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            problem = f"holds \\u{ord(error.object[error.start]):04x}, half a character"
            raise DataError(problem, "Write the whole character or none", where=where, field=field) from error


def from_cell(text: Any, where: str, field: str) -> Any:
    """Return the list or object in a cell, as JSON or Python writes it; any other text as it is.

    Raises:
        DataError: a list in another form, as numpy writes it without commas; half a character.
    """
    if not isinstance(text, str):
        return text
    bare = text.strip()
    if bare[:1] + bare[-1:] not in _LIST_ENDS and not bare.startswith(("array([", "list([", 'c("')):
        return text
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):
        pass
    else:
        require_whole_characters(bare, {field: value}, where)
        if isinstance(value, str):  # JSON that somebody wrote as a JSON text
            return from_cell(value, where, field) if value[:1] in ("[", "{") else text
        return value
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        value = ast.literal_eval(bare) if len(bare) <= limits.LITERAL else None
        if repr(value) == bare:  # Python joins texts without a comma between, so only its own writing is a list
            return list(value) if isinstance(value, tuple) else value
    if _LOST_LIST.fullmatch(bare):
        problem = "a list that is not in the form of JSON or Python, as numpy writes it"
        remedy = "Save the table as Parquet or JSON lines, which keep lists"
        raise DataError(problem, remedy, where=where, field=field)
    return text


def under(value: Any, path: str) -> Any:
    """Return the value at `a.b.0` in nested objects, lists and JSON texts, or at that very key; else None."""
    if isinstance(value, str) and value.strip()[:1] in ("{", "["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if isinstance(value, Mapping):
        if value.get(path) is not None:
            return value[path]
        parts = path.split(".")
        inner = (under(value.get(".".join(parts[:n])), ".".join(parts[n:])) for n in range(1, len(parts)))
        return next((found for found in inner if found is not None), None)
    if isinstance(value, list):
        first, _, rest = path.partition(".")
        if first.isdecimal() and int(first) < len(value):
            return under(value[int(first)], rest) if rest else value[int(first)]
    return None


def as_json(value: Any, where: str) -> str:
    """Return the JSON text of a value; numbers of numpy are numbers.

    Raises:
        DataError: JSON, or UTF-8, cannot hold it.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_as_number)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        remedy = "Give texts, finite numbers, lists and objects of these"
        raise DataError(f"no JSON can hold it ({error})", remedy, where=where) from error
    return text


def _as_number(value: Any) -> Any:
    if isinstance(value, Real) and hasattr(value, "item"):
        return value.item()
    raise TypeError(f"a {type(value).__name__}")


def plain_json(extra: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return `extra` as JSON can write it: null for NaN and infinity, text for dates and the like."""
    if all(type(value) in (str, int, bool) for value in extra.values()):
        return dict(extra)
    try:
        text = json.dumps(extra, default=_written)
        plain: dict[str, Any] = json.loads(text, parse_constant=lambda _: None)
    except RecursionError as error:
        raise DataError("nested too deep", "Flatten it", where=where) from error
    return plain


def _written(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    return None if type(value).__name__ in ("NAType", "NaTType") else str(value)
