"""Argilla: records exported to a data set; `NAME.responses` and `NAME.responses.users` for each question.

A suggestion (`NAME.suggestion`) is a model's and no rating. Source: shared case remedies-that-lead-nowhere/argilla.jsonl.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.columns import ALIASES, plain
from rejoinder.data.format import Format, each, keys

_OVERALL = frozenset(("overall", "rating", "quality", "score", *" ".join(ALIASES["rating"]).split()))


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    questions = [key.removesuffix(".responses.users") for key in row if key.endswith(".responses.users")]
    found = {key: value for key, value in row.items() if not any(key.startswith(f"{name}.") for name in questions)}
    for name in questions:
        values, people = row.get(f"{name}.responses") or [], row[f"{name}.responses.users"] or []
        status = row.get(f"{name}.responses.status") or ["submitted"] * len(values)
        given = [
            (value, who)
            for value, who, state in zip(values, people, status)
            if state == "submitted" and isinstance(value, (int, float))
        ]
        if given:
            dimension = "overall" if plain(name) in _OVERALL else name
            found.setdefault("ratings", {})[dimension] = [value for value, _ in given]
            found.setdefault("raters", {})[dimension] = [str(who) for _, who in given]
    yield found


FORMAT = Format("argilla", "Records of Argilla", keys(".responses .responses.users"), each(record))
