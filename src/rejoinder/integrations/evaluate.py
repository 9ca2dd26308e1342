"""A metric of Hugging Face evaluate that needs no hub: `ReplyQuality().compute(predictions=, contexts=)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rejoinder.data.examples import as_turns
from rejoinder.errors import MissingExtra
from rejoinder.example import Example
from rejoinder.scorer import ScorerLike, run
from rejoinder.scoring.catalog import DEFAULT, load_scorer
from rejoinder.scoring.domain import withhold
from rejoinder.scoring.explained import facts_warning

try:
    from datasets import Features, Value
    from evaluate import Metric, MetricInfo
except ImportError as error:
    raise MissingExtra("evaluate", "", "A metric of Hugging Face evaluate") from error

Texts = str | Sequence[str] | None
"""A text, several, or none."""


class ReplyQuality(Metric):
    """Scores of replies, as a metric.

    `compute` takes N `predictions`, which are the replies, `contexts`, each a text or turns, oldest first, and
    `references`, each a text or several; what a scorer does not read may be left out. It returns the corpus score
    under the scorer's name, `scores` [N], None for a reply that has no score, and `unscored`, the reasons by place. A
    reply that the scorer cannot judge has no score either, with the reason `out of domain`.

    Args:
        scorer: what judges, see `rejoinder.load_scorer`.
        options: of `evaluate.Metric`.
    """

    def __init__(self, scorer: ScorerLike = DEFAULT, **options: Any) -> None:
        self.scorer = load_scorer(scorer)
        super().__init__(**{"keep_in_memory": True, **options})

    def _info(self) -> MetricInfo:
        """What the metric takes."""
        card = self.scorer.card
        texts = [Value("string")]
        return MetricInfo(
            description=f"{card.summary}. {card.notes} {facts_warning({card.name: self.scorer})}".rstrip(),
            citation=card.source,
            inputs_description=str(type(self).__doc__),
            features=Features({"predictions": Value("string"), "references": texts, "contexts": texts}),
        )

    def compute(self, *, predictions: Any = None, **columns: Any) -> dict[str, Any] | None:
        """The scores of what is given here, or was added before."""
        given = columns if predictions is None else _columns(predictions, **columns)
        found: dict[str, Any] | None = super().compute(**given)
        return found

    def add_batch(self, *, predictions: Any, **columns: Any) -> None:
        """Keep N replies, with what belongs to them, for `compute`."""
        super().add_batch(**_columns(predictions, **columns))

    def add(self, *, prediction: str, reference: Texts = None, contexts: Texts = None) -> None:
        """Keep a reply, with what belongs to it, for `compute`."""
        self.add_batch(predictions=[prediction], references=[reference], contexts=[contexts])

    def _compute(
        self, predictions: Sequence[str], references: Sequence[Sequence[str]], contexts: Sequence[Sequence[str]]
    ) -> dict[str, Any]:
        """The scores of N replies."""
        examples = [
            Example(tuple(turns), text, references=tuple(own))
            for text, own, turns in zip(predictions, references, contexts, strict=True)
        ]
        scores = withhold(run(self.scorer, examples))
        values = [None if row in scores.reasons else value for row, value in enumerate(scores.values.tolist())]
        return {self.scorer.card.name: scores.corpus(), "scores": values, "unscored": dict(scores.reasons)}


def _columns(predictions: Sequence[str], references: Any = None, contexts: Any = None, **more: Any) -> dict[str, Any]:
    """Columns of equal length, lists of texts where nothing or single texts were given."""
    nothing = [()] * len(predictions)
    return {
        "predictions": predictions,
        "references": [[one] if isinstance(one, str) else list(one or ()) for one in references or nothing],
        "contexts": [as_turns(one or [], "contexts") for one in contexts or nothing],
        **more,
    }
