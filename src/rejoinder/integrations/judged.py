"""One reply judged, as tools ask for it: a number and a reason in words; and what they hold, as an example."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from rejoinder.data.chat import read_content
from rejoinder.data.examples import as_turns
from rejoinder.data.messages import is_chat
from rejoinder.data.read import examples_of
from rejoinder.data.scored_keys import WORST
from rejoinder.estimates import NAN, Estimate
from rejoinder.example import Example
from rejoinder.report.written import interval, number
from rejoinder.scorer import OUT_OF_DOMAIN, Scorer, run
from rejoinder.scoring.dialogue import Turn
from rejoinder.scoring.domain import withheld_reason, withhold
from rejoinder.scoring.explained import explanations, facts_warning, is_explained

TOLD = 80  # characters of the worst turn


class Judged(NamedTuple):
    """What a scorer says of a reply or a conversation.

    Attributes:
        score: with the interval that the scorer gives; its reason says why there is none, as out of domain.
        why: what moved it, in words; "" where the scorer does not say it.
        warnings: what to know before you trust the score.
        worst: the worst turn of a conversation; None of a reply.
        warning: what was not checked; "" where the scorer declares nothing.
    """

    score: Estimate
    why: str
    warnings: tuple[str, ...]
    worst: Turn | None
    warning: str

    @property
    def value(self) -> float | None:
        """The score, or None."""
        return self.score.value if self.score.known else None

    @property
    def words(self) -> str:
        """Return everything in one line: `3.42 [2.10, 4.60]; context fit +0.41; noted: code. Facts were ...`."""
        if not self.score.known:
            return f"no score: {self.score.reason}"
        noted = f"noted: {', '.join(self.warnings)}" if self.warnings else ""
        worst = ""
        if self.worst:
            worst = f"the worst turn, {self.worst.turn} ({number(self.worst.score)}): {self.worst.response[:TOLD]}"
        parts = "; ".join(filter(None, (interval(self.score), self.why, worst, noted)))
        return ". ".join(filter(None, (parts, self.warning)))

    @property
    def untold(self) -> str:
        """Why there is no verdict on it: it has no score, or the score is withheld; "" where there is a verdict."""
        if self.score.known:
            return ""
        return f"cannot tell: {self.score.reason}" if self.is_out_of_domain else self.words

    @property
    def is_out_of_domain(self) -> bool:
        """Whether the score is withheld because the scorer cannot judge the reply."""
        return not self.score.known and self.score.reason.startswith(OUT_OF_DOMAIN)

    @property
    def beside(self) -> dict[str, Any]:
        """What tools keep beside a score: `low` and `high` where there are any, and `warnings`."""
        ends = {"low": self.score.low, "high": self.score.high} if self.score.has_interval else {}
        return {**ends, "warnings": list(self.warnings)}


def judged(example: Example, scorer: Scorer) -> Judged:
    """Score a reply, or by a scorer of conversations a conversation; an out-of-domain score is withheld."""
    scores = withhold(run(scorer, [example], last=False))
    warnings, reason = scores.warnings.get(0, ()), scores.reasons.get(0, "")
    if reason == OUT_OF_DOMAIN:
        reason = withheld_reason(scorer.card, warnings)
    (why,) = explanations(scorer, [example]) if is_explained(scorer) and scores.scored[0] else (None,)
    low, high = (NAN if ends is None else float(ends[0]) for ends in (scores.low, scores.high))
    score = Estimate(value=float(scores.values[0]), low=low, high=high, reason=reason)
    worst = scores.details.get(0, {}).get(WORST, (None,))[0]
    return Judged(score, why.words if why else "", warnings, worst, facts_warning({scorer.card.name: scorer}))


def example_of(asked: Any, replied: Any, references: Any = None) -> Example:
    """The example of what a bot was asked and replied.

    Args:
        asked: a text, turns, chat messages, or an object that holds one of these under a name that files may have too
            (`question`, `messages` ...), or as its only value.
        replied: a text, a chat message, or an object that holds one of these as files may.
        references: a text, several, or None.

    Raises:
        DataError: the parts cannot be read so.
    """
    record = {**_context(asked), **_response(replied)}
    if references:
        record["references"] = [references] if isinstance(references, str) else list(references)
    (example,) = examples_of([record], name="given")
    return example


def _context(asked: Any) -> dict[str, Any]:
    """What was asked, as parts of a record."""
    if not isinstance(asked, Mapping):
        return {"context": as_turns(asked or [], "given")}
    if is_chat(asked.get("messages")):
        return {"context": as_turns(asked["messages"], "given")}
    values = list(asked.values())
    return {"context": as_turns(values[0], "given")} if len(values) == 1 else dict(asked)


def _response(replied: Any) -> dict[str, Any]:
    """What was replied, as parts of a record."""
    if not isinstance(replied, Mapping):
        return {"response": replied}
    text = read_content(replied.get("content")).text
    return dict(replied) if text is None else {"response": text}
