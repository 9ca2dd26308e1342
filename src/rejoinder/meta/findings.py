"""All that a study says of one data set: the table of the analyses that it is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from rejoinder.humans.ceiling import People
from rejoinder.meta.contrasts import ScorerContrast, contrasts_of
from rejoinder.meta.data_card import DataCard, card_of
from rejoinder.meta.disagreements import Case, Mistakes, cases_of, mistakes_of
from rejoinder.meta.length import LengthEffect, length_effects
from rejoinder.meta.scored_set import ScoredSet, people_of_set
from rejoinder.meta.standings import Standing, standings_of
from rejoinder.meta.systems import Systems, systems_of
from rejoinder.scorer import FloatArray
from rejoinder.stats.figure import plain

T = TypeVar("T")


def by(analysis: Callable[[ScoredSet], T]) -> T:
    """A field of `Findings` that an analysis fills; in JSON it stands under the field's name."""
    made: T = field(metadata={"by": analysis})
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """All that a full study says of one data set, or of the pool of all.

    This is the table of analyses: one line each. Of the pool analyses say nothing that its data sets say better.

    Attributes:
        card: what the lines are.
        people: how far people agree.
        standings: one a scorer, best first.
        contrasts: one a pair of scorers.
        lengths: people first, then one a scorer; none where no line has a reference.
        systems: the systems.
        cases: where scorers and people disagree most.
        mistakes: how many responses scorers and people judge in opposite ways.
        ratings: [N] ratings of the lines, for plots.
        scores: [N] scores by scorer, NaN where unscored, for plots.
        out_of_domain: by scorer that cannot judge the lines, why; it has no verdict.
        answer: what follows, in sentences; none of the pool.
    """

    card: DataCard = by(card_of)
    people: People = by(people_of_set)
    standings: tuple[Standing, ...] = by(standings_of)
    contrasts: tuple[ScorerContrast, ...] = by(contrasts_of)
    lengths: tuple[LengthEffect, ...] = by(length_effects)
    systems: Systems = by(systems_of)
    cases: tuple[Case, ...] = by(cases_of)
    mistakes: tuple[Mistakes, ...] = by(mistakes_of)
    ratings: FloatArray
    scores: Mapping[str, FloatArray]
    out_of_domain: Mapping[str, str] = field(default_factory=dict)
    answer: tuple[str, ...] = ()

    @property
    def dataset(self) -> str:
        """Name of the set."""
        return self.card.dataset

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values, but for the single scores and ratings, which `rejoinder score` gives."""
        said = {one.name: plain(getattr(self, one.name)) for one in fields(self) if "by" in one.metadata}
        outside = dict(self.out_of_domain)
        return {"dataset": self.card.dataset, "answer": list(self.answer), **said, "out_of_domain": outside}


def findings_of(scored: ScoredSet) -> Findings:
    """What all analyses say of a set; the answer in words is not among them."""
    said = {one.name: scored.result(one.metadata["by"]) for one in fields(Findings) if "by" in one.metadata}
    return Findings(ratings=scored.rated.ratings, scores=scored.scores, out_of_domain=scored.outside, **said)
