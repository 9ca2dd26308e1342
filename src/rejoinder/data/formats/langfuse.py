"""Langfuse traces: pages of its API, single traces, exported rows.

Shapes: langfuse/langfuse-python `langfuse/api/commons/types/{trace,trace_with_full_details,base_score}.py`;
langfuse/langfuse `worker/src/features/database-read-stream/trace-stream.ts`. An exported row has a
column for each score, which holds a list and does not say who gave it: a rating only by `--map rating=NAME`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from rejoinder.data.chat import exchange
from rejoinder.data.columns import is_known
from rejoinder.data.content import mappings, source_texts
from rejoinder.data.format import Format, each, keys, without_nothing
from rejoinder.data.formats.human_scores import human_scores
from rejoinder.data.values import from_cell

RETRIEVED = ("RETRIEVER", "TOOL")
_is_field = lru_cache(maxsize=4096)(is_known)
_USED = ("input", "output", "sessionId", "scores", "observations", "id", "metadata", "model")


def page(row: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Return the items of a page of the API, if they have this key."""
    items = mappings(row.get("data")) if isinstance(row.get("meta"), Mapping) else []
    return items if all(key in item for item in items) else []


def trace(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Yield the conversation of each trace, with the scores that people gave it."""
    for item in page(row, "sessionId") or [row]:
        observed = mappings(item.get("observations"))
        retrieved = (part.get("output") for part in observed if part.get("type") in RETRIEVED)
        outputs = [from_cell(output, where, "output") for output in retrieved]
        scores = [score for score in mappings(item.get("scores")) if isinstance(score.get("name"), str)]
        people = [score for score in scores if score.get("source") == "ANNOTATION"]
        found = {
            "sources": [text for output in outputs for text in source_texts(output)],
            "scores": {score["name"]: _value(score) for score in scores if score not in people},
            **human_scores((score["name"], _value(score), score.get("authorUserId")) for score in people),
        }
        yield without_nothing({**said(item, where), **found})


def said(item: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the conversation of a trace or an observation, and its other keys; names of our fields go aside."""
    asked, answered = (from_cell(item.get(key), where, key) for key in ("input", "output"))
    conversation = exchange(asked, answered, where)
    kept = {key: value for key, value in item.items() if key not in _USED and not _is_field(key)}
    kept |= {key: item.get(key) for key in ("id", "metadata")} | {"dialogue_id": item.get("sessionId") or None}
    kept["langfuse"] = {key: value for key, value in item.items() if key not in _USED and _is_field(key)}
    if isinstance(asked, Mapping) or "messages" not in conversation:
        kept["input"] = asked
    if "messages" not in conversation:
        kept["output"] = answered
    return {**kept, **conversation}


def _value(score: Mapping[str, Any]) -> Any:
    """Return the value of a score: a number, yes or no, or a word."""
    value = score.get("value")
    if score.get("dataType") == "BOOLEAN" and value is not None:
        return bool(value)
    return score.get("stringValue") if value is None else value


FORMAT = Format(
    "langfuse",
    "Langfuse traces: API pages, single traces, exported rows",
    keys("id input output sessionId release tags public", "data meta"),
    each(trace),
    lambda row: "sessionId" in row or bool(page(row, "sessionId")),
)
