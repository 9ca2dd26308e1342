"""`compare`: which of two systems scores higher, and whether that can be told from chance."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from rejoinder.data.read import examples_of
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example, Given
from rejoinder.data.clusters import Clusters, sorted_clusters
from rejoinder.data.rated_lines import numbered
from rejoinder.meta.agreement import most_frequent
from rejoinder.meta.compare_answer import answer
from rejoinder.meta.compared import Compared, Pairs, mean_of
from rejoinder.meta.comparison import Comparison, Contrast
from rejoinder.meta.conversations import conversations_of, of_conversations, with_silence
from rejoinder.meta.design import NO_VALUE, Wanted, choose, value_of
from rejoinder.scoring.domain import domain_share, out_of_domain
from rejoinder.meta.gap import Gap, Side, Stratum, Verdict, paired_gap, paired_strata, too_rare, unpaired_gap
from rejoinder.meta.verdict import LEVEL
from rejoinder.meta.worst import Filled, in_proportion, with_the_worst
from rejoinder.scorer import Advance, Card, FloatArray, Scorer, ScorerLike, Scores, ignore, run
from rejoinder.scoring.catalog import DEFAULT, columns_of, fitted_on, listed, load_scorers
from rejoinder.scoring.dialogue import as_rated
from rejoinder.scoring.explained import facts_warning
from rejoinder.scoring.unscored import nothing_scored
from rejoinder.stats.permutation import adjusted
from rejoinder.stats.resamples import BoolArray, IntArray, Sampling
from rejoinder.text.normalize import visible

Sides = tuple[Sequence[Example], Sequence[Example]]
Kinds = tuple[list[str], list[str]]  # of each line of either side the value of the field
Told = TypeVar("Told", bound=Gap)


def compare(
    a: Given,
    b: Given,
    scorers: Iterable[ScorerLike] | ScorerLike | None = None,
    *,
    design: Wanted = "auto",
    by: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
    vectors: str | Path | None = None,
    advance: Advance = ignore,
) -> Comparison:
    """Which of two systems is better by each scorer, or that they cannot be told apart and what would tell.

    Lines are paired by id, context or conversation where nearly all of them have a partner (see `design`); where a
    context has several lines on one side, their mean score stands for them. The interval then comes from resampled
    contexts, p from exchanging A and B in randomly chosen ones. Else they are two independent samples, and
    conversations are resampled and dealt anew (see `stats.unpaired`). Verdicts are by Holm for the number of scorers,
    those on single values of a field for the number of all these.

    References count where both lines of a pair have some, without pairs where all lines have: a judge that reads them
    where they are would else hold one system to another measure than the other. An empty reply is the worst reply (see
    `worst.with_the_worst`).

    Args:
        a: lines of the first system, in any form that `examples_of` takes.
        b: lines of the second.
        scorers: names, folders of judges, scorer objects or functions (called once for each side), or one of them; None
            takes the judge in the box.
        design: "paired" and "unpaired" leave nothing to find out.
        by: a key of the lines; the systems are also compared under each of its values. Dots lead into objects.
        resamples: number of resamples and of permutations, 100 or more.
        seed: their seed, 0 or more.
        vectors: file of word vectors for scorers that need them; None takes those in the box.
        advance: called during scoring with the number of examples done.

    Raises:
        DataError: a side is empty; an id is given twice, or to another context; pairs are wanted where there is none;
            no line has the key `by`.
        NothingScored: not one of the scorers could score anything that can be compared.
        UsageError: no scorer, or two of one name; a number is out of range.
    """
    sampling = Sampling.checked(resamples, seed, least=100)
    scorers = listed(DEFAULT if scorers is None else scorers)
    keep = columns_of(scorers)
    given = (of_conversations(examples_of(side, name=name, keep=keep)) for side, name in ((a, "A"), (b, "B")))
    sides = with_silence(*given)
    choice = choose(*sides, design)
    strata = None if by is None else _strata(sides, by)
    loaded = load_scorers(scorers, vectors=vectors)
    if not loaded:
        raise UsageError("no scorer was named; a comparison needs at least one")
    scored = {name: _scored(one, sides, choice.pairs, advance) for name, one in loaded.items()}
    compared = _compared(sides, {name: one.card for name, one in loaded.items()}, scored, choice.pairs, strata)
    contrasts = [_contrast(name, one.card, compared, scored[name], sampling) for name, one in loaded.items()]
    if not any(one.n for one in contrasts):
        raise nothing_scored(f"{contrasts[0].scorer}: {contrasts[0].reason}")
    outside = {name: reason for name, one in loaded.items() if (reason := _outside(name, one, scored[name]))}
    judged = _judged(contrasts, outside, _strata_outside(loaded, scored, strata))
    found = _comparison(judged, compared, scored, choice.why, by, sampling, scorers)
    found = replace(found, out_of_domain=outside, facts=facts_warning(loaded))
    notes = dict.fromkeys(one.note for one in compared.clusters if one.note)
    return replace(found, answer=(*answer(found), *notes))


def _outside(name: str, scorer: Scorer, scores: tuple[Scores, Scores]) -> str:
    """Return why a scorer cannot judge the replies of a side; "" where it can judge both."""
    shares = (domain_share(own, scorer, whose=f" of {side}") for side, own in zip("AB", scores, strict=True))
    return out_of_domain(name, scorer.card, *shares)


def _strata_outside(
    scorers: Mapping[str, Scorer], scores: Mapping[str, tuple[Scores, Scores]], strata: Kinds | None
) -> set[tuple[str, str]]:
    """Return the scorers, each with a value of the field under which it cannot judge the replies of a side."""
    return {
        (name, kind)
        for name, one in scorers.items()
        for own, kinds in zip(scores[name], strata or (), strict=False)
        for kind in set(kinds)
        if domain_share(own, one, [row for row, of in enumerate(kinds) if of == kind]).too_large
    }


def _compared(
    sides: Sides,
    cards: Mapping[str, Card],
    scored: Mapping[str, tuple[Scores, Scores]],
    pairs: Pairs | None,
    strata: Kinds | None,
) -> Compared:
    """The lines of both sides with their scores, those of empty replies in."""
    filled = {name: with_the_worst(cards[name], *sides, both) for name, both in scored.items()}
    first, second = map(conversations_of, sides)
    clusters = _clusters(sides, (first, second), pairs)
    return Compared(*sides, filled, pairs, strata, (first, second), clusters)


def _comparison(
    contrasts: tuple[Contrast, ...],
    compared: Compared,
    scored: Mapping[str, tuple[Scores, Scores]],
    why: str,
    by: str | None,
    sampling: Sampling,
    scorers: Sequence[ScorerLike],
) -> Comparison:
    """The record, still without its answer."""
    a, b, pairs = compared.a, compared.b, compared.pairs
    partners: Pairs = pairs or Pairs("id", (), ())
    return Comparison(
        answer=(),
        contrasts=contrasts,
        signatures={name: both[0].signature for name, both in scored.items()},
        design="paired" if pairs else "unpaired",
        why=why,
        aligned=pairs.aligned if pairs else None,
        pairs=len(partners.a),
        only_a=len(a) - sum(map(len, partners.a)),
        only_b=len(b) - sum(map(len, partners.b)),
        by=by,
        resamples=sampling.resamples,
        seed=sampling.seed,
        replies=(len(a), len(b)),
        empty=(_empty_replies(a), _empty_replies(b)),
        notes={name: (both[0].warning_counts, both[1].warning_counts) for name, both in scored.items()},
        out_of_domain={},
        facts="",
        fitted=fitted_on(scorers, [example.dataset for example in (*a, *b)]),
        compared=compared,
    )


def _empty_replies(side: Sequence[Example]) -> int:
    """How many replies are empty; a conversation is none for its last turn."""
    return sum(one.unanswered and not one.is_dialogue for one in side)


def _strata(sides: Sides, by: str) -> Kinds:
    """The value under a key of every line.

    Raises:
        DataError: no line has one.
    """
    first, second = ([value_of(one, by) for one in side] for side in sides)
    if {*first, *second} == {NO_VALUE}:
        keys = sorted({key for side in sides for one in side[:100] for key in one.extra})
        raise DataError(f'no line has "{by}"', f"Name one of {', '.join(keys)}" if keys else "Leave it out")
    return first, second


def _scored(scorer: Scorer, sides: Sides, pairs: Pairs | None, advance: Advance) -> tuple[Scores, Scores]:
    """The scores of both sides, of conversations as such, with references where both sides have them."""
    first, second = _alike_pairs(sides, pairs) if pairs else _alike_sides(sides, scorer.card)
    of_lines = as_rated(scorer, [*first, *second])
    return run(of_lines, first, progress=advance), run(of_lines, second, progress=advance)


def _alike_pairs(sides: Sides, pairs: Pairs) -> Sides:
    """The lines of both sides, without references where a line of the pair has none."""
    bare = list(sides[0]), list(sides[1])
    for places in zip(pairs.a, pairs.b, strict=True):
        lines = [(side, place) for side, mine in zip(bare, places, strict=True) for place in mine]
        if not all(_has_reference(side[place]) for side, place in lines):
            for side, place in lines:
                side[place] = replace(side[place], references=())
    return bare


def _alike_sides(sides: Sides, card: Card) -> Sides:
    """The lines of both sides, without references unless all have some, or nothing is scored without."""
    if "reference" in card.needs or all(_has_reference(one) for side in sides for one in side):
        return sides
    first, second = ([replace(one, references=()) for one in side] for side in sides)
    return first, second


def _has_reference(example: Example) -> bool:
    """Whether there is a reference with something in it."""
    return any(map(visible, example.references))


def _contrast(name: str, card: Card, compared: Compared, scores: tuple[Scores, Scores], sampling: Sampling) -> Contrast:
    """The figures of one scorer; p is not adjusted and there is no verdict yet."""
    filled = compared.scores[name]
    sign = -1 if card.higher_is_better is False else 1
    rare: tuple[str, ...] = ()
    strata: tuple[Stratum, ...] = ()
    if compared.pairs:
        a, b, spared = _sides_of_pairs(compared, filled, compared.pairs)
        given = len(compared.pairs.a)
        gap = paired_gap(a, b, sign, sampling)
        strata = paired_strata(a, b, sign, sampling) if compared.strata else ()
    else:
        a, b, spared = _sides_of_replies(compared, filled)
        given = len(compared.a) + len(compared.b)
        rare = too_rare(a, b)
        a, b = (side.at(~np.isin(side.kinds, rare)) for side in (a, b))
        gap, strata = unpaired_gap(a, b, sign, sampling)
    reason = gap.reason if gap.n_a and gap.n_b else _why_none(compared, scores, rare)
    method = _method(compared, sampling.resamples if gap.has_interval else 0)
    return Contrast.of(
        gap,
        scorer=name,
        unscored=given - gap.n,
        higher_is_better=card.higher_is_better,
        method=method,
        seed=sampling.seed,
        worst=filled.worst,
        spared=spared,
        strata=strata,
        left_out=rare,
        reason=reason,
    )


def _sides_of_pairs(compared: Compared, filled: Filled, pairs: Pairs) -> tuple[Side, Side, int]:
    """Both sides of the pairs that have two scores, and how many with an empty reply count in proportion only."""
    contexts = compared.clusters[0].numbers
    kinds = [compared.strata[0][places[0]] if compared.strata else "" for places in pairs.a]
    first, second = (
        _side(
            np.array([mean_of(values, places) for places in own]),
            contexts,
            kinds,
            np.array([bool(empty[places].all()) for places in own]),
        )
        for values, empty, own in ((filled.a, filled.empty_a, pairs.a), (filled.b, filled.empty_b, pairs.b))
    )
    usable = np.isfinite(first.scores) & np.isfinite(second.scores)
    silent = [
        np.array([bool(silent[places].all()) for places in own], dtype=np.int64)
        for silent, own in zip(_silent(compared, filled), (pairs.a, pairs.b), strict=True)
    ]
    counted = in_proportion(usable, silent[0] + 2 * silent[1], first.kinds)
    return first.at(counted), second.at(counted), int((usable & ~counted).sum())


def _clusters(sides: Sides, names: Sequence[Sequence[str]], pairs: Pairs | None) -> tuple[Clusters, ...]:
    """The clusters of the pairs, by their lines of A; without pairs those of either side."""
    if pairs:
        places = [own[0] for own in pairs.a]
        return (_of_pairs([sides[0][place] for place in places], [names[0][place] for place in places]),)
    return tuple(_of_replies(side, own) for side, own in zip(sides, names, strict=True))


def _of_pairs(lines: Sequence[Example], names: Sequence[str]) -> Clusters:
    """The clusters of lines; a whole conversation is one by its name."""
    found = sorted_clusters(lines)
    if not any(one.is_dialogue for one in lines):
        return found
    others = [("", f"{number:09}") for number in found.numbers.tolist()]
    keys = [(name,) if one.is_dialogue else other for one, name, other in zip(lines, names, others, strict=True)]
    return found._replace(numbers=numbered(keys))


def _of_replies(lines: Sequence[Example], names: Sequence[str]) -> Clusters:
    """The conversations of lines: as they name them, else the clusters that they are in."""
    keys = [(name,) for name in names]
    if any(one.is_dialogue or one.extra.get("dialogue_id") is not None for one in lines):
        return Clusters(numbered(keys), "")
    return sorted_clusters(lines, keys)


def _sides_of_replies(compared: Compared, filled: Filled) -> tuple[Side, Side, int]:
    """The replies of both sides that have a score, and how many empty ones count in proportion only."""
    sides, spared = [], 0
    scored = ((filled.a, filled.empty_a), (filled.b, filled.empty_b))
    for which, ((values, empty), silent) in enumerate(zip(scored, _silent(compared, filled), strict=True)):
        conversations = compared.clusters[which].numbers
        side = _side(values, conversations, compared.strata[which] if compared.strata else [""] * len(values), empty)
        usable = np.isfinite(values)
        counted = in_proportion(usable, silent.astype(np.int64), side.kinds)
        sides.append(side.at(counted))
        spared += int((usable & ~counted).sum())
    return sides[0], sides[1], spared


def _silent(compared: Compared, filled: Filled) -> tuple[BoolArray, BoolArray]:
    """[N] and [M] which lines are without a reply; a conversation that has a score is not."""
    first, second = (
        empty | (np.array([one.unanswered for one in lines], dtype=bool) & ~np.isfinite(values))
        for lines, values, empty in (
            (compared.a, filled.a, filled.empty_a),
            (compared.b, filled.b, filled.empty_b),
        )
    )
    return first, second


def _side(values: FloatArray, clusters: IntArray, kinds: Sequence[str], lost: BoolArray) -> Side:
    """A side from what is known of each reply."""
    return Side(values, clusters, np.array(kinds, dtype=object), lost)


def _why_none(compared: Compared, scores: tuple[Scores, Scores], rare: tuple[str, ...]) -> str:
    """Why there is nothing to compare."""
    if rare and all(np.isfinite(side.values).any() for side in scores):
        return "no value of the field has five conversations on both sides"
    why = most_frequent([reason for side in scores for reason in side.reasons.values()]) or "no reason given"
    if compared.pairs:
        return f"none of {len(compared.pairs.a)} pairs has two scores; most often: {why}"
    return f"a side has no score at all; most often: {why}"


def _method(compared: Compared, resamples: int) -> str:
    """How the figures were worked out; without resamples there are neither interval nor p."""
    what, unit, dealt = "mean of paired differences", "contexts", "exchanges of A and B in random contexts"
    if not compared.pairs:
        what, unit, dealt = "difference of means", "conversations", "deals of the conversations to A and B"
        what += ", values of the field weighted by their share of replies" if compared.strata else ""
    if not resamples:
        return f"{what}; no interval"
    return f"{what}; 95% expanded percentile interval, {resamples} resamples of {unit}; p: {resamples} {dealt}"


def _judged(
    found: Sequence[Contrast], outside: Container[str] = (), parts: Container[tuple[str, str]] = ()
) -> tuple[Contrast, ...]:
    """The contrasts with p adjusted for their number, strata for the number of all strata, and the verdicts.

    The scorers in `outside` cannot judge the replies, nor those in `parts` the ones under a value of the field: there
    they have neither a verdict nor a forecast.
    """
    p_values = iter(adjusted([one.p for one in found], "holm").tolist())
    of_strata = iter(adjusted([stratum.p for one in found for stratum in one.strata], "holm").tolist())
    return tuple(
        replace(
            _told(one, next(p_values), one.higher_is_better, outside=one.scorer in outside),
            strata=tuple(
                _told(stratum, next(of_strata), one.higher_is_better, outside=is_outside)
                for stratum in one.strata
                for is_outside in [one.scorer in outside or (one.scorer, stratum.name) in parts]
            ),
        )
        for one in found
    )


def _told(gap: Told, p: float, higher: bool | None, *, outside: bool) -> Told:
    """A gap with its adjusted p, and the verdict where that is small enough and the interval leaves 0 out."""
    if outside:
        return replace(gap, p_adjusted=p, verdict="out of domain", needed=None)
    if not (p < LEVEL and gap.excludes(0)):
        return replace(gap, p_adjusted=p, needed=None if gap.p < LEVEL else gap.needed)
    return replace(gap, p_adjusted=p, verdict=_verdict(gap, higher), needed=None)


def _verdict(gap: Gap, higher: bool | None) -> Verdict:
    """Which side is ahead."""
    if higher is None:
        return "B is higher" if gap.value > 0 else "A is higher"
    return "B is better" if (gap.value > 0) is higher else "A is better"
