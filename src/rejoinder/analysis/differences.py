"""How far two systems differ by one scorer: over pairs of replies, or over independent samples of conversations.

Shapes: N replies of a side, or N pairs, of which each side has a score.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.analysis.pairing import Pairing, Places
from rejoinder.analysis.worst import Filled, in_proportion, with_the_worst
from rejoinder.data.clusters import Clusters, sorted_clusters
from rejoinder.data.rated_lines import numbered
from rejoinder.estimates import NAN, Estimate, estimate_of
from rejoinder.example import Example
from rejoinder.scorer import Card, FloatArray, Scorer, Scores
from rejoinder.scoring.domain import domain_share, out_of_domain
from rejoinder.stats.correlation import ROUNDING
from rejoinder.stats.permutation import cluster_means
from rejoinder.stats.resamples import BoolArray, IntArray, Sampling, number_of, renumbered
from rejoinder.stats.shares import FEWEST, share_of_clusters
from rejoinder.stats.splits import Pilot, items_needed, pilot_of_means
from rejoinder.stats.two_samples import Samples, difference, win_rate

FEWEST_OF_A_KIND = 5
"""Conversations of each side that a value of the `--by` column needs, without pairs."""
FARTHEST = 1_000_000
"""The largest forecast."""
SIDES = ("A", "B")
Both = tuple[Sequence[Example], Sequence[Example]]


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """The lines of two systems, and what is compared of them: pairs, or single replies.

    Attributes:
        sides: the lines of A and of B.
        pairs: which belong together.
        by: a column, or "".
        places: by side, the positions of the lines of each pair; without pairs each line by itself.
        values: by side, the value of the column of each line, as text; "" without a column.
        kinds: by side, [N] that of each pair or reply.
        conversations: by side, the name of each line's conversation.
        clusters: by side, [N] what is resampled as a whole: the contexts of pairs, else the conversations.
        note: what to know of the clusters, or "".
    """

    sides: Both
    pairs: Pairing
    by: str
    places: tuple[Places, Places]
    values: tuple[Sequence[str], Sequence[str]]
    kinds: tuple[NDArray[np.object_], NDArray[np.object_]]
    conversations: tuple[Sequence[str], Sequence[str]]
    clusters: tuple[IntArray, IntArray]
    note: str

    @classmethod
    def of(cls, sides: Both, pairs: Pairing, by: str, values: tuple[Sequence[str], Sequence[str]]) -> Lines:
        """Return the lines with their clusters."""
        a, b = sides
        names = conversations_of(a), conversations_of(b)
        if pairs.paired:
            first = [places[0] for places in pairs.a]
            tied = _clusters_of_pairs([a[place] for place in first], [names[0][place] for place in first])
            kinds = np.array([values[0][place] for place in first], dtype=object)
            both = (tied.numbers, tied.numbers)
            return cls(sides, pairs, by, (pairs.a, pairs.b), values, (kinds, kinds), names, both, tied.note)
        single = [[n] for n in range(len(a))], [[n] for n in range(len(b))]
        each = np.array(values[0], dtype=object), np.array(values[1], dtype=object)
        of_a, of_b = _clusters_of_replies(a, names[0]), _clusters_of_replies(b, names[1])
        note = " ".join(dict.fromkeys(filter(None, (of_a.note, of_b.note))))
        return cls(sides, pairs, by, single, values, each, names, (of_a.numbers, of_b.numbers), note)

    @property
    def unit(self) -> str:
        """The word for what is counted."""
        return "pair" if self.pairs.paired else "reply"

    @property
    def cluster(self) -> str:
        """The word for what is resampled."""
        return "context" if self.pairs.paired else "conversation"


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """One scorer's scores of two systems, and the estimates from them.

    Attributes:
        name: of the scorer.
        card: its card.
        scores: of A and of B.
        filled: the same, with the worst score for empty replies.
        estimates: over all lines, then for each value of the column; without verdicts.
        outside: why the scorer cannot judge the replies: by value of the column, and under "" for all lines.
        spared: empty replies, or pairs with one, that do not count (see `in_proportion`).
        left_out: values of the column with too few conversations on a side.
    """

    name: str
    card: Card
    scores: tuple[Scores, Scores]
    filled: Filled
    estimates: tuple[Estimate, ...]
    outside: Mapping[str, str]
    spared: int
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """The N scored replies of one side: scores, clusters, values of the column, and which are empty."""

    scores: FloatArray
    clusters: IntArray
    kinds: NDArray[np.object_]
    empty: BoolArray

    def at(self, rows: BoolArray) -> _Side:
        """Return some of the replies; clusters are numbered from 0."""
        return _Side(self.scores[rows], renumbered(self.clusters[rows]), self.kinds[rows], self.empty[rows])

    @property
    def groups(self) -> int:
        """The number of clusters."""
        return number_of(self.clusters)

    @property
    def mean(self) -> float:
        """The mean score; NaN of nothing."""
        return float(self.scores.mean()) if len(self.scores) else NAN


def measure(name: str, scorer: Scorer, lines: Lines, scores: tuple[Scores, Scores], sampling: Sampling) -> Outcome:
    """Return the estimates of one scorer, from the scores of both systems."""
    card = scorer.card
    filled = with_the_worst(card, *lines.sides, scores)
    a, b, spared = _sides(lines, filled)
    rare: tuple[str, ...] = ()
    if not lines.pairs.paired:
        rare = _too_rare(a, b)
        a, b = (side.at(~np.isin(side.kinds, rare)) for side in (a, b))
    sign = -1 if card.higher_is_better is False else 1
    given = len(lines.places[0]) if lines.pairs.paired else sum(map(len, lines.places))
    whole = _measured(lines, a, b, sign, sampling)
    n = whole[0].n
    reason = whole[0].reason if whole[0].known else _why_none(lines, scores, rare)
    whole = [replace(whole[0], reason=reason, unscored=given - n), *whole[1:]]
    names = sorted({*a.kinds, *b.kinds}) if lines.by else []
    strata = [
        estimate_of(estimate, by=lines.by, group=kind)
        for kind in (names if lines.pairs.paired or len(names) > 1 else [])
        for estimate in _measured(lines, a.at(a.kinds == kind), b.at(b.kinds == kind), sign, sampling)
    ]
    labelled = tuple(replace(estimate, scorer=name) for estimate in (*whole, *strata))
    return Outcome(name, card, scores, filled, labelled, _outside(name, scorer, lines, scores, names), spared, rare)


def _outside(
    name: str, scorer: Scorer, lines: Lines, scores: tuple[Scores, Scores], values: Sequence[str]
) -> dict[str, str]:
    """Return why a scorer cannot judge the replies of a side: of all lines, or with a value of the column."""

    def reason(value: str) -> str:
        shares = (
            domain_share(part, scorer, [row for row, other in enumerate(of) if value in ("", other)], f" of {side}")
            for part, of, side in zip(scores, lines.values, SIDES, strict=True)
        )
        return out_of_domain(name, scorer.card, *shares)

    whole = reason("")
    reasons = {"": whole} | {value: whole or reason(value) for value in values}
    return {value: text for value, text in reasons.items() if text}


def conversations_of(side: Sequence[Example]) -> list[str]:
    """Return the name of the conversation of each line; a whole conversation without a `dialogue_id` is its own."""
    names = []
    for place, example in enumerate(side):
        dialogue = example.extra.get("dialogue_id")
        if dialogue is not None:
            names.append(f"{example.dataset}/{dialogue}" if example.dataset else str(dialogue))
        elif example.is_dialogue:
            names.append(f"line {place}")
        else:
            names.append(json.dumps(example.context_key, ensure_ascii=False))
    return names


def mean_of(values: FloatArray, places: Sequence[int]) -> float:
    """Return the mean score of some lines; NaN if one has none."""
    return float(values[list(places)].mean())


def _clusters_of_pairs(lines: Sequence[Example], names: Sequence[str]) -> Clusters:
    """Return the clusters of pairs by their lines of A; a whole conversation is one by its name."""
    tied = sorted_clusters(lines)
    if not any(line.is_dialogue for line in lines):
        return tied
    others = [("", f"{number:09}") for number in tied.numbers.tolist()]
    keys = [(name,) if line.is_dialogue else other for line, name, other in zip(lines, names, others, strict=True)]
    return tied._replace(numbers=numbered(keys))


def _clusters_of_replies(lines: Sequence[Example], names: Sequence[str]) -> Clusters:
    """Return the conversations of lines by their names, else the clusters that they are in."""
    keys = [(name,) for name in names]
    if any(line.is_dialogue or line.extra.get("dialogue_id") is not None for line in lines):
        return Clusters(numbered(keys), "")
    return sorted_clusters(lines, keys)


def _sides(lines: Lines, filled: Filled) -> tuple[_Side, _Side, int]:
    """Return both sides of what has its scores, and how many empty replies do not count."""
    sides, silences = [], []
    for which, (values, empty) in enumerate(((filled.a, filled.empty_a), (filled.b, filled.empty_b))):
        places = lines.places[which]
        unanswered = np.array([example.unanswered for example in lines.sides[which]], dtype=bool)
        silent = empty | (unanswered & ~np.isfinite(values))
        means = np.array([mean_of(values, of_pair) for of_pair in places])
        lost, quiet = (np.array([bool(flags[of_pair].all()) for of_pair in places]) for flags in (empty, silent))
        sides.append(_Side(means, lines.clusters[which], lines.kinds[which], lost))
        silences.append(quiet.astype(np.int64))
    usable = [np.isfinite(side.scores) for side in sides]
    if lines.pairs.paired:
        both = usable[0] & usable[1]
        usable, silences = [both, both], [silences[0] + 2 * silences[1]] * 2
    counted = [in_proportion(*facts) for facts in zip(usable, silences, (side.kinds for side in sides), strict=True)]
    spared = [int((known & ~kept).sum()) for known, kept in zip(usable, counted, strict=True)]
    first, second = (side.at(kept) for side, kept in zip(sides, counted, strict=True))
    return first, second, spared[0] if lines.pairs.paired else sum(spared)


def _too_rare(a: _Side, b: _Side) -> tuple[str, ...]:
    """Return the values of the column with too few conversations on a side; none if all lines have one value."""
    names = sorted({*a.kinds, *b.kinds})
    if len(names) < 2:
        return ()
    fewest = (min(len(np.unique(side.clusters[side.kinds == name])) for side in (a, b)) for name in names)
    return tuple(name for name, count in zip(names, fewest, strict=True) if count < FEWEST_OF_A_KIND)


def _measured(lines: Lines, a: _Side, b: _Side, sign: int, sampling: Sampling) -> list[Estimate]:
    """Return difference, rates of wins, losses and ties, and means; no label names the scorer or the column yet."""
    if not a.groups or not b.groups:
        n = 0 if lines.pairs.paired else len(a.scores) + len(b.scores)
        gap, win, tie, means = Estimate(n=n, contexts=a.groups + b.groups), Estimate(), NAN, (a.mean, b.mean)
    elif lines.pairs.paired:
        gap, win, tie = _paired(a, b, sign, sampling)
        means = a.mean, b.mean
    else:
        gap, win, tie, means = _independent(a, b, sign, sampling)
    drawn = gap.has_interval
    gap = replace(
        gap, statistic="difference", seed=sampling.seed if drawn else None, method=_method(lines, sampling, drawn=drawn)
    )
    about: dict[str, Any] = {"system": "B", "versus": "A", "n": gap.n, "contexts": gap.contexts}
    rates = f"share of {'pairs' if lines.pairs.paired else 'pairs of a reply of A and one of B'}; a tie counts half"
    wins = estimate_of(win, **about, statistic="win rate", method=f"{rates}; Wilson interval over {lines.cluster}s")
    losses = replace(wins, statistic="loss rate", value=1 - wins.value, low=1 - wins.high, high=1 - wins.low)
    ties = Estimate(**about, statistic="tie rate", value=tie, method=f"{rates.partition(';')[0]}; no interval")
    return [
        replace(gap, system="B", versus="A"),
        *(rate for rate in (wins, losses, ties) if rate.known),
        *(
            Estimate(statistic="mean score", system=system, value=mean, n=len(side.scores), contexts=side.groups)
            for system, mean, side in zip(SIDES, means, (a, b), strict=True)
        ),
    ]


def _paired(a: _Side, b: _Side, sign: int, sampling: Sampling) -> tuple[Estimate, Estimate, float]:
    """Return difference, win rate and tie rate of pairs; contexts are resampled, and A and B exchanged in them."""
    apart = b.scores - a.scores
    # An empty reply loses even if its score is that of the other: the worst.
    ahead = np.where(apart == 0, a.empty.astype(int) - b.empty.astype(int), sign * np.sign(apart))
    win = estimate_of(share_of_clusters((1 + ahead) / 2, a.clusters))
    gap = Estimate(value=float(apart.mean()), n=len(apart), contexts=a.groups)
    tie = float((ahead == 0).mean())
    if a.groups < FEWEST:
        return replace(gap, reason=_too_few(a.groups, "context")), win, tie
    scale = float(np.abs(apart).max()) or 1.0  # before the flips, whose tolerance is absolute
    rng, times = sampling.generator([a.groups], "comparison"), sampling.resamples
    (mean,) = cluster_means(apart[None] / scale, a.clusters, np.zeros(1), times, rng, flips=times)
    needed = _forecast(pilot_of_means(b.scores, a.scores, a.clusters))
    return replace(gap, low=scale * mean.low, high=scale * mean.high, p=mean.p, needed=needed), win, tie


def _independent(
    a: _Side, b: _Side, sign: int, sampling: Sampling
) -> tuple[Estimate, Estimate, float, tuple[float, float]]:
    """Return difference, win rate, tie rate and means of two samples; conversations are resampled and dealt.

    With several values of the column these are means over the values, weighted by their share of all replies, so that a
    system that got more of the easy ones gains nothing.
    """
    strata = renumbered(np.concatenate([a.kinds, b.kinds]))
    samples = Samples(
        np.concatenate([a.scores, b.scores]),
        np.arange(len(strata)) >= len(a.scores),
        np.concatenate([a.clusters, a.groups + b.clusters]),
        strata,
        np.bincount(strata) / len(strata),
    )
    groups = a.groups, b.groups
    gap = difference(samples, sampling.generator(groups, "comparison"), sampling.resamples)
    better = replace(samples, values=np.where(np.concatenate([a.empty, b.empty]), -np.inf, sign * samples.values))
    ranks = np.unique(better.values, return_inverse=True)[1].astype(np.float64)
    up, down = (win_rate(replace(samples, values=ranks + step * samples.second)).value for step in (0.5, -0.5))
    n, scale = len(strata), float(np.abs(samples.values).max()) or 1.0
    known = not gap.estimate.reason and min(abs(gap.estimate.value), gap.error) >= ROUNDING * scale
    needed = _forecast(Pilot(gap.estimate.value, gap.error * sqrt(n), n)) if known else None
    reason = _too_few(min(groups), "conversation", " on a side") if gap.estimate.reason else ""
    estimate = estimate_of(gap.estimate, n=n, contexts=sum(groups), needed=needed, reason=reason)
    return estimate, estimate_of(win_rate(better)), up - down, (gap.first, gap.second)


def _forecast(pilot: Pilot) -> int | None:
    """Return how many items would confirm the pilot's difference; None if it is too many to collect."""
    count = items_needed(pilot)
    return None if count is None or count > FARTHEST else count


