"""The lines where a scorer and people disagree most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rejoinder.explained import Explanation, explanations, is_explained
from rejoinder.humans.rated_set import RatedSet
from rejoinder.meta.scored_set import ScoredSet
from rejoinder.records import Example
from rejoinder.scorer import FloatArray, Scorer

_CASES = 2  # of a scorer, each way: enough to see what it goes by, few enough to be read


@dataclass(frozen=True, slots=True)
class Case:
    """A line where a scorer and people disagree most.

    Attributes:
        scorer: its name.
        id: of the line.
        system: who responded.
        context: the turns.
        response: the response.
        references: human responses.
        rating: mean rating.
        score: the score.
        rating_rank: share of lines that people rated lower (ties count half), in [0, 1].
        score_rank: share of lines that the scorer scored lower.
        explained: what moved the score, where the scorer says so.
    """

    scorer: str
    id: str
    system: str | None
    context: tuple[str, ...]
    response: str
    references: tuple[str, ...]
    rating: float
    score: float
    rating_rank: float
    score_rank: float
    explained: Explanation | None = None


def cases_of(scored: ScoredSet) -> tuple[Case, ...]:
    """For each scorer the two lines that it ranks highest above people and the two lowest below; none if constant.

    Source: Liu et al. (2016), figure 2.
    """
    if scored.rated.pooled:
        return ()
    return tuple(case for name, values in scored.blind.items() for case in _cases(scored.rated, name, values))


def explained(cases: Sequence[Case], scorers: Mapping[str, Scorer]) -> tuple[Case, ...]:
    """The cases, those of `scorers` that can tell with what moved their scores."""
    return tuple(_explained(case, scorers.get(case.scorer)) for case in cases)


def _explained(case: Case, scorer: Scorer | None) -> Case:
    """A case with what moved its score."""
    if scorer is None or not is_explained(scorer):
        return case
    (told,) = explanations(scorer, [Example(case.context, case.response, case.references)])
    return replace(case, explained=told)


def _cases(rated: RatedSet, name: str, values: FloatArray) -> list[Case]:
    """The cases of one scorer."""
    usable = np.flatnonzero(np.isfinite(values))
    if len(usable) < 2 * _CASES or np.ptp(values[usable]) == 0 or np.ptp(rated.ratings[usable]) == 0:
        return []
    ranks = [_ranks(array[usable]) for array in (rated.ratings, values)]
    order = np.argsort(ranks[1] - ranks[0], kind="stable")
    return [
        _case(name, rated.examples[usable[row]], rated.ratings[usable[row]], values[usable[row]], ranks, int(row))
        for row in (*order[: -_CASES - 1 : -1], *order[:_CASES])
    ]


def _case(name: str, example: Example, rating: float, score: float, ranks: list[FloatArray], row: int) -> Case:
    """One case, from the line's place among the others."""
    return Case(
        scorer=name,
        id=example.id,
        system=example.system,
        context=example.context,
        response=example.response,
        references=example.references,
        rating=float(rating),
        score=float(score),
        rating_rank=float(ranks[0][row]),
        score_rank=float(ranks[1][row]),
    )


def _ranks(values: FloatArray) -> FloatArray:
    """[N] share of values below each, ties counting half."""
    from scipy.stats import rankdata

    ranks: FloatArray = (rankdata(values) - 0.5) / len(values)
    return ranks
