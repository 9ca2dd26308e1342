"""`study_pairs`: how often scorers take the reply that people prefer.

A scorer is right where it gives the preferred reply the higher score, half right where it gives both the same. Ties
between people are in no accuracy: what a scorer should say there is nobody's definition. A reply without a word is the
worse one where a scorer cannot score it.

A pair that several lines hold, as where people were asked in both orders, is one: what its lines say is averaged.

Shapes: N lines, P pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.read import pairs_of
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Choice, Example, Given, Pair
from rejoinder.data.clusters import sorted_clusters
from rejoinder.data.rated_lines import UNNAMED, numbered, refuse_duplicates, title_of
from rejoinder.meta.agreement import most_frequent
from rejoinder.scoring.domain import domain_share, out_of_domain
from rejoinder.meta.preference_answer import answer
from rejoinder.meta.preference_results import (
    ACCURACY,
    CHANCE,
    FIRST,
    LENGTH,
    LESS_LENGTH,
    OF_LONGER,
    OF_SHORTER,
    OVERLAP,
    PEOPLE,
    Kind,
    PairCard,
    PairStudy,
    Preference,
    Statistic,
    Verdict,
)
from rejoinder.meta.verdict import LEVEL
from rejoinder.scorer import Advance, FloatArray, Scorer, ScorerLike, Scores, ignore
from rejoinder.scoring.catalog import choose_scorers, load_scorer, load_scorers
from rejoinder.scoring.explained import facts_warning
from rejoinder.scoring.workers import Count, Workers, asked_of, scored
from rejoinder.scoring.unscored import nothing_scored
from rejoinder.stats.figure import NONE, pluralize
from rejoinder.stats.permutation import FLIPS, Mean, adjusted, cluster_means
from rejoinder.stats.resamples import Sampling, number_of
from rejoinder.text.normalize import visible

_NULL: Mapping[Statistic, float] = {ACCURACY: CHANCE, OF_LONGER: CHANCE, OF_SHORTER: CHANCE, LESS_LENGTH: 0.0}


@dataclass(frozen=True, slots=True)
class _Chooser:
    """Who or what chooses between the replies of N lines.

    Attributes:
        name: of the scorer.
        kind: what it is.
        right: [N] 1 where it takes the preferred reply, 0 where the other, 0.5 where neither; NaN where it cannot
            choose or people prefer neither.
        why_not: the reason given most often why it cannot.
    """

    name: str
    kind: Kind
    right: FloatArray
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class _PairSet:
    """The pairs of one data set.

    Attributes:
        name: of the data set.
        pairs: of N lines.
        numbers: [N] number of each line's pair: those of one context with the same two replies are one.
        contexts: [P] number of each pair's context.
        choosers: by name.
        outside: by scorer that cannot judge the replies, why.
        note: what to know of the clusters, in a sentence.
    """

    name: str
    pairs: Sequence[Pair]
    numbers: NDArray[np.int64]
    contexts: NDArray[np.int64]
    choosers: Mapping[str, _Chooser]
    outside: Mapping[str, str]
    note: str = ""

    @property
    def decided(self) -> NDArray[np.bool_]:
        """[N], True where people prefer one of the replies."""
        return np.array([pair.preferred is not None for pair in self.pairs])

    def count(self, lines: NDArray[np.bool_]) -> int:
        """How many pairs some lines [N] hold."""
        return len(np.unique(self.numbers[lines]))

    def averaged(self, values: FloatArray) -> FloatArray:
        """[R, P] means of values [R, N] over the lines of each pair; NaN where none has one."""
        known, count = np.isfinite(values), number_of(self.numbers)
        sums = [np.bincount(self.numbers, weights=row, minlength=count) for row in np.where(known, values, 0.0)]
        lines = np.stack([np.bincount(self.numbers, weights=row, minlength=count) for row in known])
        with np.errstate(invalid="ignore"):
            means: FloatArray = np.stack(sums) / lines
        return means


def study_pairs(
    pairs: Given,
    scorers: Iterable[ScorerLike] | ScorerLike | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
    vectors: str | Path | None = None,
    workers: Workers | Count = 1,
    advance: Advance = ignore,
) -> PairStudy:
    """The accuracy of each scorer against people's choices between two replies, with 95 % intervals.

    Per data set; beside the scorers stand what takes the longer reply, the one that shares more words with the context,
    the first one, and, where there are single votes, a person. Intervals come from resampled contexts; the same seed
    gives the same numbers, in whatever order pairs and scorers come.

    Args:
        pairs: N lines, each a pair, in any form that `pairs_of` takes, of which some have a preference.
        scorers: names, folders of judges, scorer objects or functions; None takes all in the box but for judges that
            were fitted on lines of these data sets (`scoring.catalog.choose_scorers`).
        resamples: number of resamples; 0 gives no intervals.
        seed: seed of the resampling, 0 or more.
        vectors: file of word vectors for scorers that need them; None takes those in the box.
        workers: how many processes score, or "auto"; see `rejoinder.scoring.workers`.
        advance: called during scoring with the number of replies done, 2 N in all for each scorer.

    Raises:
        DataError: no pair has a preference; an id is given twice.
        NothingScored: not one of the scorers could score the replies of a single pair.
        UsageError: something else than pairs was given; no scorer, or two of one name; a number is out of range.
    """
    sampling = Sampling.checked(resamples, seed)
    given = _checked(pairs)
    choice = choose_scorers(scorers, [pair.dataset for pair in given])
    loaded = load_scorers(choice.scorers, vectors=vectors)
    if not loaded:
        raise UsageError("no scorer was named; a study needs at least one")
    asked, facts = tuple(loaded), facts_warning(loaded)
    replies = list(chain.from_iterable(pair.replies for pair in given))
    beside = {name: load_scorer(name) for name in (LENGTH, OVERLAP) if name not in loaded}
    scores = scored(loaded, replies, asked_of(choice.scorers, vectors), workers, advance) | scored(beside, replies)
    loaded |= beside
    choosers = [_of_scorer(name, loaded[name], found, given) for name, found in scores.items()]
    _require_some(choosers[: len(asked)], len(given))
    sets = _pair_sets(given, [*choosers, *_beside(given)], scores, loaded)
    study = PairStudy(
        answer=(),
        results=tuple(row for judged in sets for row in _rows(judged, asked, sampling)),
        cards=tuple(_card(judged) for judged in sets),
        asked=asked,
        fitted=choice.fitted,
        withheld=choice.withheld,
        signatures={name: found.signature for name, found in scores.items()},
        notes={name: found.warning_counts for name, found in scores.items()},
        out_of_domain={judged.name: judged.outside for judged in sets},
        facts=facts,
        resamples=resamples,
        seed=seed,
    )
    return replace(study, answer=(*answer(study), *dict.fromkeys(one.note for one in sets if one.note)))


def apart(judged: Iterable[Example | Pair]) -> tuple[list[Example], list[Pair]]:
    """The single replies and the pairs among what was read; one of the two is empty.

    Raises:
        DataError: there are both, or neither.
    """
    given = list(judged)
    if not given:
        raise DataError("no line is left to study", "Correct those that were skipped")
    examples = [one for one in given if isinstance(one, Example)]
    pairs = [one for one in given if isinstance(one, Pair)]
    if examples and pairs:
        found = f"a pair of replies, and {examples[0].where} is a single one; a study takes pairs or ratings"
        raise DataError(found, "Call study once for each", where=pairs[0].where)
    return examples, pairs


def _checked(pairs: Given) -> list[Pair]:
    """The pairs, where a study of them can be made."""
    given = pairs_of(pairs)
    refuse_duplicates(given)
    if all(pair.preferred is None for pair in given):
        remedy = 'Say of some which reply people prefer: "preferred": 0 or 1'
        raise DataError(f"none of {len(given)} pairs has a preferred reply", remedy)
    return given


def _require_some(choosers: Sequence[_Chooser], pairs: int) -> None:
    """Raise where none of the scorers can choose in a single pair."""
    if not any(np.isfinite(one.right).any() for one in choosers):
        first = choosers[0]
        raise nothing_scored(f"{first.name}: none of {pairs} pairs has two scores; most often: {first.why_not}")


def _of_scorer(name: str, scorer: Scorer, scores: Scores, pairs: Sequence[Pair]) -> _Chooser:
    """What a scorer takes."""
    direction = -1 if scorer.card.higher_is_better is False else 1
    values = direction * scores.values.reshape(-1, 2)
    empty = np.array([[not visible(reply.response) for reply in pair.replies] for pair in pairs])
    values[np.isnan(values) & empty & np.isfinite(values[:, ::-1])] = -np.inf
    right = 0.5 + np.sign(values[:, 0] - values[:, 1]) * _first_is_preferred(pairs)
    return _Chooser(name, scorer.card.kind, right, most_frequent(scores.reasons.values()) or "no reason given")


def _first_is_preferred(pairs: Sequence[Pair]) -> FloatArray:
    """[N] 0.5 where the first reply is preferred, -0.5 where the second is; NaN for a tie."""
    halves: dict[Choice | None, float] = {0: 0.5, 1: -0.5, None: NONE}
    return np.array([halves[pair.preferred] for pair in pairs])


def _beside(pairs: Sequence[Pair]) -> list[_Chooser]:
    """What takes the first reply, unless that is always or never preferred by how pairs are written; and a person."""
    first = 0.5 + _first_is_preferred(pairs)
    varied = len(np.unique(first[np.isfinite(first)])) > 1
    person = np.array([_one_person(pair.votes) for pair in pairs])
    return [*([_Chooser(FIRST, "baseline", first)] if varied else []), _Chooser(PEOPLE, "people", person)]


def _one_person(votes: Sequence[Choice | None]) -> float:
    """How often a vote is what most of the others are; half so where it or they are tied.

    NaN where there are no others, or where most of them prefer neither.
    """
    right = []
    for place, vote in enumerate(votes):
        counts = Counter([*votes[:place], *votes[place + 1 :]])
        most = [choice for choice, count in counts.items() if count == max(counts.values())]
        if most and most != [None]:
            right.append(0.5 if vote is None or len(most) > 1 else float(vote == most[0]))
    return sum(right) / len(right) if right else NONE


def _pair_sets(
    pairs: Sequence[Pair],
    choosers: Sequence[_Chooser],
    scores: Mapping[str, Scores],
    scorers: Mapping[str, Scorer],
) -> list[_PairSet]:
    """One a data set, in order of appearance; `scores` are of both replies of each pair."""
    names = np.array([pair.dataset or UNNAMED for pair in pairs])
    sets = []
    for name in dict.fromkeys(names.tolist()):
        places = np.flatnonzero(names == name).tolist()
        own = [pairs[place] for place in places]
        numbers = numbered([_key(pair) for pair in own])
        clusters = sorted_clusters(own)
        _, firsts = np.unique(numbers, return_index=True)
        contexts = clusters.numbers[firsts]
        mine = {one.name: replace(one, right=one.right[places]) for one in choosers}
        replies = [2 * place + side for place in places for side in (0, 1)]
        outside = {one: _outside(one, scorers[one], found, replies) for one, found in scores.items()}
        outside = {one: reason for one, reason in outside.items() if reason}
        sets.append(_PairSet(name, own, numbers, contexts, mine, outside, clusters.note))
    return sets


def _outside(name: str, scorer: Scorer, scores: Scores, replies: Sequence[int]) -> str:
    """Return why a scorer cannot judge these replies; "" where it can."""
    return out_of_domain(name, scorer.card, domain_share(scores, scorer, replies))


def _key(pair: Pair) -> tuple[str, ...]:
    """What tells a pair from others: its context and the two replies, in whatever order they stand."""
    said = ("\n".join((*reply.context, reply.response, reply.system or "")) for reply in pair.replies)
    return (*pair.context_key, *sorted(said))


def _rows(judged: _PairSet, asked: Sequence[str], sampling: Sampling) -> list[Preference]:
    """Every figure of one data set."""
    asks = [ask for one in judged.choosers.values() for ask in _asks(one, judged.choosers[LENGTH].right)]
    rng = sampling.generator(judged.name, "choices")
    values = judged.averaged(np.stack([values for _, _, values in asks]))
    null = np.array([_NULL[statistic] for _, statistic, _ in asks])
    means = cluster_means(values, judged.contexts, null, sampling.resamples, rng)
    rows = [_row(judged, one, statistic, mean, sampling) for (one, statistic, _), mean in zip(asks, means, strict=True)]
    return _adjusted([row for row in rows if row.n or row.kind != "people"], asked, judged.outside)


def _asks(one: _Chooser, of_longer: FloatArray) -> Iterator[tuple[_Chooser, Statistic, FloatArray]]:
    """What is asked of a chooser: whose mean, what it is called, and [N] values."""
    yield one, ACCURACY, one.right
    if one.kind == "people":
        return
    yield one, OF_LONGER, np.where(of_longer == 1, one.right, NONE)
    yield one, OF_SHORTER, np.where(of_longer == 0, one.right, NONE)
    if one.name != LENGTH:
        yield one, LESS_LENGTH, one.right - of_longer


def _row(judged: _PairSet, one: _Chooser, statistic: Statistic, mean: Mean, sampling: Sampling) -> Preference:
    """One figure; p is not adjusted yet."""
    unscored = 0 if one.kind == "people" else judged.count(judged.decided & np.isnan(one.right))
    why = f"{pluralize(unscored)} without two scores, most often: {one.why_not}" if unscored else ""
    return Preference.of(
        mean,
        dataset=judged.name,
        scorer=one.name,
        kind=one.kind,
        statistic=statistic,
        unscored=unscored,
        contexts=mean.clusters,
        method=f"mean over pairs; 95% expanded percentile interval, {sampling.resamples} resamples of contexts; "
        f"p: {FLIPS} sign flips of contexts",
        seed=sampling.seed,
        reason=why or mean.reason,
    )


def _adjusted(rows: Sequence[Preference], asked: Sequence[str], outside: Container[str]) -> list[Preference]:
    """The rows of scorers asked for with their verdicts, p adjusted for their number, by statistic; the others as is.

    The scorers in `outside` cannot judge the replies and are not among those tried.
    """
    found = list(rows)
    for statistic, null in _NULL.items():
        of_asked = [place for place, row in enumerate(found) if row.statistic == statistic and row.scorer in asked]
        places = [place for place in of_asked if found[place].scorer not in outside]
        for place in of_asked:
            found[place] = replace(found[place], verdict="out of domain")
        for place, p in zip(places, adjusted([found[place].p for place in places], "holm").tolist(), strict=True):
            found[place] = replace(found[place], p_adjusted=p, verdict=_verdict(found[place], p, null))
    return found


def _verdict(row: Preference, p: float, null: float) -> Verdict:
    """Whether a figure is above or below chance, by its adjusted p and its interval."""
    if not row.known:
        return "undefined"
    if not (p < LEVEL and row.excludes(null)):
        return "inconclusive"
    return "above" if row.value > null else "below"


def _card(judged: _PairSet) -> PairCard:
    """What the pairs of a data set are."""
    of_longer = judged.choosers[LENGTH].right
    empty = [any(not visible(reply.response) for reply in pair.replies) for pair in judged.pairs]
    return PairCard(
        dataset=judged.name,
        title=title_of(judged.name, judged.pairs),
        pairs=number_of(judged.numbers),
        lines=len(judged.pairs),
        ties=number_of(judged.numbers) - judged.count(judged.decided),
        contexts=number_of(judged.contexts),
        votes=sum(len(pair.votes) for pair in judged.pairs),
        longer=judged.count(of_longer == 1),
        shorter=judged.count(of_longer == 0),
        empty=judged.count(judged.decided & np.array(empty)),
    )
