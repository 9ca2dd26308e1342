"""`compare`: which of two systems scores higher on the same contexts, and whether that can be told from chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rejoinder.catalogue import load_scorers
from rejoinder.errors import DataError, TooManyUnscored, UsageError
from rejoinder.io.given import examples_of
from rejoinder.meta.agreement import most_frequent
from rejoinder.meta.comparison import Comparison, Contrast, Verdict
from rejoinder.meta.parts import refuse_duplicates
from rejoinder.meta.worst import with_the_worst
from rejoinder.records import Example, Given
from rejoinder.scorer import Advance, Card, ScorerLike, Scores, ignore, run
from rejoinder.stats.bootstrap import cluster_counts, group_means, percentile_interval, require_sampling
from rejoinder.stats.pairwise import system_p_values
from rejoinder.stats.power import items_needed, pilot_of_means
from rejoinder.stats.significance import adjusted

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
LEVEL = 0.05
NONE = float("nan")


@dataclass(frozen=True, slots=True)
class _Pairs:
    """P pairs of lines: which lines make up each, and which context (0 to G - 1) each is of."""

    aligned: Literal["id", "context"]
    a: list[list[int]]
    b: list[list[int]]
    contexts: IntArray


def compare(
    a: Given,
    b: Given,
    scorers: Sequence[ScorerLike],
    *,
    resamples: int = 1000,
    seed: int = 0,
    vectors: str | Path | None = None,
    advance: Advance = ignore,
) -> Comparison:
    """Which of two systems is better by each scorer, or that they cannot be told apart and what would tell.

    Lines are paired by their ids where the files share any, else by context; where a context has several lines on one
    side, their mean score stands for them. References count where both lines of a pair have some: a judge that reads
    them where they are would else hold one system to another measure than the other. An empty reply is the worst
    reply (see `worst.with_the_worst`). The interval comes from resampled contexts, p from exchanging A and B in
    randomly chosen contexts.

    Args:
        a: lines of the first system, in any form that `examples_of` takes.
        b: lines of the second.
        scorers: names, folders of judges, scorer objects or functions (called once for each side).
        resamples: number of resamples and of permutations, 100 or more.
        seed: their seed, 0 or more.
        vectors: file of word vectors for scorers that need them; None takes those in the box.
        advance: called during scoring with the number of examples done.

    Raises:
        DataError: the files share neither ids nor contexts; an id is given twice, or to another context.
        TooManyUnscored: not one of the scorers could score a single pair.
        UsageError: no scorer, or two of one name; a number is out of range.
    """
    require_sampling(resamples, seed, least=100)
    a, b = examples_of(a, name="A"), examples_of(b, name="B")
    for side in (a, b):
        refuse_duplicates(side)
    pairs = _paired(a, b)
    loaded = load_scorers(scorers, vectors=vectors)
    if not loaded:
        raise UsageError("no scorer was named; a comparison needs at least one")
    sides = _alike(a, b, pairs)
    scores = {
        name: (run(one, sides[0], advance=advance), run(one, sides[1], advance=advance)) for name, one in loaded.items()
    }
    found = [_contrast(name, loaded[name].card, sides, both, pairs, resamples, seed) for name, both in scores.items()]
    if not any(one.n for one in found):
        raise TooManyUnscored(f"{found[0].scorer}: {found[0].reason}")
    return Comparison(
        contrasts=_judged(found),
        signatures={name: both[0].signature for name, both in scores.items()},
        aligned=pairs.aligned,
        pairs=len(pairs.a),
        only_a=len(a) - sum(map(len, pairs.a)),
        only_b=len(b) - sum(map(len, pairs.b)),
        replies=(len(a), len(b)),
        empty=_empty(a, b),
        notes={name: (both[0].noted, both[1].noted) for name, both in scores.items()},
        resamples=resamples,
        seed=seed,
    )


def _paired(a: Sequence[Example], b: Sequence[Example]) -> _Pairs:
    """The pairs of lines, by id where any is shared, else by context."""
    aligned: Literal["id", "context"] = "id"
    sides = [_places(side, _id) for side in (a, b)]
    if not sides[0].keys() & sides[1].keys():
        aligned, sides = "context", [_places(side, _context) for side in (a, b)]
    shared = [key for key in sides[0] if key in sides[1]]
    if not shared:
        raise DataError(
            "the two files share neither an id nor a context, so nothing can be compared",
            "Give the two responses to one context the same id, or the same context",
            where=", ".join(_file(side) for side in (a, b) if side),
        )
    one, other = ([side[key] for key in shared] for side in sides)
    if aligned == "id":
        _refuse_other_contexts(a, b, one, other)
    keys = [a[places[0]].context_key for places in one]
    numbers = {key: number for number, key in enumerate(sorted(set(keys)))}
    return _Pairs(aligned, one, other, np.array([numbers[key] for key in keys], dtype=np.int64))


def _alike(a: Sequence[Example], b: Sequence[Example], pairs: _Pairs) -> tuple[list[Example], list[Example]]:
    """The lines of both sides, without references where a line of the pair has none."""
    sides = list(a), list(b)
    for places in zip(pairs.a, pairs.b, strict=True):
        lines = [(side, place) for side, mine in zip(sides, places, strict=True) for place in mine]
        if not all(any(map(str.strip, side[place].references)) for side, place in lines):
            for side, place in lines:
                side[place] = replace(side[place], references=())
    return sides


def _places(examples: Sequence[Example], key: Any) -> dict[tuple[str, ...], list[int]]:
    """The positions of the lines of each key; lines without one are left out."""
    places: dict[tuple[str, ...], list[int]] = {}
    for place, example in enumerate(examples):
        if (found := key(example)) is not None:
            places.setdefault(found, []).append(place)
    return places


def _id(example: Example) -> tuple[str, ...] | None:
    """The id that the data gave; a reader's own name for a line without one is its place, and pairs nothing."""
    own = example.id and example.id != example.where
    return (example.dataset or "", example.id) if own else None


