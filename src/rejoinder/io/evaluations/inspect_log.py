"""Logs of Inspect (inspect-ai), `.eval` and `.json`: a record for each sample and epoch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rejoinder.errors import DataError
from rejoinder.example import UNANSWERED
from rejoinder.io.chat import content_of, spoken
from rejoinder.io.evaluations.archive import Archive, opened
from rejoinder.io.evaluations.said import Found, objects_in, scored, short
from rejoinder.io.lines import OnBad, name_of, open_bytes
from rejoinder.io.tables import seekable
from rejoinder.io.values import decoded, kind_of

_VERSION = 2
_HEADERS = ("header.json", "_journal/start.json")  # the second alone in the log of a run that did not end
_SAMPLES = "samples/"
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partly, incorrect, no answer
_ATTACHED = "attachment://"
_AGAIN = "Log the evaluation with its samples (--log-samples)"


def is_log(value: Any) -> bool:
    """Whether a JSON value is a log of Inspect."""
    return isinstance(value, Mapping) and {"version", "status", "eval"} <= value.keys()


def is_log_file(file: Path) -> bool:
    """Whether a zip file is such a log; one that is damaged is not told."""
    try:
        with opened(file, "") as archive:
            return not set(_HEADERS).isdisjoint(archive.names)
    except (DataError, OSError):
        return False


def log_samples(path: str | Path, on_bad: OnBad) -> Iterator[Found]:
    """The samples of a log in a zip file, one at a time.

    Args:
        path: the file.
        on_bad: is given the error of a sample, or of the file.
    """
    name = name_of(path)
    with open_bytes(path) as stream:
        try:
            with opened(seekable(stream, path), name) as archive:
                yield from _in_archive(archive, name, on_bad)
        except DataError as error:
            on_bad(error)


def in_value(log: Mapping[str, Any], where: str) -> Iterator[Found]:
    """The samples of a log that was decoded.

    Raises:
        DataError: it is of another version, or holds no sample.
    """
    about = _about(log, where)
    samples = log.get("samples")
    if not isinstance(samples, list) or not samples:
        raise DataError(f"a log of Inspect without samples (status {log.get('status')!r})", _AGAIN, where=where)
    for number, sample in enumerate(samples, start=1):
        place = f"{where}:sample {number}"
        yield place, _record(sample, about, place)


def _in_archive(archive: Archive, name: str, on_bad: OnBad) -> Iterator[Found]:
    """The samples in the members of a log."""
    header = next((one for one in _HEADERS if one in archive.names), None)
    if header is None:
        raise DataError(f"a zip file without {_HEADERS[0]}, no log of Inspect", "Give a .eval file", where=name)
    about = _about(_member(archive, header, name), name)
    samples = [one for one in archive.names if one.startswith(_SAMPLES) and one.endswith(".json")]
    if not samples:
        raise DataError("a log of Inspect without samples", _AGAIN, where=name)
    for number, member in enumerate(samples, start=1):
        place = f"{name}:sample {number}"
        try:
            found = place, _record(_member(archive, member, place), about, place)
        except DataError as error:
            on_bad(error)
        else:
            yield found


def _member(archive: Archive, name: str, where: str) -> Any:
    """The JSON value in a member."""
    try:
        return decoded(archive.read(name).decode(), where)
    except (ValueError, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError("broken JSON in this log", "Get the file again", where=where) from error


def _about(log: Any, where: str) -> dict[str, Any]:
    """What a log says of all its samples: the task and the model, as data set and system."""
    version, run = (log.get("version"), log.get("eval")) if isinstance(log, Mapping) else (None, None)
    if version != _VERSION or not isinstance(run, Mapping):
        problem = f"a log of Inspect in version {version!r}, expected {_VERSION}"
        raise DataError(problem, "Write it again with a newer Inspect (inspect log convert)", where=where)
    return {"dataset": run.get("task"), "system": run.get("model")}


def _record(sample: Any, about: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The record of one sample."""
    if not isinstance(sample, Mapping):
        raise DataError(f"the sample is {kind_of(sample)}, expected an object", "Get the file again", where=where)
    target = sample.get("target")
    targets = [one for one in (target if isinstance(target, list) else [target]) if isinstance(one, str) and one]
    record = {
        "id": sample.get("uuid"),
        **about,
        "dialogue_id": str(sample.get("id")),
        "epoch": sample.get("epoch"),
        **_conversation(sample, where),
        **({"references": targets} if targets else {}),
        **_judged(sample.get("scores")),
        "metadata": sample.get("metadata"),
    }
    return {key: value for key, value in record.items() if value not in (None, {})}


