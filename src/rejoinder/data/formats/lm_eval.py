"""lm-evaluation-harness: `samples_*.jsonl` of --log_samples; a line for each filter becomes a line for each document.

Source: EleutherAI/lm-evaluation-harness lm_eval/evaluator.py (doc_id, doc, target, arguments, resps, filtered_resps,
filter), lm_eval/loggers/evaluation_tracker.py (every target is written as `str(target)`, a list in Python's form).
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rejoinder.data.chat import is_chat, turns
from rejoinder.data.files import OnError, Row
from rejoinder.data.format import Format, keys, without_nothing
from rejoinder.data.values import from_cell
from rejoinder.errors import DataError


def records(rows: Iterable[Row], on_error: OnError) -> Iterator[Row]:
    found: dict[str, Row] = {}
    for row in rows:
        try:
            first = found.setdefault(str(row.data["doc_id"]), Row(row.where, _record(row.data, row.where)))
        except DataError as error:
            on_error(error)
            continue
        first.data.setdefault("scores", {}).update(_scores(row.data))
    yield from found.values()


def _record(line: Mapping[str, Any], where: str) -> dict[str, Any]:
    said = [one for part in line["resps"] for one in (part if isinstance(part, list) else [part])]
    if not said or not isinstance(said[0], str):
        raise DataError(
            "no reply in text: the task compares likelihoods",
            "Give samples of a task that generates text (generate_until)",
            where=where,
            field="resps",
        )
    call = (
        next(iter(line["arguments"].values()), {}) if isinstance(line["arguments"], Mapping) else line["arguments"][0]
    )
    prompt = call.get("arg_0") if isinstance(call, Mapping) else call[0]
    chat = from_cell(prompt, where, "arguments")
    context = [turn.text for turn in turns(chat, where) if turn.text is not None] if is_chat(chat) else [prompt]
    return without_nothing(
        {"id": str(line["doc_id"]), "references": _targets(line.get("target")), "doc": line["doc"]}
    ) | {"context": context, "response": said[0]}


def _targets(target: Any) -> list[str]:
    """The answers; a list of them is written as Python's text of it."""
    if isinstance(target, str) and target[:1] == "[":
        try:
            value = ast.literal_eval(target)
            if isinstance(value, list) and str(value) == target:
                return [str(one) for one in value]
        except (ValueError, SyntaxError):
            pass
    return [str(one) for one in (target if isinstance(target, list) else [target]) if one not in (None, "")]


def _scores(line: Mapping[str, Any]) -> dict[str, Any]:
    mark = "" if line.get("filter", "none") == "none" else f",{line['filter']}"
    return {f"{name}{mark}": line.get(name) for name in line.get("metrics", ())}


FORMAT = Format(
    "lm-eval",
    "Samples of lm-evaluation-harness",
    keys("doc_id doc arguments resps filtered_resps"),
    records,
    whole=True,
)
