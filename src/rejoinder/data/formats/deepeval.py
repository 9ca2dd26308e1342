"""deepeval: test runs (`.deepeval/.latest_run_full.json` and their exports), a record for each test case.

The `context` of a test case is no turn: it and `retrievalContext` are the documents behind the reply.
Source: confident-ai/deepeval deepeval/test_run/api.py (LLMApiTestCase, ConversationalApiTestCase); files of 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.format import Format, each, keys, without_nothing
from rejoinder.data.formats.objects import list_in, objects_in, shown
from rejoinder.data.formats.results import scores_of
from rejoinder.errors import DataError

_LISTS = ("testCases", "conversationalTestCases")
_USED = {*_LISTS, "turns", "input", "actualOutput", "expectedOutput", "context", "retrievalContext", "metricsData"}
_USED |= {"name", "order", "runDuration", "success", "flaky", "id"}


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a test run, alone or inside of its export."""
    run = row.get("testRunData", row)
    return isinstance(run, Mapping) and "testCases" in run and not run.keys().isdisjoint((_LISTS[1], "metricsScores"))


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Return the test cases of a run: single replies, then conversations, which were judged as a whole."""
    run = row.get("testRunData", row)
    cases = [case for name in _LISTS for case in list_in(run.get(name))]
    if not cases:
        raise DataError("a test run of deepeval without test cases", "Run it again", where=where)
    for number, case in enumerate(cases, start=1):
        if not isinstance(case, Mapping):
            problem, place = f"the test case is {shown(case)}, expected an object", f"{where}:case {number}"
            raise DataError(problem, "Get the file again", where=place)
        yield _case(case)


def _case(case: Mapping[str, Any]) -> dict[str, Any]:
    metrics = objects_in(case.get("metricsData"))
    reasons = {str(metric.get("name")): str(metric.get("error") or metric.get("reason") or "") for metric in metrics}
    found = {
        **{key: value for key, value in case.items() if key not in _USED},
        "references": [case["expectedOutput"]] if case.get("expectedOutput") else None,
        "sources": [text for key in ("retrievalContext", "context") for text in list_in(case.get(key))],
        "test": case.get("name"),
        **scores_of({str(metric.get("name")): metric.get("score") for metric in metrics}, reasons),
    }
    if "turns" in case:
        return without_nothing(found) | {"messages": case["turns"], "level": "dialogue"}
    reply = case.get("actualOutput")
    unanswered = {"unanswered": "no output in the file"} if reply is None else {}
    context = [case["input"]] if case.get("input") is not None else []
    return without_nothing(found) | {"context": context, "response": reply or ""} | unanswered


FORMAT = Format(
    "deepeval",
    "Test runs of deepeval",
    keys("testCases conversationalTestCases", "testCases metricsScores", "testRunData"),
    each(record),
    confirm,
)
