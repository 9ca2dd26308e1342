"""The scores of a study: those of the scorers that were asked for, and of baselines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rejoinder.analysis.scored import Kind, ScoredSet
from rejoinder.data.rated import NO_SYSTEM, RatedSet, RatedSets
from rejoinder.errors import UsageError, shown
from rejoinder.example import Example
from rejoinder.metrics.bleu import NO_STOP_WORDS, ORDERS
from rejoinder.scorer import Advance, Scorer, ScorerLike, Scores, Signature
from rejoinder.scoring.catalog import ScorerChoice, cards, choose_scorers, load_scorers
from rejoinder.scoring.dialogue import as_rated
from rejoinder.scoring.engines import asked_of
from rejoinder.scoring.unscored import nothing_scored, unread
from rejoinder.scoring.workers import Count, Workers, scored
from rejoinder.stats.resamples import FloatArray, IntArray
from rejoinder.version import __version__

TRIVIAL = ("length", "context-overlap")
SYSTEM_MEAN, DATA_SET_MEAN = "system mean", "data set mean"
_BLEU = frozenset(f"bleu-{order}" for order in ORDERS)


class ScoredExamples(NamedTuple):
    """The scores of all examples of a study.

    Attributes:
        scores: by scorer, those that were asked for first, then the baselines that have any score.
        asked: the scorers that were asked for.
        scorers: those of them that were run; none if scores were given.
        fitted: the judges that were fitted on lines of these data sets, with the data sets.
        withheld: the judges that were left out for that reason, with the data sets.
    """

    scores: Mapping[str, Scores]
    asked: tuple[str, ...]
    scorers: Mapping[str, Scorer]
    fitted: Mapping[str, Sequence[str]]
    withheld: Mapping[str, Sequence[str]]


def score_examples(
    examples: Sequence[Example],
    scorers: Sequence[ScorerLike] | Mapping[str, Scores] | None,
    also: Mapping[str, Scores],
    *,
    vectors: str | Path | None,
    workers: Workers | Count,
    progress: Advance,
) -> ScoredExamples:
    """Return the scores of all examples by scorer and by baseline, computed unless they are given.

    `also` are scores by scorers that were asked for too; for the other arguments see `study`.

    Raises:
        UsageError: no scorer was named; scores are not those of these examples.
        NothingScored: no scorer that was asked for has any score.
    """
    given = dict(scorers) if isinstance(scorers, Mapping) else {}
    _require_scores(given, len(examples))
    choice = ScorerChoice([], {}, {})
    if not isinstance(scorers, Mapping):
        choice = choose_scorers(scorers, [example.dataset for example in examples])
    run = load_scorers(choice.scorers, vectors=vectors)
    if not (given or run):
        raise UsageError("no scorer was named; a study needs at least one")
    # All in one call, so that the parts of one line are counted once for every scorer that counts them.
    extra = _baseline_names({**given, **run})
    loaded = {name: as_rated(scorer, examples) for name, scorer in {**run, **load_scorers(extra)}.items()}
    computed = scored(loaded, examples, asked_of([*choice.scorers, *extra], vectors, examples), workers, progress)
    asked = {**given, **{name: computed[name] for name in run}, **also}
    if not _with_any(asked):
        name, first = next(iter(asked.items()))
        reason = most_frequent(first.reasons.values()) or "no reason given"
        problem = f"{name}: none of {len(examples)} lines has a score; most often: {reason}"
        raise nothing_scored(problem, unread(examples))
    scores = {**asked, **_with_any({name: computed[name] for name in extra})}
    return ScoredExamples(scores, tuple(asked), {name: loaded[name] for name in run}, choice.fitted, choice.withheld)


def scorer_count(
    scorers: Sequence[ScorerLike] | None, datasets: Iterable[str | None], *, baselines: bool = True
) -> int:
    """Return how many scorers a study runs, with or without the baselines."""
    names = choose_scorers(scorers, datasets).scorers
    return len(names) + (len(_baseline_names({str(name): None for name in names})) if baselines else 0)


def kind_of(name: str, scores: Scores) -> Kind:
    """Return the kind of a scorer; one that is not in the catalog is a judge."""
    if name in (SYSTEM_MEAN, DATA_SET_MEAN):
        return "oracle baseline"
    card = cards().get(str(scores.signature.fields.get("scorer")))
    return card.kind if card else "judge"


def scorer_facts(kind: Kind, scores: Scores, *, asked: bool = True) -> dict[str, Any]:
    """Return what every command states about a scorer and its scores; commands add to it."""
    fields = {"signature": scores.signature.fields, "warnings": scores.warning_counts}
    return {"kind": kind, "asked": asked, **fields}


def most_frequent(reasons: Iterable[str]) -> str:
    """Return the most frequent reason, the first of several; "" without any."""
    return next((reason for reason, _ in Counter(reasons).most_common(1)), "")


def oracle_baselines(sets: RatedSets, n: int) -> dict[str, Scores]:
    """Return the baselines that read ratings, for [n] examples.

    "system mean" is the mean rating of the line's system over the other contexts of its data set, if two systems or
    more are named. "data set mean" exists if data sets are pooled.
    """
    values = {name: np.full(n, np.nan) for name in (SYSTEM_MEAN, DATA_SET_MEAN)}
    for rated in sets.filled:
        # With a single system, the mean of its other lines falls as the rating of a line rises: the correlation is -1.
        if len(rated.named_systems) > 1:
            values[SYSTEM_MEAN][rated.places] = _other_contexts(rated)
        if sets.pool is not None:
            values[DATA_SET_MEAN][rated.places] = sets.pool.ratings[np.isin(sets.pool.places, rated.places)].mean()
    reasons = {SYSTEM_MEAN: "system not named, alone, or in no other context", DATA_SET_MEAN: "not rated"}
    return _with_any({name: _means(name, means, reasons[name]) for name, means in values.items()})


def _baseline_names(asked: Mapping[str, Any]) -> list[str]:
    """Return the baselines to run: trivial ones, and BLEU without stop words for each plain BLEU that was asked for.

    Source: Liu et al. (2016), table 4, for BLEU on content words.
    """
    plain = [
        f"{name}/{NO_STOP_WORDS}"
        for name, scores in asked.items()
        if name in _BLEU and not (isinstance(scores, Scores) and scores.signature.fields.get("scorer") != name)
    ]
    return [name for name in (*plain, *TRIVIAL) if name not in asked]


def _with_any(scores: Mapping[str, Scores]) -> dict[str, Scores]:
    """Return those with at least one score."""
    return {name: own for name, own in scores.items() if own.scored.any()}


def _require_scores(scores: Mapping[str, Any], n: int) -> None:
    """Raise unless all of these are `Scores` of `n` examples."""
    for name, found in scores.items():
        if not isinstance(found, Scores):
            remedy = "Give rejoinder.score(...), or a function that returns the numbers: lambda examples: numbers"
            raise UsageError(f"the scores of {name!r} are {shown(found)}, expected Scores. {remedy}")
        if len(found.values) != n:
            raise UsageError(f"the scores of {name!r} are of {len(found.values)} lines, the examples are {n}")


def _other_contexts(rated: RatedSet) -> FloatArray:
    """Return [N] the mean rating of the line's system over the lines of other contexts; NaN without any."""
    cells = rated.systems * rated.clusters + rated.contexts
    totals, lines = (_totals(rated.systems, of) - _totals(cells, of) for of in (rated.ratings, np.ones(len(rated))))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(rated.systems == NO_SYSTEM, np.nan, totals / lines)


def _totals(groups: IntArray, values: FloatArray) -> FloatArray:
    """Return [N] the sum of `values` over the lines of each line's group."""
    numbers = np.unique(groups, return_inverse=True)[1]
    totals: FloatArray = np.bincount(numbers, weights=values)[numbers].astype(np.float64)
    return totals


def _means(name: str, values: FloatArray, reason: str) -> Scores:
    """Return means of ratings as scores; all that are missing have the same reason."""
    rounded = values.round(9)  # so that means of the same ratings in another order tie
    missing = dict.fromkeys(np.flatnonzero(np.isnan(rounded)).tolist(), reason)
    signature = Signature({"scorer": name, "version": 1, "reads": "ratings", "rejoinder": __version__})
    return Scores(rounded, missing, signature)


def each_scorer(scored: ScoredSet) -> Iterator[tuple[str, IntArray, FloatArray, FloatArray]]:
    """Yield each scorer with the lines that it scores, their scores and their ratings.

    Within one data set its mean rating is the same for all lines, so it is no scorer there.
    """
    for name in scored.scores:
        if name != DATA_SET_MEAN or scored.rated.pooled:
            rows = scored.rows(name)
            yield name, rows, scored.scores[name][rows], scored.rated.ratings[rows]
