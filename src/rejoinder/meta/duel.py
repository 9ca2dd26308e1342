"""When the metric beats the judge and the reverse: which of two scorers is nearer to people, line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from rejoinder.example import Example
from rejoinder.humans.rated_set import RatedSet
from rejoinder.meta.ranking import ranking_of
from rejoinder.meta.scored_set import ScoredSet
from rejoinder.metrics.baselines import words
from rejoinder.scorer import FloatArray
from rejoinder.stats.arrays import IntArray, numbers_of
from rejoinder.stats.bootstrap import group_means, percentile_interval
from rejoinder.stats.calibration import calibrated, matched
from rejoinder.stats.figure import NONE, Figure, written_as
from rejoinder.stats.sampling import Sampling

_EXAMPLES = 3
_FEWEST = 3
_NEAR = 1e-9  # of the ratings' range; distances no further apart are equal


@dataclass(frozen=True, slots=True)
class Trait:
    """What lines have in common where one of two scorers is nearer to people.

    Attributes:
        what: which property of a line.
        n_first: lines where the first is nearer and that have the property.
        n_second: lines where the second is.
        mean_first: mean over the former.
        mean_second: mean over the latter.
        apart: `mean_first` less `mean_second`; nothing where either is missing.
        statistic: what that is, in words.
    """

    what: str
    n_first: int
    n_second: int
    mean_first: float
    mean_second: float
    apart: Figure = written_as(value="value", low="low", high="high", reason="reason")
    statistic: str = written_as()

    @property
    def n(self) -> int:
        """Lines on either side."""
        return self.n_first + self.n_second


@dataclass(frozen=True, slots=True)
class Won:
    """A line where one of two scorers is much nearer to people than the other.

    Attributes:
        scorer: the nearer one.
        id: of the line.
        system: who responded.
        last_turn: the turn before the response.
        response: the response.
        reference: the first human response, or "".
        rating: mean rating.
        first: score of the first scorer on the scale of the ratings.
        second: that of the second.
    """

    scorer: str
    id: str
    system: str | None
    last_turn: str
    response: str
    reference: str
    rating: float
    first: float
    second: float


@dataclass(frozen=True, slots=True)
class Extremes:
    """Responses that people find good and one scorer bad, and how many of them the other finds good.

    Scores have the mean and the variance of the ratings here; good is the top quarter of the scale, bad the bottom one.

    Attributes:
        good: responses that people find good.
        second_bad: those of them that the second scorer finds bad.
        first_good: those of these that the first finds good.
        first_bad: those of `good` that the first scorer finds bad.
        second_good: those of these that the second finds good.
    """

    good: int
    second_bad: int
    first_good: int
    first_bad: int
    second_good: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Duel(Figure):
    """Of n lines that two scorers score, the share where the first is nearer to people's rating than the second.

    It lies in [0, 1]; lines where both are as near count half.

    Attributes:
        value: the share.
        p: not known, and not written.
        first: the best judge, or the leading scorer where judge or metric is missing.
        second: the best metric, or the scorer that comes next.
        chosen: why these two.
        contexts: contexts that the lines come from.
        n_first: lines where the first is nearer.
        n_second: lines where the second is.
        traits: what the lines have in common.
        extremes: counts on responses that people find good; None where the scale is not known.
        examples: lines where one is much nearer, both ways.
        unscored: lines that one of them does not score; not written.
    """

    value: float = written_as("share", default=NONE)
    p: float = written_as(default=NONE)
    first: str
    second: str
    chosen: str
    contexts: int
    n_first: int = 0
    n_second: int = 0
    traits: tuple[Trait, ...] = ()
    extremes: Extremes | None = None
    examples: tuple[Won, ...] = ()
    unscored: int = written_as(default=0)

    @property
    def scorer(self) -> str:
        """Whose share it is."""
        return self.first or "none"

    @property
    def statistic(self) -> str:
        """What is measured."""
        return f"share of lines nearer to people than {self.second or 'another'}"


def duel_of(scored: ScoredSet) -> Duel | None:
    """The best judge against the best metric; where either is missing, the leading two scorers; None of a pool.

    Source: Lowe et al. (2017), supplement: where ADEM is right and word overlap is not, and the reverse.
    """
    if scored.rated.pooled:
        return None
    found = _met(scored)
    return replace(found, unscored=len(scored.rated) - found.n)


def _met(scored: ScoredSet) -> Duel:
    """The duel of the two that are chosen, or why there is none."""
    rated, sampling = scored.rated, scored.sampling
    first, second, chosen, tried = _chosen(scored)
    if not second:
        reason = f"scorers that have a correlation with people: {tried}; two are needed"
        return _nothing(first, second, chosen, 0, 0, sampling, reason)
    both = (scored.scores[first], scored.scores[second])
    usable = np.flatnonzero(np.isfinite(both[0]) & np.isfinite(both[1]))
    lines = rated.at(usable)
    clusters = lines.clusters
    if len(lines) < _FEWEST or clusters < 2:
        reason = f"both score {len(lines)} lines of {clusters} contexts; three lines and two contexts are needed"
        return _nothing(first, second, chosen, len(lines), clusters, sampling, reason)
    return _duel((first, second), chosen, lines, (both[0][usable], both[1][usable]), rated.scale, sampling)


def _chosen(scored: ScoredSet) -> tuple[str, str, str, int]:
    """The two that meet ("" where there is none), why these, and of how many that have a correlation."""
    ranking = scored.result(ranking_of)
    # A variant of a metric that came along as a yardstick does not stand for the metrics that were asked for.
    order = [name for name in ranking if name in scored.asked or scored.kinds[name] != "metric"]
    best = {kind: next((name for name in order if scored.kinds[name] == kind), None) for kind in ("judge", "metric")}
    if best["judge"] and best["metric"]:
        return best["judge"], best["metric"], "the best judge against the best metric", len(order)
    missing = " and no ".join(kind for kind, name in best.items() if name is None)
    first, second, *_ = (*order, "", "")
    return first, second, f"no {missing} with a correlation here, so the leading two scorers", len(order)


def _nothing(first: str, second: str, chosen: str, n: int, contexts: int, sampling: Sampling, reason: str) -> Duel:
    """A duel that cannot be held."""
    found = Figure(n=n, method="none", seed=sampling.seed, reason=reason)
    return Duel.of(found, first=first, second=second, chosen=chosen, contexts=contexts)


def _duel(
    names: tuple[str, str],
    chosen: str,
    lines: RatedSet,
    scores: tuple[FloatArray, FloatArray],
    scale: tuple[float, float] | None,
    sampling: Sampling,
) -> Duel:
    """Two scorers on the N lines that both score; `scale` is that of the whole set."""
    own, ratings, contexts = lines.examples, lines.ratings, lines.contexts
    properties = {what: np.array([read(one) for one in own], dtype=np.float64) for what, read in _TRAITS.items()}
    properties["rating"] = ratings
    # Scores are in any unit. They are brought to that of the ratings by a straight line fitted to the other contexts,
    # so that no reply helps to predict its own rating; a rating beyond the end of the scale is one that nobody gives.
    ends = scale or (-np.inf, np.inf)
    first, second = (np.clip(calibrated(values, ratings, contexts), *ends) for values in scores)
    gained = np.abs(second - ratings) - np.abs(first - ratings)  # above 0 where the first is nearer
    side = np.where(np.abs(gained) <= _NEAR * float(np.ptp(ratings)), 0, np.sign(gained))
    counts = sampling.counts(lines.clusters, lines.name, "duel").astype(np.float64)
    drawn = group_means((side + 1) / 2, np.zeros_like(contexts), contexts, counts)[0]
    return Duel.of(
        percentile_interval(drawn, len(counts), value=float((side + 1).mean() / 2), unit="context"),
        first=names[0],
        second=names[1],
        chosen=chosen,
        n=len(own),
        contexts=len(counts),
        n_first=int((side > 0).sum()),
        n_second=int((side < 0).sum()),
        traits=tuple(_trait(what, names[1], values, side, contexts, counts) for what, values in properties.items()),
        extremes=_extremes(scores, ratings, scale),
        examples=_examples(names, own, ratings, (first, second), gained),
        method="nearer: smaller distance to the rating after a straight line from score to rating, fitted to the other "
        f"contexts; 95% expanded percentile interval, {sampling.resamples} resamples of contexts",
        seed=sampling.seed,
    )


def _trait(
    what: str, other: str, values: FloatArray, side: FloatArray, contexts: IntArray, counts: FloatArray
) -> Trait:
    """One property of lines, where the first scorer is nearer and where the `other` is."""
    said = f"{what}: mean where nearer less mean where {other} is"
    chosen = np.flatnonzero((side != 0) & np.isfinite(values))
    groups: IntArray = (side[chosen] < 0).astype(np.int64)
    own = values[chosen]
    sides = [own[groups == group] for group in (0, 1)]
    first, second = (float(one.mean()) if len(one) else NONE for one in sides)
    n = (len(sides[0]), len(sides[1]))
    if not all(n):
        reason = f"{n[0]} lines on one side and {n[1]} on the other; one of each is needed"
        return Trait(what, *n, first, second, Figure(reason=reason), said)
    drawn = group_means(own, groups, contexts[chosen], counts)
    fewer = int(numbers_of(contexts[chosen], groups).min())
    apart = percentile_interval(drawn[0] - drawn[1], fewer, value=first - second, unit="context")
    return Trait(what, *n, first, second, apart, said)


def _extremes(
    scores: tuple[FloatArray, FloatArray], ratings: FloatArray, scale: tuple[float, float] | None
) -> Extremes | None:
    """Counts on responses that people find good; None without a scale or where nothing varies."""
    if scale is None or any(np.ptp(values) == 0 for values in (*scores, ratings)):
        return None
    low, high = (scale[0] + share * (scale[1] - scale[0]) for share in (0.25, 0.75))
    good = ratings >= high
    first, second = (matched(values, ratings) for values in scores)
    return Extremes(
        good=int(good.sum()),
        second_bad=int((good & (second < low)).sum()),
        first_good=int((good & (second < low) & (first > high)).sum()),
        first_bad=int((good & (first < low)).sum()),
        second_good=int((good & (first < low) & (second > high)).sum()),
    )


def _examples(
    names: tuple[str, str],
    own: Sequence[Example],
    ratings: FloatArray,
    predicted: tuple[FloatArray, FloatArray],
    gained: FloatArray,
) -> tuple[Won, ...]:
    """The lines where the first scorer is nearer by most, then those where the second is."""
    order = np.argsort(-gained, kind="stable")
    chosen = [(names[0], row) for row in order[:_EXAMPLES] if gained[row] > 0]
    chosen += [(names[1], row) for row in order[::-1][:_EXAMPLES] if gained[row] < 0]
    return tuple(
        Won(
            scorer=name,
            id=own[row].id,
            system=own[row].system,
            last_turn=own[row].context[-1] if own[row].context else "",
            response=own[row].response,
            reference=own[row].references[0] if own[row].references else "",
            rating=float(ratings[row]),
            first=float(predicted[0][row]),
            second=float(predicted[1][row]),
        )
        for name, row in chosen
    )


def _context_length(example: Example) -> float:
    """Words of all turns; NaN where there are none."""
    return float(sum(_counted(turn).total() for turn in example.context)) if example.context else NONE


def _reference_overlap(example: Example) -> float:
    """Words shared with the reference that shares most, as F1; NaN without a reference."""
    own = _counted(example.response)
    others = [_counted(reference) for reference in example.references if reference.strip()]
    return max((2 * (own & other).total() / max(own.total() + other.total(), 1) for other in others), default=NONE)


@lru_cache(maxsize=20_000)
def _counted(text: str) -> Counter[str]:
    """How often each word of `text` occurs."""
    return Counter(words(text))


_TRAITS: Mapping[str, Callable[[Example], float]] = {
    "words in the response": lambda example: float(_counted(example.response).total()),
    "words shared with a reference, F1": _reference_overlap,
    "words in the context": _context_length,
}