def _context(example: Example) -> tuple[str, ...] | None:
    """What tells the context from others; the turns win over the dialogue, which holds many contexts."""
    if example.context_id is None and any(turn.strip() for turn in example.context):
        return ("turns", *example.context)
    return example.context_key if example.context_key[1] != "line" else None


def _refuse_other_contexts(
    a: Sequence[Example], b: Sequence[Example], one: list[list[int]], other: list[list[int]]
) -> None:
    """Raise `DataError` where a shared id names different contexts: ids that count lines pair nothing."""
    for (first, *_), (second, *_) in zip(one, other, strict=True):
        if a[first].context != b[second].context:
            raise DataError(
                f"id {a[first].id!r} has another context in {a[first].where or 'A'}",
                "Give one id to the two responses to one context, or leave ids out to pair by context",
                where=b[second].where,
                field="id",
            )


def _file(examples: Sequence[Example]) -> str:
    """The file that examples come from."""
    return examples[0].where.rpartition(":")[0]


def _contrast(
    scorer: str,
    card: Card,
    sides: tuple[list[Example], list[Example]],
    scores: tuple[Scores, Scores],
    pairs: _Pairs,
    resamples: int,
    seed: int,
) -> Contrast:
    """The figures of one scorer; p is not adjusted and there is no verdict yet."""
    filled = with_the_worst(card, *sides, scores)
    values = ((filled.a, pairs.a), (filled.b, pairs.b))
    means = np.array([[_mean(side[places]) for places in mine] for side, mine in values])
    usable = np.isfinite(means).all(axis=0)
    first, second = means[:, usable]
    contexts = np.unique(pairs.contexts[usable], return_inverse=True)[1].astype(np.int64)
    clusters = int(contexts.max()) + 1 if len(contexts) else 0
    reason = _why_none(*scores, len(usable), clusters)
    p, low, high, needed = (NONE, NONE, NONE, None) if reason else _tested(first, second, contexts, resamples, seed)
    return Contrast(
        scorer=scorer,
        n=len(first),
        contexts=clusters,
        unscored=len(usable) - len(first),
        mean_a=_mean(first),
        mean_b=_mean(second),
        value=_mean(second - first),
        low=low,
        high=high,
        p=p,
        p_adjusted=p,
        higher_is_better=card.higher_is_better,
        verdict="not separable",
        needed=needed,
        method="mean of paired differences; no interval"
        if reason
        else f"mean of paired differences; 95% expanded percentile interval, {resamples} resamples of contexts; "
        f"p: {resamples} exchanges of A and B in random contexts",
        seed=seed,
        worst=filled.worst,
        reason=reason,
    )


def _tested(
    first: FloatArray, second: FloatArray, contexts: IntArray, resamples: int, seed: int
) -> tuple[float, float, float, int | None]:
    """p, both ends of the interval, and the pairs that would tell, of the mean of `second` less that of `first`."""
    clusters = int(contexts.max()) + 1
    rng = np.random.default_rng(np.random.SeedSequence([seed, clusters]))
    counts = cluster_counts(clusters, resamples, rng).astype(np.float64)
    drawn = group_means(second - first, np.zeros_like(contexts), contexts, counts)[0]
    interval = percentile_interval(drawn, clusters, unit="context")
    sums = np.stack([np.bincount(contexts, weights=side) for side in (first, second)]).astype(np.float64)
    ahead = float(system_p_values(sums, rng, resamples)[0, 1])
    p = min(1.0, 2 * min(ahead, 1 - ahead))
    return p, interval.low, interval.high, items_needed(pilot_of_means(second, first, contexts))


def _why_none(a: Scores, b: Scores, pairs: int, contexts: int) -> str:
    """Why there is no test, or ""."""
    if contexts == 0:
        why = most_frequent([*a.reasons.values(), *b.reasons.values()]) or "no reason given"
        return f"none of {pairs} pairs has two scores; most often: {why}"
    return "" if contexts > 2 else f"{contexts} {'context' if contexts == 1 else 'contexts'}; three or more are needed"


def _empty(a: Sequence[Example], b: Sequence[Example]) -> tuple[int, int]:
    """How many replies of each side are empty."""
    return sum(one.unanswered for one in a), sum(one.unanswered for one in b)


def _mean(values: FloatArray) -> float:
    """The mean; NaN of nothing."""
    return float(values.mean()) if len(values) else NONE


def _judged(found: Sequence[Contrast]) -> tuple[Contrast, ...]:
    """The contrasts with p adjusted for their number, and the verdict that follows."""
    return tuple(
        replace(one, p_adjusted=p, verdict=_verdict(one), needed=None) if p < LEVEL else replace(one, p_adjusted=p)
        for one, p in zip(found, adjusted([one.p for one in found], "holm").tolist(), strict=True)
    )


def _verdict(one: Contrast) -> Verdict:
    """Which side is ahead."""
    if one.higher_is_better is None:
        return "B is higher" if one.value > 0 else "A is higher"
    return "B is better" if (one.value > 0) is one.higher_is_better else "A is better"
