"""The metric under the real library: in one call, in batches, and among others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rejoinder

evaluate = pytest.importorskip("evaluate")
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def metric(tmp_path: Path) -> Any:
    """Makes a metric that keeps its files in a folder of the test."""
    from rejoinder.integrations.evaluate import ReplyQuality

    return lambda *scorer: ReplyQuality(*scorer, cache_dir=str(tmp_path))


ASKED, BAD = "do you have any pets ?", "The engine of this bus needs new oil."


def test_scores_are_those_of_rejoinder_in_their_order(metric: Any) -> None:
    replies, contexts = ["yes , two dogs .", "", BAD], [ASKED, ASKED, ["hi", ASKED]]
    found = metric().compute(predictions=replies, contexts=contexts)
    lines = [{"context": context, "response": text} for text, context in zip(replies, contexts, strict=True)]
    scores = rejoinder.score(lines)
    assert found["scores"] == [scores.values[0], None, scores.values[2]]
    assert found["rejoinder"] == scores.corpus() and found["unscored"] == {1: "the response is empty"}


def test_what_is_out_of_the_domain_has_no_score(metric: Any) -> None:
    found = metric().compute(predictions=["Ja, ich habe zwei Hunde.", BAD], contexts=[ASKED, ASKED])
    assert found["scores"] == [None, found["rejoinder"]] and found["unscored"] == {0: "out of domain"}


def test_references_are_one_or_several(metric: Any) -> None:
    bleu = metric("bleu-2")
    found = bleu.compute(predictions=["the cat sat", "a dog"], references=["the cat sat", ["no", "a dog"]])
    assert found == {"bleu-2": 1.0, "scores": [1.0, 1.0], "unscored": {}}


def test_batches_come_together(metric: Any) -> None:
    own = metric()
    own.add_batch(predictions=["yes .", BAD], contexts=[ASKED, ASKED])
    own.add(prediction="two dogs .", contexts=ASKED)
    at_once = metric().compute(predictions=["yes .", BAD, "two dogs ."], contexts=[ASKED] * 3)
    assert own.compute() == at_once


def test_it_stands_among_other_metrics(metric: Any) -> None:
    both = evaluate.combine([metric("bleu-1"), metric("rouge-l")])
    found = both.compute(predictions=["a dog"], references=["a dog"])
    assert found["bleu-1"] == found["rouge-l"] == 1


def test_columns_of_other_lengths_are_refused(metric: Any) -> None:
    with pytest.raises(ValueError, match="Mismatch in the number of predictions"):
        metric().compute(predictions=["a", "b"], contexts=["c"])
