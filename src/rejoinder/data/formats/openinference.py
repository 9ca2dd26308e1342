"""OpenInference: spans of Phoenix and Arize, as OTLP in JSON or as Phoenix's rows (`attributes.llm...` or nested).

Source: Arize-ai/openinference spec/semantic_conventions.md (`openinference.span.kind` is required on every span;
`llm.input_messages.<i>.message.role`, `retrieval.documents.<i>.document.content`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rejoinder.data.chat import turns
from rejoinder.data.files import OnError, Row
from rejoinder.data.format import Format, keys, without_nothing
from rejoinder.data.values import from_cell
from rejoinder.errors import DataError

from rejoinder.data.formats.otel import spans as otlp_spans

KIND = "openinference.span.kind"


def confirm(row: Mapping[str, Any]) -> bool:
    if "resourceSpans" in row:
        return any(KIND in attributes for _, attributes in otlp_spans(row))
    return f"attributes.{KIND}" in row or "span_kind" in row or KIND in flat(row.get("attributes"))


def spans(row: Mapping[str, Any]) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
    """(trace, span, attributes as a tree) of a row."""
    if "resourceSpans" in row:
        for span, attributes in otlp_spans(row):
            yield span.get("traceId"), span.get("spanId"), tree(attributes)
        return
    attributes = dict(flat(row.get("attributes")))
    attributes |= {
        key.removeprefix("attributes."): value for key, value in row.items() if key.startswith("attributes.")
    }
    if "span_kind" in row:
        attributes.setdefault(KIND, row["span_kind"])
    context = row.get("context") if isinstance(row.get("context"), Mapping) else {}
    yield (
        row.get("context.trace_id", context.get("trace_id")),
        row.get("context.span_id", context.get("span_id")),
        tree(attributes),
    )


def flat(value: Any, before: str = "") -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return {before: value} if before else {}
    return {
        name: one
        for key, inner in value.items()
        for name, one in flat(inner, f"{before}.{key}" if before else str(key)).items()
    }


def tree(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """`a.0.b` and `a.1.b` as `{"a": {"0": {"b"}, "1": {"b"}}}`."""
    root: dict[str, Any] = {}
    for name, value in attributes.items():
        *path, last = name.split(".")
        place = root
        for part in path:
            held = place.setdefault(part, {})
            place = place.setdefault(part, {}) if isinstance(held, dict) else place
        place[last] = from_cell(value, "", name)
    return root


def listed(value: Any) -> list[Any]:
    if isinstance(value, Mapping) and value and all(key.isdigit() for key in value):
        return [value[key] for key in sorted(value, key=int)]
    return list(value) if isinstance(value, (list, tuple)) else []


def messages(value: Any) -> list[dict[str, Any]]:
    found = []
    for one in listed(value):
        message = (
            one.get("message")
            if isinstance(one, Mapping) and isinstance(one.get("message"), Mapping)
            else {key.removeprefix("message."): held for key, held in one.items()}
        )
        parts = [
            {key.removeprefix("message_content."): held for key, held in (part.get("message_content") or part).items()}
            for part in listed(message.get("contents"))
        ]
        found.append(
            {
                "role": message.get("role"),
                "content": message.get("content") if message.get("content") is not None else parts or None,
                "tool_calls": message.get("tool_calls"),
            }
        )
    return found


def records(rows: Iterable[Row], on_error: OnError) -> Iterator[Row]:
    sources: dict[Any, list[str]] = {}
    calls = []
    for row in rows:
        for trace, span, held in spans(row.data):
            kind = str(held.get("openinference", {}).get("span", {}).get("kind", "")).upper()
            if kind in ("RETRIEVER", "RERANKER"):
                documents = listed(held.get("retrieval", held.get("reranker", {})).get("documents", ()))
                sources.setdefault(trace, []).extend(
                    str((one.get("document") or {"content": one.get("document.content")}).get("content"))
                    for one in documents
                )
            elif kind == "TOOL" and isinstance(held.get("output"), Mapping):
                sources.setdefault(trace, []).append(str(held["output"].get("value")))
            elif kind == "LLM":
                calls.append((row.where, trace, span, held))
    for where, trace, span, held in calls:
        llm = held.get("llm", {})
        try:
            before, said = messages(llm.get("input_messages")), messages(llm.get("output_messages"))
            asked = turns(before, where) if before else []
            reply = turns(said[:1], where) if said else []
        except DataError as error:
            on_error(error)
            continue
        if said and not any(turn.text for turn in reply):
            continue
        found = {
            "id": span,
            "dialogue_id": held.get("session", {}).get("id") or trace,
            "system": llm.get("model_name"),
            "sources": [*sources.get(trace, ()), *(text for turn in asked for text in turn.sources)],
        }
        context = [turn.text for turn in asked if turn.text is not None] or held.get("input", {}).get("value")
        yield Row(
            where,
            without_nothing(found)
            | {
                "context": context or [],
                "response": "".join(turn.text or "" for turn in reply) or held.get("output", {}).get("value", ""),
            },
        )


FORMAT = Format(
    "openinference",
    "OpenInference spans (Phoenix, Arize)",
    keys("resourceSpans", "attributes name", "span_kind context.trace_id", f"attributes.{KIND}"),
    records,
    confirm,
    whole=True,
)
