"""A scorer of MLflow: `mlflow.genai.evaluate(data=, scorers=[reply_quality()])`."""

from __future__ import annotations

from typing import Any

from rejoinder.errors import MissingExtra
from rejoinder.integrations.judged import example_of, judged
from rejoinder.scorer import ScorerLike, signature_of
from rejoinder.scoring.catalog import DEFAULT, load_scorer

try:
    from mlflow.entities import Feedback
    from mlflow.genai import scorer as as_scorer
except ImportError as error:
    raise MissingExtra("mlflow", "", "A scorer of MLflow") from error

EXPECTED = "expected_response"  # where MLflow keeps what a reply should have been


def reply_quality(scorer: ScorerLike = DEFAULT, *, name: str | None = None) -> Any:
    """A scorer of MLflow that scores `outputs` as a reply to `inputs`.

    `inputs` hold chat messages, or a text under any name that files may have too (`question`, `prompt` ...); of
    `expectations` the `expected_response` counts as a reference. The feedback is the score on the scorer's own scale,
    with its interval in the metadata; a reply without a score has an error that says why. So
    has one that is out of the scorer's domain.

    Args:
        scorer: what judges, see `rejoinder.load_scorer`.
        name: of the feedback; None takes the scorer's.
    """
    loaded = load_scorer(scorer)

    def quality(inputs: Any, outputs: Any, expectations: dict[str, Any] | None = None) -> Feedback:
        found = judged(example_of(inputs, outputs, (expectations or {}).get(EXPECTED)), loaded)
        metadata = {key: str(value) for key, value in found.beside.items() if value}
        return Feedback(
            value=found.value,
            error=None if found.score.known else found.words,
            rationale=found.words,
            metadata={**metadata, "signature": str(signature_of(loaded))},
        )

    return as_scorer(quality, name=name or loaded.card.name, aggregations=["mean", "min"])
