"""LangSmith: runs, as its SDK and its interface export them.

Shape: langchain-ai/langsmith-sdk `python/langsmith/schemas.py` (`RunBase`, `Run`). `inputs` and `outputs` are any
objects. `session_id` is the project, so the conversation is the thread in the metadata. `feedback_stats` does not say
who gave the feedback: a rating only by `--map rating=feedback_stats.NAME.avg`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.content import mapping
from rejoinder.data.format import Format, keys
from rejoinder.data.formats.traces import Span, traces
from rejoinder.data.values import from_cell

_KEPT = ("id", "name", "run_type", "tags", "error", "start_time", "end_time", "trace_id", "feedback_stats", "extra")
_THREADS = ("session_id", "thread_id", "conversation_id")


def spans(row: Mapping[str, Any], where: str) -> Iterator[Span]:
    """Yield the span of a whole trace, a call or a retriever; a run that failed is unanswered."""
    inputs, outputs, extra = (from_cell(row.get(key), where, key) for key in ("inputs", "outputs", "extra"))
    trace, start = str(row.get("trace_id")), str(row.get("dotted_order") or row.get("start_time") or "")
    if not row.get("parent_run_id") or row["run_type"] == "llm":
        metadata, params = (mapping(mapping(extra).get(key)) for key in ("metadata", "invocation_params"))
        kept = {key: row.get(key) for key in _KEPT} | {"extra": extra, "inputs": inputs, "outputs": outputs}
        kept["dialogue_id"] = next((metadata[key] for key in _THREADS if metadata.get(key)), None)
        kept["system"] = metadata.get("ls_model_name") or params.get("model") or params.get("model_name")
        if row.get("error") and not outputs:
            kept["unanswered"] = str(row["error"]).strip().partition("\n")[0][:120]
        yield Span(trace, "call" if row.get("parent_run_id") else "outer", start, inputs, outputs or None, kept)
    elif row["run_type"] in ("retriever", "tool"):
        held = mapping(outputs)
        yield Span(trace, "retrieved", start, None, held.get("documents", held.get("output", outputs)), {})


FORMAT = Format(
    "langsmith",
    "LangSmith runs",
    keys("run_type inputs outputs trace_id", "run_type inputs outputs dotted_order"),
    traces(spans),
    whole=True,
)