def _too_few(groups: int, unit: str, where: str = "") -> str:
    """Return why there is no test."""
    return f"{groups} {unit}{'' if groups == 1 else 's'}{where}; three or more are needed"


def _why_none(lines: Lines, scores: tuple[Scores, Scores], rare: Sequence[str]) -> str:
    """Return why there is nothing to compare."""
    if rare and all(side.scored.any() for side in scores):
        return "no value of the column has five conversations on both sides"
    reasons = Counter(reason for side in scores for reason in side.reasons.values()).most_common(1)
    why = reasons[0][0] if reasons else "no reason given"
    if lines.pairs.paired:
        return f"none of {len(lines.places[0])} pairs has two scores; most often: {why}"
    return f"a side has no score; most often: {why}"


def _method(lines: Lines, sampling: Sampling, *, drawn: bool) -> str:
    """Return how difference, interval and p were computed."""
    what, tested = "mean of paired differences", "A and B exchanged in random contexts"
    if not lines.pairs.paired:
        what, tested = "difference of means", "conversations dealt to A and B"
        what += f", values of {lines.by} weighted by their share of replies" if lines.by else ""
    count = sampling.resamples
    interval = f"95% expanded percentile interval, {count} resamples of {lines.cluster}s"
    return f"{what}; {interval}; p: {count} permutations, {tested}" if drawn else f"{what}; no interval"
