"""`study` and `full_study`: how far scorers agree with the people who rated the same lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.read import examples_of
from rejoinder.errors import DataError, UsageError, shown
from rejoinder.example import OVERALL, Example, Given
from rejoinder.data.rated_lines import may_be_the_rating
from rejoinder.data.rated import RatedSet, RatedSets, rated_sets, ratings_of
from rejoinder.data.shared_ids import refuse_copies, shared_ids_said
from rejoinder.judges.learner import AnyLearner
from rejoinder.meta.agreement import Study, agreements, most_frequent, partly_unscored
from rejoinder.meta.answer import answer, answer_of
from rejoinder.meta.disagreements import explained
from rejoinder.scoring.domain import domain_share, out_of_domain, out_on_average
from rejoinder.meta.findings import Findings, findings_of
from rejoinder.meta.full_study import FullStudy
from rejoinder.meta.leave_one_out import SEEN, UNSEEN, LeftOut, left_out_of, left_out_scores
from rejoinder.meta.over_sets import mean_chance, nearness_of
from rejoinder.meta.ranking import means_over_sets, ranking_of
from rejoinder.meta.same_lines import on_same_lines
from rejoinder.meta.scored_set import ScoredSet
from rejoinder.meta.verdict import verdicts_apart
from rejoinder.meta.yardsticks import kind_of, yardsticks
from rejoinder.scorer import Advance, Scorer, ScorerLike, Scores, ignore
from rejoinder.scoring.catalog import DEFAULT, ScorerChoice, choose_scorers, columns_of, listed, load_scorers
from rejoinder.scoring.dialogue import as_rated
from rejoinder.scoring.explained import facts_warning
from rejoinder.scoring.workers import Count, Workers, asked_of, scored
from rejoinder.scoring.unscored import nothing_scored, unread
from rejoinder.stats.resamples import Sampling


def study(
    examples: Given,
    scorers: Sequence[ScorerLike] | ScorerLike | Mapping[str, Scores] | None = None,
    *,
    dimension: str = OVERALL,
    resamples: int = 1000,
    seed: int = 0,
    vectors: str | Path | None = None,
    drop_copies: bool = False,
    workers: Workers | Count = 1,
    advance: Advance = ignore,
) -> Study:
    """The agreement of each scorer with people: Pearson, Spearman and Kendall with 95 % intervals.

    A line that says `"level": "dialogue"` is scored as a whole conversation (`streams.dialogue`).

    Per data set (`Example.dataset`, "all" where none is named) and, where several have ratings, over all of them as
    "pooled", with ratings brought to [0, 1] by their scales. At turn level lines are correlated; at system level, where
    systems are known, the mean scores of systems with their mean ratings. Intervals come from resampled contexts (see
    `rejoinder.stats.bootstrap`); the same seed gives the same numbers, in whatever order lines and scorers come.

    Args:
        examples: N examples in any form that `examples_of` takes, of which some are rated. Lines without a rating are
            counted and not used.
        scorers: names, folders of judges, scorer objects or functions, or one of them; or scores of these same
            examples, by name. None takes all in the box but for judges that were fitted on lines of these data sets
            (`scoring.catalog.choose_scorers`).
        dimension: which ratings to agree with.
        resamples: number of resamples; 0 gives no intervals.
        seed: seed of the resampling, 0 or more.
        vectors: file of word vectors for scorers that need them; None takes those in the box.
        drop_copies: leave out responses that equal one of their references word for word.
        workers: how many processes score, or "auto"; see `rejoinder.scoring.workers`.
        advance: called during scoring with the number of examples done, `len(examples)` in all for each scorer.

    Raises:
        DataError: no line is rated; an id is given twice; ratings of different scales would be put together and a scale
            is missing.
        NothingScored: not one of the scorers could score a single line.
        UsageError: no scorer, or two of one name; scores of other lines; a negative seed or number of resamples.
    """
    sampling = Sampling.checked(resamples, seed)
    examples, scorers = _given(examples, scorers)
    ratings = _usable_ratings(examples, dimension, drop_copies=drop_copies)
    sets = rated_sets(examples, ratings, dimension)
    given = _scores_of(examples, scorers, vectors, workers, advance)
    return _study_of(examples, sets, given.scores, sampling, drop_copies=drop_copies)


def full_study(
    examples: Given,
    scorers: Sequence[ScorerLike] | ScorerLike | Mapping[str, Scores] | None = None,
    *,
    dimension: str = OVERALL,
    resamples: int = 1000,
    seed: int = 0,
    vectors: str | Path | None = None,
    drop_copies: bool = False,
    leave_one_out: bool | str | AnyLearner = False,
    workers: Workers | Count = 1,
    advance: Advance = ignore,
) -> FullStudy:
    """The study of `scorers`, beside them the trivial baselines, and for each data set what its figures rest on.

    That is: how far people agree with each other and the ceiling that follows; correlations inside systems and without
    copies of references; tests between scorers; the effect of length; systems; lines where scorers and people disagree.

    Args:
        examples: see `study`, as for all that is not explained here.
        scorers: see there.
        dimension: see there.
        resamples: see there.
        seed: see there.
        vectors: see there.
        drop_copies: see there.
        workers: see there.
        leave_one_out: True, or a learner or its name: a judge fitted on all data sets but the one in question is a
            scorer too; beside the scorers stands then what it gains by seeing other conversations of the set.
        advance: called with the number of lines scored; before that, where sets are left out, with 1 after each of six
            fits a data set.

    Raises:
        UsageError: `leave_one_out` with fewer than two data sets, or not of overall ratings; see also `study`.
    """
    sampling = Sampling.checked(resamples, seed)
    examples, scorers = _given(examples, scorers)
    # Fitting takes longest and can fail for want of scales, so it comes before anything is scored.
    held_out = _held_out(examples, leave_one_out, dimension, seed, advance) if leave_one_out else {}
    rated = rated_sets(examples, _usable_ratings(examples, dimension, drop_copies=drop_copies), dimension)
    own = _scores_of(examples, scorers, vectors, workers, advance)
    given = own.scores | ({UNSEEN: held_out[UNSEEN]} if held_out else {})
    trivial = yardsticks(examples, given, rated)
    asked = _study_of(examples, rated, given, sampling, drop_copies=drop_copies)
    baselines = _study_of(examples, rated, trivial, sampling, drop_copies=drop_copies) if trivial else None
    scored = _scored_sets(rated, {**given, **trivial}, own.scorers, asked, baselines, sampling)
    sets = tuple(_findings(one, given, own.scorers) for one in scored.sets)
    found = FullStudy(
        study=asked,
        baselines=baselines,
        sets=sets,
        fitted=own.choice.fitted,
        withheld=own.choice.withheld,
        verdicts={one.scorer: one.verdict for one in sets[0].standings},
        asked=tuple(given),
        left_out=_left_out(rated, held_out, sets, sampling) if held_out else None,
        facts=facts_warning(own.scorers),
    )
    notes = [one.note for one in (*rated.filled, *([rated.pool] if rated.pool else [])) if one.note]
    if scored.pool:
        found = _with_pool(found, scored.pool, {**given, **trivial, **held_out})
    return replace(found, answer=(*answer(found), *filter(None, [asked.shared_ids]), *dict.fromkeys(notes)))


def _held_out(
    examples: Sequence[Example], learner: bool | str | AnyLearner, dimension: str, seed: int, advance: Advance
) -> Mapping[str, Scores]:
    """Scores by judges that never saw the data set of a line, or never its conversation.

    Raises:
        UsageError: other ratings are asked about than judges are fitted on; see also `left_out_scores`.
    """
    if dimension != OVERALL:
        raise UsageError(f"judges are fitted on overall ratings, so no set is left out for {dimension!r}")
    named = DEFAULT if isinstance(learner, bool) else learner
    return left_out_scores(examples, named, seed=seed, advance=advance)


def _left_out(
    rated: RatedSets, held_out: Mapping[str, Scores], sets: Sequence[Findings], sampling: Sampling
) -> LeftOut:
    """What judges gain by seeing other conversations of a set, below the ceiling of each."""
    ceilings = {one.card.dataset: one.people.ceiling.value for one in sets}
    return left_out_of(rated.filled, held_out, ceilings, sampling)


def _study_of(
    examples: Sequence[Example], sets: RatedSets, scores: Mapping[str, Scores], sampling: Sampling, *, drop_copies: bool
) -> Study:
    """The agreement of `scores` of all examples with the ratings of the sets made of them."""
    every = (*sets.sets, *([sets.pool] if sets.pool else []))
    places = [place for one in sets.sets for place in one.places.tolist()]
    unscored = {name: partly_unscored(places, found) for name, found in scores.items()}
    return Study(
        agreements=tuple(
            row for one in every for name, found in scores.items() for row in agreements(one, name, found, sampling)
        ),
        signatures={name: found.signature for name, found in scores.items()},
        dimension=sets.dimension,
        resamples=sampling.resamples,
        seed=sampling.seed,
        drop_copies=drop_copies,
        examples=len(examples),
        rated=sum(map(len, sets.sets)),
        copies=sum(example.copies_reference for example in examples),
        notes={name: found.warning_counts for name, found in scores.items()},
        shared_ids=shared_ids_said(examples),
        unscored={name: said for name, said in unscored.items() if said},
    )


class _ScoredSets(NamedTuple):
    """The data sets with their scores, and the pool where there are several."""

    sets: tuple[ScoredSet, ...]
    pool: ScoredSet | None


def _scored_sets(
    rated: RatedSets,
    scores: Mapping[str, Scores],
    scorers: Mapping[str, Scorer],
    asked: Study,
    baselines: Study | None,
    sampling: Sampling,
) -> _ScoredSets:
    """The scores beside the ratings, set by set."""
    kinds = {name: kind_of(name, found) for name, found in scores.items()}
    rows = asked.agreements + (baselines.agreements if baselines else ())

    def scored(one: RatedSet, members: tuple[ScoredSet, ...] = ()) -> ScoredSet:
        values = {name: found.values[one.places] for name, found in scores.items()}
        own = tuple(row for row in rows if row.dataset == one.name)
        inside = [member.rated for member in members]
        outside = {name: why for name, found in scores.items() if (why := _outside(one, inside, name, found, scorers))}
        return ScoredSet(one, values, kinds, own, tuple(asked.signatures), sampling, members, outside)

    sets = tuple(map(scored, rated.filled))
    return _ScoredSets(sets, scored(rated.pool, sets) if rated.pool else None)


def _outside(
    rated: RatedSet, members: Sequence[RatedSet], name: str, scores: Scores, scorers: Mapping[str, Scorer]
) -> str:
    """Return why a scorer cannot judge the lines of a set; "" where it can. Of given scores the notes alone tell.

    A pool has `members`, which have equal weights in its means, so their shares have too.
    """
    scorer = scorers.get(name)
    card = scorer.card if scorer else None
    share, *shares = (domain_share(scores, scorer, one.places.tolist()) for one in (rated, *members))
    return out_of_domain(name, card, share) or out_on_average(name, card, shares)


def _findings(scored: ScoredSet, scores: Mapping[str, Scores], scorers: Mapping[str, Scorer]) -> Findings:
    """What is said of one data set, in words too, and of its cases by the scorers that were run."""
    found = findings_of(scored)
    return replace(found, answer=answer_of(found, scores), cases=explained(found.cases, scorers))


def _with_pool(found: FullStudy, pool: ScoredSet, scores: Mapping[str, Scores]) -> FullStudy:
    """The study with what is said over its data sets; `scores` are all there are, of all examples."""
    over_sets = pool.result(means_over_sets)
    chance = {row.scorer: mean_chance(found.sets, row.scorer) for row in over_sets}
    # A judge that was fitted on some of the sets is not as near to people as it looks.
    near = [row for row in over_sets if row.scorer not in found.fitted and row.scorer not in pool.outside]
    alike = [row.scorer for row in near if row.scorer in pool.result(ranking_of)]
    seen = [SEEN] if alike and SEEN in scores and scores[SEEN].scored.any() else []
    common = on_same_lines(pool, {name: scores[name].values for name in (*alike, *seen)})
    return replace(
        found,
        pool=findings_of(pool),
        over_sets=over_sets,
        chance=chance,
        verdicts=verdicts_apart(over_sets, chance, found.asked, pool.outside),
        nearness=nearness_of(found.sets, near, found.left_out, common),
        common=common.sets,
        common_lines=common.n,
    )


def _given(
    examples: Given, scorers: Sequence[ScorerLike] | ScorerLike | Mapping[str, Scores] | None
) -> tuple[list[Example], list[ScorerLike] | Mapping[str, Scores] | None]:
    """The examples; and the scorers in a list, which can be gone through twice, or their scores."""
    named = scorers if scorers is None or isinstance(scorers, Mapping) else listed(scorers)
    return examples_of(examples, keep=columns_of(named)), named


class _Scored(NamedTuple):
    """Scores of all examples.

    Attributes:
        scores: by scorer.
        scorers: those that were run; none where scores were given.
        choice: how they were chosen.
    """

    scores: dict[str, Scores]
    scorers: Mapping[str, Scorer]
    choice: ScorerChoice


def _scores_of(
    examples: Sequence[Example],
    scorers: list[ScorerLike] | Mapping[str, Scores] | None,
    vectors: str | Path | None,
    workers: Workers | Count,
    advance: Advance,
) -> _Scored:
    """The scores of all examples by scorer, worked out unless given.

    Arguments and errors as for `study`.
    """
    found: dict[str, Any]
    if isinstance(scorers, Mapping):
        choice, loaded, found = ScorerChoice([], {}, {}), dict[str, Scorer](), dict(scorers)
    else:
        choice = choose_scorers(scorers, [example.dataset for example in examples])
        loaded = load_scorers(choice.scorers, vectors=vectors)
        loaded = {name: as_rated(scorer, examples) for name, scorer in loaded.items()}
        found = scored(loaded, examples, asked_of(choice.scorers, vectors, examples), workers, advance)
    if not found:
        raise UsageError("no scorer was named; a study needs at least one")
    for name, scores in found.items():
        if not isinstance(scores, Scores):
            remedy = "Give rejoinder.score(...), or a function that returns the numbers: lambda examples: numbers"
            raise UsageError(f"the scores of {name!r} are {shown(scores)}, expected Scores. {remedy}")
        if len(scores.values) != len(examples):
            raise UsageError(
                f"the scores of {name!r} are of {len(scores.values)} lines, the examples are {len(examples)}"
            )
    if not any(scores.scored.any() for scores in found.values()):
        name, scores = next(iter(found.items()))
        reason = most_frequent(scores.reasons.values()) or "no reason given"
        raise nothing_scored(
            f"{name}: none of {len(examples)} lines has a score; most often: {reason}", unread(examples)
        )
    return _Scored(found, loaded, choice)


def _usable_ratings(examples: Sequence[Example], dimension: str, *, drop_copies: bool) -> NDArray[np.float64]:
    """[N] ratings, NaN on lines that a study does not use.

    Raises:
        DataError: an id is given twice; no line is rated, or none but those that copy a reference.
    """
    refuse_copies(examples)
    ratings = ratings_of(examples, dimension)
    _require_ratings(examples, ratings, dimension)
    if drop_copies:
        ratings = np.where([example.copies_reference for example in examples], np.nan, ratings)
        _require_others(ratings)
    return ratings


def _require_ratings(examples: Sequence[Example], ratings: NDArray[np.float64], dimension: str) -> None:
    """Raise `DataError` where no line is rated in `dimension`."""
    if np.isfinite(ratings).any():
        return
    rated = {name for example in examples for name in (*example.quality, *(one.dimension for one in example.ratings))}
    other = f"Rated are: {', '.join(sorted(rated))}; choose one of these as the dimension, or add" if rated else "Add"
    files = dict.fromkeys(example.where.rpartition(":")[0] for example in examples if example.where)
    named = may_be_the_rating(examples)
    raise DataError(
        f'none of {len(examples)} lines has a rating in "{dimension}"',
        f'{other} to each rated line "quality": {{"{dimension}": 3.5}} or "ratings": {{"{dimension}": [3, 4]}}{named}',
        where=", ".join(files),
    )


def _require_others(ratings: NDArray[np.float64]) -> None:
    """Raise `DataError` where no rated line is left besides the copies."""
    if not np.isfinite(ratings).any():
        raise DataError("every rated response copies one of its references, so none is left", "Keep the copies in")
