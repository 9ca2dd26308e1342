"""Inspect: a log in JSON or in its zip (`.eval`); one record for each sample and epoch.

A score with a history was edited: the first entry is the judge's, or a person's where it has provenance.
Source: UKGovernmentBEIS/inspect_ai src/inspect_ai/log/_log.py, log/_recorders/eval.py, _util/content.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.chat import is_chat, read_content, turns
from rejoinder.data.content import mapping, mappings
from rejoinder.data.format import Format, each, keys, without_nothing
from rejoinder.data.formats.results import scores_of, short
from rejoinder.errors import DataError

_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partly correct, incorrect, no answer


def samples(log: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Yield each sample of a log, with the facts of the run, as a row of a zip has them."""
    if log["version"] != 2:
        problem = f"a log of Inspect in version {log['version']!r}, expected 2"
        raise DataError(problem, "Write it again with a newer Inspect: inspect log convert", where=where)
    held = [log["sample"]] if "sample" in log else log.get("samples")
    if not held:
        problem = f"a log of Inspect without samples (status {log.get('status')!r})"
        raise DataError(problem, "Log the evaluation with its samples (--log-samples)", where=where)
    yield from ({"eval": log["eval"], "sample": sample} for sample in held)


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Yield the conversation of a sample with its scores."""
    run, sample = row["eval"], row["sample"]
    target = sample.get("target")
    found = {
        "id": sample.get("uuid"),
        "dataset": run.get("task"),
        "system": run.get("model"),
        "dialogue_id": str(sample.get("id")),
        "epoch": sample.get("epoch"),
        "references": [text for text in (target if isinstance(target, list) else [target]) if text],
        **_scores(sample.get("scores")),
        "metadata": sample.get("metadata"),
    }
    yield without_nothing(found) | _conversation(sample, where)


def _conversation(sample: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return messages where they end with the reply that was judged, else context and response."""
    attached = {f"attachment://{name}": text for name, text in mapping(sample.get("attachments")).items()}
    asked = _replaced(sample.get("messages") or sample.get("input"), attached)
    messages = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    said = turns(messages, where)
    spoken = [turn for turn in said if turn.text is not None]
    reply = _reply(sample, attached)
    if reply is not None and spoken and spoken[-1].role == "assistant":
        if spoken[-1].text == reply and said[-1] is spoken[-1] and is_chat(messages):
            return {"messages": messages}
        spoken = spoken[:-1]
    texts = {"context": [turn.text for turn in spoken], "response": reply or ""}
    failure = mapping(sample.get("error")).get("message") or "no output in the log"
    unanswered = short(failure) if reply is None else None
    return texts | without_nothing(
        {"sources": [text for turn in said for text in turn.sources], "unanswered": unanswered}
    )


def _reply(sample: Mapping[str, Any], attached: Mapping[str, Any]) -> str | None:
    """Return the reply that was judged; `completion` alone holds what a tool submitted."""
    output = mapping(sample.get("output"))
    if not (choices := mappings(output.get("choices"))):
        return output.get("completion") or None
    return read_content(_replaced(choices[0]["message"]["content"], attached)).text or output.get("completion") or ""


def _replaced(value: Any, texts: Mapping[str, Any]) -> Any:
    """Return a value with other values in place of these texts, at any depth."""
    if isinstance(value, list):
        return [_replaced(item, texts) for item in value]
    if isinstance(value, Mapping):
        return {key: _replaced(item, texts) for key, item in value.items()}
    return texts.get(value, value) if isinstance(value, str) else value


def _scores(scores: Any) -> dict[str, Any]:
    """Return `scores` and `unscored` of the judges, and under `edited` the values that a person gave."""
    values, edited, reasons = dict[str, Any](), dict[str, Any](), dict[str, str]()
    for name, score in mapping(scores).items():
        history = mappings(score.get("history"))
        if not (history and history[0].get("provenance")):
            values[name] = _replaced((history or [score])[0].get("value"), _GRADES)
        if history:
            edited[name] = _replaced(score.get("value"), _GRADES)
        reasons[name] = str(score.get("explanation") or score.get("reason") or "")
    return {**scores_of(values, reasons), **without_nothing({"edited": edited})}


FORMAT = Format(
    "inspect",
    "Logs of Inspect (.eval, .json)",
    keys("version status eval", "version eval sample"),
    each(record, samples),
)
