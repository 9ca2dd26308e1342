"""Argilla: records of 2.x (`NAME.responses`, or `responses` in the record) and of 1.x (a list for each question).

Only submitted responses count. A suggestion is a model's: it stays under `suggestions` and is no rating.
Sources: argilla-io/argilla argilla/src/argilla/records/_resource.py, records/_io/_generic.py (2.x); the cards of data
sets that 1.x pushed to a hub (question: user_id, value, status; question-suggestion; external_id).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any

from rejoinder.data.content import mapping
from rejoinder.data.format import Format, each, keys
from rejoinder.data.formats.results import peek, ratings_of
from rejoinder.data.values import from_cell

_USERS, _AGENT = ".responses.users", ".suggestion.agent"
_PART = re.compile(r"\.(responses|suggestion)(\.(users|status|agent|score))?$")
_PARTS = ("value", "user_id", "status")


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row holds responses in one of the three forms."""
    return _is_nested(row) or _is_flat(row) or any(_of_question(value) for value in row.values())


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Yield the fields of a record with the ratings of its people."""
    questions: dict[str, Any] = {}
    if _is_nested(row):
        kept = {key: value for key, value in row.items() if key not in ("fields", "responses", "metadata")}
        kept |= {**mapping(row.get("metadata")), **row["fields"]}
        questions = row["responses"]
    elif _is_flat(row):
        kept = {key: value for key, value in row.items() if not _PART.search(key)}
        kept["suggestions"] = {key: value for key, value in row.items() if ".suggestion" in key and value is not None}
        for name in [key.removesuffix(_USERS) for key in row if key.endswith(_USERS)]:
            columns = [f"{name}.responses{end}" for end in ("", ".users", ".status")]
            cells = (from_cell(row.get(column), where, column) for column in columns)
            questions[name] = dict(zip(_PARTS, cells, strict=True))
    else:
        questions = {key: held for key, value in row.items() if (held := _of_question(value))}
        kept = {key: value for key, value in row.items() if key not in questions}
        kept.setdefault("id", kept.get("external_id"))
    answers = ((name, value, person) for name, held in questions.items() for value, person in _submitted(held))
    yield {**ratings_of(answers), **kept}


def _is_nested(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("fields"), Mapping) and isinstance(row.get("responses"), Mapping)


def _is_flat(row: Mapping[str, Any]) -> bool:
    return any(key.endswith((_USERS, _AGENT)) for key in row)


def _of_question(value: Any) -> Any:
    """Return the responses of 1.x in a column: a list of objects, or an object of lists as Parquet keeps them."""
    held = peek(value)
    first = held[0] if isinstance(held, list) and held else held
    return held if isinstance(first, Mapping) and {"user_id", "value"} <= first.keys() <= {*_PARTS} else None


def _submitted(held: Any) -> Iterator[tuple[Any, Any]]:
    """Yield value and person of the submitted responses, which are objects, or a list for each part."""
    rows: Iterable[Iterable[Any]] = (map(answer.get, _PARTS) for answer in held or ())
    if isinstance(held, Mapping):
        rows = zip_longest(*(held.get(part) or () for part in _PARTS))
    yield from (
        (value, person) for value, person, status in rows if status in (None, "submitted") and value is not None
    )


FORMAT = Format(
    "argilla",
    "Records of Argilla",
    keys(
        ".responses .responses.users",
        ".suggestion .suggestion.agent",
        "fields responses suggestions",
        "external_id metadata",
    ),
    each(record),
    confirm,
)
