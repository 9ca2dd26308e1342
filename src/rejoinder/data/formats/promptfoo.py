"""promptfoo: results of `promptfoo eval -o`, one JSON document (version 3) or a result a line.

Source: promptfoo/promptfoo site/docs/configuration/outputs.md and src/types/index.ts (EvaluateSummaryV3, EvaluateResult).
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.chat import is_chat, turns
from rejoinder.data.format import Format, each, keys, without_nothing
from rejoinder.data.values import from_cell
from rejoinder.errors import DataError


def is_document(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("results"), Mapping) and {"version", "results", "stats"} <= row["results"].keys()


def confirm(row: Mapping[str, Any]) -> bool:
    return "promptIdx" in row or is_document(row)


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    if is_document(row):
        if row["results"]["version"] != 3:
            raise DataError(
                f"results of promptfoo in version {row['results']['version']!r}, expected 3",
                "Run it again with a newer promptfoo",
                where=where,
            )
        for one in row["results"]["results"]:
            yield from record(one, where)
        return
    grading, provider, prompt, response = (
        row.get(key) or {} for key in ("gradingResult", "provider", "prompt", "response")
    )
    parts = [one for one in grading.get("componentResults") or () if isinstance(one, Mapping)]
    scores, human = {}, None
    for part in parts:
        kind = (part.get("assertion") or {}).get("type") or "assertion"
        if kind == "human":
            human = part.get("pass")
            continue
        scores[(part.get("assertion") or {}).get("metric") or kind] = part.get("score")
        scores |= part.get("namedScores") or {}
    scores |= row.get("namedScores") or {}
    raw = from_cell(prompt.get("raw"), where, "prompt.raw")
    output = response.get("output")
    found = {
        "id": row.get("id"),
        "system": provider.get("label") or provider.get("id"),
        "scores": scores,
        "ratings": {"overall": [int(human)]} if human is not None else None,
        "dialogue_id": hashlib.sha256(json.dumps(row["vars"], sort_keys=True).encode()).hexdigest()[:12],
        "vars": row["vars"],
        "unanswered": None
        if output is not None
        else str(row.get("error") or response.get("error") or "no output in the file")[:120],
    }
    context = (
        [turn.text for turn in turns(raw, where) if turn.text is not None]
        if is_chat(raw)
        else [prompt["raw"]]
        if prompt.get("raw")
        else []
    )
    yield without_nothing(found) | {
        "context": context,
        "response": output
        if isinstance(output, str)
        else ""
        if output is None
        else json.dumps(output, ensure_ascii=False),
    }


FORMAT = Format(
    "promptfoo",
    "promptfoo results (JSON, JSON lines)",
    keys("results", "promptIdx testIdx vars provider"),
    each(record),
    confirm,
)
