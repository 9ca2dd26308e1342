"""`study`: which scorers agree with human ratings, or with human choices between two replies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from rejoinder.analysis.analyses import ANALYSES, TableOf, analyse
from rejoinder.analysis.baselines import (
    ScoredExamples,
    kind_of,
    most_frequent,
    score_examples,
    scorer_facts,
)
from rejoinder.analysis.disagreements import disagreements
from rejoinder.analysis.labelling import counts_of, left_out_said, prompts_of
from rejoinder.analysis.labels import good_or_bad, judges_of, judging_of
from rejoinder.analysis.labels_layout import judged_results
from rejoinder.analysis.leave_one_out import LEFT_OUT, SAME_SET, left_out, left_out_scores
from rejoinder.analysis.pooled import over_sets
from rejoinder.analysis.sample import joined, rated_lines
from rejoinder.analysis.scored import Analysis, Judging, JudgingOptions, ScoredSet
from rejoinder.analysis.study_answer import answer, warnings
from rejoinder.analysis.study_layout import Measured, layout
from rejoinder.data.rated import Labelled, RatedSet, Tie, labelled, rated_sets, ratings_of
from rejoinder.data.rated_lines import may_be_the_rating
from rejoinder.data.read import lines_of
from rejoinder.data.shared_ids import refuse_copies, shared_ids_said
from rejoinder.errors import DataError, UsageError
from rejoinder.example import OVERALL, Example, Given, Pair
from rejoinder.metrics.baselines import words
from rejoinder.report.results import About, Results
from rejoinder.scorer import Advance, ScorerLike, Scores, ignore
from rejoinder.scoring.catalog import columns_of, listed
from rejoinder.scoring.domain import NO_REPLIES, domain_share, out_of_domain, out_on_average
from rejoinder.scoring.explained import facts_warning
from rejoinder.scoring.workers import Count, Workers
from rejoinder.stats.resamples import FloatArray, Sampling
from rejoinder.text.normalize import visible

if TYPE_CHECKING:
    from rejoinder.judges.protocol import AnyLearner


def study(
    data: Given,
    scorers: Sequence[ScorerLike] | ScorerLike | Mapping[str, Scores] | None = None,
    *,
    rated: Given | None = None,
    tie: Tie | None = None,
    dimension: str = OVERALL,
    resamples: int = 1000,
    seed: int = 0,
    vectors: str | Path | None = None,
    drop_copies: bool = False,
    leave_one_out: bool | str | AnyLearner = False,
    workers: Workers | Count = 1,
    progress: Advance = ignore,
    analyses: Iterable[tuple[Analysis, TableOf | None]] = ANALYSES,
    **judged: Unpack[JudgingOptions],
) -> Results:
    """Return how well each scorer agrees with human ratings, and what limits that.

    Pearson, Spearman and Kendall with 95 % intervals for each data set (`Example.dataset`, "all" without a name), over
    lines and over the mean scores of systems; next to the scorers trivial baselines; how well raters agree, and the
    ceiling that follows; correlations within systems and without copies of references; tests between scorers; the
    effect of length; the systems. Of several data sets, also means over them. A line with `"level": "dialogue"` is
    scored as a whole conversation. Intervals come from resampled contexts. The same seed gives the same numbers,
    whatever the order of lines and scorers.

    Args:
        data: N examples in any form that `examples_of` takes, of which some are rated; or pairs of replies with the one
            that people prefer.
        scorers: names, folders of judges, scorer objects or functions, or one of them; or scores of these same
            examples, by name. The default is all bundled scorers but judges that were fitted on these data sets.
        rated: rated lines or labels, joined to the examples by id or by text; others are examples of their own.
        tie: "fail" or "pass" where as many people give one label as the other; by default the line is left out.
        dimension: which ratings to agree with.
        resamples: number of resamples; 0 gives no intervals.
        seed: of every draw, 0 or more.
        vectors: file of word vectors for scorers that need them; the default is the bundled ones.
        drop_copies: leave out responses that equal one of their references.
        leave_one_out: True, or a learner or its name: for each data set, fit a judge on all others and test it there.
        workers: how many processes score, or "auto", or open `Workers`.
        progress: called with the number of examples done, by scorer and baseline; before that, with `leave_one_out`,
            with 1 after each fit.
        analyses: what to measure, each with its table.
        judged: `bar`, `cost`, `cutoff`, `good`, `chosen` and `by` for judges against labels, see `JudgingOptions`.

    Raises:
        DataError: no line is rated; two lines have one id; ratings of different scales would be put together and a
            scale is missing.
        NothingScored: not one of the scorers could score a single line.
        UsageError: no scorer, or two of one name; scores of other lines; a negative seed or number of resamples;
            `leave_one_out` with fewer than two data sets, or not of overall ratings.
    """
    named = scorers if scorers is None or isinstance(scorers, Mapping) else listed(scorers)
    Sampling.checked(resamples, seed)
    lines = lines_of(data, name="examples", keep=columns_of(named))
    run = {"vectors": vectors, "workers": workers, "progress": progress}
    if pairs := _pairs(lines):
        from rejoinder.analysis.preferences import study_pairs

        asked = {"dimension": dimension != OVERALL, "drop-copies": drop_copies, "leave-one-out": leave_one_out}
        asked |= {"rated": rated is not None, "tie": tie is not None}
        for flag in (name for name, is_asked in asked.items() if is_asked):
            raise UsageError(f"--{flag} is for ratings, and {pairs[0].where} is a pair. Omit it")
        return study_pairs(pairs, named, resamples=resamples, seed=seed, **run)  # type: ignore[arg-type]
    options: dict[str, Any] = {"dimension": dimension, "resamples": resamples, "seed": seed, "drop_copies": drop_copies}
    judging, of_judges = judging_of(judged)
    options |= of_judges
    examples = [line for line in lines if isinstance(line, Example)]
    facts = {"shared_ids": shared_ids_said(examples)}
    labels, others = _labelled(examples, named, rated, tie, options)
    return _study_of_ratings(labels, others, named, options, judging, leave_one_out, tuple(analyses), run, facts)


def _labelled(
    examples: Sequence[Example],
    scorers: Sequence[ScorerLike] | Mapping[str, Scores] | None,
    rated: Given | None,
    tie: Tie | None,
    options: Mapping[str, Any],
) -> tuple[Labelled, int]:
    """Return the examples with their labels, and how many of the last ones a rated file has alone."""
    dimension, others, unknown = options["dimension"], 0, tuple[str, ...]()
    if rated is not None:
        sample = joined(examples, rated_lines(rated, columns_of(scorers)), dimension, refuse_copies)
        examples, others, unknown = sample.lines, int((~sample.population).sum()), sample.unknown
    if options["good"] is not None:
        examples = good_or_bad(examples, dimension, options["good"])
    return labelled(examples, dimension, tie=tie, prompts=prompts_of(scorers), unknown=unknown), others


def _study_of_ratings(
    labels: Labelled,
    others: int,
    scorers: Sequence[ScorerLike] | Mapping[str, Scores] | None,
    options: Mapping[str, Any],
    judging: Judging,
    learner: bool | str | AnyLearner,
    analyses: tuple[tuple[Analysis, TableOf | None], ...],
    run: Mapping[str, Any],
    facts: Mapping[str, Any],
) -> Results:
    """Return the study of rated replies; `others` are of a rated file alone."""
    examples = labels.lines
    dimension, sampling = options["dimension"], Sampling(options["resamples"], options["seed"])
    held_out: dict[str, Scores] = {}
    if learner:  # fitting takes longest and can fail for want of scales, so it comes before any scoring
        fit = {"dimension": dimension, "seed": options["seed"], "advance": run["progress"]}
        held_out = left_out_scores(examples, learner, **fit)
    usable = _usable_ratings(examples, dimension, drop_copies=options["drop_copies"])
    rated = rated_sets(examples, usable, dimension, labels.ties, others)
    given = score_examples(examples, scorers, {name: held_out[name] for name in held_out if name == LEFT_OUT}, **run)
    sets = [_scored_set(own, given, sampling, judging) for own in rated.filled]
    pool = _scored_set(rated.pool, given, sampling, judging, tuple(sets)) if rated.pool else None
    every = [*sets, *([pool] if pool else [])]
    estimates = [estimate for scored in every for estimate in analyse(scored, analyses)]
    if pool and held_out:
        same_set = held_out[SAME_SET]
        also = {SAME_SET: same_set.values[pool.rated.places]} if same_set.scored.any() else {}
        estimates += over_sets(pool, estimates, fitted=given.fitted, also=also)
        estimates += left_out(sets, same_set.values)
    elif pool:
        estimates += over_sets(pool, estimates, fitted=given.fitted)
    about = _about(sets, given, labels, options)
    cases = tuple(case for scored in sets for case in disagreements(scored))
    facts = {**facts, "facts_warning": facts_warning(given.scorers)}
    results = Results(
        command="study",
        estimates=tuple(estimates),
        answer=answer(every[-1], estimates, about.scorers),
        warnings=(*left_out_said(labels.facts), *warnings(every, estimates, about, withheld=given.withheld, **facts)),
        cases=cases,
        about=about,
        layout=layout(Measured(sets, pool, estimates, analyses, about, cases)),
    )
    return judged_results(results, every[-1]) if judges_of(every[-1]) else results


def _scored_set(
    rated: RatedSet,
    given: ScoredExamples,
    sampling: Sampling,
    judging: Judging,
    members: tuple[ScoredSet, ...] = (),
) -> ScoredSet:
    """Return a rated set with its scores."""
    places = rated.places.tolist()
    outside, shares = {}, {}
    for name, scores in given.scores.items():
        card = given.scorers[name].card if name in given.scorers else None
        share = domain_share(scores, given.scorers.get(name), places)
        if share.outside or (card and card.domain):
            shares[name] = share
            inside = [member.shares.get(name, NO_REPLIES) for member in members]  # equal weights, as in the mean
            if why := out_of_domain(name, card, share) or out_on_average(name, card, inside):
                outside[name] = why
    missing = {name: _missing(scores, places) for name, scores in given.scores.items()}
    return ScoredSet(
        rated=rated,
        scores={name: scores.values[rated.places] for name, scores in given.scores.items()},
        kinds={name: kind_of(scores) for name, scores in given.scores.items()},
        asked=given.asked,
        sampling=sampling,
        resamples=sampling.draw(rated.contexts, rated.name, "agreement"),
        outside=outside,
        members=members,
        of_all={name: scores.values[rated.population.places] for name, scores in given.scores.items()},
        unscored={name: most_frequent(reasons) for name, reasons in missing.items() if reasons},
        shares=shares,
        judging=judging,
    )


def _missing(scores: Scores, places: Sequence[int]) -> list[str]:
    """Return why lines have no score, one reason for each."""
    scored = scores.scored
    return [scores.reasons.get(place, "no reason given") for place in places if not scored[place]]


def _about(sets: Sequence[ScoredSet], given: ScoredExamples, labels: Labelled, options: Mapping[str, Any]) -> About:
    """Return what the study was made of."""
    examples = labels.lines
    places = [place for scored in sets for place in scored.rated.places.tolist()]
    scorers = {}
    for name, scores in given.scores.items():
        missing = _missing(scores, places)
        scorers[name] = scorer_facts(kind_of(scores), scores, asked=name in given.asked) | {
            "unscored": len(missing),
            "unscored_reason": most_frequent(missing),
            "fitted_on": list(given.fitted.get(name, ())),
            "domain": given.scorers[name].card.domain if name in given.scorers else "",
        }
    copies = sum(example.copies_reference for example in examples)
    counts = {"examples": len(examples), "rated": len(places), "copies": copies, **counts_of(labels.facts)}
    return About(data=[_card(scored) for scored in sets], scorers=scorers, options=options, counts=counts)


def _card(scored: ScoredSet) -> dict[str, Any]:
    """Return what the rated lines of a data set are."""
    rated = scored.rated
    return {
        "dataset": rated.name,
        "title": rated.title,
        "rated": len(rated),
        "single_ratings": int(np.isfinite(rated.single_ratings).sum()),
        "contexts": rated.clusters,
        "systems": len(rated.named_systems),
        "with_references": sum(any(map(visible, example.references)) for example in rated.examples),
        "copies": int(rated.copies.sum()),
        "scale": rated.scale,
        "mean_rating": float(rated.ratings.mean()),
        "deviation": float(rated.ratings.std()),
        "words": float(np.mean([len(words(example.response)) for example in rated.examples])),
        "out_of_domain": dict(scored.outside),
    }


def _pairs(lines: Sequence[Example | Pair]) -> list[Pair]:
    """Return the pairs of replies, which then are all lines; none if all lines are single replies.

    Raises:
        DataError: there are both, or no line at all.
    """
    if not lines:
        raise DataError("no line is left to study", "Correct those that were skipped")
    pairs = [line for line in lines if isinstance(line, Pair)]
    if single := next((line for line in lines if pairs and isinstance(line, Example)), None):
        problem = f"a pair of replies, and {single.where} is a single one; a study takes pairs or ratings"
        raise DataError(problem, "Call study once for each", where=pairs[0].where)
    return pairs


def _usable_ratings(examples: Sequence[Example], dimension: str, *, drop_copies: bool) -> FloatArray:
    """Return [N] ratings, NaN on lines that a study does not use.

    Raises:
        DataError: two lines have one id; no line is rated, or only copies of a reference are.
    """
    refuse_copies(examples)
    ratings = ratings_of(examples, dimension)
    if not np.isfinite(ratings).any():
        raise _no_ratings(examples, dimension)
    if drop_copies:
        ratings = np.where([example.copies_reference for example in examples], np.nan, ratings)
        if not np.isfinite(ratings).any():
            raise DataError("every rated response copies one of its references, so none is left", "Keep the copies in")
    return ratings


def _no_ratings(examples: Sequence[Example], dimension: str) -> DataError:
    """Return the error for lines of which none is rated in `dimension`."""
    rated = {name for example in examples for name in (*example.quality, *(one.dimension for one in example.ratings))}
    other = f"Rated are: {', '.join(sorted(rated))}; choose one of these as the dimension, or add" if rated else "Add"
    files = dict.fromkeys(example.where.rpartition(":")[0] for example in examples if example.where)
    keys = f'"quality": {{"{dimension}": 3.5}} or "ratings": {{"{dimension}": [3, 4]}}'
    return DataError(
        f'none of {len(examples)} lines has a rating in "{dimension}"',
        f"{other} to each rated line {keys}, or name a file with them: --rated FILE{may_be_the_rating(examples)}",
        where=", ".join(files),
    )
