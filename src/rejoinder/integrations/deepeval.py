"""Metrics of deepeval: of a reply, and of a conversation."""

from __future__ import annotations

from typing import Any

from rejoinder.analysis.quality import require_least
from rejoinder.data.read import examples_of
from rejoinder.errors import MissingExtra
from rejoinder.integrations.judged import Judged, example_of, judged
from rejoinder.scorer import ScorerLike
from rejoinder.scoring.catalog import DEFAULT, load_scorer
from rejoinder.scoring.dialogue import of_dialogues

try:
    from deepeval.metrics import BaseConversationalMetric, BaseMetric
    from deepeval.test_case import ConversationalTestCase, LLMTestCase
except ImportError as error:
    raise MissingExtra("deepeval", "", "A metric of deepeval") from error


class ReplyQuality(BaseMetric):
    """The score of `actual_output` as a reply to `input`; `expected_output` counts as a reference.

    `input` may hold several turns, each behind its speaker (`User:`, `Bot:`). A reply without a score fails, and so
    does one that is out of the scorer's domain, such as one in another language: it has no score.

    Args:
        threshold: the least score that passes, on the scorer's own scale.
        scorer: what judges, see `rejoinder.load_scorer`.
    """

    def __init__(self, threshold: float, scorer: ScorerLike = DEFAULT) -> None:
        self.threshold = threshold
        self.scorer = load_scorer(scorer)
        require_least(self.scorer, threshold)

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        """The score; the reason holds its interval and what moved it."""
        asked, replied, expected = test_case.input, test_case.actual_output, test_case.expected_output
        return _keep(self, judged(example_of(asked, replied, expected), self.scorer))

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        """See `measure`."""
        return self.measure(test_case)

    @property
    def __name__(self) -> str:
        """What reports call it."""
        return f"Reply quality ({self.scorer.card.name})"


class ConversationQuality(BaseConversationalMetric):
    """The score of a conversation, by every turn of the assistant; the reason names the worst.

    Args:
        threshold: the least score that passes, on the scorer's own scale.
        scorer: what judges single turns, see `rejoinder.load_scorer`.
    """

    def __init__(self, threshold: float, scorer: ScorerLike = DEFAULT) -> None:
        self.threshold = threshold
        self.scorer = of_dialogues(load_scorer(scorer), every=True)
        require_least(self.scorer, threshold)

    def measure(self, test_case: ConversationalTestCase, *_: Any, **__: Any) -> float | None:
        """The score; the reason holds the worst turn."""
        messages = [{"role": turn.role, "content": turn.content} for turn in test_case.turns]
        (example,) = examples_of([{"messages": messages}], name="turns")
        return _keep(self, judged(example, self.scorer))

    async def a_measure(self, test_case: ConversationalTestCase, *_: Any, **__: Any) -> float | None:
        """See `measure`."""
        return self.measure(test_case)

    @property
    def __name__(self) -> str:
        """What reports call it."""
        return f"Conversation quality ({self.scorer.card.name})"


def _keep(metric: BaseMetric | BaseConversationalMetric, found: Judged) -> float | None:
    """Leave what was found where deepeval looks for it."""
    metric.score, metric.reason = found.value, found.untold or found.words
    metric.error = found.untold or None
    metric.success = metric.is_successful()
    return found.value
