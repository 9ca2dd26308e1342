"""MLflow: traces as `search_traces()` returns them, saved in any form, and as `Trace.to_json()` writes them.

Shape: mlflow/mlflow `mlflow/entities/trace.py` (`to_pandas_dataframe_row`: `trace_id` and `trace_metadata` since 3.0,
`request_id` and `request_metadata` before), `mlflow/entities/assessment.py` (`source.source_type` is HUMAN for a
person; an expectation, without `feedback`, is no rating). Attributes of spans are JSON texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.content import mapping, mappings, source_texts
from rejoinder.data.format import Format, each, keys
from rejoinder.data.formats.results import ratings_alone
from rejoinder.data.formats.traces import conversation
from rejoinder.data.values import from_cell

_USED = ("request", "response", "spans", "assessments", "trace", "trace_metadata", "request_metadata", "info", "data")
_INPUTS, _OUTPUTS, _TYPE = "mlflow.spanInputs", "mlflow.spanOutputs", "mlflow.spanType"


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row has spans."""
    return "spans" in row or isinstance(mapping(row["data"]).get("spans"), list)


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any] | None]:
    """Yield the conversation of a trace, with its documents and the assessments of people."""
    facts = row if "spans" in row else {"tags": None, **row["info"], **row["data"]}
    kept = {key: value for key, value in row.items() if key not in _USED}
    read = {key: _decoded(facts.get(key), where, key) for key in _USED}
    spans = mappings(read["spans"])
    attributes = [mapping(span.get("attributes")) for span in spans]
    outer = next((mapping(span.get("attributes")) for span in spans if not _parent(span)), {})
    asked, said = (
        read[key] if read[key] is not None else _decoded(outer.get(name), where, key)
        for key, name in (("request", _INPUTS), ("response", _OUTPUTS))
    )
    retrieved = [held for held in attributes if _decoded(held.get(_TYPE), where, "spans") in ("RETRIEVER", "TOOL")]
    metadata = mapping(read["trace_metadata"] or read["request_metadata"])
    assessments = [(part, mapping(part.get("source"))) for part in mappings(read["assessments"])]
    people = [(part, who.get("source_id")) for part, who in assessments if who.get("source_type") == "HUMAN"]
    kept |= {
        "id": facts.get("trace_id") or facts.get("request_id"),
        "trace_id": facts.get("trace_id"),
        "tags": facts.get("tags"),
        "dialogue_id": metadata.get("mlflow.trace.session"),
        "sources": [text for held in retrieved for text in source_texts(_decoded(held.get(_OUTPUTS), where, "spans"))],
        "trace_metadata": metadata,
        "assessments": read["assessments"],
        "request": asked if isinstance(asked, Mapping) else None,
        **ratings_alone((_name(part), mapping(part.get("feedback")).get("value"), person) for part, person in people),
    }
    yield conversation(asked, said, kept, where)


def _parent(span: Mapping[str, Any]) -> Any:
    return span.get("parent_span_id") or span.get("parent_id")


def _name(assessment: Mapping[str, Any]) -> Any:
    return assessment.get("assessment_name") or assessment.get("name")


def _decoded(value: Any, where: str, field: str) -> Any:
    """Return a value out of JSON, in which MLflow writes texts with their quotes too."""
    if isinstance(value, str) and value[:1] == value[-1:] == '"':
        try:
            return json.loads(value)
        except ValueError:
            return value
    return from_cell(value, where, field) if value != "null" else None


FORMAT = Format(
    "mlflow",
    "MLflow traces",
    keys("request response spans trace_metadata", "request response spans request_metadata", "info data"),
    each(record),
    confirm,
)
