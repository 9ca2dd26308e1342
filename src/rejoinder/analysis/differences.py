"""How far two systems differ by one scorer: over pairs of replies, or over independent samples of conversations.

Shapes: N replies of a side, or N pairs, of which each side has a score. Whatever is "by side" has A first, then B.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from rejoinder.analysis.pairing import Pairing, Places
from rejoinder.analysis.worst import in_proportion, with_the_worst
from rejoinder.data.clusters import Clusters, sorted_clusters
from rejoinder.data.rated_lines import numbered
from rejoinder.estimates import LEVEL, NAN, Estimate, estimate_of
from rejoinder.example import Example
from rejoinder.report.written import pluralize
from rejoinder.scorer import Card, FloatArray, Scorer, Scores
from rejoinder.scoring.domain import domain_share, out_of_domain
from rejoinder.stats.correlation import ROUNDING
from rejoinder.stats.permutation import cluster_means
from rejoinder.stats.resamples import FEWEST_CLUSTERS, BoolArray, IntArray, Sampling, number_of, renumbered
from rejoinder.stats.shares import share_of_clusters
from rejoinder.stats.two_samples import Samples, difference, win_rate

FEWEST_OF_A_KIND = 5
"""Conversations of each side that a value of the `--by` column needs, without pairs."""
CHANCE = 0.8
"""The probability with which the detectable difference is found."""
SIDES = ("A", "B")


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """The lines of two systems, and what is compared of them: pairs, or single replies. Lists are by side."""

    sides: Sequence[Sequence[Example]]
    pairs: Pairing
    by: str  # a column, or ""
    values: Sequence[Sequence[str]]  # of the column, of each line; "" without a column
    places: Sequence[Places]  # the positions of the lines of each pair; without pairs each line by itself
    kinds: Sequence[NDArray[np.object_]]  # [N] the value of the column of each pair or reply
    conversations: Sequence[Sequence[str]]  # the name of each line's conversation
    clusters: Sequence[IntArray]  # [N] what is resampled as a whole: the contexts of pairs, else the conversations
    note: str  # what to know of the clusters, or ""

    @classmethod
    def of(cls, sides: Sequence[Sequence[Example]], pairs: Pairing, by: str, values: Sequence[Sequence[str]]) -> Lines:
        """Return the lines with their clusters."""
        names = [conversations_of(side) for side in sides]
        if pairs.paired:
            places: list[Places] = [pairs.a, pairs.b]
            first = [of_pair[0] for of_pair in pairs.a]
            kinds = [np.array([values[0][place] for place in first], dtype=object)] * 2
            of_a = [sides[0][place] for place in first]
            tied = [_clusters(of_a, [names[0][place] for place in first], paired=True)] * 2
        else:
            places = [[[place] for place in range(len(side))] for side in sides]
            kinds = [np.array(of_side, dtype=object) for of_side in values]
            tied = [_clusters(*of_side, paired=False) for of_side in zip(sides, names, strict=True)]
        note = " ".join(dict.fromkeys(clusters.note for clusters in tied if clusters.note))
        return cls(sides, pairs, by, values, places, kinds, names, [clusters.numbers for clusters in tied], note)

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
    """One scorer's scores of two systems, and the estimates from them. Lists are by side."""

    name: str
    card: Card
    scores: Sequence[Scores]
    values: Sequence[FloatArray]  # the scores, with the worst one for empty replies
    empty: Sequence[BoolArray]  # where the worst score was filled in
    worst: float  # that score; NaN if it was filled in nowhere
    estimates: tuple[Estimate, ...]  # over all lines, then for each value of the column; without verdicts
    outside: Mapping[str, str]  # why it cannot judge the replies, by value of the column, and under "" for all lines
    spared: int  # empty replies, or pairs with one, that do not count (see `in_proportion`)
    left_out: tuple[str, ...]  # values of the column with too few conversations on a side
    corrected: bool = False  # whether differences are those by labels and scores (see `compare_labels`)
    uncorrected: str = ""  # why not, if there are labels

    @property
    def upward(self) -> bool | None:
        """Whether a positive difference is good; None if the scorer claims no direction."""
        return True if self.corrected else self.card.higher_is_better

    @property
    def source(self) -> str:
        """The name of what gives the difference."""
        return f"labels and {self.name}" if self.corrected else self.name

    @property
    def gives_verdicts(self) -> bool:
        """Whether the scorer is a judge that gives both 0 and 1 and nothing else."""
        known = np.concatenate(self.values)
        return self.card.kind != "baseline" and set(known[np.isfinite(known)].tolist()) == {0.0, 1.0}


