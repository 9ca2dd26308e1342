"""JSON values that hold the results of other programs to a record for each reply; all others as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rejoinder.errors import DataError
from rejoinder.io.evaluations import deepeval, inspect_log, label_studio, lm_eval, promptfoo
from rejoinder.io.evaluations.said import Found
from rejoinder.io.lines import OnBad

_DOCUMENTS: tuple[tuple[Callable[[Any], bool], Callable[[Mapping[str, Any], str], Iterator[Found]]], ...] = (
    (inspect_log.is_log, inspect_log.in_value),
    (promptfoo.is_document, promptfoo.in_document),
    (deepeval.is_run, deepeval.in_run),
)
"""By program, whether a value is a whole evaluation of it, and the records in that."""


def unfolded(found: Iterable[tuple[str, Any]], on_bad: OnBad) -> Iterator[tuple[str, Any]]:
    """The values of a file, with the records of an evaluation in place of what holds them.

    Args:
        found: (`file:place`, a decoded value) of one file.
        on_bad: is given the error of what cannot be used.
    """
    samples: list[tuple[str, Mapping[str, Any]]] = []
    for where, value in found:
        if lm_eval.is_line(value):
            samples.append((where, value))
            continue
        try:
            yield from _records(value, where)
        except DataError as error:
            on_bad(error)
    yield from lm_eval.joined(samples, on_bad)


def _records(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    """The records in a value; the value itself where it is no evaluation."""
    if promptfoo.is_row(value):
        yield where, promptfoo.record_of(value, where)
        return
    if label_studio.is_task(value):
        yield where, label_studio.record_of(value)
        return
    file = where.rpartition(":")[0]
    records = next((records for is_of, records in _DOCUMENTS if is_of(value)), None)
    yield from ((where, value),) if records is None else records(value, file)
