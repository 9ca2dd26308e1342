"""Results of promptfoo (`promptfoo eval -o`), as one JSON document or a line each: a record for each output."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.errors import DataError
from rejoinder.example import UNANSWERED
from rejoinder.io.evaluations.said import Found, asked, objects_in, scored, short
from rejoinder.io.values import kind_of

_VERSION = 3
_OF_A_ROW = frozenset(("promptIdx", "testIdx", "vars", "provider"))
_HUMAN = "human"
ALL = "score"
"""The name of what all assertions come to."""


def is_document(value: Any) -> bool:
    """Whether a JSON value is a file of results."""
    results = value.get("results") if isinstance(value, Mapping) else None
    return isinstance(results, Mapping) and {"version", "results", "stats"} <= results.keys()


def is_row(value: Any) -> bool:
    """Whether it is one result."""
    return isinstance(value, Mapping) and value.keys() >= _OF_A_ROW


def in_document(document: Mapping[str, Any], where: str) -> Iterator[Found]:
    """The results of a file.

    Raises:
        DataError: it is of another version, or holds no result.
    """
    results = document["results"]
    if results["version"] != _VERSION:
        problem = f"results of promptfoo in version {results['version']!r}, expected {_VERSION}"
        raise DataError(problem, "Run it again with a newer promptfoo", where=where)
    if not isinstance(results["results"], list) or not results["results"]:
        raise DataError("results of promptfoo without an output", "Run promptfoo eval -o again", where=where)
    for number, row in enumerate(results["results"], start=1):
        place = f"{where}:result {number}"
        if not is_row(row):
            raise DataError(f"the result is {kind_of(row)} without its prompt", "Get the file again", where=place)
        yield place, record_of(row, place)


def record_of(row: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The record of one result; a person's verdict is its rating."""
    grading, provider, prompt = (_object(row.get(name)) for name in ("gradingResult", "provider", "prompt"))
    parts = objects_in(grading.get("componentResults"))
    human = [part["pass"] for part in parts if _kind(part) == _HUMAN and isinstance(part.get("pass"), bool)]
    record = {
        "id": row.get("id"),
        "system": provider.get("label") or provider.get("id"),
        "dialogue_id": _digest(row["vars"]),
        "context": asked(prompt.get("raw"), where),
        **_reply(row),
        **scored(*_judged(row, parts, edited=bool(human))),
        "rating": human[-1] if human else None,
        "vars": row["vars"],
        "prompt_label": prompt.get("label"),
        "metadata": row.get("metadata"),
    }
    return {key: value for key, value in record.items() if value not in (None, {})}


def _reply(row: Mapping[str, Any]) -> dict[str, Any]:
    """The output, structured ones as JSON; or why there is none."""
    response = _object(row.get("response"))
    output = response.get("output")
    if output is None:
        error = row.get("error") or response.get("error")
        return {"response": "", UNANSWERED: short(str(error)) if error else "no output in the file"}
    return {"response": output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)}


def _judged(
    row: Mapping[str, Any], parts: list[Mapping[str, Any]], *, edited: bool
) -> tuple[dict[str, Any], dict[str, str]]:
    """Score and reason of each assertion, called by its metric, else by its type; and of all, unless a person's."""
    said, reasons = dict[str, Any](), dict[str, str]()
    for part in parts:
        if (kind := _kind(part)) == _HUMAN:
            continue
        name = _free(str(_object(part.get("assertion")).get("metric") or kind), said)
        said[name] = part.get("score")
        reasons[name] = str(part.get("reason") or "no score")
    if not edited and _object(row.get("response")).get("output") is not None:
        said[_free(ALL, said)] = row.get("score")
    return said, reasons


def _kind(part: Mapping[str, Any]) -> str:
    """The type of an assertion that a part of the grading is of."""
    return str(_object(part.get("assertion")).get("type") or "assertion")


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """A name that is not taken: `contains`, `contains.2` ..."""
    names = [name, *(f"{name}.{number}" for number in range(2, len(taken) + 2))]
    return next(one for one in names if one not in taken)


def _object(value: Any) -> Mapping[str, Any]:
    """The object that a value is; an empty one where it is none."""
    return value if isinstance(value, Mapping) else {}


def _digest(variables: Any) -> str:
    """What tells a test from another, whatever prompt and provider it is put to."""
    return hashlib.sha256(json.dumps(variables, sort_keys=True).encode()).hexdigest()[:12]
