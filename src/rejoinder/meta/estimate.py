"""`estimate`: what people would say of systems, from few ratings and a scorer's word on all lines.

Shapes: N lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from rejoinder.data.read import examples_of
from rejoinder.data.scales import Scale
from rejoinder.data.values import is_number
from rejoinder.errors import DataError, UsageError
from rejoinder.example import OVERALL, Example, Given
from rejoinder.data.clusters import sorted_clusters
from rejoinder.humans.joined import Joined, joined, weights_of
from rejoinder.data.rated import rated_sets, ratings_of
from rejoinder.meta.agreement import most_frequent
from rejoinder.meta.estimate_answer import answer
from rejoinder.meta.estimates import Estimate, Estimates, Plan
from rejoinder.meta.verdict import LEVEL, own_scores
from rejoinder.scorer import Advance, Card, FloatArray, ScorerLike, Scores, ignore, run
from rejoinder.scoring.catalog import DEFAULT, columns_of, fitted_on, label_of, load_scorer
from rejoinder.scoring.dialogue import as_rated
from rejoinder.scoring.unscored import nothing_scored, unread
from rejoinder.stats.permutation import adjusted
from rejoinder.stats.prediction_powered import Sample, powered, ratings_needed, sample_of, shared_power, worth
from rejoinder.stats.resamples import BoolArray, IntArray

ALL_PAIRS = 20  # systems: with more, each is compared with the highest alone
ALL = "all lines"
_FAR = 4.0  # standard errors: chance takes the rated lines so far from the others once in 16,000 times
_METHOD = (
    "prediction-powered mean with power tuning (PPI++); 95% interval, Student's t, variance over conversations (CR2)"
)


def estimate(
    given: Given,
    scorer: ScorerLike = DEFAULT,
    *,
    rated: Given | None = None,
    plan: float | None = None,
    dimension: str = OVERALL,
    vectors: str | Path | None = None,
    advance: Advance = ignore,
) -> Estimates:
    """The mean rating that people would give each system, and the difference of two.

    The lines that are rated must have been chosen by chance among all lines of a system, as `next_lines` does; those
    that it chose say how much they stand for (`rating_weight`). How the figures are worked out, and why any scorer will
    do: `stats.prediction_powered`. Conversations are the clusters (`humans.clusters`). A line without a score
    counts as a middling one, an empty reply as the worst.

    Args:
        given: the lines of the systems, rated, partly rated or not, in any form that `examples_of` takes.
        scorer: a name, a judge's folder, a scorer object or a function; it must not have been fitted to these ratings.
        rated: rated lines, among the others (by id or by text) or not; None takes the ratings in `given`.
        plan: how far an interval may reach to either side; how many ratings that needs is worked out.
        dimension: which ratings.
        vectors: file of word vectors for a scorer that needs them; None takes those in the box.
        advance: called during scoring with the number of lines done.

    Raises:
        DataError: no line is rated; an id or a reply stands where it cannot; scales differ and are not known.
        NothingScored: not one line, or not one rated line, could be scored.
        UsageError: `plan` is no number over 0; see also `load_scorer`.
    """
    if plan is not None and not (is_number(plan) and plan > 0):
        raise UsageError(f"plan is {plan!r}, expected how far an interval may reach, a number over 0")
    keep = columns_of(scorer)
    lines = examples_of(given, name="lines", keep=keep)
    others = [] if rated is None else examples_of(rated, name="rated", keep=keep)
    both = joined(lines, others, dimension)
    ratings, scale = _ratings(both.lines, dimension)
    loaded = as_rated(load_scorer(scorer, vectors=vectors), both.lines)
    scores = run(loaded, both.lines, progress=advance)
    _require_scored(scores, np.isfinite(ratings), loaded.card.name, unread(both.lines))
    clusters = sorted_clusters(both.lines)
    predicted = filled(both.lines, scores, loaded.card)
    samples, found = _systems(both, ratings, predicted, clusters.numbers, plan, scale)
    shown = Estimates(
        answer=(),
        scorer=label_of(scorer, loaded),
        signature=scores.signature,
        systems=found,
        differences=_differences(found, samples, plan),
        dimension=dimension,
        scale=scale,
        given=both.given,
        matched=both.matched,
        nameless=_nameless(both.lines),
        unscored=Counter(scores.reasons.values()),
        fitted=next(iter(fitted_on([scorer], [line.dataset for line in both.lines]).values()), []),
        own=own_scores(scores.values, ratings),
        unlike=[name for name, sample in samples.items() if _unlike(sample)],
    )
    return replace(shown, answer=(*answer(shown), *filter(None, [clusters.note])))


def _require_scored(scores: Scores, rated: BoolArray, name: str, columns: Sequence[str]) -> None:
    """Raise `NothingScored` where not one line, or not one of those that are rated, has a score."""
    if not scores.scored.any():
        why = most_frequent(list(scores.reasons.values())) or "no reason given"
        raise nothing_scored(f"{name}: none of {len(scores.values):,} lines has a score ({why})", columns)
    if not scores.scored[rated].any():
        why = most_frequent([scores.reasons.get(place, "") for place in np.flatnonzero(rated).tolist()])
        raise nothing_scored(f"{name}: none of {rated.sum():,} rated lines has a score ({why})")


def _ratings(lines: Sequence[Example], dimension: str) -> tuple[FloatArray, Scale | None]:
    """[N] mean ratings on one scale, NaN where nobody rated, and that scale.

    Raises:
        DataError: nobody rated any; scales differ and are not known.
    """
    own = ratings_of(lines, dimension)
    if not np.isfinite(own).any():
        where = "" if dimension == OVERALL else f" in {dimension!r}"
        raise DataError(
            f"none of {len(lines):,} lines has a rating{where}",
            "Give rated lines: --rated FILE. Which to rate: choose by chance, some 50 or more a system",
        )
    sets = rated_sets(lines, own, dimension)
    chosen = sets.pool or sets.filled[0]
    ratings = np.full(len(lines), np.nan)
    ratings[chosen.places] = chosen.ratings
    return ratings, chosen.scale


def filled(lines: Sequence[Example], scores: Scores, card: Card) -> FloatArray:
    """[N] scores; the mean of all where there is none, the worst of all for an empty reply.

    Whatever stands there, the estimate is right: it takes nothing for granted of the scores.
    """
    known = scores.values[scores.scored] if scores.scored.any() else np.zeros(1)
    values = np.where(scores.scored, scores.values, known.mean())
    if card.higher_is_better is not None:
        empty = np.array([line.unanswered for line in lines], dtype=bool)
        values[empty] = known.min() if card.higher_is_better else known.max()
    return values


def _systems(
    both: Joined, ratings: FloatArray, scores: FloatArray, contexts: IntArray, plan: float | None, scale: Scale | None
) -> tuple[dict[str, Sample], tuple[Estimate, ...]]:
    """What is known of each system, and its mean, the highest first."""
    names, places = np.unique(np.array(names_of(both.lines), np.str_), return_inverse=True)
    weights = weights_of(both.lines)
    samples, about = dict[str, Sample](), dict[str, tuple[int, int]]()
    for name, rows in zip(names.tolist(), _rows(places), strict=True):
        if not name:
            continue
        listed, rated = both.listed[rows], np.isfinite(ratings[rows])
        # A system that has rated lines alone has no others that its scores could tell of.
        listed = listed if listed.any() else ~listed
        samples[name] = sample_of(ratings[rows], scores[rows], weights[rows], listed, contexts[rows])
        about[name] = len(rows), len(np.unique(contexts[rows[rated]]))
    shared = shared_power(list(samples.values()))
    found = [
        _estimate(sample, shared, plan, system=name, lines=about[name][0], conversations=about[name][1])
        for name, sample in samples.items()
    ]
    if scale is not None:
        # No mean of ratings lies beyond their scale.
        found = [replace(one.between(*scale), alone=one.alone.between(*scale)) for one in found]
    return samples, tuple(sorted(found, key=lambda one: -one.value if one.known else np.inf))


def _rows(places: IntArray) -> list[IntArray]:
    """The rows of each group, ascending, from the number [N] of each row's group."""
    order = np.argsort(places, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(places[order])) + 1)


