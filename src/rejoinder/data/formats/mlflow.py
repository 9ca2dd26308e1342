"""MLflow: traces as `search_traces()` returns them, saved in any form, and as `Trace.to_json()` writes them.

Shape: mlflow/mlflow `mlflow/entities/trace.py` (`to_pandas_dataframe_row`: `trace_id` and `trace_metadata` since 3.0,
`request_id` and `request_metadata` before), `mlflow/entities/assessment.py` (`source.source_type` is HUMAN for a
person). Attributes of spans are JSON texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.chat import exchange
from rejoinder.data.content import mapping, mappings, source_texts
from rejoinder.data.format import Format, each, keys, without_nothing
from rejoinder.data.formats.human_scores import human_scores
from rejoinder.data.values import from_cell

_USED = ("request", "response", "spans", "assessments", "trace", "trace_metadata", "request_metadata")


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row has spans."""
    return "spans" in row or (isinstance(row["data"], Mapping) and isinstance(row["data"].get("spans"), list))


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Yield the conversation of a trace, with its documents and the assessments of people."""
    row = row if "spans" in row else _as_row(row)
    cells = {key: _decoded(row.get(key), where, key) for key in _USED if key != "trace"}
    metadata = mapping(cells["trace_metadata"] or cells["request_metadata"])
    people = [part for part in mappings(cells["assessments"]) if _source(part).get("source_type") == "HUMAN"]
    kept = {key: value for key, value in row.items() if key not in _USED}
    found = {
        "id": row.get("trace_id") or row.get("request_id"),
        "dialogue_id": metadata.get("mlflow.trace.session"),
        "sources": [text for span in mappings(cells["spans"]) for text in _documents(span, where)],
        "trace_metadata": metadata,
        "assessments": cells["assessments"],
        **human_scores((_name(part), _value(part), _source(part).get("source_id")) for part in people),
    }
    said = exchange(cells["request"], cells["response"], where)
    request = {"request": cells["request"]} if isinstance(cells["request"], Mapping) else {}
    yield {**kept, **without_nothing(found), **request, **said}


def _as_row(trace: Mapping[str, Any]) -> dict[str, Any]:
    """Return a trace of `to_json()` as a row; the outermost span holds what came in and went out."""
    info, data = mapping(trace["info"]), trace["data"]
    spans = mappings(data["spans"])
    outer = next((span for span in spans if not span.get("parent_span_id") and not span.get("parent_id")), {})
    attributes = mapping(mapping(outer).get("attributes"))
    return {
        "trace_id": info.get("trace_id") or info.get("request_id"),
        "tags": info.get("tags"),
        "trace_metadata": info.get("trace_metadata") or info.get("request_metadata"),
        "assessments": info.get("assessments"),
        "spans": spans,
        "request": data.get("request") or attributes.get("mlflow.spanInputs"),
        "response": data.get("response") or attributes.get("mlflow.spanOutputs"),
    }


def _decoded(value: Any, where: str, field: str) -> Any:
    """Return a value out of JSON, in which MLflow writes texts with their quotes too."""
    if isinstance(value, str) and value[:1] == value[-1:] == '"':
        try:
            return json.loads(value)
        except ValueError:
            return value
    return from_cell(value, where, field) if value != "null" else None


def _documents(span: Mapping[str, Any], where: str) -> list[str]:
    """Return what a retriever or a tool gave back."""
    attributes = mapping(span.get("attributes"))
    if _decoded(attributes.get("mlflow.spanType"), where, "spans") not in ("RETRIEVER", "TOOL"):
        return []
    return source_texts(_decoded(attributes.get("mlflow.spanOutputs"), where, "spans"))


def _source(assessment: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return who gave an assessment."""
    return mapping(assessment.get("source"))


def _name(assessment: Mapping[str, Any]) -> Any:
    """Return the name of an assessment."""
    return assessment.get("assessment_name") or assessment.get("name")


def _value(assessment: Mapping[str, Any]) -> Any:
    """Return the value of feedback; an expectation is no rating."""
    return mapping(assessment.get("feedback")).get("value")


FORMAT = Format(
    "mlflow",
    "MLflow traces",
    keys("request response spans trace_metadata", "request response spans request_metadata", "info data"),
    each(record),
    confirm,
)
