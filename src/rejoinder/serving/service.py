"""What all requests share: the scorers that may be asked for, the limits, and what scores."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends
from starlette.requests import Request

from rejoinder.data.values import as_json
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.scorer import Scorer, ScorerLike
from rejoinder.scoring.catalog import columns_of
from rejoinder.scoring.explained import require_explained
from rejoinder.scoring.scoring import Summary, score_stream
from rejoinder.serving.aside import Aside
from rejoinder.serving.batching import Asked, Batcher, Line
from rejoinder.serving.counting import Counts
from rejoinder.serving.limits import Limits
from rejoinder.serving.shapes import ScoreQuery
from rejoinder.serving.waiting import StoppableScorer, waited_for
from rejoinder.serving.workers import Workers

_FEWER = "Send fewer lines at once, or start the service with a longer --timeout"


@dataclass(frozen=True)
class Service:
    """The service.

    Attributes:
        scorers: those that a request may name, and no others; the first is the default.
        limits: what it takes.
        inside: scores by what runs in this process.
        outside: scores by programs and endpoints, so that a slow one delays nobody who does not ask for it.
        aside: what does all that takes long.
        scoring: the thread of `inside`.
        asking: the thread of `outside`.
        analysing: the thread of what takes long.
        counts: what is counted.
    """

    scorers: Mapping[str, Scorer]
    limits: Limits
    inside: Batcher = field(init=False)
    outside: Batcher = field(init=False)
    aside: Aside = field(init=False)
    scoring: Workers = field(default_factory=lambda: Workers("scoring"))
    asking: Workers = field(default_factory=lambda: Workers("asking"))
    analysing: Workers = field(default_factory=lambda: Workers("analysing"))
    counts: Counts = field(init=False)

    def __post_init__(self) -> None:
        """Make what scores."""
        counts = Counts(lambda: self.waiting)
        object.__setattr__(self, "counts", counts)
        for name, workers in (("inside", self.scoring), ("outside", self.asking)):
            object.__setattr__(self, name, Batcher(self._scored, workers, self.limits.waiting, counts.batch))
        object.__setattr__(self, "aside", Aside(self.analysing))

    def chosen(self, names: Sequence[str]) -> dict[str, Scorer]:
        """The scorers that a request names; the default where it names none.

        Raises:
            UsageError: one is not served, or was named twice.
        """
        names = list(names) or list(self.scorers)[:1]
        for name in names:
            if name not in self.scorers:
                shown = repr(name if len(name) <= 80 else f"{name[:80]}...")
                raise UsageError(f"no scorer {shown} is served here. There are: {', '.join(self.scorers)}")
            if names.count(name) > 1:
                raise UsageError(f"the scorer {name!r} was named twice. Name each once")
        return {name: self.scorers[name] for name in names}

    def asked(self, query: ScoreQuery) -> Asked:
        """What a request asks of its lines.

        Raises:
            UsageError: see `chosen`; or none of the scorers says what moved its scores, and that is asked for.
        """
        found = self.chosen(query.scorer)
        if query.explain:
            require_explained(found)
        return Asked(tuple(found), query.explain, query.out_of_domain)

    def batcher(self, asked: Asked) -> Batcher:
        """What scores the lines of a request."""
        outside = any(self.scorers[name].card.batch_size for name in asked.scorers)
        return self.outside if outside else self.inside

    async def results(self, request: Request, asked: Asked, examples: Sequence[Example]) -> list[Line]:
        """The records of the lines of a request, in order.

        Raises:
            Busy: too many lines wait already.
            ClientDisconnect: its client left.
            TooSlow: they took longer than the time limit.
        """
        results = self.batcher(asked).results(asked, examples)
        return await waited_for(request, results, self.limits.timeout, _FEWER)

    @property
    def waiting(self) -> int:
        """Lines that wait to be scored."""
        return self.inside.queued + self.outside.queued

    @property
    def age(self) -> float:
        """Seconds that the oldest portion has waited or been scored."""
        return max(self.inside.age, self.outside.age)

    @property
    def ready(self) -> bool:
        """Whether a request would be taken, and scored in time."""
        return max(self.inside.queued, self.outside.queued) < self.limits.waiting and self.age < self.limits.stalled

    def to_analyse(self, names: Sequence[str], abandoned: threading.Event) -> list[ScorerLike]:
        """The scorers that a request names, under their names here, until the analysis is abandoned."""
        scorers = self.chosen(names).items()
        return [cast("ScorerLike", StoppableScorer(scorer, name, abandoned)) for name, scorer in scorers]

    def keep(self, asked: Asked) -> list[str]:
        """The keys of lines that scorers read by themselves."""
        return columns_of(asked.scorers)

    def _scored(self, asked: Asked, examples: Sequence[Example]) -> list[Line]:
        """The records of lines, as `rejoinder score` writes them."""
        summaries = {name: Summary(self.scorers[name]) for name in asked.scorers}
        records = score_stream(examples, summaries, explain=asked.explain, out_of_domain=asked.out_of_domain)
        return [_written(record) for record in records]


def _written(record: Mapping[str, object]) -> Line:
    """A record as JSON, or why none can hold it: an error of this line alone."""
    try:
        return as_json(record, str(record.get("id") or ""))
    except DataError as error:
        return error


async def service_of(request: Request) -> Service:
    """The service that a request goes to."""
    found: Service = request.app.state.service
    return found


TheService = Annotated[Service, Depends(service_of)]
