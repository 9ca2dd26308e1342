"""Samples of lm-eval (`samples_*.jsonl` of --log_samples): a record for each document, however many filters it had."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rejoinder.errors import DataError
from rejoinder.io.evaluations.said import Found, asked, scored
from rejoinder.io.lines import OnBad

_OF_A_LINE = frozenset(("doc_id", "doc", "arguments", "resps", "filtered_resps"))
_PLAIN = "none"  # the filter that leaves a reply as it is


def is_line(value: Any) -> bool:
    """Whether a JSON value is a line of samples."""
    return isinstance(value, Mapping) and value.keys() >= _OF_A_LINE


def joined(lines: Iterable[tuple[str, Mapping[str, Any]]], on_bad: OnBad) -> Iterator[Found]:
    """A record for each document; what was scored behind several filters are several scores of it.

    Args:
        lines: the lines of one file; there is one for each filter.
        on_bad: is given the error of a line.
    """
    found: dict[tuple[Any, str], Found] = {}
    for where, line in lines:
        try:
            record = _record(line, where)
        except DataError as error:
            on_bad(error)
            continue
        _, first = found.setdefault((str(line["doc_id"]), record["response"]), (where, record))
        for key in ("scores", "unscored"):
            if key in record:
                first[key] = {**first.get(key, {}), **record[key]}
    yield from found.values()


def _record(line: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The record of one line."""
    target = line.get("target")
    record = {
        "context": asked(_prompt(line["arguments"]), where),
        "response": _reply(line, where),
        "references": [target] if isinstance(target, str) and target else None,
        **scored(_judged(line)),
        "doc": line["doc"],
    }
    return {key: value for key, value in record.items() if value not in (None, {})}


def _prompt(arguments: Any) -> Any:
    """What the model was asked, the first of the arguments of the first call."""
    call = next(iter(arguments.values()), None) if isinstance(arguments, Mapping) else None
    if call is None and isinstance(arguments, list) and arguments:
        call = arguments[0]
    if isinstance(call, Mapping):
        return call.get("arg_0")
    return call[0] if isinstance(call, list) and call else None


def _reply(line: Mapping[str, Any], where: str) -> str:
    """The text that the model replied; of several what the filter chose."""
    said = [one for part in _listed(line["resps"]) for one in _listed(part)]
    chosen = said if len(said) == 1 else _listed(line["filtered_resps"])
    if not chosen or not isinstance(chosen[0], str):
        remedy = "Give the samples of a task that generates text (output_type: generate_until)"
        raise DataError("no reply in text: the task compares likelihoods", remedy, where=where, field="resps")
    return chosen[0]


def _listed(value: Any) -> list[Any]:
    """The list that a value is, or the value alone in one."""
    return value if isinstance(value, list) else [value]


def _judged(line: Mapping[str, Any]) -> dict[str, Any]:
    """The metrics of a line, with the filter behind their names as lm-eval writes it: `exact_match,strict`."""
    behind = line.get("filter", _PLAIN)
    mark = "" if behind == _PLAIN else f",{behind}"
    return {f"{name}{mark}": line.get(name) for name in _listed(line.get("metrics", [])) if isinstance(name, str)}
