"""All that a study says of one data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rejoinder.meta.agreement import Agreement
from rejoinder.meta.ceiling import People, people_of
from rejoinder.meta.conclusions import Conclusion, conclusions_of
from rejoinder.meta.contrasts import ScorerContrast, clusters_of, contrasts_of
from rejoinder.meta.data_card import DataCard, card_of
from rejoinder.meta.disagreements import Case, cases_of
from rejoinder.meta.duel import Duel, duel_of
from rejoinder.meta.length import LengthEffect, length_effects
from rejoinder.meta.parts import POOLED, Part, set_numbers
from rejoinder.meta.standings import Standing, standing_of
from rejoinder.meta.systems import Systems, systems_of
from rejoinder.meta.verdict import verdicts_apart
from rejoinder.meta.yardsticks import OF_SET, kind_of
from rejoinder.records import Example
from rejoinder.scorer import FloatArray, Scores
from rejoinder.stats.figure import plain
from rejoinder.stats.sampling import Sampling


@dataclass(frozen=True, slots=True)
class Findings:
    """All that a full study says of one data set.

    Attributes:
        card: what the lines are.
        people: how far people agree.
        standings: one a scorer, best first.
        contrasts: one a pair of scorers.
        lengths: people first, then one a scorer; none where no line has a reference.
        systems: the systems.
        cases: where scorers and people disagree most.
        duel: which of judge and metric is nearer to people; None where data sets are pooled.
        conclusions: what each scorer says of systems, people first; none where fewer than two are named.
        ratings: [N] ratings of the lines, for plots.
        scores: [N] scores by scorer, NaN where unscored, for plots.
        answer: what follows, in sentences; none where data sets are pooled.
    """

    card: DataCard
    people: People
    standings: tuple[Standing, ...]
    contrasts: tuple[ScorerContrast, ...]
    lengths: tuple[LengthEffect, ...]
    systems: Systems
    cases: tuple[Case, ...]
    duel: Duel | None
    conclusions: tuple[Conclusion, ...]
    ratings: FloatArray
    scores: Mapping[str, FloatArray]
    answer: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values, but for the single scores and ratings, which `rejoinder score` gives."""
        names = ("card", "people", "standings", "contrasts", "lengths", "systems", "cases", "duel", "conclusions")
        values = {name: plain(getattr(self, name)) for name in names}
        return {"dataset": self.card.dataset, "answer": list(self.answer), **values}


def findings_of(
    part: Part,
    parts: Sequence[Part],
    examples: Sequence[Example],
    found: Mapping[str, Scores],
    rows: Sequence[Agreement],
    ranking: Sequence[Agreement],
    dimension: str,
    sampling: Sampling,
    asked: Sequence[str],
) -> Findings:
    """All that is said of one part; of the pool nothing that its sets say better.

    Scorers are ranked by `ranking`, a Pearson correlation each: over lines, for the pool the mean over its data sets.
    """
    kinds = {name: kind_of(name, one) for name, one in found.items()}
    scores = {name: one.values[part.places] for name, one in found.items()}
    blind = {name: values for name, values in scores.items() if kinds[name] != "reads ratings"}
    people = people_of(part, examples, dimension, sampling.seed)
    own = [row for row in rows if row.dataset == part.name]
    copies = np.array([examples[place].copies_reference for place in part.places], dtype=bool)
    standings = [
        standing_of(
            part, name, kinds[name], values, [row for row in own if row.scorer == name], copies, people, sampling
        )
        for name, values in scores.items()
        if name != OF_SET or part.name == POOLED
    ]
    ranked = {row.scorer: row.value for row in ranking if row.scorer in blind}
    order = sorted((name for name, value in ranked.items() if not np.isnan(value)), key=lambda name: -ranked[name])
    contrasts = contrasts_of(part, set_numbers(part, parts), blind, order, sampling)
    clusters = clusters_of({name: ranked[name] for name in order}, contrasts)
    chance = {one.scorer: one.chance for one in standings}
    verdicts = verdicts_apart([one.pooled for one in standings], chance, asked)
    standings = [replace(one, cluster=clusters.get(one.scorer, 0), verdict=verdicts[one.scorer]) for one in standings]
    of_systems = [row for row in own if row.level == "system" and row.statistic == "pearson"]
    details = {} if part.name == POOLED else blind
    met = [name for name in order if name in asked or kinds[name] != "metric"]  # no variant that nobody asked for
    card = card_of(part, examples, dimension, copies)
    return Findings(
        card=card,
        people=people,
        standings=tuple(sorted(standings, key=lambda one: (np.isnan(one.pooled.value), -one.pooled.value))),
        contrasts=contrasts,
        lengths=length_effects(part, examples, details, sampling) if details else (),
        systems=systems_of(part, examples, blind, of_systems, sampling),
        cases=cases_of(part, examples, details),
        duel=duel_of(part, examples, details, met, kinds, card.scale, sampling) if details else None,
        conclusions=conclusions_of(part, examples, details, sampling),
        ratings=part.ratings,
        scores=scores,
    )
