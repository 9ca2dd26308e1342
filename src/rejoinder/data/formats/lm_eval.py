"""lm-evaluation-harness: `samples_*.jsonl` of --log_samples. The lines of all filters of a document are one record.

`resps` holds every reply of the model to a document; the filters only pick or cut them, so the first is the reply.
Source: EleutherAI/lm-evaluation-harness lm_eval/evaluator.py, lm_eval/loggers/evaluation_tracker.py, which writes every
target as `str(target)`, a list in Python's form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rejoinder.data.files import OnError, Row
from rejoinder.data.format import Format, attempt, keys, without_nothing
from rejoinder.data.formats.results import prompt_turns, scores_of
from rejoinder.data.values import from_cell
from rejoinder.errors import DataError


def records(rows: Iterable[Row], on_error: OnError) -> Iterator[Row]:
    """Yield a record for each document; the scores behind several filters are several scores of it."""
    documents: dict[Any, Row] = {}
    for row in rows:
        for record in attempt(_record, row, on_error):
            key = (str(record["doc_id"]), tuple(record["context"]), record["response"])
            first = documents.setdefault(key, Row(row.where, record)).data
            for name in ("scores", "unscored"):
                if name in record:
                    first[name] = {**first.get(name, {}), **record[name]}
    yield from documents.values()


def _record(line: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    replies = [reply for request in _listed(line["resps"]) for reply in _listed(request)]
    if not replies or not isinstance(replies[0], str):
        remedy = "Give the samples of a task that generates text (output_type: generate_until)"
        raise DataError("no reply in text: the task compares likelihoods", remedy, where=where, field="resps")
    mark = "" if line.get("filter", "none") == "none" else f",{line['filter']}"  # as the harness writes it
    found = {
        "references": _targets(line.get("target"), where),
        **scores_of({f"{name}{mark}": line.get(name) for name in line.get("metrics") or ()}),
        **{key: line[key] for key in ("doc", "resps", "filtered_resps")},
    }
    calls = from_cell(line["arguments"], where, "arguments")
    call = (list(calls.values()) if isinstance(calls, Mapping) else calls)[0]
    prompt = call["arg_0"] if isinstance(call, Mapping) else call[0]
    context = prompt_turns(prompt, where)
    yield {"doc_id": line["doc_id"], **without_nothing(found), "context": context, "response": replies[0]}


def _targets(target: Any, where: str) -> list[str]:
    """Return the accepted answers; a list of them is written as Python's text of it."""
    listed = from_cell(target, where, "target")
    groups = _listed(listed if isinstance(listed, list) else target)
    return [str(answer) for group in groups for answer in _listed(group) if answer not in (None, "")]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


FORMAT = Format(
    "lm-eval",
    "Samples of lm-evaluation-harness",
    keys("doc_id doc arguments resps filtered_resps"),
    records,
    whole=True,
)
