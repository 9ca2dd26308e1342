"""lm-evaluation-harness: `samples_*.jsonl` of --log_samples. The lines of all filters of a document are one record.

`resps` holds every reply of the model to a document; the filters only pick or cut them, so the first is the reply.
Source: EleutherAI/lm-evaluation-harness lm_eval/evaluator.py, lm_eval/loggers/evaluation_tracker.py, which writes every
target as `str(target)`, a list in Python's form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rejoinder.data.files import OnError, Row
from rejoinder.data.format import Format, keys, without_nothing
from rejoinder.data.formats.objects import list_in, object_in
from rejoinder.data.formats.results import prompt_turns, scores_of
from rejoinder.data.values import from_cell
from rejoinder.errors import DataError


def records(rows: Iterable[Row], on_error: OnError) -> Iterator[Row]:
    """Yield a record for each document; the scores behind several filters are several scores of it."""
    documents: dict[Any, Row] = {}
    for row in rows:
        try:
            record = _record(row.data, row.where)
        except DataError as error:
            on_error(error)
            continue
        key = (str(row.data["doc_id"]), tuple(record["context"]), record["response"])
        first = documents.setdefault(key, Row(row.where, record)).data
        for name in ("scores", "unscored"):
            if name in record:
                first[name] = {**first.get(name, {}), **record[name]}
    yield from documents.values()


def _record(line: Mapping[str, Any], where: str) -> dict[str, Any]:
    requests = line["resps"] if isinstance(line["resps"], list) else [line["resps"]]
    replies = [reply for request in requests for reply in (request if isinstance(request, list) else [request])]
    if not replies or not isinstance(replies[0], str):
        remedy = "Give the samples of a task that generates text (output_type: generate_until)"
        raise DataError("no reply in text: the task compares likelihoods", remedy, where=where, field="resps")
    found = {
        "references": _targets(line.get("target"), where),
        **scores_of(_metrics(line)),
        **{key: line[key] for key in ("doc_id", "doc", "resps", "filtered_resps")},
    }
    return without_nothing(found) | {"context": prompt_turns(_prompt(line["arguments"]), where), "response": replies[0]}


def _prompt(arguments: Any) -> Any:
    """Return the first argument of the first request."""
    if isinstance(arguments, Mapping):
        arguments = list(arguments.values())
    call = arguments[0] if isinstance(arguments, list) and arguments else None
    return object_in(call).get("arg_0") if not isinstance(call, list) else next(iter(call), None)


def _targets(target: Any, where: str) -> list[str]:
    """Return the accepted answers; a list of them is written as Python's text of it."""
    listed = from_cell(target, where, "target")
    target = listed if isinstance(listed, list) else target
    groups = target if isinstance(target, list) else [target]
    answers = [answer for group in groups for answer in list_in(group) or [group]]
    return [str(answer) for answer in answers if answer not in (None, "", [])]


def _metrics(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the metrics, with the filter behind the name as the harness writes it."""
    behind = line.get("filter", "none")
    mark = "" if behind == "none" else f",{behind}"
    names = line.get("metrics")
    return {f"{name}{mark}": line.get(name) for name in (names if isinstance(names, list) else []) if str(name) == name}


FORMAT = Format(
    "lm-eval",
    "Samples of lm-evaluation-harness",
    keys("doc_id doc arguments resps filtered_resps"),
    records,
    whole=True,
)
