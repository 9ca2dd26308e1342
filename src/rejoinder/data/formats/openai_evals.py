"""OpenAI evals: output items of a run, alone or as a page of the API.

Shape: openai/openai-python `src/openai/types/evals/runs/output_item_list_response.py` (`sample.input` and
`sample.output` hold messages, `results` the graders, of which none is a person).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.content import mappings
from rejoinder.data.format import Format, each, keys, without_nothing
from rejoinder.errors import DataError

_KIND = "eval.run.output_item"


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row is an output item or a page of output items."""
    return row.get("object") == _KIND or bool(_page(row))


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Yield the sample of each item, with the item that it was made from and the scores of the graders."""
    for item in _page(row) or [row]:
        sample = item.get("sample")
        if not isinstance(sample, Mapping):
            problem, remedy = "an output item without a sample", "Export the items of a run that made samples"
            raise DataError(problem, remedy, where=where, field="sample")
        said = [{**part, "role": part.get("role") or "assistant"} for part in mappings(sample.get("output"))]
        results = [result for result in mappings(item.get("results")) if result.get("score") is not None]
        kept = {key: item.get(key) for key in ("id", "eval_id", "run_id", "status", "datasource_item", "results")}
        kept |= {
            "system": sample.get("model"),
            "context_id": item.get("datasource_item_id"),
            "scores": {str(result.get("name")): result["score"] for result in results},
        }
        messages = [*mappings(sample.get("input")), *(said or [{"role": "assistant", "content": None}])]
        yield {**without_nothing(kept), "messages": messages}


def _page(row: Mapping[str, Any]) -> list[Any]:
    """Return the items on a page of a list."""
    held = row.get("data") if row.get("object") == "list" else None
    items = held if isinstance(held, list) and held else []
    return items if all(isinstance(item, Mapping) and item.get("object") == _KIND for item in items) else []


FORMAT = Format(
    "openai-evals",
    "OpenAI evals: output items",
    keys("object datasource_item results sample", "object data"),
    each(record),
    confirm,
)
