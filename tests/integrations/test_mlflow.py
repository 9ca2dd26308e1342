"""The scorer under the real library: called alone, and in an evaluation that is logged to a file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import rejoinder

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
mlflow = pytest.importorskip("mlflow")
pytest.importorskip("mlflow.genai")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

from rejoinder.integrations.mlflow import reply_quality  # noqa: E402
from rejoinder.scorer import FACTS_NOT_CHECKED  # noqa: E402

ASKED, GOOD, BAD = "do you have any pets ?", "yes , i have two dogs .", "The engine of this bus needs new oil."


def test_a_feedback_holds_score_interval_and_reason() -> None:
    found = reply_quality()(inputs={"question": ASKED}, outputs=GOOD)
    scores = rejoinder.score([{"context": [ASKED], "response": GOOD}])
    assert found.value == scores.values[0] and found.rationale.startswith(f"{found.value:.2f} [")
    assert scores.low is not None and float(found.metadata["low"]) == scores.low[0]
    assert found.metadata["signature"] == str(scores.signature) and FACTS_NOT_CHECKED in found.rationale


def test_what_is_out_of_the_domain_has_an_error() -> None:
    found = reply_quality()(inputs={"question": ASKED}, outputs="Ja, ich habe zwei Hunde und eine Katze.")
    assert found.value is None and found.error.error_message.startswith("no score: out of domain (not English): ")
    assert found.rationale == found.error.error_message and "low" not in found.metadata


def test_what_has_no_score_has_an_error() -> None:
    found = reply_quality("bleu-2")(inputs={"question": ASKED}, outputs=GOOD)
    assert found.value is None and found.error.error_message == "no score: no reference"
    expected = {"expected_response": GOOD}
    assert reply_quality("bleu-2")(inputs={"question": ASKED}, outputs=GOOD, expectations=expected).value == 1


def test_an_evaluation_takes_it(tmp_path: Path) -> None:
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    data = [
        {"inputs": {"question": ASKED}, "outputs": GOOD},
        {"inputs": {"messages": [{"role": "user", "content": ASKED}]}, "outputs": BAD},
    ]
    found = mlflow.genai.evaluate(data=data, scorers=[reply_quality()])
    scores = rejoinder.score([{"context": [ASKED], "response": text} for text in (GOOD, BAD)])
    assert found.metrics["rejoinder/mean"] == pytest.approx(scores.corpus())
    assert sorted(found.result_df["rejoinder/value"]) == pytest.approx(sorted(scores.values))
