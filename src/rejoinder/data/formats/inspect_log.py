"""Inspect: a log in JSON or in its zip (`.eval`); one record for each sample and epoch.

A score with a history was edited: the first entry is the judge's, or a person's where it has provenance.
Source: UKGovernmentBEIS/inspect_ai src/inspect_ai/log/_log.py, log/_recorders/eval.py, _util/content.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.chat import is_chat, read_content, turns
from rejoinder.data.format import Format, each, keys, without_nothing
from rejoinder.data.formats.objects import object_in, objects_in, short, shown
from rejoinder.data.formats.results import scores_of
from rejoinder.errors import DataError

_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partly correct, incorrect, no answer


def record(log: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Return the samples of a log, or the one sample that a row of a zip holds."""
    if log["version"] != 2 or not isinstance(log["eval"], Mapping):
        problem = f"a log of Inspect in version {log['version']!r}, expected 2"
        raise DataError(problem, "Write it again with a newer Inspect: inspect log convert", where=where)
    samples = [log["sample"]] if "sample" in log else log.get("samples")
    if not isinstance(samples, list) or not samples:
        problem = f"a log of Inspect without samples (status {log.get('status')!r})"
        raise DataError(problem, "Log the evaluation with its samples (--log-samples)", where=where)
    for number, sample in enumerate(samples, start=1):
        place = where if "sample" in log else f"{where}:sample {number}"
        if not isinstance(sample, Mapping):
            raise DataError(f"the sample is {shown(sample)}, expected an object", "Get the file again", where=place)
        yield _sample(sample, log["eval"], place)


def _sample(sample: Mapping[str, Any], run: Mapping[str, Any], where: str) -> dict[str, Any]:
    target = sample.get("target")
    targets = target if isinstance(target, list) else [target]
    found = {
        "id": sample.get("uuid"),
        "dataset": run.get("task"),
        "system": run.get("model"),
        "dialogue_id": str(sample.get("id")),
        "epoch": sample.get("epoch"),
        "references": [text for text in targets if isinstance(text, str) and text],
        **_scores(sample.get("scores")),
        "metadata": sample.get("metadata"),
    }
    return without_nothing(found) | _conversation(sample, where)


def _conversation(sample: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return messages where they end with the reply that was judged, else context and response."""
    attached = {f"attachment://{name}": text for name, text in object_in(sample.get("attachments")).items()}
    asked = _replaced(sample.get("messages") or sample.get("input"), attached)
    messages = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    turns_before = turns(messages, where)
    spoken = [turn for turn in turns_before if turn.text is not None and turn.role != "tool"]
    reply = _reply(sample, attached)
    if reply is not None and spoken and spoken[-1].role == "assistant":
        if spoken[-1].text == reply and turns_before[-1] is spoken[-1] and is_chat(messages):
            return {"messages": messages}
        spoken = spoken[:-1]
    sources = [text for turn in turns_before for text in turn.sources]
    failure = object_in(sample.get("error")).get("message")
    unanswered = short(failure or "no output in the log") if reply is None else None
    texts = {"context": [turn.text for turn in spoken], "response": reply or ""}
    return texts | without_nothing({"sources": sources, "unanswered": unanswered})


def _reply(sample: Mapping[str, Any], attached: Mapping[str, Any]) -> str | None:
    """Return the reply that was judged; `completion` alone holds what a tool submitted."""
    output = object_in(sample.get("output"))
    message = next((choice.get("message") for choice in objects_in(output.get("choices"))), None)
    if not isinstance(message, Mapping):
        return None
    text = read_content(_replaced(message.get("content"), attached))[0]
    completion = output.get("completion")
    return text or (completion if isinstance(completion, str) else "")


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
    for name, score in object_in(scores).items():
        history = objects_in(object_in(score).get("history"))
        if not isinstance(score, Mapping):
            continue
        if not (history and history[0].get("provenance")):
            values[name] = _replaced((history or [score])[0].get("value"), _GRADES)
        if history:
            edited[name] = _replaced(score.get("value"), _GRADES)
        if reason := score.get("explanation") or score.get("reason"):
            reasons[name] = str(reason)
    return {**scores_of(values, reasons), **({"edited": edited} if edited else {})}


FORMAT = Format(
    "inspect", "Logs of Inspect (.eval, .json)", keys("version status eval", "version eval sample"), each(record)
)
