"""Langfuse traces and observations: pages of its API, single traces, exported rows (version 4 exports observations).

Shapes: langfuse/langfuse-python `langfuse/api/commons/types/{trace,trace_with_full_details,base_score}.py`;
langfuse/langfuse `worker/src/features/database-read-stream/{trace,event,observation}-stream.ts`. An exported row has a
column for each score, which holds a list and does not say who gave it: a rating only by `--map rating=NAME`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from rejoinder.data.columns import is_known
from rejoinder.data.content import mappings, source_texts
from rejoinder.data.format import Format, each, keys
from rejoinder.data.formats.results import ratings_alone
from rejoinder.data.formats.traces import Span, conversation, traces
from rejoinder.data.values import from_cell

_RETRIEVED = ("RETRIEVER", "TOOL")
_is_field = lru_cache(maxsize=4096)(is_known)
_USED = ("input", "output", "sessionId", "scores", "observations", "id", "metadata", "model")


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any] | None]:
    """Yield the conversation of a trace, with the scores that people gave it."""
    asked, said, rest = _sides_and_rest(row, where)
    retrieved = [part.get("output") for part in mappings(row.get("observations")) if part.get("type") in _RETRIEVED]
    scores = [score for score in mappings(row.get("scores")) if isinstance(score.get("name"), str)]
    people = [score for score in scores if score.get("source") == "ANNOTATION"]
    found = {
        "sources": [text for output in retrieved for text in source_texts(from_cell(output, where, "output"))],
        "scores": {score["name"]: _value(score) for score in scores if score not in people},
        **ratings_alone((score["name"], _value(score), score.get("authorUserId")) for score in people),
    }
    yield conversation(asked, said, {**rest, **found}, where)


def spans(row: Mapping[str, Any], where: str) -> Iterator[Span]:
    """Yield the span that an observation is, unless it is neither outermost, nor a call, nor retrieves."""
    kind = row.get("type")
    outer = not row.get("parentObservationId") and row.get("output")
    asked, said, rest = _sides_and_rest(row, where)
    kept = {"system": row.get("providedModelName") or row.get("model"), **rest}
    if kind in _RETRIEVED:
        yield Span(str(row["traceId"]), "retrieved", str(row.get("startTime")), None, said, {})
    if outer or kind == "GENERATION":
        yield Span(str(row["traceId"]), "outer" if outer else "call", str(row.get("startTime")), asked, said, kept)


def _sides_and_rest(item: Mapping[str, Any], where: str) -> tuple[Any, Any, dict[str, Any]]:
    """Return what came into a trace or an observation, what went out, and its other keys; names of our fields apart."""
    asked, said = (from_cell(item.get(key), where, key) for key in ("input", "output"))
    rest = {key: value for key, value in item.items() if key not in _USED}
    apart = {key: value for key, value in rest.items() if _is_field(key)}
    kept = {key: value for key, value in rest.items() if key not in apart}
    sides = {key: side for key, side in (("input", asked), ("output", said)) if isinstance(side, Mapping)}
    kept |= {"id": item.get("id"), "metadata": item.get("metadata"), "dialogue_id": item.get("sessionId") or None}
    return asked, said, {**kept, "langfuse": apart, **sides}


def _value(score: Mapping[str, Any]) -> Any:
    value = score.get("value")
    if score.get("dataType") == "BOOLEAN" and value is not None:
        return bool(value)
    return score.get("stringValue") if value is None else value


_TRACE = keys("id input output sessionId release tags public")
_OBSERVATION = keys("id traceId type startTime input output parentObservationId")
FORMAT = Format("langfuse", "Langfuse traces: API pages, single traces, exported rows", _TRACE, each(record))
OBSERVATIONS = Format(
    "langfuse-observations", "Langfuse observations: API pages, exported rows", _OBSERVATION, traces(spans), whole=True
)
