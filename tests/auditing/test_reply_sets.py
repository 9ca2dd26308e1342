"""Lines with replies that fit and replies that do not."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import rejoinder
from rejoinder.auditing.reply_sets import read_audited
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example, ReplySet

LINE: dict[str, Any] = {
    "id": 3,
    "context": ["Shall we go?", "Where to?"],
    "positive_responses": ["To the lake.", "Home."],
    "random_negative_responses": ["I am a plumber."],
    "adversarial_negative_responses": ["She shall not go to school."],
}


def test_from_a_file_and_from_python(tmp_path: Path) -> None:
    file = tmp_path / "sets.jsonl.gz"
    file.write_bytes(gzip.compress(json.dumps(LINE).encode()))
    (found,) = rejoinder.reply_sets_of(file)
    assert found == ReplySet(
        ("Shall we go?", "Where to?"),
        ("To the lake.", "Home."),
        ("I am a plumber.",),
        ("She shall not go to school.",),
        "3",
    )
    assert found.where == f"{file}:1"
    assert rejoinder.reply_sets_of([LINE]) == [found] == rejoinder.reply_sets_of([found])


def test_other_names_of_the_context_are_understood() -> None:
    other = {("prompt" if key == "context" else key): value for key, value in LINE.items()}
    (found,) = rejoinder.reply_sets_of([other])
    assert found.context == ("Shall we go?", "Where to?")


def test_next_to_single_replies(tmp_path: Path) -> None:
    file = tmp_path / "both.jsonl"
    file.write_text(f"{json.dumps(LINE)}\n" + json.dumps({"context": ["Hi"], "response": "Hello"}))
    single, both = read_audited(file)
    assert isinstance(single, Example) and isinstance(both, ReplySet)
    with pytest.raises(DataError) as caught:
        rejoinder.reply_sets_of(file)
    assert caught.value.where == f"{file}:2"


def test_a_line_with_a_response_is_that_reply() -> None:
    (found,) = rejoinder.examples_of([{**LINE, "response": "To the lake."}])
    assert found.extra["random_negative_responses"] == ["I am a plumber."]


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("positive_responses", {"positive_responses": []}),
        ("random_negative_responses", {"random_negative_responses": [], "adversarial_negative_responses": []}),
        ("positive_responses", {"positive_responses": ["a", 3]}),
        ("random_negative_responses", {"random_negative_responses": {"a": 1}}),
        ("context", {"context": 5}),
    ],
)
def test_bad_lines_are_refused(field: str, change: dict[str, Any]) -> None:
    with pytest.raises(DataError) as caught:
        rejoinder.reply_sets_of([{**LINE, **change}])
    assert (caught.value.where, caught.value.field) == ("reply sets:item 1", field)


def test_other_things_are_refused() -> None:
    with pytest.raises(DataError):
        rejoinder.reply_sets_of([{"context": ["Hi"], "response": "Hello"}])
    with pytest.raises(UsageError):
        rejoinder.reply_sets_of(3)


def test_other_calls_refuse_them(tmp_path: Path) -> None:
    file = tmp_path / "sets.jsonl"
    file.write_text(json.dumps(LINE))
    for call in (rejoinder.score, rejoinder.audit, rejoinder.study):
        with pytest.raises(DataError) as caught:
            call(file)
        assert caught.value.where == f"{file}:1"
