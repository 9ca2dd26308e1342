"""Spans of OpenTelemetry: OTLP in JSON, or a span a row; their attributes as plain and as nested values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.content import mapping, mappings
from rejoinder.data.values import from_cell

_DETAILS = "gen_ai.client.inference.operation.details"  # the event that may hold the messages in place of the span


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


def tree(value: Any) -> Any:
    """Return dotted names as objects, and objects whose keys are numbers as lists: `a.0.b` is `{"a": [{"b"}]}`."""
    if isinstance(value, list):
        return [tree(item) for item in value]
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
    inner = {key: tree(item) for key, item in root.items()}
    return [inner[key] for key in sorted(inner, key=int)] if inner and all(map(str.isdigit, inner)) else inner
