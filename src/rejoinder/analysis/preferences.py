"""Preference pairs: how often scorers choose the reply that people prefer.

A scorer is right if it gives the preferred reply the higher score, and half right if it gives both the same score.
Ties between people are in no accuracy. An empty reply that a scorer cannot score is the worse one. A pair that several
lines hold, for example because people were asked in both orders, is one pair: its lines are averaged.

Shapes: N lines, P pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from rejoinder.analysis.baselines import most_frequent, scorer_facts
from rejoinder.analysis.preferences_layout import ACCURACY, CHANCE, DIFFERENCE, LENGTH, OF_RATER, layout, text
from rejoinder.analysis.scored import RATERS
from rejoinder.data.clusters import sorted_clusters
from rejoinder.data.rated_lines import UNNAMED, numbered, refuse_duplicates, title_of
from rejoinder.data.read import pairs_of
from rejoinder.errors import DataError, UsageError
from rejoinder.estimates import NAN, Estimate, decide, estimate_of
from rejoinder.example import Choice, Given, Pair
from rejoinder.report.results import About, Results
from rejoinder.report.written import pluralize
from rejoinder.scorer import Advance, FloatArray, Scorer, ScorerLike, Scores, ignore
from rejoinder.scoring.catalog import choose_scorers, load_scorer, load_scorers
from rejoinder.scoring.domain import domain_share, out_of_domain
from rejoinder.scoring.explained import facts_warning
from rejoinder.scoring.unscored import nothing_scored
from rejoinder.scoring.workers import Count, Workers, asked_of, scored
from rejoinder.stats.permutation import FLIPS, cluster_means
from rejoinder.stats.resamples import BoolArray, IntArray, Sampling, number_of
from rejoinder.text.normalize import visible

OVERLAP, FIRST = "context-overlap", "first reply"
Question = tuple[Mapping[str, str], float, FloatArray]
"""The labels of a mean, its value by chance, and [N] values."""


@dataclass(frozen=True, slots=True)
class _PairSet:
    """The pairs of one data set.

    Attributes:
        name: of the data set.
        pairs: [N] lines.
        numbers: [N] number of each line's pair.
        contexts: [P] number of each pair's cluster.
        right: [N] by scorer: 1 if it chooses the preferred reply, 0 if the other, 0.5 if neither; NaN if it cannot
            choose, or if people prefer neither.
        outside: by scorer that cannot judge these replies, the reason.
        note: about the clusters, a sentence.
    """

    name: str
    pairs: Sequence[Pair]
    numbers: IntArray
    contexts: IntArray
    right: Mapping[str, FloatArray]
    outside: Mapping[str, str]
    note: str

    @property
    def decided(self) -> BoolArray:
        """[N], True where people prefer one of the replies."""
        return np.array([pair.preferred is not None for pair in self.pairs])

    def count(self, lines: BoolArray) -> int:
        """Return the number of pairs that these lines [N] hold."""
        return len(np.unique(self.numbers[lines]))

    def averaged(self, values: FloatArray) -> FloatArray:
        """Return [R, P] the means of values [R, N] over the lines of each pair; NaN for a pair without a value."""
        known = np.isfinite(values)
        with np.errstate(invalid="ignore"):
            means: FloatArray = self._sums(np.where(known, values, 0.0)) / self._sums(known)
        return means

    def _sums(self, values: FloatArray | BoolArray) -> FloatArray:
        """Return [R, P] the sums of values [R, N] over the lines of each pair."""
        return np.stack([np.bincount(self.numbers, row, number_of(self.numbers)) for row in values])


def study_pairs(
    data: Given,
    scorers: Iterable[ScorerLike] | ScorerLike | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
    vectors: str | Path | None = None,
    workers: Workers | Count = 1,
    progress: Advance = ignore,
) -> Results:
    """Return the accuracy of each scorer against human choices between two replies.

    For each data set, and also for baselines: the longer reply, the one that shares more words with the context, the
    first one; and for one rater against the others if there are single votes. Intervals come from resampled contexts.
    The same seed gives the same numbers, whatever the order of pairs and scorers.

    Args:
        data: N pairs in any form that `pairs_of` takes, of which some have a preference.
        scorers: names, folders of judges, scorer objects or functions; by default all bundled scorers except judges
            that were fitted on lines of these data sets.
        resamples: number of resamples; 0 gives no intervals.
        seed: of the draws, 0 or more.
        vectors: file of word vectors for scorers that need them; by default the bundled ones.
        workers: how many processes score, or "auto", or open `Workers`.
        progress: called during scoring with the number of replies that are done, 2 N for each scorer.

    Raises:
        DataError: no pair has a preference, or two have the same id.
        NothingScored: no scorer could score both replies of a single pair.
        UsageError: `data` are no pairs; no scorer, or two with the same name; a number is out of range.
    """
    sampling = Sampling.checked(resamples, seed)
    pairs = pairs_of(data)
    refuse_duplicates(pairs)
    if all(pair.preferred is None for pair in pairs):
        remedy = 'Say for some pairs which reply people prefer: "preferred": 0 or 1'
        raise DataError(f"none of {len(pairs)} pairs has a preferred reply", remedy)
    choice = choose_scorers(scorers, [pair.dataset for pair in pairs])
    loaded = load_scorers(choice.scorers, vectors=vectors)
    if not loaded:
        raise UsageError("no scorer was named; a study needs at least one")
    asked, facts = tuple(loaded), facts_warning(loaded)
    replies = list(chain.from_iterable(pair.replies for pair in pairs))
    baselines = {name: load_scorer(name) for name in (LENGTH, OVERLAP) if name not in loaded}
    scores = scored(loaded, replies, asked_of(choice.scorers, vectors), workers, progress) | scored(baselines, replies)
    loaded |= baselines
    right = {name: _right(loaded[name], scores[name], pairs) for name in loaded}
    reasons = {name: most_frequent(scores[name].reasons.values()) or "no reason given" for name in loaded}
    if not any(np.isfinite(right[name]).any() for name in asked):
        problem = f"none of {len(pairs)} pairs has two scores; most often: {reasons[asked[0]]}"
        raise nothing_scored(f"{asked[0]}: {problem}")
    sets = _pair_sets(pairs, right | _without_scores(pairs), scores, loaded)
    estimates = tuple(row for part in sets for row in _estimates(part, asked, reasons, sampling))
    about = About(
        data=[_facts(part) for part in sets],
        scorers={
            name: {
                **scorer_facts(scorer.card.kind, scores[name], asked=name in asked),
                "fitted_on": choice.fitted.get(name, []),
            }
            for name, scorer in loaded.items()
        }
        | ({FIRST: {"kind": "baseline", "asked": False}} if FIRST in sets[0].right else {}),
        options={"resamples": resamples, "seed": seed, "scorers": asked},
        counts={"lines": len(pairs), "pairs": sum(number_of(part.numbers) for part in sets)},
    )
    notes = [facts, *dict.fromkeys(part.note for part in sets)]
    return Results(
        command="study",
        estimates=estimates,
        answer=text("answer", estimates, about),
        warnings=text("warnings", estimates, about, notes=notes, withheld=choice.withheld),
        about=about,
        layout=layout(estimates, about),
    )


def _right(scorer: Scorer, scores: Scores, pairs: Sequence[Pair]) -> FloatArray:
    """Return [N] how right a scorer is."""
    direction = -1 if scorer.card.higher_is_better is False else 1
    values = direction * scores.values.reshape(-1, 2)
    empty = np.array([[not visible(reply.response) for reply in pair.replies] for pair in pairs])
    values[np.isnan(values) & empty & np.isfinite(values[:, ::-1])] = -np.inf
    right: FloatArray = 0.5 + np.sign(values[:, 0] - values[:, 1]) * _first_is_preferred(pairs)
    return right


def _first_is_preferred(pairs: Sequence[Pair]) -> FloatArray:
    """Return [N] 0.5 if the first reply is preferred, -0.5 if the second is; NaN for a tie."""
    halves: dict[Choice | None, float] = {0: 0.5, 1: -0.5, None: NAN}
    return np.array([halves[pair.preferred] for pair in pairs])


def _without_scores(pairs: Sequence[Pair]) -> dict[str, FloatArray]:
    """Return [N] how right the first reply is, unless that follows from how pairs are written, and one rater."""
    first = 0.5 + _first_is_preferred(pairs)
    varies = len(np.unique(first[np.isfinite(first)])) > 1
    return {**({FIRST: first} if varies else {}), RATERS: np.array([_one_rater(pair.votes) for pair in pairs])}


def _one_rater(votes: Sequence[Choice | None]) -> float:
    """Return how often a vote is the choice of most other votes; a tie on either side counts half.

    NaN without other votes, or if most of them prefer neither reply.
    """
    right = []
    for place, vote in enumerate(votes):
        counts = Counter([*votes[:place], *votes[place + 1 :]])
        most = [choice for choice, count in counts.items() if count == max(counts.values())]
        if most and most != [None]:
            right.append(0.5 if vote is None or len(most) > 1 else float(vote == most[0]))
    return sum(right) / len(right) if right else NAN


# data sets


def _pair_sets(
    pairs: Sequence[Pair], right: Mapping[str, FloatArray], scores: Mapping[str, Scores], scorers: Mapping[str, Scorer]
) -> list[_PairSet]:
    """Return one set for each data set, in order of appearance; `scores` are of both replies of each pair."""
    names = np.array([pair.dataset or UNNAMED for pair in pairs])
    sets = []
    for name in dict.fromkeys(names.tolist()):
        places = np.flatnonzero(names == name).tolist()
        members = [pairs[place] for place in places]
        numbers, clusters = numbered([_key(pair) for pair in members]), sorted_clusters(members)
        contexts = clusters.numbers[np.unique(numbers, return_index=True)[1]]
        replies = [2 * place + side for place in places for side in (0, 1)]
        shares = {scorer: domain_share(scores[scorer], scorers[scorer], replies) for scorer in scorers}
        outside = {scorer: out_of_domain(scorer, scorers[scorer].card, share) for scorer, share in shares.items()}
        choices = {scorer: values[places] for scorer, values in right.items()}
        reasons = {scorer: reason for scorer, reason in outside.items() if reason}
        sets.append(_PairSet(name, members, numbers, contexts, choices, reasons, clusters.note))
    return sets


def _key(pair: Pair) -> tuple[str, ...]:
    """Return what distinguishes a pair: its context and the two replies, in either order."""
    replies = ("\n".join((*reply.context, reply.response, reply.system or "")) for reply in pair.replies)
    return (*pair.context_key, *sorted(replies))


def _facts(part: _PairSet) -> dict[str, Any]:
    """Return the facts about a data set."""
    empty = np.array([any(not visible(reply.response) for reply in pair.replies) for pair in part.pairs])
    return {
        "dataset": part.name,
        "title": title_of(part.name, part.pairs),
        "pairs": number_of(part.numbers),
        "lines": len(part.pairs),
        "ties": number_of(part.numbers) - part.count(part.decided),
        "contexts": number_of(part.contexts),
        "votes": sum(len(pair.votes) for pair in part.pairs),
        "longer": part.count(part.right[LENGTH] == 1),
        "shorter": part.count(part.right[LENGTH] == 0),
        "empty": part.count(part.decided & empty),
        "out_of_domain": dict(part.outside),
    }


# estimates


def _estimates(part: _PairSet, asked: Sequence[str], reasons: Mapping[str, str], sampling: Sampling) -> list[Estimate]:
    """Return every estimate of one data set, with verdicts for the scorers that were asked for."""
    questions = [item for name, right in part.right.items() for item in _questions(name, right, part.right[LENGTH])]
    values, null = part.averaged(np.stack([row for *_, row in questions])), np.array([by for _, by, _ in questions])
    rng = sampling.generator(part.name, "choices")
    means = cluster_means(values, part.contexts, null, sampling.resamples, rng)
    method = (
        f"mean over pairs; 95 % expanded percentile interval, {sampling.resamples} resamples of contexts; "
        f"p: {FLIPS} sign flips of contexts"
    )
    estimates: dict[int, Estimate] = {}
    families: dict[tuple[str, str], list[int]] = {}
    for place, ((labels, *_), mean) in enumerate(zip(questions, means, strict=True)):
        scorer, unscored = labels["scorer"], 0
        if scorer != RATERS:
            unscored = part.count(part.decided & np.isnan(part.right[scorer]))
        elif not mean.n:
            continue
        why = f"{pluralize(unscored, 'pair')} without two scores, most often: {reasons.get(scorer)}" if unscored else ""
        about = {"dataset": part.name, "level": "pair", "unscored": unscored, "contexts": mean.contexts, **labels}
        estimates[place] = estimate_of(mean, **about, method=method, seed=sampling.seed, reason=why or mean.reason)
        if scorer in asked:
            families.setdefault((labels["statistic"], labels.get("group", "")), []).append(place)
    for places in families.values():
        family = [estimates[place] for place in places]
        decided = decide(family, null=float(null[places[0]]), outside=part.outside)
        estimates.update(zip(places, decided, strict=True))
    return list(estimates.values())


def _questions(name: str, right: FloatArray, of_longer: FloatArray) -> Iterator[Question]:
    """Yield the means of a scorer, or of one rater."""
    if name == RATERS:
        yield {"scorer": name, "statistic": OF_RATER}, CHANCE, right
        return
    labels = {"scorer": name, "statistic": ACCURACY}
    yield labels, CHANCE, right
    for group, is_longer in (("longer", 1), ("shorter", 0)):
        yield {**labels, "by": "preferred reply", "group": group}, CHANCE, np.where(of_longer == is_longer, right, NAN)
    if name != LENGTH:
        yield {"scorer": name, "statistic": DIFFERENCE, "versus": LENGTH}, 0.0, right - of_longer
