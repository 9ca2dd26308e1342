"""Label Studio: tasks of its JSON export. Stars, numbers and choices are ratings, by control and annotator.

`predictions` are a model's. Choices that are no numbers and no yes or no stay under the name of their control.
Source: HumanSignal/label-studio docs/source/guide/export.md, label_studio/data_export/serializers.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.format import Format, each, keys
from rejoinder.data.formats.results import ratings_of


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a task: its data, and annotations with results."""
    data, annotations = row["data"], row["annotations"]
    is_list = isinstance(data, Mapping) and isinstance(annotations, list)
    return is_list and all(isinstance(item, Mapping) and isinstance(item.get("result"), list) for item in annotations)


def record(task: Mapping[str, Any], _: str) -> Iterator[dict[str, Any]]:
    """Yield the data of a task with the ratings of all annotators."""
    kept = {key: value for key, value in task.items() if key not in ("data", "annotations", "id")}
    kept |= {"id": str(task["id"])} if task.get("id") is not None else {}
    yield {**ratings_of(_answers(task["annotations"])), **kept, **task["data"]}


def _answers(annotations: list[Mapping[str, Any]]) -> Iterator[tuple[str, Any, Any]]:
    """Yield control, value and annotator of each result that can be a rating."""
    for annotation in annotations:
        person = annotation.get("completed_by")
        if isinstance(person, Mapping):
            person = person.get("email") or person.get("id")
        for result in [] if annotation.get("was_cancelled") else annotation["result"]:
            kind = result.get("type")
            held = result["value"].get(kind) if kind in ("rating", "number", "choices") else None
            held = held[0] if isinstance(held, list) and len(held) == 1 else held
            if isinstance(held, (str, int, float)):
                yield str(result.get("from_name") or "overall"), held, person


FORMAT = Format("label-studio", "Tasks of Label Studio", keys("data annotations"), each(record), confirm)
