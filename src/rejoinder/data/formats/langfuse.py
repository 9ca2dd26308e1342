"""Langfuse: traces as its page of the API, one trace with its scores, or the rows that its interface exports.

Sources: langfuse/langfuse-python langfuse/api/commons/types/{trace,trace_with_full_details,base_score}.py;
langfuse/langfuse worker/src/features/database-read-stream/trace-stream.ts (exported rows; a score is a column that
holds a list, and nothing says who gave it, so it is a rating only by `--map rating=NAME`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.chat import messages_in
from rejoinder.data.format import Format, each, keys, without_nothing
from rejoinder.data.values import from_cell

_PAGE = frozenset(("page", "limit", "totalItems", "totalPages"))


def is_page(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("data"), list) and isinstance(row.get("meta"), Mapping) and row["meta"].keys() >= _PAGE


def confirm(row: Mapping[str, Any]) -> bool:
    return "sessionId" in row or is_page(row)


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    for trace in row["data"] if is_page(row) else [row]:
        asked, said = (from_cell(trace.get(key), where, key) for key in ("input", "output"))
        scores = (
            [one for one in trace.get("scores") or () if isinstance(one, Mapping)]
            if isinstance(trace.get("scores"), list)
            else []
        )
        people = [
            one for one in scores if one.get("source") == "ANNOTATION" and isinstance(one.get("value"), (int, float))
        ]
        found = {
            key: value
            for key, value in trace.items()
            if key not in ("input", "output", "sessionId", "scores", "observations")
        }
        ratings: dict[str, list[float]] = {}
        raters: dict[str, list[Any]] = {}
        for one in people:
            ratings.setdefault(one["name"], []).append(one["value"])
            raters.setdefault(one["name"], []).append(one.get("authorUserId"))
        others = {
            one["name"]: one["value"]
            for one in scores
            if one not in people and isinstance(one.get("value"), (int, float))
        }
        yield without_nothing(
            {
                **found,
                "dialogue_id": trace.get("sessionId"),
                "sources": _documents(trace),
                "ratings": ratings,
                "raters": raters,
                "scores": others,
            }
        ) | {"context": asked if asked is not None else [], "response": _text(said)}


def _text(said: Any) -> Any:
    return messages_in(said) or said if said is not None else ""


def _documents(trace: Mapping[str, Any]) -> list[Any]:
    """What retrievers and tools gave back, of a trace with its observations."""
    observations = [one for one in trace.get("observations") or () if isinstance(one, Mapping)]
    return [
        from_cell(one.get("output"), "", "output")
        for one in observations
        if one.get("type") in ("RETRIEVER", "TOOL") and one.get("output")
    ]


FORMAT = Format(
    "langfuse",
    "Langfuse traces: API pages, single traces, exported rows",
    keys("id input output sessionId release tags public", "data meta"),
    each(record),
    confirm,
)
