"""Inspect: logs in JSON and in its zip (`.eval`), a record for each sample and epoch.

Source: UKGovernmentBEIS/inspect_ai src/inspect_ai/log/_log.py (EvalLog: version, status, eval, samples; EvalSample:
id, epoch, input, target, messages, output, scores), _recorders/eval.py (header.json, _journal/start.json, samples/).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.chat import read_content, turns
from rejoinder.data.format import Format, each, keys, without_nothing
from rejoinder.errors import DataError

_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}


def record(log: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    if log["version"] != 2:
        raise DataError(
            f"a log of Inspect in version {log['version']!r}, expected 2",
            "Write it again: inspect log convert",
            where=where,
        )
    samples = [log["sample"]] if "sample" in log else log.get("samples") or []
    if not samples:
        raise DataError(
            "a log of Inspect without samples", "Log the evaluation with its samples (--log-samples)", where=where
        )
    for sample in samples:
        yield _sample(sample, log["eval"], where)


def _sample(sample: Mapping[str, Any], run: Mapping[str, Any], where: str) -> dict[str, Any]:
    attached = sample.get("attachments") or {}
    asked = _attached(sample.get("messages") or sample.get("input"), attached)
    said = turns([{"role": "user", "content": asked}] if isinstance(asked, str) else asked, where)
    reply = _reply(sample, attached)
    before = [turn.text for turn in said if turn.text is not None]
    if said and said[-1].role == "assistant" and reply is not None:
        before = before[:-1]
    target = sample.get("target")
    found = {
        "id": sample.get("uuid"),
        "dataset": run["task"],
        "system": run["model"],
        "dialogue_id": str(sample.get("id")),
        "epoch": sample.get("epoch"),
        "references": [
            one for one in (target if isinstance(target, list) else [target]) if isinstance(one, str) and one
        ],
        "sources": [text for turn in said for text in turn.sources],
        "scores": {
            name: _GRADES.get(one.get("value"), one.get("value"))
            if not isinstance(one.get("value"), (list, dict))
            else one.get("value")
            for name, one in (sample.get("scores") or {}).items()
        },
        "metadata": sample.get("metadata"),
        "unanswered": None
        if reply is not None
        else str((sample.get("error") or {}).get("message") or "no output in the log")[:120],
    }
    return without_nothing(found) | {"context": before, "response": reply or ""}


def _reply(sample: Mapping[str, Any], attached: Mapping[str, str]) -> str | None:
    output = sample.get("output") or {}
    choices = output.get("choices") or []
    if not choices or not isinstance(choices[0].get("message"), Mapping):
        return None
    text, _, _ = read_content(_attached(choices[0]["message"].get("content"), attached))
    return text or output.get("completion") or ""


def _attached(value: Any, attached: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_attached(one, attached) for one in value]
    if isinstance(value, Mapping):
        return {key: _attached(one, attached) for key, one in value.items()}
    return (
        attached.get(value.removeprefix("attachment://"), value)
        if isinstance(value, str) and value.startswith("attachment://")
        else value
    )


FORMAT = Format(
    "inspect", "Inspect logs (.json, .eval)", keys("version status eval", "version eval sample"), each(record)
)
