"""Several responders and a scorer as one responder: each reply is the best of theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.improve.choosing import Choice, choose, require_direction
from rejoinder.improve.pools import Pool
from rejoinder.responder import Answer, Reply, Request, Responder, answer, signature_of
from rejoinder.scorer import Scorer
from rejoinder.scorer import signature_of as signature_of_scorer


@dataclass
class BestOf:
    """Answers with the reply that a scorer finds best among those of several responders.

    Attributes:
        responders: who is asked, by name.
        scorer: what chooses.
        name: what it is called in tables.
        won: how often the reply of each was the best, counted over all that was asked.
    """

    responders: Mapping[str, Responder]
    scorer: Scorer
    name: str = "re-ranked"
    won: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Refuse what cannot choose.

        Raises:
            UsageError: there is no responder, or the scorer claims no direction.
        """
        if not self.responders:
            raise UsageError("no responder was named; there is nothing to choose among")
        require_direction(self.scorer, "choose")

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides the replies: the scorer, and everyone who is asked."""
        asked = [str(signature_of(one)) for one in self.responders.values()]
        return {"scorer": str(signature_of_scorer(self.scorer)), "responders": asked}

    def respond_batch(self, requests: Sequence[Request], count: int) -> list[Answer]:
        """The best replies to each context, the best first; a score is the scorer's."""
        answers = {name: list(answer(one, requests)) for name, one in self.responders.items()}
        pools = [
            _pool(request, {name: said[row] for name, said in answers.items()}) for row, request in enumerate(requests)
        ]
        choices = choose(self.scorer, pools)
        self.won.update(str(choice.reply.system) for choice in choices if choice.reply is not None)
        return [_answer(choice, count) for choice in choices]


def _pool(request: Request, answers: Mapping[str, Answer]) -> Pool:
    """What was answered to one request, by who did."""
    said = [
        Example(request.context, reply.text, system=name) for name, found in answers.items() for reply in found.replies
    ]
    return Pool(
        Example(request.context, ""), tuple(said), ", ".join(dict.fromkeys(one.reason for one in answers.values()))
    )


def _answer(choice: Choice, count: int) -> Answer:
    """The first `count` different replies of a choice, where there is one."""
    if choice.place is None:
        return Answer((), choice.reason)
    replies: dict[str, float] = {}
    for place in choice.order:
        if place not in choice.reasons:
            replies.setdefault(choice.pool.candidates[place].response, float(choice.values[place]))
    return Answer(tuple(Reply(text, score) for text, score in list(replies.items())[:count]))
