"""deepeval: test runs (`.deepeval/.latest_run_full.json` and their exports), a record for each test case.

The `context` of a test case is no turn: it and `retrievalContext` are the documents behind the reply. Single replies
come first, then conversations, which were judged as a whole.
Source: confident-ai/deepeval deepeval/test_run/api.py (LLMApiTestCase, ConversationalApiTestCase); files of 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.format import Format, each, keys, without_nothing
from rejoinder.data.formats.results import scores_of
from rejoinder.errors import DataError

_LISTS = ("testCases", "conversationalTestCases")
_USED = {*_LISTS, "turns", "input", "actualOutput", "expectedOutput", "context", "retrievalContext", "metricsData"}
_USED |= {"name", "order", "runDuration", "success", "flaky", "id"}


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a test run, alone or inside of its export."""
    run = row.get("testRunData", row)
    return isinstance(run, Mapping) and "testCases" in run and not run.keys().isdisjoint((_LISTS[1], "metricsScores"))


def cases(row: Mapping[str, Any], where: str) -> list[Mapping[str, Any]]:
    """Return the test cases of a run."""
    run = row.get("testRunData", row)
    if not (held := [case for name in _LISTS for case in run.get(name) or ()]):
        raise DataError("a test run of deepeval without test cases", "Run it again", where=where)
    return held


def record(case: Mapping[str, Any], _: str) -> Iterator[dict[str, Any]]:
    """Yield a test case with its scores."""
    metrics = case.get("metricsData") or []
    reasons = {str(part.get("name")): str(part.get("error") or part.get("reason") or "") for part in metrics}
    found = {
        **{key: value for key, value in case.items() if key not in _USED},
        "references": [case["expectedOutput"]] if case.get("expectedOutput") else None,
        "sources": [text for key in ("retrievalContext", "context") for text in case.get(key) or ()],
        "test": case.get("name"),
        **scores_of({str(metric.get("name")): metric.get("score") for metric in metrics}, reasons),
    }
    if "turns" in case:
        yield without_nothing(found) | {"messages": case["turns"], "level": "dialogue"}
        return
    if (reply := case.get("actualOutput")) is None:
        found["unanswered"] = "no output in the file"
    context = [case["input"]] if case.get("input") is not None else []
    yield without_nothing(found) | {"context": context, "response": reply or ""}


FORMAT = Format(
    "deepeval",
    "Test runs of deepeval",
    keys("testCases conversationalTestCases", "testCases metricsScores", "testRunData"),
    each(record, cases),
    confirm,
)
