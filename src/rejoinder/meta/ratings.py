"""`ratings`: how far the people who rated agree, whose ratings count, and one rating a line made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rejoinder.data.formats.annotation import is_project, keeps_answers_elsewhere, project_raters
from rejoinder.data.read import examples_of, lines_of
from rejoinder.errors import DataError
from rejoinder.example import OVERALL, Example, Given, Pair, Rating
from rejoinder.humans.aggregation import Aggregated, Aggregation, aggregate
from rejoinder.humans.agreeing import agreement_of
from rejoinder.humans.exclusion import CHECK, ByChance, Excluded, Rule, Watched, by_chance, excluded, watched
from rejoinder.data.rated_lines import may_be_the_rating
from rejoinder.data.rated import NO_SYSTEM, RatedSet, rated_sets
from rejoinder.humans.raters import NOBODY, Raters, one_spelling, raters_of
from rejoinder.data.shared_ids import refuse_again
from rejoinder.meta.rating_answer import answer
from rejoinder.meta.rating_results import Disagreement, Pace, RatedSystem, RatingStudy, SetRatings
from rejoinder.meta.replacement import EPSILON, MEAN_RATING, Alternative, alternative, on_scale
from rejoinder.scorer import Advance, ScorerLike, Scores, ignore, run
from rejoinder.scoring.catalog import choose_scorers, columns_of, listed, load_scorers
from rejoinder.scoring.dialogue import as_rated
from rejoinder.stats.agreement import Weighting
from rejoinder.stats.resamples import FloatArray, Sampling, number_of, percentile_interval, renumbered

ASIDE = "set_aside"
"""The key under which a line keeps the ratings that do not count, with why."""
FEW_VALUES = 11  # of which shares are shown
_DISAGREEMENTS = 5  # lines quoted


@dataclass(frozen=True, slots=True)
class _How:
    """What holds for all data sets."""

    rule: Rule
    aggregation: Aggregation
    share: float
    sampling: Sampling
    dimension: str
    epsilon: float
    known: Mapping[str, Watched] = field(default_factory=dict)
    scores: Mapping[str, Scores] = field(default_factory=dict)


class _Scored(NamedTuple):
    """Scores of all lines by scorer, and the judges among them that were fitted on such lines."""

    values: Mapping[str, Scores]
    fitted: Mapping[str, Sequence[str]]


def ratings(
    examples: Given,
    scorers: Iterable[ScorerLike] | ScorerLike = (),
    *,
    dimension: str = OVERALL,
    aggregation: Aggregation = "mean",
    share: float = 1.0,
    min_kappa: float | None = None,
    kappa: Weighting = "quadratic",
    known: Mapping[str, Watched] | None = None,
    epsilon: float = EPSILON,
    resamples: int = 1000,
    seed: int = 0,
    vectors: str | Path | None = None,
    advance: Advance = ignore,
) -> RatingStudy:
    """How far people agree who rated the same lines, whose ratings count, and what is made of them.

    Data set by data set. Raters who miss an attention check (a line with the key `check`, whose rating is known) do not
    count, nor do those whose kappa with the others is below `min_kappa` where that is given: they are listed, and their
    ratings stand aside. Where nobody is named, nobody is excluded.

    Args:
        examples: N examples in any form that `examples_of` takes, of which some have single ratings; or the folder of
            a rating project by `annotate`.
        scorers: as for `study`; of each is said whether it may stand in for a rater (`meta.replacement`).
        dimension: which ratings.
        aggregation: how several ratings of a line become one; see `humans.aggregation.aggregate`.
        share: of the lines, the surest, that get a rating where a model makes them; 1 for all.
        min_kappa: the least kappa; None leaves nobody out for disagreeing. The result then tells what the rule does by
            chance alone.
        kappa: how it weighs disagreements.
        known: what is known of raters besides, by name: attention checks, seconds.
        epsilon: what a rater is worth less than a scorer, 0 to 1.
        resamples: number of resamples; 0 gives no intervals.
        seed: seed of all that is drawn, 0 or more.
        vectors: file of word vectors for scorers that need them; None takes those in the box.
        advance: called during scoring with the number of lines done.

    Raises:
        DataError: no line has a single rating; an id is given twice; scales differ and one is missing; nobody is left
            who counts.
        UsageError: an option is none.
    """
    how = _How(Rule(min_kappa, kappa), aggregation, share, Sampling.checked(resamples, seed), dimension, epsilon)
    scorers = listed(scorers)
    every, of_raters = _given(examples, scorers)
    return _study(every, {**of_raters, **(known or {})}, how, partial(_scored, scorers, vectors, advance))


def _study(
    every: Sequence[Example],
    known: Mapping[str, Watched],
    how: _How,
    scored: Callable[[Sequence[Example]], _Scored],
) -> RatingStudy:
    """What the ratings of all lines are worth."""
    every, names = (every, []) if known else one_spelling(every)
    checks = [line for line in every if CHECK in line.extra]
    lines = [line for line in every if CHECK not in line.extra]
    refuse_again(lines)
    single = np.array([_mean_of(line, how.dimension) for line in lines], dtype=np.float64)
    _require_single(lines, single, how.dimension)
    scores = scored(lines)
    how = replace(how, known={**watched(checks, how.dimension), **known}, scores=scores.values)
    found, made = _of_sets(lines, rated_sets(lines, single, how.dimension).filled, how)
    study = RatingStudy(
        sets=found,
        dimension=how.dimension,
        aggregation=how.aggregation,
        resamples=how.sampling.resamples,
        seed=how.sampling.seed,
        checks=len(checks),
        unrated=int(np.isnan(single).sum()),
        answer=(),
        fitted=scores.fitted,
        names=names,
        signatures={name: found.signature for name, found in scores.values.items()},
        lines=made,
    )
    return replace(study, answer=answer(study))


def _of_sets(
    lines: Sequence[Example], sets: Sequence[RatedSet], how: _How
) -> tuple[tuple[SetRatings, ...], list[Example]]:
    """What the ratings of each data set are worth, and all lines with what is made of them."""
    found, made = [], list(lines)
    for rated in sets:
        of_set, own = _set_ratings(rated, how)
        found.append(of_set)
        for place, line in zip(rated.places.tolist(), own, strict=True):
            made[place] = line
    return tuple(found), made


def _given(given: Given, scorers: Iterable[ScorerLike] | ScorerLike) -> tuple[Sequence[Example], Mapping[str, Watched]]:
    """The lines of a study or of anything else, and what is known of raters."""
    if isinstance(given, (str, Path)) and is_project(given):
        return project_ratings(given)
    return examples_of(given, keep=columns_of(scorers)), {}


def project_ratings(place: str | Path) -> tuple[list[Example], dict[str, Watched]]:
    """Return the lines of a rating project, and its raters' checks and seconds.

    Args:
        place: the folder of the project, or its SQLite file; it may be running meanwhile.

    Raises:
        DataError: it is damaged, or its people chose between two replies.
        MissingExtra: its answers are in another database, and sqlalchemy is not installed.
    """
    lines: Sequence[Example | Pair]
    if keeps_answers_elsewhere(place):
        from rejoinder.annotation.collected import load_study  # here, as it needs sqlalchemy

        lines, records = load_study(place)
        known = {one.name: Watched(one.failed, one.passed + one.failed, one.seconds) for one in records}
    else:
        lines = lines_of(place)
        known = {name: Watched(*facts) for name, facts in project_raters(place).items()}
    examples = [line for line in lines if isinstance(line, Example)]
    if len(examples) < len(lines):
        remedy = "Ask rejoinder study who takes the replies that people prefer"
        raise DataError("people chose between two replies, and choices are no ratings", remedy, where=str(place))
    return examples, known


def _mean_of(line: Example, dimension: str) -> float:
    """The mean of a line's single ratings, NaN where there is none."""
    values = [one.value for one in line.ratings if one.dimension == dimension]
    return round(sum(values) / len(values), 9) if values else np.nan


