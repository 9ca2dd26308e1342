"""Lines with replies that fit and replies that do not."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import rejoinder
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example, ReplySet
from rejoinder.io import read_audited

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


def test_beside_single_replies(tmp_path: Path) -> None:
    file = tmp_path / "both.jsonl"
    file.write_text(f"{json.dumps(LINE)}\n" + json.dumps({"context": ["Hi"], "response": "Hello"}))
    first, second = read_audited(file)
    assert isinstance(first, ReplySet) and isinstance(second, Example)
    with pytest.raises(DataError, match=r"both.jsonl:2: a single reply, expected replies that fit"):
        rejoinder.reply_sets_of(file)


def test_a_reply_wins_over_a_set() -> None:
    """A line with a response of its own is that reply; what else stands there is the user's own."""
    (found,) = rejoinder.examples_of([{**LINE, "response": "To the lake."}])
    assert found.extra["random_negative_responses"] == ["I am a plumber."]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"positive_responses": []}, 'positive_responses": empty. Give at least one reply'),
        (
            {"random_negative_responses": [], "adversarial_negative_responses": []},
            'random_negative_responses": empty. Give at least one reply',
        ),
        ({"positive_responses": ["a", 3]}, "is a list that holds a number, expected a list of texts"),
        ({"random_negative_responses": {"a": 1}}, "expected a list of texts"),
        ({"context": 5}, "is a number, expected a list of texts"),
    ],
)
def test_bad_lines(change: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        rejoinder.reply_sets_of([{**LINE, **change}])


def test_what_is_no_set_is_told() -> None:
    with pytest.raises(DataError, match=r"no replies that fit and replies that do not \(found: context, response"):
        rejoinder.reply_sets_of([{"context": ["Hi"], "response": "Hello"}])
    with pytest.raises(UsageError, match="reply sets are given as int"):
        rejoinder.reply_sets_of(3)


def test_elsewhere_the_way_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "sets.jsonl"
    file.write_text(json.dumps(LINE))
    for call in (rejoinder.score, rejoinder.audit, rejoinder.study):
        with pytest.raises(DataError, match="Such lines go into rejoinder audit"):
            call(file)
