"""LangSmith: runs as its SDK and its interface export them; the root run of a trace is the line.

Source: langchain-ai/langsmith-sdk python/langsmith/schemas.py (RunBase, Run: `run_type`, `inputs`, `outputs`,
`trace_id`, `dotted_order`, `parent_run_id`, `feedback_stats`). `inputs` and `outputs` are any objects, so where they
are neither messages nor one text, the names inside are said with `--map context=inputs.question`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rejoinder.data.chat import messages_in
from rejoinder.data.files import OnError, Row
from rejoinder.data.format import Format, keys, without_nothing
from rejoinder.data.values import from_cell


def records(rows: Iterable[Row], on_error: OnError) -> Iterator[Row]:
    runs = list(rows)
    sources: dict[Any, list[Any]] = {}
    for row in sorted(runs, key=lambda row: str(row.data.get("dotted_order") or row.data.get("start_time"))):
        outputs = from_cell(row.data.get("outputs"), row.where, "outputs")
        if row.data["run_type"] in ("retriever", "tool") and isinstance(outputs, Mapping):
            documents = outputs.get("documents", outputs.get("output", outputs))
            sources.setdefault(row.data.get("trace_id"), []).extend(
                documents if isinstance(documents, list) else [documents]
            )
    for row in runs:
        if not row.data.get("parent_run_id"):
            yield Row(row.where, record(row.data, row.where, sources.get(row.data.get("trace_id"), [])), row.flat)


def record(run: Mapping[str, Any], where: str, sources: list[Any]) -> dict[str, Any]:
    inputs, outputs = (from_cell(run.get(key), where, key) for key in ("inputs", "outputs"))
    found = {
        "id": run.get("id"),
        "dialogue_id": (run.get("extra") or {}).get("metadata", {}).get("session_id")
        if isinstance(run.get("extra"), Mapping)
        else None,
        "sources": sources,
        "feedback_stats": run.get("feedback_stats"),
        "inputs": inputs,
        "outputs": outputs,
    }
    unanswered = {"response": "", "unanswered": str(run["error"])[:120]} if run.get("error") and not outputs else {}
    return without_nothing(found) | without_nothing({"context": _one(inputs), "response": _reply(outputs)}) | unanswered


def _one(value: Any) -> Any:
    """The messages in an object, or the one text that it holds; None where several could be it."""
    if (messages := messages_in(value)) is not None:
        return messages
    texts = [one for one in value.values() if isinstance(one, str)] if isinstance(value, Mapping) else [value]
    return texts[0] if len(texts) == 1 else None


def _reply(outputs: Any) -> Any:
    if isinstance(outputs, Mapping) and isinstance(generations := outputs.get("generations"), list) and generations:
        first = generations[0][0] if isinstance(generations[0], list) else generations[0]
        return [first["message"]] if isinstance(first.get("message"), Mapping) else first.get("text")
    return _one(outputs)


FORMAT = Format(
    "langsmith",
    "LangSmith runs",
    keys("run_type inputs outputs trace_id", "run_type inputs outputs dotted_order"),
    records,
    whole=True,
)