def _require_single(lines: Sequence[Example], single: FloatArray, dimension: str) -> None:
    """Raise `DataError` where no line has a single rating."""
    if np.isfinite(single).any():
        return
    other = sorted({one.dimension for line in lines for one in line.ratings})
    rated = (
        f"Rated one by one are: {', '.join(other)}; choose one of these as the dimension, or add" if other else "Add"
    )
    where = ", ".join(dict.fromkeys(line.where.rpartition(":")[0] for line in lines if line.where))
    remedy = f'{rated} "ratings": {{"{dimension}": [3, 4]}}, "raters": ["ann", "bob"] to each rated line'
    remedy += may_be_the_rating(lines)
    raise DataError(f'none of {len(lines)} lines has a single rating in "{dimension}"', remedy, where=where)


def _set_ratings(rated: RatedSet, how: _How) -> tuple[SetRatings, list[Example]]:
    """What the ratings of a data set are worth, and its lines with what is made of them."""
    raters = raters_of(rated)
    agreed = agreement_of(raters, how.sampling)
    left_out = excluded(agreed.by_rater, how.known, how.rule)
    aside = {one.rater: one for one in left_out}
    counting = raters.without([number for number, name in enumerate(raters.names) if name in aside])
    rng = how.sampling.generator(rated.name, "models of raters")
    made = aggregate(counting, how.aggregation, rng=rng, share=how.share)
    values = np.unique(raters.ratings[np.isfinite(raters.ratings)])
    few = values if len(values) <= FEW_VALUES else values[:0]
    found = SetRatings(
        dataset=rated.name,
        title=rated.title,
        agreement=agreed,
        kept=agreement_of(counting, how.sampling) if left_out else None,
        excluded=left_out,
        chance=_chance(raters, how),
        values=tuple(few.tolist()),
        rated=int(np.isfinite(made.values).sum()),
        unsure=made.unsure,
        competence=made.competence,
        systems=_systems(counting, made, few, how.sampling),
        pace=_pace(raters.names, how.known),
        disagreements=_disagreements(counting, made),
        alternatives=_alternatives(counting, how),
    )
    own = zip(rated.examples, _on_own_scales(rated, made.values), strict=True)
    return found, [_with(line, value, rated.dimension, aside) for line, value in own]


