"""Tasks of Label Studio (its JSON export): the texts under `data`, and what each annotator said of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.example import OVERALL
from rejoinder.io.evaluations.said import objects_in
from rejoinder.io.names import NAMES, RATING, plain
from rejoinder.io.rating_words import rating_in
from rejoinder.io.values import is_number, yes_or_no

_OVERALL = frozenset((OVERALL, "quality", "score")).union(*NAMES[RATING])


def is_task(value: Any) -> bool:
    """Whether a value is a task with its annotations."""
    if not isinstance(value, Mapping) or not isinstance(value.get("data"), Mapping):
        return False
    annotations = value.get("annotations")
    return isinstance(annotations, list) and all(
        isinstance(one, Mapping) and isinstance(one.get("result"), list) for one in annotations
    )


def record_of(task: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a task: its data, and the ratings of all annotators, by the names of the controls."""
    ratings: dict[str, list[Any]] = {}
    raters: dict[str, list[str | None]] = {}
    for annotation in task["annotations"]:
        if annotation.get("was_cancelled"):
            continue
        for dimension, value in _rated(annotation):
            ratings.setdefault(dimension, []).append(value)
            raters.setdefault(dimension, []).append(_name(annotation.get("completed_by")))
    rated = {"ratings": ratings, "raters": raters} if ratings else {}
    return {**({"id": task["id"]} if "id" in task else {}), **task["data"], **rated}


def _rated(annotation: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The dimension and the value of what an annotator said that is a rating: stars, a number or a choice."""
    for one in objects_in(annotation["result"]):
        kind, value = one.get("type"), one.get("value")
        said = value.get(kind) if isinstance(value, Mapping) and isinstance(kind, str) else None
        if kind == "choices" and isinstance(said, list) and len(said) == 1 and _is_rating(said[0]):
            said = said[0]
        elif kind not in ("rating", "number") or not is_number(said):
            continue
        name = str(one.get("from_name") or OVERALL)
        yield OVERALL if plain(name) in _OVERALL else name, said


def _is_rating(choice: Any) -> bool:
    """Whether a choice is a rating."""
    return yes_or_no(choice) is not None or (isinstance(choice, str) and rating_in(choice) is not None)


def _name(who: Any) -> str | None:
    """Who an annotator is: a number, or an object that says more."""
    if isinstance(who, Mapping):
        who = next((who[key] for key in ("email", "id") if who.get(key)), None)
    return None if who is None else str(who)
