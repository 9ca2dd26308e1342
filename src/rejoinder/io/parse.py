"""From a JSON object to an `Example` and back. Every rule about fields stands here, once, for all file formats."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from rejoinder.errors import DataError
from rejoinder.records import OVERALL, Example, Rating

Record = Mapping[str, Any]
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SPEAKERS = ("user", "assistant")
_INSTRUCTORS = ("system", "developer")
FIELDS = (
    "id",
    "dataset",
    "context",
    "response",
    "references",
    "system",
    "context_id",
    "ratings",
    "raters",
    "quality",
    "scale",
    "scales",
)


def parse_record(record: Any, where: str) -> Example:
    """The `Example` that a JSON object describes.

    A conversation (`[{"role", "content"}, ...]`, or an object with it under `messages`) is an example too: the last
    turn of the assistant is the response, what stands before it is the context.

    Args:
        record: a decoded JSON value.
        where: `file:line`, for messages and as the id of a line that has none.

    Raises:
        DataError: a field is missing, of the wrong type or outside its range.
    """
    if isinstance(record, list):
        record = {"messages": record}
    if not isinstance(record, Mapping):
        raise DataError(
            f"{_kind(record)}, expected a JSON object",
            'Write one {"context": [...], "response": "..."} a line',
            where=where,
        )
    if "messages" in record and "response" not in record:
        record = _from_messages(record, where)
    if not isinstance(record.get("response"), str):
        found = f"is {_kind(record['response'])}" if "response" in record else f"missing (found: {_listed(record)})"
        raise DataError(f"{found}, expected text", 'Give every line a "response": "..."', where=where, field="response")
    scales = _scales(record, where)
    quality = _quality(record, scales, where)
    return Example(
        context=_texts(record, "context", where),
        response=record["response"],
        references=_texts(record, "references", where),
        id=_name(record, "id", where) or where,
        system=_name(record, "system", where),
        dataset=_name(record, "dataset", where),
        context_id=_name(record, "context_id", where),
        ratings=_ratings(record, scales, where),
        quality=quality,
        scales=scales,
        extra=_plain({key: value for key, value in record.items() if key not in FIELDS}, where),
        where=where,
    )


def to_record(example: Example) -> dict[str, Any]:
    """The JSON object of `example`, in the order of the input line's contract; keys it has nothing for are left out."""
    record: dict[str, Any] = {"id": example.id, "context": list(example.context), "response": example.response}
    if example.dataset is not None:
        record = {"id": example.id, "dataset": example.dataset, **record}
    if example.references:
        record["references"] = list(example.references)
    for key in ("system", "context_id"):
        if (value := getattr(example, key)) is not None:
            record[key] = value
    if example.ratings:
        record["ratings"], raters = _grouped(example.ratings)
        if raters:
            record["raters"] = raters
    if example.quality:
        record["quality"] = dict(example.quality)
    if OVERALL in example.scales:
        record["scale"] = list(example.scales[OVERALL])
    if set(example.scales) - {OVERALL}:
        record["scales"] = {dimension: list(scale) for dimension, scale in example.scales.items()}
    return {**record, **example.extra}


def _from_messages(record: Record, where: str) -> dict[str, Any]:
    """The record of a conversation in chat messages; instructions (`system`, `developer`) are no turns but are kept."""
    turns, instructions = [], []
    messages = record["messages"]
    if not isinstance(messages, list) or not messages:
        raise DataError(
            f"{_kind(messages)}, expected a list of messages",
            'Write [{"role": ..., "content": ...}]',
            where=where,
            field="messages",
        )
    for number, message in enumerate(messages, start=1):
        role = message.get("role") if isinstance(message, Mapping) else None
        if role in ("tool", "function") or (role == "assistant" and message.get("tool_calls")):
            continue  # what an assistant and its tools say to each other, no turn of the conversation
        text = _content(message.get("content")) if isinstance(message, Mapping) else None
        if role not in _SPEAKERS + _INSTRUCTORS or text is None:
            raise DataError(
                f"message {number} has {'no text content' if role in _SPEAKERS + _INSTRUCTORS else f'role {role!r}'}",
                'Write {"role": "user", "content": "..."}; roles are user, assistant, system, developer, tool',
                where=where,
                field="messages",
            )
        if role in _SPEAKERS:
            turns.append((role, text))
        else:
            instructions.append(text)
    last = max((place for place, (role, _) in enumerate(turns) if role == "assistant"), default=None)
    if last is None:
        raise DataError(
            "no turn of the assistant to judge", "End with an assistant message", where=where, field="messages"
        )
    kept = {key: value for key, value in record.items() if key != "messages"}
    if instructions:
        kept["instructions"] = instructions
    return {**kept, "context": [text for _, text in turns[:last]], "response": turns[last][1]}


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


def _plain(extra: Record, where: str) -> dict[str, Any]:
    """`extra` as JSON can write it: null for NaN and infinity, text for what Parquet knows beyond JSON (dates)."""
    if not extra:
        return {}
    try:
        plain: dict[str, Any] = json.loads(json.dumps(extra, default=str), parse_constant=lambda _: None)
    except RecursionError as error:
        raise DataError("nested too deep", "Flatten it", where=where) from error
    return plain


