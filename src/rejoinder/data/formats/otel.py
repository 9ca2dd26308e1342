"""OpenTelemetry: spans that follow the conventions for generative AI, as OTLP in JSON or as a span a line.

Shapes: open-telemetry/semantic-conventions-genai `model/gen-ai/gen-ai-{input,output}-messages.json` and
`docs/gen-ai/client-inference.md`; OTLP's JSON encoding. Messages are JSON texts or structured values. Retrieved
documents have ids and scores only, so that the sources are the results of tools. An agent's span repeats what the calls
inside it said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.content import mapping, mappings
from rejoinder.data.format import Format, each, keys
from rejoinder.data.formats.traces import conversation
from rejoinder.data.values import from_cell
from rejoinder.errors import DataError

_CALLS = ("chat", "text_completion", "generate_content")
_DETAILS = "gen_ai.client.inference.operation.details"  # the event that may hold the messages in place of the span
_IN, _OUT = "gen_ai.input.messages", "gen_ai.output.messages"


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row holds spans of OTLP, or is a span with messages; spans of OpenInference are none."""
    found = [attributes for _, attributes in spans(row)]
    is_otel = "resourceSpans" in row or any(_OUT in attributes for attributes in found)
    return is_otel and not any("openinference.span.kind" in attributes for attributes in found)


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any] | None]:
    """Yield the conversation of each call of a model. Raises `DataError` for a call with several choices."""
    for span, attributes in spans(row):
        if _OUT not in attributes or attributes.get("gen_ai.operation.name", "chat") not in _CALLS:
            continue
        asked, said = (from_cell(attributes.get(key), where, key) or None for key in (_IN, _OUT))
        if isinstance(said, list) and len(said) > 1:
            problem, remedy = f"{len(said)} choices, expected one", "Ask for one choice, or skip it: --on-error skip"
            raise DataError(problem, remedy, where=where, field=_OUT)
        names = {**span, **mapping(span.get("context"))}
        kept = {
            "id": names.get("spanId", names.get("span_id")),
            "system": attributes.get("gen_ai.response.model") or attributes.get("gen_ai.request.model"),
            "dialogue_id": attributes.get("gen_ai.conversation.id") or names.get("traceId", names.get("trace_id")),
            "attributes": {key: value for key, value in attributes.items() if key not in (_IN, _OUT)},
        }
        yield conversation(asked, said, kept, where)


def spans(row: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    """Yield each span of a row, with its attributes (and those of the event with its messages) as plain values."""
    found = [row]
    if "resourceSpans" in row:
        scopes = [
            scope for resource in mappings(row["resourceSpans"]) for scope in mappings(resource.get("scopeSpans"))
        ]
        found = [span for scope in scopes for span in mappings(scope.get("spans"))]
    for span in found:
        attributes = _named(from_cell(span.get("attributes"), "", "attributes"))
        for event in mappings(span.get("events")):
            attributes |= _named(event.get("attributes")) if event.get("name") == _DETAILS else {}
        yield span, attributes


def _named(attributes: Any) -> dict[str, Any]:
    """Return attributes as an object; OTLP writes a list of keys and typed values."""
    if isinstance(attributes, Mapping):
        return dict(attributes)
    return {str(pair.get("key")): _plain(pair.get("value")) for pair in mappings(attributes)}


def _plain(value: Any) -> Any:
    """Return a typed value of OTLP (`stringValue`, `arrayValue`, `kvlistValue`) as JSON has it."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    ((kind, held),) = value.items()
    if kind == "arrayValue":
        return [_plain(item) for item in mapping(held).get("values") or ()]
    if kind == "kvlistValue":
        return _named(mapping(held).get("values"))
    return int(held) if kind == "intValue" and str(held).lstrip("-").isdigit() else held


FORMAT = Format("otel", "OpenTelemetry GenAI spans", keys("resourceSpans", "attributes name"), each(record), confirm)
