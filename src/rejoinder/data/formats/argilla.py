"""Argilla: records of 2.x (`NAME.responses`, or `responses` in the record) and of 1.x (a list for each question).

Only submitted responses count. A suggestion is a model's: it stays under `suggestions` and is no rating.
Sources: argilla-io/argilla argilla/src/argilla/records/_resource.py, records/_io/_generic.py (2.x); the cards of data
sets that 1.x pushed to a hub (question: user_id, value, status; question-suggestion; external_id).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rejoinder.data.format import Format, each, keys
from rejoinder.data.formats.objects import list_in, object_in, objects_in, peek
from rejoinder.data.formats.results import add_ratings
from rejoinder.data.values import from_cell

_USERS, _AGENT = ".responses.users", ".suggestion.agent"
_PART = re.compile(r"\.(responses|suggestion)(\.(users|status|agent|score))?$")
_PARTS = frozenset(("user_id", "value", "status"))
Answers = list[tuple[Any, Any]]  # value and person


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row holds responses in one of the three forms."""
    nested = isinstance(row.get("fields"), Mapping) and isinstance(row.get("responses"), Mapping)
    flat = any(str(key).endswith((_USERS, _AGENT)) for key in row)
    return nested or flat or any(_listed(value) for value in row.values())


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Return the record with the fields of the row and the ratings of its people."""
    answers: dict[str, Answers] = {}
    if isinstance(row.get("responses"), Mapping):
        kept = {key: value for key, value in row.items() if key not in ("fields", "responses", "metadata")}
        kept |= {**object_in(row.get("metadata")), **object_in(row.get("fields"))}
        answers = {name: _submitted(_listed(held) or held) for name, held in row["responses"].items()}
    elif any(str(key).endswith((_USERS, _AGENT)) for key in row):
        kept = {key: value for key, value in row.items() if not _PART.search(str(key))}
        kept |= {
            "suggestions": {key: value for key, value in row.items() if ".suggestion" in key and value is not None}
        }
        for name in [str(key).removesuffix(_USERS) for key in row if str(key).endswith(_USERS)]:
            columns = [f"{name}.responses{end}" for end in ("", ".users", ".status")]
            values, people, status = (from_cell(row.get(column), where, column) for column in columns)
            answers[name] = _submitted({"value": values, "user_id": people, "status": status})
    else:
        held = {str(key): found for key, value in row.items() if (found := _listed(value))}
        kept = {key: value for key, value in row.items() if key not in held}
        kept.setdefault("id", kept.get("external_id"))
        answers = {name: _submitted(found) for name, found in held.items()}
    for name, given in answers.items():
        add_ratings(kept, name, given, where)
    yield kept


def _listed(value: Any) -> Any:
    """Return the responses of 1.x in a column: a list of objects, or an object of lists as Parquet keeps them."""
    held = peek(value)
    first = held[0] if isinstance(held, list) and held else held
    return held if isinstance(first, Mapping) and {"user_id", "value"} <= first.keys() <= {*_PARTS} else None


def _submitted(held: Any) -> Answers:
    """Return value and person of the submitted responses."""
    if isinstance(held, Mapping):
        columns = [list_in(held.get(part)) for part in ("value", "user_id", "status")]
        columns = [[*column, *[None] * (len(columns[0]) - len(column))] for column in columns]
        rows: Iterable[tuple[Any, ...]] = zip(*columns, strict=False)
    else:
        rows = [tuple(map(item.get, ("value", "user_id", "status"))) for item in objects_in(held)]
    return [(value, person) for value, person, status in rows if status in (None, "submitted") and value is not None]


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
