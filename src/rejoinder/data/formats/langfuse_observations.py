"""Langfuse observations: pages of its API, and exported rows, which version 4 writes for traces too.

Shape: langfuse/langfuse `worker/src/features/database-read-stream/{event,observation}-stream.ts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.format import Format, keys
from rejoinder.data.formats.langfuse import RETRIEVED, sides_and_rest
from rejoinder.data.formats.traces import Span, traces


def spans(row: Mapping[str, Any], where: str) -> Iterator[Span]:
    """Yield the span that an observation is, unless it is neither outermost, nor a call, nor retrieves."""
    kind = row.get("type")
    outer = not row.get("parentObservationId") and row.get("output")
    asked, said, rest = sides_and_rest(row, where)
    kept = {"system": row.get("providedModelName") or row.get("model"), **rest}
    if kind in RETRIEVED:
        yield Span(str(row["traceId"]), "retrieved", str(row.get("startTime")), None, said, {})
    if outer or kind == "GENERATION":
        yield Span(str(row["traceId"]), "outer" if outer else "call", str(row.get("startTime")), asked, said, kept)


FORMAT = Format(
    "langfuse-observations",
    "Langfuse observations: API pages, exported rows",
    keys("id traceId type startTime input output parentObservationId"),
    traces(spans),
    whole=True,
)
