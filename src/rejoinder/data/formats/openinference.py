"""OpenInference: spans of Phoenix and Arize, as OTLP in JSON, as rows of Phoenix, or as pages of its API.

Shapes: Arize-ai/openinference `spec/semantic_conventions.md` and `spec/annotations.md`; rows of Phoenix
(`get_spans_dataframe`) have `context.span_id` and `attributes.llm.input_messages` with `message.role` inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rejoinder.data.chat import exchange, is_call, messages_in
from rejoinder.data.content import mapping, mappings, source_texts
from rejoinder.data.files import OnError, Row
from rejoinder.data.format import Format, keys, without_nothing
from rejoinder.data.formats.human_scores import human_scores
from rejoinder.data.formats.spans import spans as otlp_spans
from rejoinder.data.formats.spans import tree
from rejoinder.data.values import from_cell, under
from rejoinder.errors import DataError

_KIND, _COLUMN = "openinference.span.kind", "attributes."


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row holds spans with a kind of OpenInference."""
    if "data" in row:
        return bool(mappings(row["data"])) and all("span_kind" in span for span in mappings(row["data"]))
    return "span_kind" in row or any(_KIND in attributes for _, attributes in _spans(row))


def records(rows: Iterable[Row], on_error: OnError) -> Iterator[Row]:
    """Yield the conversation of each model call; what retrievers and tools gave back before it are its sources."""
    found: dict[Any, list[tuple[str, list[str]]]] = {}
    calls = []
    for row in rows:
        for span, attributes in _spans(row.data):
            data = tree(attributes)
            kind = str(span.get("span_kind") or attributes.get(_KIND, "")).upper()
            start = str(span.get("startTimeUnixNano") or span.get("start_time") or "")
            trace = str(span.get("traceId") or under(span, "context.trace_id"))
            if kind == "LLM":
                calls.append((row, span, data, start, trace))
            elif kind in ("RETRIEVER", "RERANKER"):
                documents = under(data, "retrieval.documents") or under(data, "reranker.output_documents")
                found.setdefault(trace, []).append((start, source_texts(documents)))
            elif kind == "TOOL":
                found.setdefault(trace, []).append((start, source_texts(_side(data, "output"))))
    for row, span, data, start, trace in calls:
        try:
            said = _side(data, "output")
            if (answer := messages_in(said, row.where)) and is_call(answer, row.where):
                continue
            conversation = exchange(_side(data, "input"), said, row.where)
        except DataError as error:
            on_error(error)
            continue
        kept = {
            "id": span.get("spanId") or under(span, "context.span_id"),
            "dialogue_id": under(data, "session.id") or trace,
            "system": under(data, "llm.model_name"),
            "sources": [text for begun, texts in found.get(trace, ()) if begun <= start for text in texts],
            **human_scores(_people(data)),
        }
        yield Row(row.where, {**without_nothing(kept), **conversation})


def _spans(row: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    """Yield each span of a row with its attributes."""
    for item in mappings(row["data"]) if "data" in row else [row]:
        columns = {key[len(_COLUMN) :]: item[key] for key in item if key.startswith(_COLUMN)}
        yield from ((span, {**attributes, **columns}) for span, attributes in otlp_spans(item))


def _messages(value: Any) -> list[dict[str, Any]]:
    """Return messages as chat interfaces write them; some instrumentations leave them empty."""
    found = []
    for item in mappings(value):
        message = mapping(item.get("message", item))
        parts = [part.get("message_content", part) for part in mappings(message.get("contents"))]
        content = message.get("content") if message.get("content") is not None else parts or None
        found.append({"role": message.get("role"), "content": content, "tool_calls": message.get("tool_calls")})
    return [message for message in found if message["content"] is not None or message["tool_calls"]]


def _side(data: Mapping[str, Any], side: str) -> Any:
    """Return the messages of one side of a call, else its value, decoded if it is JSON."""
    return _messages(under(data, f"llm.{side}_messages")) or from_cell(under(data, f"{side}.value"), "", side)


def _people(data: Mapping[str, Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield name, value and identifier of each score that a person gave."""
    for key in ("annotation", "evaluation"):
        for item in mappings(data.get(f"{key}s")):
            part = mapping(item.get(key, item))
            if str(part.get("annotator_kind")).upper() == "HUMAN":
                yield part.get("name"), part.get("score", part.get("label")), part.get("identifier")


FORMAT = Format(
    "openinference",
    "OpenInference spans (Phoenix, Arize)",
    keys("resourceSpans", "attributes name", "span_kind context.trace_id", _COLUMN + _KIND, "data next_cursor"),
    records,
    confirm,
    whole=True,
)
