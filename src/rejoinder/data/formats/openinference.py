"""OpenInference: spans of Phoenix and Arize, as OTLP in JSON, as rows of Phoenix, or as pages of its API.

Shapes: Arize-ai/openinference `spec/semantic_conventions.md` and `spec/annotations.md`; rows of Phoenix
(`get_spans_dataframe`) have `context.span_id` and `attributes.llm.input_messages` with `message.role` inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.content import mapping, mappings
from rejoinder.data.format import Format, keys
from rejoinder.data.formats import otel
from rejoinder.data.formats.results import ratings_alone
from rejoinder.data.formats.traces import Span, traces
from rejoinder.data.values import from_cell, under

_KIND, _COLUMN = "openinference.span.kind", "attributes."
_JSON = ("llm.input_messages", "llm.output_messages", "retrieval.documents", "reranker.output_documents", "metadata")


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row holds spans with a kind of OpenInference."""
    return "span_kind" in row or any(_KIND in attributes for _, attributes in _spans(row))


def spans(row: Mapping[str, Any], where: str) -> Iterator[Span]:
    """Yield the calls of models, and what retrievers and tools gave back."""
    for span, attributes in _spans(row):
        data = _tree(
            {key: from_cell(value, where, key) if key in _JSON else value for key, value in attributes.items()}
        )
        kind = str(span.get("span_kind") or attributes.get(_KIND)).upper()
        start = str(span.get("startTimeUnixNano") or span.get("start_time") or "")
        trace = str(span.get("traceId") or under(span, "context.trace_id"))
        kept = {
            "id": span.get("spanId") or under(span, "context.span_id"),
            "dialogue_id": under(data, "session.id") or trace,
            "system": under(data, "llm.model_name"),
            **ratings_alone(_people(data)),
        }
        if kind == "LLM":
            yield Span(trace, "call", start, _side(data, "input"), _side(data, "output"), kept)
        elif kind in ("RETRIEVER", "RERANKER"):
            documents = under(data, "retrieval.documents") or under(data, "reranker.output_documents")
            yield Span(trace, "retrieved", start, None, documents, {})
        elif kind == "TOOL":
            yield Span(trace, "retrieved", start, None, _side(data, "output"), {})


def _spans(row: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    """Yield each span of a row with its attributes; Phoenix writes a column for each."""
    columns = {key.removeprefix(_COLUMN): row[key] for key in row if key.startswith(_COLUMN)}
    yield from ((span, {**attributes, **columns}) for span, attributes in otel.spans(row))


def _side(data: Mapping[str, Any], side: str) -> Any:
    """Return the messages of one side of a call, else its value; some instrumentations leave the messages empty."""
    messages = []
    for item in mappings(under(data, f"llm.{side}_messages")):
        message = dict(mapping(item.get("message", item)))
        if parts := mappings(message.pop("contents", None)):
            message["content"] = [part.get("message_content", part) for part in parts]
        if message.get("content") is not None or message.get("tool_calls"):
            messages.append(message)
    return messages or from_cell(under(data, f"{side}.value"), "", side)


def _people(data: Mapping[str, Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield name, value and identifier of each score that a person gave."""
    for key in ("annotation", "evaluation"):
        for item in mappings(data.get(f"{key}s")):
            part = mapping(item.get(key, item))
            if str(part.get("annotator_kind")).upper() == "HUMAN":
                yield part.get("name"), part.get("score", part.get("label")), part.get("identifier")


def _tree(value: Any) -> Any:
    """Return dotted names as objects, and objects whose keys are numbers as lists: `a.0.b` is `{"a": [{"b"}]}`."""
    if isinstance(value, list):
        return [_tree(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    root: dict[str, Any] = {}
    for name, item in value.items():
        *path, last = name.split(".")
        place = root
        for part in path:
            place[part] = place[part] if isinstance(place.get(part), dict) else {}
            place = place[part]
        place[last] = item
    inner = {key: _tree(item) for key, item in root.items()}
    return [inner[key] for key in sorted(inner, key=int)] if inner and all(map(str.isdigit, inner)) else inner


FORMAT = Format(
    "openinference",
    "OpenInference spans (Phoenix, Arize)",
    keys("resourceSpans", "attributes name", "span_kind context.trace_id", _COLUMN + _KIND, "span_kind attributes"),
    traces(spans),
    confirm,
    whole=True,
)