class _Side(NamedTuple):
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


def measure(name: str, scorer: Scorer, lines: Lines, scores: Sequence[Scores], sampling: Sampling) -> Outcome:
    """Return the estimates of one scorer, from the scores of both systems."""
    card, paired = scorer.card, lines.pairs.paired
    values, empty, worst = with_the_worst(card, list(zip(lines.sides, scores, strict=True)))
    sides, spared = _sides(lines, values, empty)
    rare = () if paired else _too_rare(sides)
    a, b = (side.at(~np.isin(side.kinds, rare)) for side in sides)
    sign = -1 if card.higher_is_better is False else 1
    gap, *rest = _measured(lines, a, b, sign, sampling)
    given = len(lines.places[0]) if paired else sum(map(len, lines.places))
    gap = replace(gap, reason=gap.reason if gap.known else _why_none(lines, scores, rare), unscored=given - gap.n)
    names = sorted({*a.kinds, *b.kinds}) if lines.by else []
    strata = [
        estimate_of(estimate, by=lines.by, group=kind)
        for kind in (names if paired or len(names) > 1 else [])
        for estimate in _measured(lines, a.at(a.kinds == kind), b.at(b.kinds == kind), sign, sampling)
    ]
    estimates = tuple(replace(estimate, scorer=name) for estimate in (gap, *rest, *strata))
    outside = _outside(name, scorer, lines, scores, names)
    return Outcome(name, card, scores, values, empty, worst, estimates, outside, spared, rare)