def _estimate(sample: Sample, shared: float | None, plan: float | None, **about: object) -> Estimate:
    """The record of a sample."""
    one = powered(sample, shared)
    planned = None
    if plan is not None:
        needed = [ratings_needed(sample, plan, scored=scored) for scored in (False, True)]
        planned = Plan(half=plan, alone=needed[0], scored=needed[1])
    return Estimate.of(
        one.powered,
        alone=one.alone,
        power=one.power,
        shared=one.shared,
        worth=worth(one),
        plan=planned,
        method=_METHOD,
        **about,
    )


def _differences(found: Sequence[Estimate], samples: dict[str, Sample], plan: float | None) -> tuple[Estimate, ...]:
    """The differences of systems, with verdicts by Holm for the number of all pairs."""
    known = [one for one in found if one.known]
    shared = shared_power(list(samples.values()))
    tops = known if len(known) <= ALL_PAIRS else known[:1]
    pairs = [(one, other) for place, one in enumerate(tops) for other in known[place + 1 :]]
    apart = [
        _estimate(
            samples[one.system].minus(samples[other.system]),
            shared,
            plan,
            system=one.system,
            minus=other.system,
            lines=one.lines + other.lines,
            conversations=one.conversations + other.conversations,
        )
        for one, other in pairs
    ]
    # The highest was chosen by its looks, so it is tested as if against every other.
    unasked = len(known) * (len(known) - 1) // 2 - len(pairs)
    p_values = adjusted([*(one.p for one in apart), *[1.0] * unasked], "holm").tolist() if apart else []
    return tuple(_told(one, p) for one, p in zip(apart, p_values[: len(apart)], strict=True))


def _told(one: Estimate, p: float) -> Estimate:
    """A difference with its adjusted p, and the verdict where that is small enough."""
    shown = p < LEVEL and one.excludes(0)
    verdict = ("higher" if one.value > 0 else "lower") if shown else ""
    return replace(one, p_adjusted=p, verdict=verdict)


def names_of(lines: Sequence[Example]) -> list[str]:
    """The system of each line; "" where only others say theirs, one name for all where none does."""
    named = any(line.system for line in lines)
    return [line.system or "" if named else ALL for line in lines]


def _nameless(lines: Sequence[Example]) -> int:
    """Lines that do not say their system, where others do."""
    return sum(not name for name in names_of(lines))


def _unlike(sample: Sample) -> bool:
    """Whether chance would hardly have chosen the rated lines, by their scores."""
    gap = sample.variances()[1]
    return sample.freedom > 0 and gap > 0 and abs(sample.gap) > _FAR * gap**0.5
