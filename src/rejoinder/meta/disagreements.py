"""The lines where a scorer and people disagree most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rejoinder.data.scales import Scale
from rejoinder.example import Example
from rejoinder.data.rated import RatedSet
from rejoinder.meta.scored_set import ScoredSet
from rejoinder.scorer import Explanation, FloatArray, Scorer
from rejoinder.scoring.explained import explanations, is_explained
from rejoinder.stats.figure import pluralize

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
        difference: the score on the scale of the ratings less the rating; see `on_rating_scale`.
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
    difference: float
    rating_rank: float
    score_rank: float
    explained: Explanation | None = None


@dataclass(frozen=True, slots=True)
class Mistakes:
    """Counts of the responses that people and a scorer judge in opposite ways.

    Bad is the lowest quarter of the scale of the ratings, good the highest; a score counts on the same scale.

    Attributes:
        scorer: its name.
        rated_bad: scored responses that people rated bad.
        bad_scored_good: those of them that the scorer scores as good.
        rated_good: scored responses that people rated good.
        good_scored_bad: those of them that the scorer scores as bad.
    """

    scorer: str
    rated_bad: int
    bad_scored_good: int
    rated_good: int
    good_scored_bad: int

    def __str__(self) -> str:
        """Return the counts as a sentence; "" where people rated nothing bad and nothing good."""
        parts = [
            f"Of {pluralize(whole, 'response')} that people rated {rated}, {self.scorer} rates {part:,} {scored}"
            for whole, part, rated, scored in (
                (self.rated_bad, self.bad_scored_good, "bad", "good"),
                (self.rated_good, self.good_scored_bad, "good", "bad"),
            )
            if whole
        ]
        return f"{'. '.join(parts)}." if parts else ""


def mistakes_of(scored: ScoredSet) -> tuple[Mistakes, ...]:
    """Return the mistakes of each scorer; none of a pool, and none of a constant scorer."""
    if scored.rated.pooled:
        return ()
    return tuple(
        _mistakes(scored.rated, name, values) for name, values in scored.blind.items() if _usable(scored.rated, values)
    )


def on_rating_scale(scores: FloatArray, ratings: FloatArray, scale: Scale) -> FloatArray:
    """Return [N] scores on the scale of [N] ratings.

    Scores that lie in the scale and span at least half of it are on it already. Others are brought to the mean and the
    spread of the ratings, and cut at the ends of the scale.
    """
    low, high = scale
    if low <= scores.min() and scores.max() <= high and np.ptp(scores) >= (high - low) / 2:
        return scores
    standard = (scores - scores.mean()) / scores.std()
    brought: FloatArray = np.clip(ratings.mean() + standard * ratings.std(), low, high)
    return brought


def cases_of(scored: ScoredSet) -> tuple[Case, ...]:
    """For each scorer the two lines that it puts furthest above people and the two furthest below; none if constant.

    Differences are on the scale of the ratings.

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
    if not _usable(rated, values):
        return []
    usable = np.flatnonzero(np.isfinite(values))
    ranks = [_ranks(array[usable]) for array in (rated.ratings, values)]
    differences = _differences(rated, values)
    order = np.argsort(differences, kind="stable")
    return [
        _case(
            name,
            rated.examples[usable[row]],
            (rated.ratings[usable[row]], values[usable[row]], differences[row]),
            ranks,
            int(row),
        )
        for row in (*order[: -_CASES - 1 : -1], *order[:_CASES])
    ]


def _usable(rated: RatedSet, values: FloatArray) -> bool:
    """Return whether scores and ratings vary over enough lines."""
    scored = np.isfinite(values)
    return bool(scored.sum() >= 2 * _CASES and np.ptp(values[scored]) > 0 and np.ptp(rated.ratings[scored]) > 0)


def _scale(rated: RatedSet) -> Scale:
    """Return the lowest and highest possible rating; of ratings without a scale those that were given."""
    return rated.scale or (float(rated.ratings.min()), float(rated.ratings.max()))


def _differences(rated: RatedSet, values: FloatArray) -> FloatArray:
    """Return [n] score less rating of the scored lines, on the scale of the ratings."""
    scored = np.isfinite(values)
    ratings = rated.ratings[scored]
    found: FloatArray = on_rating_scale(values[scored], ratings, _scale(rated)) - ratings
    return found


def _mistakes(rated: RatedSet, name: str, values: FloatArray) -> Mistakes:
    """Return the counts of one scorer."""
    scored, (low, high) = np.isfinite(values), _scale(rated)
    ratings = rated.ratings[scored]
    scores = on_rating_scale(values[scored], ratings, (low, high))
    quarter = (high - low) / 4
    bad, good = ratings <= low + quarter, ratings >= high - quarter
    return Mistakes(
        scorer=name,
        rated_bad=int(bad.sum()),
        bad_scored_good=int((bad & (scores >= high - quarter)).sum()),
        rated_good=int(good.sum()),
        good_scored_bad=int((good & (scores <= low + quarter)).sum()),
    )


def _case(name: str, example: Example, measured: tuple[float, float, float], ranks: list[FloatArray], row: int) -> Case:
    """One case, from its rating, score and difference and from the line's place among the others."""
    rating, score, difference = measured
    return Case(
        scorer=name,
        id=example.id,
        system=example.system,
        context=example.context,
        response=example.response,
        references=example.references,
        rating=float(rating),
        score=float(score),
        difference=float(difference),
        rating_rank=float(ranks[0][row]),
        score_rank=float(ranks[1][row]),
    )


def _ranks(values: FloatArray) -> FloatArray:
    """[N] share of values below each, ties counting half."""
    from scipy.stats import rankdata

    ranks: FloatArray = (rankdata(values) - 0.5) / len(values)
    return ranks
