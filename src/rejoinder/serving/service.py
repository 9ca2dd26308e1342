"""What all requests share: the scorers that may be asked for, the limits, and what scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, cast

from fastapi import Depends
from starlette.requests import Request

from rejoinder.catalogue import columns_of
from rejoinder.errors import DataError, UsageError
from rejoinder.explained import require_explained
from rejoinder.io.values import as_json
from rejoinder.records import Example
from rejoinder.scorer import Scorer, ScorerLike
from rejoinder.serving.aside import Aside
from rejoinder.serving.batches import Asked, Batches, Line
from rejoinder.serving.counting import Counts
from rejoinder.serving.limits import Limits
from rejoinder.serving.shapes import ScoreQuery
from rejoinder.serving.workers import Workers
from rejoinder.streams.scoring import Tally, score_stream


@dataclass(frozen=True)
class Service:
    """The service.

    Attributes:
        scorers: those that a request may name, and no others; the first is the default.
        limits: what it takes.
        batches: what scores.
        aside: what does all that takes long.
        scoring: its threads.
        analysing: those of what takes long.
        counts: what is counted.
    """

    scorers: Mapping[str, Scorer]
    limits: Limits
    batches: Batches = field(init=False)
    aside: Aside = field(init=False)
    scoring: Workers = field(default_factory=lambda: Workers("scoring"))
    analysing: Workers = field(default_factory=lambda: Workers("analysing"))
    counts: Counts = field(init=False)

    def __post_init__(self) -> None:
        """Make what scores."""
        counts = Counts(lambda: self.batches.waiting)
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "batches", Batches(self._scored, self.limits.waiting, self.scoring, counts.batch))
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

    def to_analyse(self, names: Sequence[str]) -> list[ScorerLike]:
        """The scorers that a request names, for a function that calls them as they are called here."""
        return [cast("ScorerLike", _Called(scorer, name)) for name, scorer in self.chosen(names).items()]

    def keep(self, asked: Asked) -> list[str]:
        """The keys of lines that scorers read by themselves."""
        return columns_of(asked.scorers)

    def _scored(self, asked: Asked, examples: Sequence[Example]) -> list[Line]:
        """The records of lines, as `rejoinder score` writes them."""
        tallies = {name: Tally(self.scorers[name]) for name in asked.scorers}
        records = score_stream(examples, tallies, explain=asked.explain, out_of_domain=asked.out_of_domain)
        return [_written(record) for record in records]


class _Called:
    """A scorer that says how it is called here: a judge's own card does not."""

    def __init__(self, scorer: Scorer, called: str) -> None:
        self._scorer, self.called = scorer, called

    def __getattr__(self, name: str) -> Any:
        """Whatever else the scorer has."""
        return getattr(self._scorer, name)


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