def _conversation(sample: Mapping[str, Any], where: str) -> dict[str, Any]:
    """What was said, in messages where these end with the reply that was judged, else as context and response."""
    asked = sample.get("messages") or sample.get("input")
    messages = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    messages = _attached(messages, sample.get("attachments"))
    turns = spoken(messages, where)
    reply = _reply(sample)
    if reply is not None and turns[-1:] == [("assistant", reply)]:
        return {"messages": messages}
    if reply is not None and turns and turns[-1][0] == "assistant":
        turns = turns[:-1]
    found: dict[str, Any] = {"context": [text for _, text in turns], "response": reply or ""}
    return found if reply is not None else {**found, UNANSWERED: _failure(sample)}


def _reply(sample: Mapping[str, Any]) -> str | None:
    """The reply that was judged; None where there is none."""
    output = sample.get("output")
    choices = objects_in(output.get("choices")) if isinstance(output, Mapping) else []
    message = choices[0].get("message") if choices else None
    if not isinstance(message, Mapping):
        return None
    said = content_of(_attached(message.get("content"), sample.get("attachments")))
    completion = output.get("completion") if isinstance(output, Mapping) else None
    # What a tool submitted for the model stands in the completion alone.
    return completion if isinstance(completion, str) and not said else said or ""


def _failure(sample: Mapping[str, Any]) -> str:
    """Why there is no reply."""
    error = sample.get("error")
    message = error.get("message") if isinstance(error, Mapping) else None
    return short(message) if isinstance(message, str) and message else "no output in the log"


def _attached(value: Any, attachments: Any) -> Any:
    """A value with what was attached to the sample in its place; a name without an attachment stays."""
    if isinstance(value, list):
        return [_attached(one, attachments) for one in value]
    if isinstance(value, Mapping):
        return {key: _attached(one, attachments) for key, one in value.items()}
    if isinstance(value, str) and value.startswith(_ATTACHED) and isinstance(attachments, Mapping):
        return attachments.get(value.removeprefix(_ATTACHED), value)
    return value


def _judged(scores: Any) -> dict[str, Any]:
    """The words of the judges; of a score that a person edited the first, and the person's under `edited`."""
    said, edited, reasons = dict[str, Any](), dict[str, Any](), dict[str, str]()
    for name, score in scores.items() if isinstance(scores, Mapping) else ():
        if not isinstance(score, Mapping):
            continue
        history = objects_in(score.get("history"))
        if not (history and history[0].get("provenance")):  # one that a person added is no judge's
            said[name] = _graded(history[0].get("value") if history else score.get("value"))
        if history:
            edited[name] = _graded(score.get("value"))
        if reason := score.get("explanation") or score.get("reason"):
            reasons[name] = str(reason)
    return {**scored(said, reasons), **({"edited": edited} if edited else {})}


def _graded(value: Any) -> Any:
    """A value with its grades, such as C for correct, as numbers."""
    if isinstance(value, list):
        return [_graded(one) for one in value]
    if isinstance(value, Mapping):
        return {key: _graded(one) for key, one in value.items()}
    return _GRADES.get(value, value) if isinstance(value, str) else value
