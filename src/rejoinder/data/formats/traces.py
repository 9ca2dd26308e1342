"""Traces of any tool: spans in common terms, put together to conversations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Literal, NamedTuple

from rejoinder.data.chat import exchange
from rejoinder.data.content import source_texts
from rejoinder.data.files import OnError, Row
from rejoinder.data.format import Records, attempt, items, without_nothing


class Span(NamedTuple):
    """A step of a trace.

    Attributes:
        trace: the name of the trace.
        kind: `outer` (the whole trace), `call` (of a model) or `retrieved` (what a retriever or a tool gave back).
        start: when it began, as a text that sorts.
        asked: what came in.
        said: what went out.
        kept: the other keys of the record.
    """

    trace: str
    kind: Literal["outer", "call", "retrieved"]
    start: str
    asked: Any
    said: Any
    kept: Mapping[str, Any]


def traces(spans: Callable[[Mapping[str, Any], str], Iterable[Span]]) -> Records:
    """Return `records` of a format whose rows are, or hold, spans.

    Records are the outermost spans of a trace, else its calls. What was retrieved is their sources, of a call only what
    began before it.
    """

    def records(rows: Iterable[Row], on_error: OnError) -> Iterator[Row]:
        known: dict[str, list[tuple[Row, Span]]] = {}
        for row in chain.from_iterable(map(items, rows)):
            for span in attempt(spans, row, on_error):
                known.setdefault(span.trace, []).append((row, span))
        for trace in known.values():
            retrieved = sorted((span.start, source_texts(span.said)) for _, span in trace if span.kind == "retrieved")
            outer = [(row, span) for row, span in trace if span.kind == "outer"]
            for row, span in outer or [(row, span) for row, span in trace if span.kind == "call"]:
                before = [texts for start, texts in retrieved if outer or start <= span.start]
                kept = {"sources": list(chain.from_iterable(before)), **span.kept}
                made = attempt(lambda _, where: [conversation(span.asked, span.said, kept, where)], row, on_error)  # noqa: B023
                yield from (Row(row.where, data, row.flat) for data in made)

    return records


def conversation(asked: Any, said: Any, kept: Mapping[str, Any], where: str) -> dict[str, Any] | None:
    """Return the record of what came in and what went out; None if it only calls tools."""
    if (found := exchange(asked, said, where)) is None:
        return None
    gone = "output" if "messages" in found else ""  # another name for the response, which the messages hold
    return {**without_nothing({key: value for key, value in kept.items() if key != gone}), **found}
