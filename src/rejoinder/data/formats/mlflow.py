"""MLflow: traces as `search_traces()` gives them (a frame, saved in any form) and as `Trace.to_json()` writes them.

Source: mlflow/mlflow mlflow/entities/trace.py `to_pandas_dataframe_row` (3.x: trace_id, request, response, spans,
assessments, trace_metadata; 2.x: request_id, request_metadata). An assessment says whether a person gave it
(`source.source_type` HUMAN).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.chat import messages_in
from rejoinder.data.format import Format, each, keys, without_nothing
from rejoinder.data.values import from_cell


def confirm(row: Mapping[str, Any]) -> bool:
    return "spans" in row or (isinstance(row["data"], Mapping) and "spans" in row["data"])


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    if row.keys() == {"info", "data"}:
        spans = row["data"]["spans"]
        root = next((span for span in spans if not span.get("parent_id") and not span.get("parent_span_id")), {})
        attributes = root.get("attributes", {})
        row = {
            "trace_id": row["info"].get("trace_id") or row["info"].get("request_id"),
            "spans": spans,
            "assessments": row["info"].get("assessments"),
            "request": row["data"].get("request", attributes.get("mlflow.spanInputs")),
            "response": row["data"].get("response", attributes.get("mlflow.spanOutputs")),
        }
    asked, said, spans, assessments = (
        from_cell(row.get(key), where, key) for key in ("request", "response", "spans", "assessments")
    )
    ratings: dict[str, list[Any]] = {}
    raters: dict[str, list[Any]] = {}
    for one in assessments or ():
        source, value = one.get("source") or {}, (one.get("feedback") or {}).get("value")
        if source.get("source_type") == "HUMAN" and isinstance(value, (int, float, bool)):
            ratings.setdefault(one.get("assessment_name") or one.get("name"), []).append(value)
            raters.setdefault(one.get("assessment_name") or one.get("name"), []).append(source.get("source_id"))
    found = {
        "id": row.get("trace_id") or row.get("request_id"),
        "sources": _documents(spans or ()),
        "ratings": ratings,
        "raters": raters,
    }
    yield without_nothing(found) | {"context": _one(asked), "response": _reply(said)}


def _one(value: Any) -> Any:
    if (messages := messages_in(value)) is not None:
        return messages
    texts = [one for one in value.values() if isinstance(one, str)] if isinstance(value, Mapping) else [value]
    return texts[0] if len(texts) == 1 else value


def _reply(value: Any) -> Any:
    if isinstance(value, Mapping) and isinstance(value.get("choices"), list) and value["choices"]:
        return [value["choices"][0].get("message", {})]
    return _one(value)


def _documents(spans: Any) -> list[str]:
    found = []
    for span in spans:
        attributes = span.get("attributes", {})
        if from_cell(attributes.get("mlflow.spanType"), "", "") in ("RETRIEVER", '"RETRIEVER"', "TOOL", '"TOOL"'):
            output = from_cell(attributes.get("mlflow.spanOutputs"), "", "")
            for one in output if isinstance(output, list) else [output]:
                found.append(str(one.get("page_content", one)) if isinstance(one, Mapping) else str(one))
    return found


FORMAT = Format(
    "mlflow",
    "MLflow traces",
    keys("request response spans trace_metadata", "request response spans request_metadata", "info data"),
    each(record),
    confirm,
)
