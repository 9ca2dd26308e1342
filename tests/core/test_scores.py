"""Scorers as users write them, the key of distinct inputs, and comparisons of contexts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

import rejoinder
from rejoinder.errors import UsageError
from rejoinder.example import Example, Pair
from rejoinder.registry import Entry, Registry
from rejoinder.scorer import Card, Need, Scores, run


@rejoinder.metric("question-marks", range=(0, None), source="this test", needs=["context"])
def question_marks(example: Example) -> float | str:
    """The number of question marks.

    Of the response alone.
    """
    return example.response.count("?") if example.response else "the response is empty"


def test_a_function_is_a_metric() -> None:
    lines = [Example(("hi",), "why? why?"), Example(("hi",), ""), Example((), "why?"), Example(("hi",), "no")]
    scores = rejoinder.score(lines, question_marks)
    np.testing.assert_array_equal(scores.values, [2, np.nan, np.nan, 0])
    assert scores.reasons == {1: "the response is empty", 2: "no context"}
    assert question_marks.card.summary == "The number of question marks."
    assert str(scores.signature).startswith("scorer:question-marks|version:1|rejoinder:")
    assert question_marks(lines[0]) == 2


def test_a_metric_is_named_by_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(__file__).rpartition("/")[0])
    scores = rejoinder.score([Example(("hi",), "why?")], "python:test_scores:question_marks")
    assert scores.values.tolist() == [1] and scores.signature.fields["scorer"] == "question-marks"


def test_fields_of_the_card_are_arguments() -> None:
    @rejoinder.metric("shortness", range=(None, 0), source="", higher_is_better=None, kind="baseline", version=3)
    def shortness(example: Example) -> int:
        return -len(example.response)

    card = shortness.card
    assert (card.version, card.kind, card.higher_is_better, card.summary) == (3, "baseline", None, "shortness")


class Sources:
    """A scorer that reads sources."""

    options: ClassVar[dict[str, Any]] = {}

    def __init__(self, *needs: Need) -> None:
        self.card = Card("sources", "", "metric", frozenset(needs), (0, None), "")
        self.calls: list[int] = []

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        self.calls.append(len(examples))
        return Scores.from_values([float(len(example.sources)) for example in examples])


def test_equal_texts_with_other_sources_have_their_own_scores() -> None:
    sources = [("a",), (), ("a", "b"), ("a",)]
    lines = [Example(("hi",), "yes", sources=given) for given in sources]
    scorer = Sources()
    assert run(scorer, lines).values.tolist() == [1, 0, 2, 1] and scorer.calls == [3]


def test_a_scorer_may_need_sources() -> None:
    lines = [Example(("hi",), "yes", sources=("a",)), Example(("hi",), "yes"), Example(("hi",), "yes", sources=(" ",))]
    scores = run(Sources("sources"), lines)
    assert scores.reasons == {1: "no sources", 2: "no sources"} and scores.values[0] == 1


def test_scores_of_values() -> None:
    scores = Scores.from_values([1, "no reply", 2.5], warnings={0: ("long",)})
    assert scores.reasons == {1: "no reply"} and scores.warning_counts == {"long": 1}
    assert scores.scored.tolist() == [True, False, True] and scores.corpus() == 1.75
    assert math.isnan(Scores.from_values(["no reply"]).corpus())


def test_details_go_back_to_their_lines() -> None:
    class Detailed(Sources):
        def score_batch(self, examples: Sequence[Example]) -> Scores:
            details = {row: {"first": example.response[:1]} for row, example in enumerate(examples)}
            return Scores.from_values([1.0] * len(examples), details=details)

    lines = [Example((), text) for text in ("long reply", "a", "long reply", "b")]
    found = run(Detailed(), lines, batch_size=2).details
    assert [found[row]["first"] for row in range(4)] == ["l", "a", "l", "b"]


@pytest.mark.parametrize(("first", "second"), [("cafe\u0301", "caf\u00e9"), ("a  b\n", "a b"), ("a\u00a0b", "a b")])
def test_contexts_are_compared_in_one_form_and_written_as_they_are(first: str, second: str) -> None:
    lines = Example((first,), "x"), Example((second,), "y")
    assert lines[0].context_key == lines[1].context_key and lines[0].context == (first,)
    assert Pair(lines, 0).context_key == lines[0].context_key
    assert Example((first.upper(),), "x").context_key != lines[0].context_key


def test_a_registry_finds_names_and_suggests_near_ones() -> None:
    table: Registry[Any] = Registry("thing", [Entry("bleu", "", int), Entry("file:FILE", "", str)])
    assert table.find("bleu").load() == 0 and table.find("file:a:b").load("x") == "x"
    for name in ("blue", "bleu:x", "file", "other:x"):
        with pytest.raises(UsageError):
            table.find(name)
    assert "bleu" in table.hint("blue") and not table.hint("xyz")
