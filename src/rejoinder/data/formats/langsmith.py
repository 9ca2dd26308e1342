"""LangSmith: runs, as its SDK and its interface export them.

Shape: langchain-ai/langsmith-sdk `python/langsmith/schemas.py` (`RunBase`, `Run`). `inputs` and `outputs` are any
objects. `session_id` is the project, so the conversation is the thread in the metadata. `feedback_stats` does not say
who gave the feedback: a rating only by `--map rating=feedback_stats.NAME.avg`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rejoinder.data.chat import exchange, is_call, messages_in
from rejoinder.data.content import mapping, source_texts
from rejoinder.data.files import OnError, Row
from rejoinder.data.format import Format, keys, without_nothing
from rejoinder.data.values import from_cell
from rejoinder.errors import DataError

_KEPT = ("id", "name", "run_type", "tags", "error", "start_time", "end_time", "trace_id", "feedback_stats", "extra")
_THREADS = ("session_id", "thread_id", "conversation_id")


def records(rows: Iterable[Row], on_error: OnError) -> Iterator[Row]:
    """Yield the outermost run of each trace, or its model calls if that is not in the file.

    Results of retrievers and tools of the trace are the sources.
    """
    runs = list(rows)
    sources: dict[Any, list[str]] = {}
    for row in sorted(runs, key=lambda row: str(row.data.get("dotted_order") or row.data.get("start_time") or "")):
        if row.data.get("run_type") in ("retriever", "tool") and row.data.get("parent_run_id"):
            outputs = from_cell(row.data.get("outputs"), row.where, "outputs")
            if isinstance(outputs, Mapping):
                outputs = outputs.get("documents", outputs.get("output", outputs))
            sources.setdefault(str(row.data.get("trace_id")), []).extend(source_texts(outputs))
    whole = {str(row.data.get("trace_id")) for row in runs if not row.data.get("parent_run_id")}
    for row in runs:
        outer = not row.data.get("parent_run_id")
        if not outer and (str(row.data.get("trace_id")) in whole or row.data.get("run_type") != "llm"):
            continue
        try:
            said = messages_in(from_cell(row.data.get("outputs"), row.where, "outputs"), row.where)
            if outer or not said or not is_call(said, row.where):
                yield Row(row.where, run(row.data, row.where, sources.get(str(row.data.get("trace_id")), [])), row.flat)
        except DataError as error:
            on_error(error)


def run(data: Mapping[str, Any], where: str, sources: list[str]) -> dict[str, Any]:
    """Return one run in our own form; a run that failed is an unanswered question."""
    inputs, outputs, extra = (from_cell(data.get(key), where, key) for key in ("inputs", "outputs", "extra"))
    metadata, params = (mapping(mapping(extra).get(key)) for key in ("metadata", "invocation_params"))
    kept = {key: data.get(key) for key in _KEPT} | {"extra": extra, "inputs": inputs, "outputs": outputs}
    kept |= {
        "dialogue_id": next((metadata[key] for key in _THREADS if metadata.get(key)), None),
        "system": metadata.get("ls_model_name") or params.get("model") or params.get("model_name"),
        "sources": sources,
    }
    said = exchange(inputs, outputs or None, where)
    if data.get("error") and not outputs:
        said = {**said, "unanswered": str(data["error"]).strip().partition("\n")[0][:120]}
    return {**without_nothing(kept), **said}


FORMAT = Format(
    "langsmith",
    "LangSmith runs",
    keys("run_type inputs outputs trace_id", "run_type inputs outputs dotted_order"),
    records,
    whole=True,
)