def _content(content: Any) -> str | None:
    """The text of a message: a string, or the text parts of a list of parts; None where it has no text."""
    if isinstance(content, list):
        texts = [part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
        return "\n".join(texts) if texts else None
    return content if isinstance(content, str) else None


def _texts(record: Record, field: str, where: str) -> tuple[str, ...]:
    """A list of texts; absent or null is the empty list."""
    value = record.get(field)
    if value is None:
        return ()
    if isinstance(value, str):
        raise DataError("is one text, expected a list of texts", f'Write "{field}": ["..."]', where=where, field=field)
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        odd = next((_kind(text) for text in value if not isinstance(text, str)), "") if isinstance(value, list) else ""
        found = f"a list that holds {odd}" if odd else _kind(value)
        raise DataError(
            f"is {found}, expected a list of texts", f'Write "{field}": ["...", "..."]', where=where, field=field
        )
    return tuple(value)


def _name(record: Record, field: str, where: str) -> str | None:
    """A name: text or a whole number; absent, null and "" are None."""
    value = record.get(field)
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise DataError(f"is {_kind(value)}, expected a name", "Write text or a whole number", where=where, field=field)
    return str(value)


def _scales(record: Record, where: str) -> dict[str, tuple[float, float]]:
    """The scale of every dimension; `scale` is that of `overall`."""
    raw = record.get("scales") or {}
    if not isinstance(raw, Mapping):
        raise DataError(
            f"is {_kind(raw)}, expected an object", 'Write {"overall": [1, 5]}', where=where, field="scales"
        )
    if record.get("scale") is not None:
        raw = {OVERALL: record["scale"], **{key: value for key, value in raw.items() if key != OVERALL}}
    scales = {}
    for dimension, bounds in raw.items():
        if bounds is None:
            continue
        if not (
            isinstance(bounds, list) and len(bounds) == 2 and all(map(_is_number, bounds)) and bounds[0] < bounds[1]
        ):
            raise DataError(
                f"{dimension} is {bounds!r}, expected [lowest, highest]",
                'Write "scale": [1, 5]',
                where=where,
                field="scale",
            )
        scales[dimension] = (bounds[0], bounds[1])
    return scales


def _quality(record: Record, scales: Mapping[str, tuple[float, float]], where: str) -> dict[str, float]:
    """The mean rating of every dimension that has one."""
    raw = record.get("quality")
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        raise DataError(
            f"is {_kind(raw)}, expected an object", 'Write "quality": {"overall": 3.5}', where=where, field="quality"
        )
    return {
        dimension: _rated(value, dimension, scales, where, "quality")
        for dimension, value in raw.items()
        if value is not None
    }


def _ratings(record: Record, scales: Mapping[str, tuple[float, float]], where: str) -> tuple[Rating, ...]:
    """The single ratings, with their raters where those are named."""
    raw = record.get("ratings")
    if raw is None:
        return ()
    if not isinstance(raw, Mapping):
        raise DataError(
            f"is {_kind(raw)}, expected an object", 'Write "ratings": {"overall": [3, 4]}', where=where, field="ratings"
        )
    ratings = []
    for dimension, values in raw.items():
        if values is None:
            continue
        if not isinstance(values, list):
            raise DataError(
                f"{dimension} is {_kind(values)}, expected a list",
                'Write "ratings": {"overall": [3, 4]}',
                where=where,
                field="ratings",
            )
        raters = _raters(record, dimension, len(values), where)
        for value, rater in zip(values, raters, strict=True):
            ratings.append(Rating(_rated(value, dimension, scales, where, "ratings"), dimension, rater))
    return tuple(ratings)


def _raters(record: Record, dimension: str, count: int, where: str) -> list[str | None]:
    """The names of those who gave the `count` ratings of `dimension`; None for each where they are not named."""
    raters = record.get("raters")
    if isinstance(raters, Mapping):
        raters = raters.get(dimension)
    if raters is None:
        return [None] * count
    if not isinstance(raters, list) or len(raters) != count:
        found = f"{len(raters)} names" if isinstance(raters, list) else _kind(raters)
        raise DataError(
            f"{dimension} has {count} ratings and {found}", "Name one rater a rating", where=where, field="raters"
        )
    return [None if rater is None else str(rater) for rater in raters]


def _rated(value: Any, dimension: str, scales: Mapping[str, tuple[float, float]], where: str, field: str) -> float:
    """A rating that is a finite number inside its scale."""
    if not _is_number(value):
        found = "NaN or infinite" if _kind(value) == "a number" else _kind(value)
        raise DataError(
            f"{dimension} is {found}, expected a number", "Leave a missing rating out", where=where, field=field
        )
    low, high = scales.get(dimension, (-math.inf, math.inf))
    if not low <= value <= high:
        raise DataError(
            f"{dimension} is {value:g}, outside its scale [{low:g}, {high:g}]",
            "Correct the rating or the scale",
            where=where,
            field=field,
        )
    return value  # type: ignore[no-any-return]


def _grouped(ratings: tuple[Rating, ...]) -> tuple[dict[str, list[float]], dict[str, list[str | None]]]:
    """Values and raters by dimension; raters only for dimensions where one is named."""
    values: dict[str, list[float]] = {}
    raters: dict[str, list[str | None]] = {}
    for rating in ratings:
        values.setdefault(rating.dimension, []).append(rating.value)
        raters.setdefault(rating.dimension, []).append(rating.rater)
    return values, {dimension: names for dimension, names in raters.items() if any(names)}


def _is_number(value: Any) -> bool:
    """Whether `value` is a finite number; true and false are none."""
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer beyond what a float can hold
        return False


def _kind(value: Any) -> str:
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


def _listed(record: Record) -> str:
    """The first keys of a record, for a message."""
    keys = list(record)
    return ", ".join(map(str, keys[:6])) + (", ..." if len(keys) > 6 else "") if keys else "nothing"
