"""promptfoo: results of `promptfoo eval -o`, one JSON document (version 3) or one result a line.

The verdict of an assertion of type `human` is a person's rating.
Source: promptfoo/promptfoo src/types/index.ts (OutputFile, EvaluateSummaryV3, EvaluateResult, GradingResult).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.format import Format, each, keys, without_nothing
from rejoinder.data.formats.objects import object_in, objects_in, short, shown, words
from rejoinder.data.formats.results import prompt_turns, scores_of
from rejoinder.errors import DataError

_ROW = frozenset(words("promptIdx testIdx vars provider"))


def is_document(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a whole file of results."""
    return isinstance(row.get("results"), Mapping) and {"version", "results", "stats"} <= row["results"].keys()


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a file of results or one result."""
    return row.keys() >= _ROW or is_document(row)


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Return the results of a document, or the one result that a row is."""
    if not is_document(row):
        yield _result(row, where)
        return
    summary = row["results"]
    if summary["version"] != 3:
        problem = f"results of promptfoo in version {summary['version']!r}, expected 3"
        raise DataError(problem, "Run it again with a newer promptfoo", where=where)
    if not isinstance(summary["results"], list) or not summary["results"]:
        raise DataError("results of promptfoo without an output", "Run promptfoo eval -o again", where=where)
    for number, result in enumerate(summary["results"], start=1):
        place = f"{where}:result {number}"
        if not isinstance(result, Mapping) or not result.keys() >= _ROW:
            problem = f"the result is {shown(result)}, expected an object with {', '.join(sorted(_ROW))}"
            raise DataError(problem, "Get the file again", where=place)
        yield _result(result, place)


def _result(row: Mapping[str, Any], where: str) -> dict[str, Any]:
    provider, prompt, response = (object_in(row.get(key)) for key in ("provider", "prompt", "response"))
    output, error = response.get("output"), row.get("error") or response.get("error")
    values, reasons, human = _judged(row)
    if output is not None and human is None:
        values[_free("score", values)] = row.get("score")
    found = {
        "id": row.get("id"),
        "system": provider.get("label") or provider.get("id") or row["provider"],
        "dialogue_id": hashlib.sha256(json.dumps(row["vars"], sort_keys=True).encode()).hexdigest()[:12],
        **scores_of(values, reasons),
        "rating": human,
        "vars": row["vars"],
        "prompt_label": prompt.get("label"),
        "metadata": row.get("metadata"),
        "output": output if isinstance(output, (Mapping, list)) else None,
        "unanswered": short(error or "no output in the file") if output is None else None,
    }
    text = output if isinstance(output, str) or output is None else json.dumps(output, ensure_ascii=False)
    return without_nothing(found) | {"context": prompt_turns(prompt.get("raw"), where), "response": text or ""}


def _judged(row: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str], bool | None]:
    """Return score and reason of each assertion by its metric or type, the named scores, and a person's verdict."""
    values, reasons = dict[str, Any](), dict[str, str]()
    human = None
    for part in objects_in(object_in(row.get("gradingResult")).get("componentResults")):
        assertion = object_in(part.get("assertion"))
        kind = str(assertion.get("type") or "assertion")
        if kind == "human":
            human = part["pass"] if isinstance(part.get("pass"), bool) else human
            continue
        name = _free(str(assertion.get("metric") or kind), values)
        values[name], reasons[name] = part.get("score"), str(part.get("reason") or "no score")
        values |= {key: value for key, value in object_in(part.get("namedScores")).items() if key not in values}
    named = {key: value for key, value in object_in(row.get("namedScores")).items() if key not in values}
    return values | named, reasons, human


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """Return a name that is not taken: `contains`, `contains.2` ..."""
    names = [name, *(f"{name}.{number}" for number in range(2, len(taken) + 2))]
    return next(free for free in names if free not in taken)


FORMAT = Format(
    "promptfoo",
    "Results of promptfoo (JSON, JSON lines)",
    keys("results", "promptIdx testIdx vars provider"),
    each(record),
    confirm,
)
