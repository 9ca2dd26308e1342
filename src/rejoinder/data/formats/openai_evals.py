"""OpenAI evals: output items of a run, alone or as a page of the API.

Shape: openai/openai-python `src/openai/types/evals/runs/output_item_list_response.py` (`sample.input` and
`sample.output` hold messages, `results` the graders, of which none is a person).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.format import Format, each, keys, without_nothing

_KEPT = ("id", "eval_id", "run_id", "status", "datasource_item", "results")


def record(item: Mapping[str, Any], _: str) -> Iterator[dict[str, Any]]:
    """Yield the sample of an item, with the item that it was made from and the scores of the graders."""
    sample = item["sample"]
    said = [{**message, "role": message.get("role") or "assistant"} for message in sample.get("output") or ()]
    kept = {key: item.get(key) for key in _KEPT} | {
        "system": sample.get("model"),
        "context_id": item.get("datasource_item_id"),
        "scores": {str(part.get("name")): part["score"] for part in item["results"] if part.get("score") is not None},
    }
    messages = [*(sample.get("input") or ()), *(said or [{"role": "assistant", "content": None}])]
    yield {**without_nothing(kept), "messages": messages}


FORMAT = Format(
    "openai-evals", "OpenAI evals: output items", keys("object datasource_item results sample"), each(record)
)