def _outside(
    name: str, scorer: Scorer, lines: Lines, scores: Sequence[Scores], values: Sequence[str]
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
    for place, line in enumerate(side):
        name = f"line {place}" if line.is_dialogue else json.dumps(line.context_key, ensure_ascii=False)
        if (dialogue := line.extra.get("dialogue_id")) is not None:
            name = f"{line.dataset}/{dialogue}" if line.dataset else str(dialogue)
        names.append(name)
    return names


def mean_of(values: FloatArray, places: Sequence[int]) -> float:
    """Return the mean score of some lines; NaN if one has none."""
    return float(values[list(places)].mean())


def _clusters(lines: Sequence[Example], names: Sequence[str], *, paired: bool) -> Clusters:
    """Return the clusters of pairs by their lines of A, or the conversations of replies; `names` are conversations.

    A whole conversation is a cluster by its name, as is every conversation of replies that an id names.
    """
    keys = [(name,) for name in names]
    whole = any(line.is_dialogue for line in lines)
    if not paired:
        named = whole or any(line.extra.get("dialogue_id") is not None for line in lines)
        return Clusters(numbered(keys), "") if named else sorted_clusters(lines, keys)
    tied = sorted_clusters(lines)
    others = [("", f"{number:09}") for number in tied.numbers.tolist()]
    mixed = [key if line.is_dialogue else other for line, key, other in zip(lines, keys, others, strict=True)]
    return tied._replace(numbers=numbered(mixed)) if whole else tied


def _sides(lines: Lines, values: Sequence[FloatArray], empty: Sequence[BoolArray]) -> tuple[list[_Side], int]:
    """Return both sides of what has its scores, and how many empty replies do not count."""
    sides, silences = [], []
    for which, places in enumerate(lines.places):
        unanswered = np.array([line.unanswered for line in lines.sides[which]], dtype=bool)
        silent = empty[which] | (unanswered & ~np.isfinite(values[which]))
        means = np.array([mean_of(values[which], of_pair) for of_pair in places])
        lost, quiet = (np.array([bool(rows[of_pair].all()) for of_pair in places]) for rows in (empty[which], silent))
        sides.append(_Side(means, lines.clusters[which], lines.kinds[which], lost))
        silences.append(quiet.astype(np.int64))
    usable = [np.isfinite(side.scores) for side in sides]
    if lines.pairs.paired:
        usable, silences = [usable[0] & usable[1]] * 2, [silences[0] + 2 * silences[1]] * 2
    counted = [in_proportion(*facts) for facts in zip(usable, silences, lines.kinds, strict=True)]
    spared = [int((known & ~kept).sum()) for known, kept in zip(usable, counted, strict=True)]
    sides = [side.at(kept) for side, kept in zip(sides, counted, strict=True)]
    return sides, spared[0] if lines.pairs.paired else sum(spared)


def _too_rare(sides: Sequence[_Side]) -> tuple[str, ...]:
    """Return the values of the column with too few conversations on a side; none if all lines have one value."""
    names = sorted({kind for side in sides for kind in side.kinds})
    fewest = {name: min(len(np.unique(side.clusters[side.kinds == name])) for side in sides) for name in names}
    return tuple(name for name in names if len(names) > 1 and fewest[name] < FEWEST_OF_A_KIND)


def _measured(lines: Lines, a: _Side, b: _Side, sign: int, sampling: Sampling) -> list[Estimate]:
    """Return difference, win rate, shares of wins, ties and losses, the difference that could be found, and means.

    No label names the scorer or the column yet.
    """
    paired, means = lines.pairs.paired, (a.mean, b.mean)
    if not a.groups or not b.groups:
        n = 0 if paired else len(a.scores) + len(b.scores)
        gap, win, tie, least = Estimate(n=n, contexts=a.groups + b.groups), Estimate(), NAN, NAN
    elif paired:
        gap, win, tie, least = _paired(a, b, sign, sampling)
    else:
        gap, win, tie, least, means = _independent(a, b, sign, sampling)
    seed = sampling.seed if gap.has_interval else None
    about: dict[str, Any] = {"system": "B", "versus": "A", "n": gap.n, "contexts": gap.contexts}
    share = f"share of {'pairs' if paired else 'pairs of a reply of A and one of B'}"
    method = f"{share}; a tie counts half; Wilson interval over {lines.cluster}s"
    rates = [estimate_of(win, **about, statistic="win rate", method=method)]
    parts = {"share of wins": win.value - tie / 2, "share of ties": tie, "share of losses": 1 - win.value - tie / 2}
    method = f"{share}; no interval"
    rates += [Estimate(**about, statistic=name, value=value, method=method) for name, value in parts.items()]
    method = f"difference that a two-sided 5 % test finds with probability {CHANCE:g}, from Student's t"
    rates.append(Estimate(**about, statistic="detectable difference", value=least, method=method))
    method = _method(lines, sampling, drawn=gap.has_interval)
    return [
        replace(gap, system="B", versus="A", statistic="difference", seed=seed, method=method),
        *(rate for rate in rates if rate.known),
        *(
            Estimate(statistic="mean score", system=system, value=mean, n=len(side.scores), contexts=side.groups)
            for system, mean, side in zip(SIDES, means, (a, b), strict=True)
        ),
    ]


def _paired(a: _Side, b: _Side, sign: int, sampling: Sampling) -> tuple[Estimate, Estimate, float, float]:
    """Return difference, win rate, share of ties and detectable difference of pairs.

    Contexts are resampled, and A and B exchanged in them.
    """
    # A judge gives one reply the same score to seven digits only, since other replies of a batch decide the last bits.
    apart = np.where(np.isclose(a.scores, b.scores, rtol=1e-6, atol=0), 0.0, b.scores - a.scores)
    # An empty reply loses even if its score is that of the other: the worst.
    ahead = np.where(apart == 0, a.empty.astype(int) - b.empty.astype(int), sign * np.sign(apart))
    win, tie = share_of_clusters((1 + ahead) / 2, a.clusters), float((ahead == 0).mean())
    gap = Estimate(value=float(apart.mean()), n=len(apart), contexts=a.groups)
    if a.groups < FEWEST_CLUSTERS:
        return replace(gap, reason=_too_few(a.groups, "context")), win, tie, NAN
    scale = float(np.abs(apart).max()) or 1.0  # before the flips, whose tolerance is absolute
    rng, times = sampling.generator([a.groups], "comparison"), sampling.resamples
    (mean,) = cluster_means(apart[None] / scale, a.clusters, np.zeros(1), times, rng, flips=times)
    parts = np.bincount(a.clusters, weights=apart - gap.value, minlength=a.groups)
    error = sqrt(float((parts**2).sum()) * a.groups / (a.groups - 1)) / len(apart)
    gap = replace(gap, low=scale * mean.low, high=scale * mean.high, p=mean.p)
    return gap, win, tie, _detectable(error, a.groups - 1, scale)


def _independent(
    a: _Side, b: _Side, sign: int, sampling: Sampling
) -> tuple[Estimate, Estimate, float, float, tuple[float, float]]:
    """Return difference, win rate, share of ties, detectable difference and means of two samples.

    Conversations are resampled and dealt. With several values of the column these are means over the values, weighted
    by their share of all replies, so that a system that got more of the easy ones gains nothing.
    """
    strata = renumbered(np.concatenate([a.kinds, b.kinds]))
    values, second = np.concatenate([a.scores, b.scores]), np.arange(len(strata)) >= len(a.scores)
    clusters = np.concatenate([a.clusters, a.groups + b.clusters])
    samples = Samples(values, second, clusters, strata, np.bincount(strata) / len(strata))
    groups = a.groups, b.groups
    gap = difference(samples, sampling.generator(groups, "comparison"), sampling.resamples)
    better = np.where(np.concatenate([a.empty, b.empty]), -np.inf, sign * values)
    ranks = np.unique(better, return_inverse=True)[1].astype(np.float64)
    up, down = (win_rate(replace(samples, values=ranks + step * second)).value for step in (0.5, -0.5))
    n, scale = len(strata), float(np.abs(values).max()) or 1.0
    reason = _too_few(min(groups), "conversation", " on a side") if gap.estimate.reason else ""
    estimate = replace(gap.estimate, n=n, contexts=sum(groups), reason=reason)
    least = _detectable(gap.error, gap.freedom, scale)
    return estimate, win_rate(replace(samples, values=better)), up - down, least, (gap.first, gap.second)


def _detectable(error: float, freedom: float, scale: float) -> float:
    """Return the true difference that a test with this standard error finds with `CHANCE`; NaN without an error.

    Source: Cohen (1988), Statistical Power Analysis for the Behavioral Sciences, chapter 2.
    """
    if not error >= ROUNDING * scale:
        return NAN
    return error * float(stdtrit(freedom, 1 - LEVEL / 2) + stdtrit(freedom, CHANCE))


def _too_few(groups: int, unit: str, where: str = "") -> str:
    """Return why there is no test."""
    return f"{pluralize(groups, unit)}{where}; {FEWEST_CLUSTERS} or more are needed"


def _why_none(lines: Lines, scores: Sequence[Scores], rare: Sequence[str]) -> str:
    """Return why there is nothing to compare."""
    if rare and all(side.scored.any() for side in scores):
        return "no value of the column has five conversations on both sides"
    reasons = Counter(reason for side in scores for reason in side.reasons.values()).most_common(1)
    what = f"none of {len(lines.places[0])} pairs has two scores" if lines.pairs.paired else "a side has no score"
    return f"{what}; most often: {reasons[0][0] if reasons else 'no reason given'}"


def _method(lines: Lines, sampling: Sampling, *, drawn: bool) -> str:
    """Return how difference, interval and p were computed."""
    what, tested = "mean of paired differences", "A and B exchanged in random contexts"
    if not lines.pairs.paired:
        weighted = f", values of {lines.by} weighted by their share of replies" if lines.by else ""
        what, tested = f"difference of means{weighted}", "conversations dealt to A and B"
    count = sampling.resamples
    interval = f"95% expanded percentile interval, {count} resamples of {lines.cluster}s"
    return f"{what}; {interval}; p: {count} permutations, {tested}" if drawn else f"{what}; no interval"
