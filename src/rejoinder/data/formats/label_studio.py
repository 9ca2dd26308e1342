"""Label Studio: tasks of its JSON export. Stars, numbers and choices are ratings, by control and annotator.

The same person, control and value twice is one rating. `predictions` are a model's. Choices that are no numbers and no
yes or no stay in the record under the name of their control.
Source: HumanSignal/label-studio docs/source/guide/export.md, label_studio/data_export/serializers.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.format import Format, each, keys
from rejoinder.data.formats.objects import objects_in
from rejoinder.data.formats.results import add_ratings


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a task: its data, and annotations with results."""
    annotations = row["annotations"]
    return (
        isinstance(row["data"], Mapping)
        and isinstance(annotations, list)
        and all(isinstance(item, Mapping) and isinstance(item.get("result"), list) for item in annotations)
    )


def record(task: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Return the data of a task with the ratings of all annotators."""
    kept = {key: value for key, value in task.items() if key not in ("data", "annotations")}
    kept |= {"id": str(task["id"])} if task.get("id") is not None else {}
    kept |= task["data"]
    answers: dict[str, list[tuple[Any, str | None]]] = {}
    for annotation in task["annotations"]:
        if annotation.get("was_cancelled"):
            continue
        person = _name(annotation.get("completed_by"))
        for name, value in _values(annotation):
            answers.setdefault(name, []).append((value, person))
    for name, given in answers.items():
        add_ratings(kept, name, given, where)
    yield kept


def _values(annotation: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the control and the value of each result that can be a rating."""
    for result in objects_in(annotation["result"]):
        kind, value = result.get("type"), result.get("value")
        held = value.get(kind) if isinstance(value, Mapping) and kind in ("rating", "number", "choices") else None
        if isinstance(held, list):
            held = held[0] if len(held) == 1 else None
        if held is not None and not isinstance(held, (list, Mapping)):
            yield str(result.get("from_name") or "overall"), held


def _name(person: Any) -> str | None:
    """Return the name of an annotator: a number, or an object with an address."""
    if isinstance(person, Mapping):
        person = next((person[key] for key in ("email", "id") if person.get(key)), None)
    return None if person is None else str(person)


FORMAT = Format("label-studio", "Tasks of Label Studio", keys("data annotations"), each(record), confirm)
