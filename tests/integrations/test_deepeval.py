"""The metrics under the real library: measured alone, and in a run of its own."""

from __future__ import annotations

import os
from typing import Any

import pytest

import rejoinder

os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
deepeval = pytest.importorskip("deepeval")
pytestmark = pytest.mark.filterwarnings("default")

from deepeval.test_case import ConversationalTestCase, LLMTestCase, Turn  # noqa: E402

from rejoinder.errors import UsageError  # noqa: E402
from rejoinder.integrations.deepeval import ConversationQuality, ReplyQuality  # noqa: E402
from rejoinder.scorer import FACTS_NOT_CHECKED  # noqa: E402
from rejoinder.scoring.domain import INSTEAD  # noqa: E402

ASKED, BAD = "do you have any pets ?", "The engine of this bus needs new oil."


def case(replied: str, **more: Any) -> Any:
    return LLMTestCase(input=ASKED, actual_output=replied, **more)


def test_a_reply_has_the_score_of_rejoinder() -> None:
    metric = ReplyQuality(threshold=3)
    assert metric.measure(case("yes , i have two dogs .")) == metric.score and metric.is_successful()
    assert metric.score == rejoinder.score([{"context": [ASKED], "response": "yes , i have two dogs ."}]).values[0]
    assert metric.reason.startswith(f"{metric.score:.2f} [") and "context fit" in metric.reason
    assert FACTS_NOT_CHECKED in metric.reason
    metric.measure(case(BAD))
    assert not metric.is_successful() and FACTS_NOT_CHECKED in metric.reason


def test_what_has_no_score_fails_and_says_why() -> None:
    metric = ReplyQuality(threshold=0)
    metric.measure(case(""))
    assert metric.error == "no score: the response is empty" and not metric.is_successful()


def test_what_the_judge_cannot_judge_fails_and_says_why() -> None:
    metric = ReplyQuality(threshold=-9)
    metric.measure(case("Ja, ich habe zwei Hunde und eine Katze."))
    assert not metric.is_successful() and metric.score is None and metric.error == metric.reason
    assert metric.reason.startswith("cannot tell: out of domain (not English): ") and INSTEAD in metric.reason


def test_a_conversation_out_of_the_domain_fails() -> None:
    metric = ConversationQuality(threshold=-9)
    talk = [Turn(role="user", content=ASKED), Turn(role="assistant", content="Ja, ich habe zwei Hunde und eine Katze.")]
    metric.measure(ConversationalTestCase(turns=talk))
    assert not metric.is_successful() and metric.reason.startswith("cannot tell: out of domain")


@pytest.mark.parametrize("metric", [ReplyQuality, ConversationQuality])
def test_a_threshold_is_a_number(metric: Any) -> None:
    for threshold in (None, "3"):
        with pytest.raises(UsageError, match="expected a finite number on the scale of rejoinder"):
            metric(threshold=threshold)


def test_what_was_expected_is_a_reference() -> None:
    metric = ReplyQuality(threshold=0.5, scorer="bleu-2")
    assert metric.measure(case("two dogs", expected_output="two dogs")) == 1
    metric.measure(case("two dogs"))
    assert metric.error == "no score: no reference"


def test_a_run_of_deepeval_takes_both(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.chdir(tmp_path)
    found = deepeval.evaluate([case("yes , i have two dogs ."), case(BAD)], [ReplyQuality(threshold=3)])
    assert [one.success for one in sorted(found.test_results, key=lambda one: one.index)] == [True, False]
    talk = [("user", ASKED), ("assistant", BAD), ("user", "what ?"), ("assistant", "i have two dogs .")]
    conversation = ConversationalTestCase(turns=[Turn(role=role, content=text) for role, text in talk])
    (result,) = deepeval.evaluate([conversation], [ConversationQuality(threshold=4)]).test_results
    (measured,) = result.metrics_data
    assert not result.success and "the worst turn, 2 (" in measured.reason
    *before, (_, last) = talk
    line = {"context": [text for _, text in before], "response": last}
    assert measured.score == rejoinder.score([line], level="dialogue").values[0]
