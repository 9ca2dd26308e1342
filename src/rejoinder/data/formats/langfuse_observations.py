"""Langfuse observations: pages of its API, and exported rows, which version 4 writes for traces too.

Shape: langfuse/langfuse `worker/src/features/database-read-stream/{event,observation}-stream.ts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rejoinder.data.chat import is_call, messages_in
from rejoinder.data.content import source_texts
from rejoinder.data.files import OnError, Row
from rejoinder.data.format import Format, keys, without_nothing
from rejoinder.data.formats.langfuse import RETRIEVED, page, said
from rejoinder.data.values import from_cell
from rejoinder.errors import DataError


def records(rows: Iterable[Row], on_error: OnError) -> Iterator[Row]:
    """Yield the conversation of each trace by its outermost observation, else of each model call.

    Results of retrievers and tools that began before are its sources.
    """
    traces: dict[Any, list[Row]] = {}
    for row in rows:
        for item in page(row.data, "parentObservationId") or [row.data]:
            traces.setdefault(str(item.get("traceId")), []).append(Row(row.where, item, row.flat))
    for observed in traces.values():
        outer = [row for row in observed if not row.data.get("parentObservationId") and row.data.get("output")]
        retrieved = [row for row in observed if row.data.get("type") in RETRIEVED]
        for row in outer or [row for row in observed if row.data.get("type") == "GENERATION"]:
            before = retrieved if outer else [part for part in retrieved if _start(part) <= _start(row)]
            try:
                answer = messages_in(from_cell(row.data.get("output"), row.where, "output"), row.where)
                if answer and is_call(answer, row.where):
                    continue
                outputs = (from_cell(part.data.get("output"), part.where, "output") for part in before)
                found = {
                    "sources": [text for output in outputs for text in source_texts(output)],
                    "system": row.data.get("providedModelName") or row.data.get("model"),
                    **said(row.data, row.where),
                }
            except DataError as error:
                on_error(error)
                continue
            yield Row(row.where, without_nothing(found), row.flat)


def _start(row: Row) -> str:
    """Return when an observation began."""
    return str(row.data.get("startTime"))


FORMAT = Format(
    "langfuse-observations",
    "Langfuse observations: API pages, exported rows",
    keys("id traceId type startTime input output parentObservationId", "data meta"),
    records,
    lambda row: "traceId" in row or bool(page(row, "parentObservationId")),
    whole=True,
)
