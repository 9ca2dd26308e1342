"""The lines on which a scorer and the raters differ most, and counts of replies that they judge in opposite ways."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rejoinder.analysis.scored import ScoredSet
from rejoinder.data.scales import Scale
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.report.layout import Case
from rejoinder.report.written import percent
from rejoinder.stats.resamples import FloatArray, IntArray

CASES = 2
"""Cases of a scorer in each direction."""
BAD_AS_GOOD, GOOD_AS_BAD = "rated bad, scored good", "rated good, scored bad"


def on_rating_scale(scores: FloatArray, ratings: FloatArray, scale: Scale) -> FloatArray:
    """Return [N] scores on the scale of [N] ratings.

    Scores that lie in the scale and span at least half of it are on it already. Others get the mean and the standard
    deviation of the ratings, and are cut off at the ends of the scale.
    """
    low, high = scale
    if low <= scores.min() and scores.max() <= high and np.ptp(scores) >= (high - low) / 2:
        return scores
    standard = (scores - scores.mean()) / scores.std()
    rescaled: FloatArray = np.clip(ratings.mean() + standard * ratings.std(), low, high)
    return rescaled


def mistakes(scored: ScoredSet) -> list[Estimate]:
    """Return how many replies that raters call bad a scorer calls good, and the reverse; nothing for a pool.

    Bad is the lowest quarter of the scale of the ratings, good the highest. `n` counts the replies that were rated so.
    """
    estimates = []
    (low, high), method = _scale(scored), "count, on the scale of the ratings"
    quarter = (high - low) / 4
    for name in scored.compared:
        rows = _usable(scored, name)
        if not len(rows):
            continue
        ratings = scored.rated.ratings[rows]
        scores = on_rating_scale(scored.scores[name][rows], ratings, (low, high))
        rated_bad, scored_bad = (values <= low + quarter for values in (ratings, scores))
        rated_good, scored_good = (values >= high - quarter for values in (ratings, scores))
        opposite = {BAD_AS_GOOD: (rated_bad, scored_good), GOOD_AS_BAD: (rated_good, scored_bad)}
        for statistic, (rated, scored_so) in opposite.items():
            value, n = float((rated & scored_so).sum()), int(rated.sum())
            estimates.append(scored.row(name, rows, statistic, value=value, n=n, seed=None, method=method))
    return estimates


def disagreements(scored: ScoredSet) -> list[Case]:
    """Return, for each scorer, the lines that it puts furthest above the raters and furthest below them.

    Differences are on the scale of the ratings. There are none for a pool, or if scores or ratings are constant.

    Source: Liu et al. (2016), figure 2.
    """
    cases = []
    for scorer in scored.compared:
        rows = _usable(scored, scorer)
        if not len(rows):
            continue
        ratings, scores = scored.rated.ratings[rows], scored.scores[scorer][rows]
        differences = on_rating_scale(scores, ratings, _scale(scored)) - ratings
        numbers = {"rating": ratings, "score": scores, "difference": differences}
        numbers |= {"rating_rank": _ranks(ratings), "score_rank": _ranks(scores)}
        order = np.argsort(differences, kind="stable")
        for place in (*order[: -CASES - 1 : -1].tolist(), *order[:CASES].tolist()):
            of_line = {name: float(values[place]) for name, values in numbers.items()}
            cases.append(_case(scored, scorer, scored.rated.examples[rows[place]], of_line))
    return cases


def _case(scored: ScoredSet, scorer: str, example: Example, numbers: Mapping[str, float]) -> Case:
    """Return a line with its numbers."""
    several = f" (first of {len(example.references)})" if len(example.references) > 1 else ""
    facts = (
        f"rated {numbers['rating']:.2f} (above {percent(numbers['rating_rank'])} of the lines), score "
        f"{numbers['score']:.3f} (above {percent(numbers['score_rank'])}). "
        f"{', '.join(filter(None, [example.id, example.system]))}"
    )
    why = f"scored far {'above' if numbers['difference'] > 0 else 'below'} the raters"
    replies = [("Response", example.response), *((f"Reference{several}", text) for text in example.references[:1])]
    values = {name: getattr(example, name) for name in ("id", "system", "context", "response", "references")}
    values |= {"dataset": scored.name, "scorer": scorer, **numbers}
    return Case(why, facts, example.context, replies, group=scorer, values=values)


def _usable(scored: ScoredSet, name: str) -> IntArray:
    """Return the scored rows; none for a pool, or unless scores and ratings vary over enough lines."""
    rows = scored.rows(name)
    varied = all(len(np.unique(values[rows])) > 1 for values in (scored.scores[name], scored.rated.ratings))
    return rows if varied and len(rows) >= 2 * CASES and not scored.rated.pooled else rows[:0]


def _scale(scored: ScoredSet) -> Scale:
    """Return the lowest and highest possible rating; without a scale, those that were given."""
    ratings = scored.rated.ratings
    return scored.rated.scale or (float(ratings.min()), float(ratings.max()))


def _ranks(values: FloatArray) -> FloatArray:
    """Return [N] the share of values below each; ties count half."""
    from scipy.stats import rankdata

    ranks: FloatArray = (rankdata(values) - 0.5) / len(values)
    return ranks
