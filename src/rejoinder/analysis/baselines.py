"""The scores of a study: those of the scorers that were asked for, and of baselines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rejoinder.analysis.scored import Kind, ScoredSet
from rejoinder.errors import UsageError, shown
from rejoinder.example import Example
from rejoinder.metrics.bleu import NO_STOP_WORDS, ORDERS
from rejoinder.scorer import Advance, Scorer, ScorerLike, Scores
from rejoinder.scoring.catalog import ScorerChoice, cards, choose_scorers, load_scorers
from rejoinder.scoring.dialogue import as_rated
from rejoinder.scoring.engines import asked_of
from rejoinder.scoring.unscored import nothing_scored, unread
from rejoinder.scoring.workers import Count, Workers, scored
from rejoinder.stats.resamples import FloatArray, IntArray

TRIVIAL = ("length", "context-overlap")
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


def kind_of(scores: Scores) -> Kind:
    """Return the kind of a scorer; one that is not in the catalog is a judge."""
    card = cards().get(str(scores.signature.fields.get("scorer")))
    return card.kind if card else "judge"


def scorer_facts(kind: Kind, scores: Scores, *, asked: bool = True) -> dict[str, Any]:
    """Return what every command states about a scorer and its scores; commands add to it."""
    return {"kind": kind, "asked": asked, "signature": scores.signature.fields, "warnings": scores.warning_counts}


def most_frequent(reasons: Iterable[str]) -> str:
    """Return the most frequent reason, the first of several; "" without any."""
    return next((reason for reason, _ in Counter(reasons).most_common(1)), "")


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
    return {name: own for name, own in scores.items() if own.scored.any()}


def _require_scores(scores: Mapping[str, Any], n: int) -> None:
    """Raise unless all of these are `Scores` of `n` examples."""
    for name, found in scores.items():
        if not isinstance(found, Scores):
            remedy = "Give rejoinder.score(...), or a function that returns the numbers: lambda examples: numbers"
            raise UsageError(f"the scores of {name!r} are {shown(found)}, expected Scores. {remedy}")
        if len(found.values) != n:
            raise UsageError(f"the scores of {name!r} are of {len(found.values)} lines, the examples are {n}")


def each_scorer(scored: ScoredSet) -> Iterator[tuple[str, IntArray, FloatArray, FloatArray]]:
    """Yield each scorer with the lines that it scores, their scores and their ratings."""
    for name in scored.scores:
        rows = scored.rows(name)
        yield name, rows, scored.scores[name][rows], scored.rated.ratings[rows]
