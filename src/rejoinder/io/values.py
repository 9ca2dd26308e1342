"""What JSON values are and are called, and which of them a file can hold."""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from numbers import Real
from typing import Any

from rejoinder.errors import DataError
from rejoinder.io.limits import require_few_values

_YES = frozenset({"yes", "y", "true", "up", "thumbs up", "thumbsup", "thumb up", "like", "liked", "👍"})
_NO = frozenset({"no", "n", "false", "down", "thumbs down", "thumbsdown", "thumb down", "dislike", "disliked", "👎"})
_TONES = re.compile("[\U0001f3fb-\U0001f3ff\ufe0e\ufe0f]")  # colours of skin and forms of an emoji
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_LONGEST_WORD = 20
_ID = re.compile(r"(?=\S*\d)[^\s\[{<]\S{0,63}|[\w-]{12,64}|\w+[ #]+\d+")
_NUMBER = re.compile(r"[+-]?\d{1,15}([.,]\d{1,15})?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")


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
    """Whether `value` is a finite number, of numpy too; true and false are none."""
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # an integer beyond what a float can hold
        return False


def native(value: Any) -> Any:
    """A number of numpy or of `decimal` as Python's own; anything else as it is."""
    if isinstance(value, Decimal):
        return float(value)
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", None) == 0 else value


def decoded(text: str, where: str) -> Any:
    """The JSON value that `text` holds.

    Raises:
        DataError: a key stands twice in one object, of which a reader would keep one in silence; half a character;
            too many values.
        ValueError: it is not JSON.
        RecursionError: it is nested too deep.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) < len(pairs):
            twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
            raise DataError("the key stands twice in one object", "Keep one of them", where=where, field=twice)
        return record

    require_few_values(text, where)
    record = json.loads(text, object_pairs_hook=once)
    require_whole_characters(text, record, where)
    return record


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


def as_json(value: Any, where: str) -> str:
    """The JSON text of a value; numbers of numpy are numbers.

    Args:
        value: what to write.
        where: what it belongs to, for messages.

    Raises:
        DataError: JSON, or UTF-8, cannot hold it.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_native)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        remedy = "Give texts, finite numbers, lists and objects of these"
        raise DataError(f"no JSON can hold it ({error})", remedy, where=where) from error
    return text


def _native(value: Any) -> Any:
    """A number of numpy as Python's own."""
    if isinstance(value, Real) and hasattr(value, "item"):
        return value.item()
    raise TypeError(f"a {type(value).__name__}")


def plain_json(extra: Mapping[str, Any], where: str) -> dict[str, Any]:
    """`extra` as JSON can write it: null for NaN and infinity, text for what Parquet knows beyond JSON (dates)."""
    if not extra:
        return {}
    try:
        plain: dict[str, Any] = json.loads(json.dumps(extra, default=_written), parse_constant=lambda _: None)
    except RecursionError as error:
        raise DataError("nested too deep", "Flatten it", where=where) from error
    return plain


def _written(value: Any) -> Any:
    """What is written of a value that JSON does not know: of numpy's its numbers, of pandas' missing ones null."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return None if type(value).__name__ in ("NAType", "NaTType") else str(value)


def yes_or_no(value: Any) -> bool | None:
    """Whether a rating says yes or no: true, `yes`, `thumbs up`, 👍 ... and their opposites; None where it does not."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or len(value) > _LONGEST_WORD:
        return None
    word = " ".join(_TONES.sub("", value).casefold().replace("_", " ").replace("-", " ").split())
    return True if word in _YES else False if word in _NO else None


def unanswered_of(value: Any) -> Any:
    """Why there is no reply, or whether there is none, from a line that says so; a missing word says nothing."""
    value = native(value)
    if is_missing(value):
        return None
    said = value.strip() if isinstance(value, str) else value
    return False if said in ("0", "0.0", 0) or yes_or_no(said) is False else value


def is_missing(value: Any) -> bool:
    """Whether a value is none: None, an empty text, NaN, or what pandas has in their place."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, str):
        return value.strip() in ("", "nan", "NaN", "<NA>")
    return isinstance(value, float) and math.isnan(value)


def is_id(value: Any) -> bool:
    """Whether a value looks like the id of something: a whole number, a word with a digit or a long one, `Chat 7`."""
    if isinstance(value, str):
        return bool(_ID.fullmatch(value.strip()))
    return isinstance(value, int) and not isinstance(value, bool)


def rating_of(value: Any, where: str, field: str) -> Any:
    """The rating that somebody's column or key holds: a number, or its text with a decimal point or comma; yes or no.

    Returns:
        The rating, `True` or `False` where it says yes or no; None where there is none (null, an empty cell, NaN).

    Raises:
        DataError: it is anything else.
    """
    value = native(value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if is_number(value):
        return value
    if (said := yes_or_no(value)) is not None:
        return said
    if isinstance(value, str):
        if not value.strip():
            return None
        if (number := number_in(value, thousands=False)) is not None:
            return int(number) if number.is_integer() and value.strip().lstrip("+-").isdigit() else number
    found = f"{shortened(value)!r}" if isinstance(value, str) else kind_of(value)
    found = "infinite or too large" if found == "a number" else found
    remedy = (
        "Write a number (3, 3/5, 60%), yes or no, and leave empty what is not rated; --on-error skip leaves such lines "
        f"out; if {field} is no rating at all, say --map rating="
    )
    raise DataError(f"{found}, expected a number", remedy, where=where, field=field)


def number_in(value: Any, *, thousands: bool = True) -> float | None:
    """A finite number, also one that a table holds as text, with a decimal point or comma; None for anything else.

    Args:
        value: what may be one.
        thousands: whether it may be in the thousands: then 1,234 is none, since nobody can say whether a comma before
            three digits stands for decimals or thousands. 0,234 is one.
    """
    if is_number(value):
        return float(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if thousands and _THOUSANDS.fullmatch(text):
        return None
    try:
        number = float(text.replace(",", ".") if _NUMBER.fullmatch(text) else text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def shortened(text: str) -> str:
    """The beginning of a text, for a message."""
    return textwrap.shorten(text, 30)


def object_in(text: str) -> dict[str, Any] | None:
    """The object that a text is in JSON; None where it is none."""
    text = text.strip()
    if text[:1] != "{" or text[-1:] != "}":
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def inside(value: Any, path: str) -> Any:
    """What stands under `path` in nested objects: under that very key, else where its dots lead; None where nothing."""
    value = object_in(value) if isinstance(value, str) else value
    if not isinstance(value, Mapping):
        return None
    if value.get(path) is not None:
        return value[path]
    dots = [place for place, character in enumerate(path) if character == "."]
    inner = (inside(value.get(path[:dot]), path[dot + 1 :]) for dot in dots)
    return next((found for found in inner if found is not None), None)