def _chance(raters: Raters, how: _How) -> ByChance | None:
    """Return what the rule by kappa does by chance alone; None where it was not asked for or cannot be applied."""
    if how.rule.kappa is None or not raters.named:
        return None
    return by_chance(raters, how.rule, how.sampling.generator(raters.rated.name, "raters by chance"))


def _scored(
    scorers: Iterable[ScorerLike] | ScorerLike, vectors: str | Path | None, advance: Advance, lines: Sequence[Example]
) -> _Scored:
    """The scores of all lines."""
    loaded = load_scorers(scorers, vectors=vectors)
    values = {name: run(as_rated(scorer, lines), lines, progress=advance) for name, scorer in loaded.items()}
    return _Scored(values, choose_scorers(scorers, [line.dataset for line in lines]).fitted)


def _alternatives(raters: Raters, how: _How) -> tuple[Alternative, ...]:
    """Whether scorers may stand in for a rater; last, where there are any, the mean rating of other contexts."""
    if not how.scores:
        return ()
    places = raters.rated.places
    scores = {name: found.values[places] for name, found in how.scores.items()} | {MEAN_RATING: np.zeros(len(places))}
    return tuple(
        alternative(raters, on_scale(raters, values, how.sampling), name, how.sampling, epsilon=how.epsilon)
        for name, values in scores.items()
    )


