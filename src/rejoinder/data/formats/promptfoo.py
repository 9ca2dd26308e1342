"""promptfoo: results of `promptfoo eval -o`, one JSON document (version 3) or one result a line.

The verdict of an assertion of type `human` is a person's rating.
Source: promptfoo/promptfoo src/types/index.ts (OutputFile, EvaluateSummaryV3, EvaluateResult, GradingResult).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.content import mapping, mappings
from rejoinder.data.format import Format, each, keys, without_nothing
from rejoinder.data.formats.results import prompt_turns, scores_of, short
from rejoinder.errors import DataError


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a file of results or one result."""
    return "promptIdx" in row or {"version", "results", "stats"} <= mapping(row["results"]).keys()


def results(row: Mapping[str, Any], where: str) -> list[Mapping[str, Any]]:
    """Return the results of a document, or the one result that a row is."""
    if "promptIdx" in row:
        return [row]
    summary = row["results"]
    if summary["version"] != 3:
        problem = f"results of promptfoo in version {summary['version']!r}, expected 3"
        raise DataError(problem, "Run it again with a newer promptfoo", where=where)
    if not summary["results"]:
        raise DataError("results of promptfoo without an output", "Run promptfoo eval -o again", where=where)
    return list(summary["results"])


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Yield the reply of a result with its scores."""
    provider, prompt, response = (mapping(row.get(key)) for key in ("provider", "prompt", "response"))
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
    yield without_nothing(found) | {"context": prompt_turns(prompt.get("raw"), where), "response": text or ""}


def _judged(row: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str], Any]:
    """Return score and reason of each assertion by its metric or type, the named scores, and a person's verdict."""
    values, reasons, human = dict[str, Any](), dict[str, str](), None
    named = [row.get("namedScores")]
    for part in mappings(mapping(row.get("gradingResult")).get("componentResults")):
        assertion = mapping(part.get("assertion"))
        if assertion.get("type") == "human":
            human = part.get("pass")
            continue
        name = _free(str(assertion.get("metric") or assertion.get("type") or "assertion"), values)
        values[name], reasons[name] = part.get("score"), str(part.get("reason") or "no score")
        named.insert(-1, part.get("namedScores"))
    for scores in named:
        values = {**mapping(scores), **values}
    return values, reasons, human


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """Return a name that is not taken: `contains`, `contains.2` ..."""
    names = [name, *(f"{name}.{number}" for number in range(2, len(taken) + 2))]
    return next(free for free in names if free not in taken)


FORMAT = Format(
    "promptfoo",
    "Results of promptfoo (JSON, JSON lines)",
    keys("results", "promptIdx testIdx vars provider"),
    each(record, results),
    confirm,
)
