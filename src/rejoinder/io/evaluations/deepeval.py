"""Test runs of deepeval (`.deepeval/.latest_run_full.json` and its exports): a record for each test case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.errors import DataError
from rejoinder.example import DIALOGUE, LEVEL, UNANSWERED
from rejoinder.io.evaluations.said import Found, objects_in, scored
from rejoinder.io.values import kind_of

_WRAPPED = "testRunData"
_SINGLE, _TALKS = "testCases", "conversationalTestCases"


def is_run(value: Any) -> bool:
    """Whether a JSON value is a test run."""
    run = value.get(_WRAPPED, value) if isinstance(value, Mapping) else None
    return isinstance(run, Mapping) and _SINGLE in run and not {_TALKS, "metricsScores"}.isdisjoint(run)


def in_run(value: Mapping[str, Any], where: str) -> Iterator[Found]:
    """The test cases of a run: single replies, then conversations, which were judged as a whole.

    Raises:
        DataError: it holds no case, or one that cannot be used.
    """
    run = value.get(_WRAPPED, value)
    lists = [found for key in (_SINGLE, _TALKS) if isinstance(found := run.get(key), list)]
    cases = [case for found in lists for case in found]
    if not cases:
        raise DataError("a test run of deepeval without test cases", "Run it again", where=where)
    for number, case in enumerate(cases, start=1):
        place = f"{where}:case {number}"
        if not isinstance(case, Mapping):
            raise DataError(f"the test case is {kind_of(case)}, expected an object", "Get the file again", where=place)
        yield place, _record(case)


def _record(case: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a test case; its `context` is no turn but what the reply had to rest on."""
    expected = case.get("expectedOutput")
    record = {
        **(_conversation(case) if "turns" in case else _single(case)),
        "references": [expected] if expected else None,
        "test": case.get("name"),
        **_judged(case.get("metricsData")),
        "documents": case.get("context"),
        "retrieved": case.get("retrievalContext"),
        "metadata": case.get("metadata"),
    }
    return {key: value for key, value in record.items() if value not in (None, {})}


def _single(case: Mapping[str, Any]) -> dict[str, Any]:
    """What was said in a case of one reply."""
    reply = case.get("actualOutput")
    said = {"context": [case.get("input")], "response": reply}
    return said if reply is not None else {**said, "response": "", UNANSWERED: "no output in the file"}


def _conversation(case: Mapping[str, Any]) -> dict[str, Any]:
    """What was said in a conversation."""
    return {"messages": case["turns"], LEVEL: DIALOGUE}


def _judged(metrics: Any) -> dict[str, Any]:
    """What the metrics said."""
    known = objects_in(metrics)
    reasons = {str(one.get("name")): str(one.get("error") or one.get("reason") or "no score") for one in known}
    return scored({str(one.get("name")): one.get("score") for one in known}, reasons)