def _with(line: Example, value: float, dimension: str, aside: Mapping[str, Excluded]) -> Example:
    """A line with what is made of its ratings; those that do not count stand under a key of their own."""
    none = "" if np.isfinite(value) else "no rating was made of them: nobody who counts, or the model is not sure"

    def why(one: Rating) -> str:
        return "" if one.dimension != dimension else aside[str(one.rater)].why if one.rater in aside else none

    left = [{"rater": one.rater, "value": one.value, "why": why(one)} for one in line.ratings if why(one)]
    quality = {name: mean for name, mean in line.quality.items() if name != dimension}
    return replace(
        line,
        ratings=tuple(one for one in line.ratings if not why(one)),
        quality=quality if none else {**quality, dimension: float(value)},
        extra={**line.extra, ASIDE: {dimension: left}} if left else line.extra,
    )


def _on_own_scales(rated: RatedSet, values: FloatArray) -> list[float]:
    """[N] ratings on the scale of each line, where a set has several and they are on [0, 1]."""
    if len(rated.scales) < 2:
        return [float(value) for value in values]
    scales = [line.scale(rated.dimension) for line in rated.examples]
    ends = ((0.0, 1.0) if scale is None else scale for scale in scales)
    return [round(low + float(value) * (high - low), 9) for value, (low, high) in zip(values, ends, strict=True)]


def _systems(raters: Raters, made: Aggregated, values: FloatArray, sampling: Sampling) -> tuple[RatedSystem, ...]:
    """The systems of a data set, best first."""
    rated = raters.rated
    own = np.flatnonzero(np.isfinite(made.values) & (rated.systems != NO_SYSTEM))
    numbers, systems = np.unique(rated.systems[own], return_inverse=True)
    if len(numbers) < 2:
        return ()
    contexts = renumbered(rated.contexts[own])
    drawn = sampling.draw(contexts, rated.name, "systems").means(made.values[own], systems.astype(np.int64))
    rows = []
    for system in range(len(numbers)):
        lines = own[systems == system]
        given = raters.ratings[lines]
        given = given[np.isfinite(given)]
        own_contexts = number_of(renumbered(rated.contexts[lines]))
        mean = percentile_interval(drawn[system], own_contexts)
        rows.append(
            RatedSystem.of(
                mean,
                n=len(lines),
                system=str(rated.examples[lines[0]].system),
                spread=float(made.values[lines].std()),
                shares=tuple(float((given == value).mean()) for value in values.tolist()),
            )
        )
    return tuple(sorted(rows, key=lambda row: -row.value))


def _pace(names: Sequence[str], known: Mapping[str, Watched]) -> tuple[Pace, ...]:
    """How long each rater took, where that is known."""
    return tuple(
        Pace(rater=name, n=len(took), median=float(np.median(took)), quickest=float(np.quantile(took, 0.1)))
        for name in names
        if (took := known.get(name, Watched()).seconds)
    )


def _disagreements(raters: Raters, made: Aggregated) -> tuple[Disagreement, ...]:
    """The lines whose ratings are furthest apart; of those alike the most rated, then the first."""
    known = np.isfinite(raters.ratings)
    several = np.flatnonzero(known.sum(axis=1) >= 2)
    if not len(several):
        return ()
    spread = np.nanstd(raters.ratings[several], axis=1).round(9)
    order = np.lexsort((several, -known[several].sum(axis=1), -spread))[:_DISAGREEMENTS]
    return tuple(_disagreement(raters, made, line) for line in several[order[spread[order] > 0]].tolist())


def _disagreement(raters: Raters, made: Aggregated, line: int) -> Disagreement:
    """One line."""
    example = raters.rated.examples[line]
    places = np.flatnonzero(raters.raters[line] != NOBODY).tolist()
    given = [(raters.names[raters.raters[line, place]], float(raters.ratings[line, place])) for place in places]
    return Disagreement(
        id=example.id,
        system=example.system,
        context=example.context,
        response=example.response,
        given=tuple(sorted(given, key=lambda one: one[1])),
        rating=float(made.values[line]),
    )
