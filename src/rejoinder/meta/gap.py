"""How far two systems lie apart by one scorer: over pairs of replies, or over independent samples of conversations.

Shapes: N replies of a side; where they are pairs, both sides have N.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rejoinder.meta.verdict import FARTHEST
from rejoinder.scorer import FloatArray
from rejoinder.stats.correlation import ROUNDING
from rejoinder.stats.figure import NONE, NOTHING, Figure, written_as
from rejoinder.stats.permutation import cluster_means
from rejoinder.stats.resamples import BoolArray, IntArray, Sampling, number_of, renumbered
from rejoinder.stats.shares import FEWEST, share_of_clusters
from rejoinder.stats.splits import Pilot, items_needed, pilot_of_means
from rejoinder.stats.two_samples import Difference, Samples, difference, win_rate

FEWEST_OF_A_KIND = 5  # conversations of each side, for the replies under one value of a field to be compared
Verdict = Literal["A is better", "B is better", "A is higher", "B is higher", "not separable", "out of domain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap(Figure):
    """Mean score of system B less that of A by one scorer, on all lines or on some.

    n counts pairs of responses with a score each; without pairs, replies with a score. p is two-sided, of no
    difference, by permutation.

    Attributes:
        n_a: those of A.
        n_b: those of B.
        contexts: what is resampled and exchanged whole: the contexts of the pairs, or without pairs the conversations.
        mean_a: mean score of A; NaN without any.
        mean_b: mean score of B.
        p_adjusted: p by Holm for the number of such questions; the verdict rests on it and on the interval.
        win: the probability that a reply of B beats its partner of A, without pairs any of A; a tie counts half.
        needed: how large `n` would have to be for a difference like this one to be told with probability 0.8; None
            where it is told already, or would be if nothing else had been asked, or no number can be forecast.
        verdict: in words; "higher" instead of "better" where the scorer claims no direction; "out of domain" where the
            scorer cannot judge the replies, whatever the figures say.
    """

    n_a: int
    n_b: int
    contexts: int
    mean_a: float
    mean_b: float
    p_adjusted: float = NONE
    win: Figure = written_as(value="win", low="win_low", high="win_high", default=NOTHING)
    needed: int | None = None
    verdict: Verdict = "not separable"

    @property
    def more(self) -> int | None:
        """How many more pairs or replies would tell, or None where that is not the question."""
        return None if self.needed is None else max(self.needed - self.n, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum(Gap):
    """Two systems under one scorer, on the lines that have one value of a field.

    Attributes:
        name: the value, as text.
        weight: its share in the difference over all strata.
        method: not written, since the contrast that it is a part of says it.
        seed: likewise.
    """

    name: str
    weight: float
    method: str = written_as(default="")
    seed: int | None = written_as(default=None)


@dataclass(frozen=True, slots=True)
class Side:
    """The scored replies of one side.

    Attributes:
        scores: [N] finite.
        clusters: [N] number of each reply's conversation, of each pair's context.
        kinds: [N] value of the named field, as text.
        lost: [N] where a reply is empty, which loses to all that are not.
    """

    scores: FloatArray
    clusters: IntArray
    kinds: NDArray[np.object_]
    lost: BoolArray

    def at(self, rows: BoolArray) -> Side:
        """Some of the replies; clusters are numbered anew from 0."""
        clusters = renumbered(self.clusters[rows])
        return Side(self.scores[rows], clusters, self.kinds[rows], self.lost[rows])

    @property
    def groups(self) -> int:
        """How many clusters there are."""
        return number_of(self.clusters)


def paired_gap(a: Side, b: Side, sign: int, sampling: Sampling) -> Gap:
    """The gap over pairs; contexts are resampled, and A and B exchanged in random ones.

    Args:
        a: the first of each pair.
        b: the second.
        sign: -1 where lower is better, else 1.
        sampling: how to resample.
    """
    apart = b.scores - a.scores
    ahead = np.where(apart == 0, a.lost.astype(int) - b.lost.astype(int), sign * np.sign(apart))
    win = share_of_clusters((1 + ahead) / 2, a.clusters)
    found = _bare(a, b, n=len(apart), contexts=a.groups, value=_mean(apart), win=win)
    if a.groups < FEWEST:
        return replace(found, reason=_too_few(a.groups, "context"))
    scale = float(np.abs(apart).max()) or 1.0
    rng, times = sampling.generator([a.groups], "comparison"), sampling.resamples
    (mean,) = cluster_means(apart[None] / scale, a.clusters, np.zeros(1), times, rng, flips=times)
    needed = _forecast(pilot_of_means(b.scores, a.scores, a.clusters))
    low, high = scale * mean.low, scale * mean.high
    return replace(found, low=low, high=high, p=mean.p, p_adjusted=mean.p, needed=needed)


def paired_strata(a: Side, b: Side, sign: int, sampling: Sampling) -> tuple[Stratum, ...]:
    """The gap over the pairs of each value of the named field; the weight of each is its share of the pairs."""
    return tuple(
        Stratum.of(paired_gap(a.at(rows), b.at(rows), sign, sampling), name=str(name), weight=float(rows.mean()))
        for name in np.unique(a.kinds)
        for rows in [a.kinds == name]
    )


def too_rare(a: Side, b: Side) -> tuple[str, ...]:
    """The values of the named field that have under five conversations on a side; none where all have one value."""
    names = np.unique(np.concatenate([a.kinds, b.kinds]))
    if len(names) < 2:
        return ()
    least = [min(len(np.unique(side.clusters[side.kinds == name])) for side in (a, b)) for name in names]
    return tuple(str(name) for name, count in zip(names, least, strict=True) if count < FEWEST_OF_A_KIND)


def unpaired_gap(a: Side, b: Side, sign: int, sampling: Sampling) -> tuple[Gap, tuple[Stratum, ...]]:
    """The gap between independent samples, over all replies and over those of each value of the named field.

    Conversations are resampled, and dealt anew to A and B. Over several values it is the mean of the gaps under each,
    weighted by its share of all replies, so that a side with more of the easy ones gains nothing by that.

    Args:
        a: one side; with a field named, none of its values are `too_rare`.
        b: the other.
        sign: -1 where lower is better, else 1.
        sampling: how to resample.
    """
    if not a.groups or not b.groups:
        return _bare(a, b, n=len(a.scores) + len(b.scores), contexts=a.groups + b.groups), ()
    names, strata = np.unique(np.concatenate([a.kinds, b.kinds]), return_inverse=True)
    samples = Samples(
        np.concatenate([a.scores, b.scores]),
        np.arange(len(strata)) >= len(a.scores),
        np.concatenate([a.clusters, a.groups + b.clusters]),
        strata.astype(np.int64),
        np.bincount(strata) / len(strata),
    )
    lost = np.concatenate([a.lost, b.lost])
    whole = _between(samples, lost, sign, sampling)
    if len(names) == 1:
        return whole, ()
    return whole, tuple(
        Stratum.of(
            _between(samples.of_stratum(place), lost[strata == place], sign, sampling), name=str(name), weight=weight
        )
        for place, (name, weight) in enumerate(zip(names, samples.weights.tolist(), strict=True))
    )


def _between(samples: Samples, lost: BoolArray, sign: int, sampling: Sampling) -> Gap:
    """The gap between two samples; `lost` [N] loses to all else."""
    groups = int((~samples.side).sum()), int(samples.side.sum())
    found = difference(samples, sampling.generator(groups, "comparison"), sampling.resamples)
    share = win_rate(replace(samples, values=np.where(lost, -np.inf, sign * samples.values)))
    n, second = len(samples.values), int(samples.second.sum())
    return Gap.of(
        found,
        n=n,
        n_a=n - second,
        n_b=second,
        contexts=sum(groups),
        mean_a=found.first,
        mean_b=found.second,
        p_adjusted=found.p,
        win=share,
        needed=_needed(found, samples),
        reason=_too_few(min(groups), "conversation", " on a side") if found.reason else "",
    )


def _needed(found: Difference, samples: Samples) -> int | None:
    """How many replies would tell a difference like this one; None where no number can be forecast."""
    scale = float(np.abs(samples.values).max()) or 1.0
    if found.reason or min(abs(found.value), found.error) < ROUNDING * scale:
        return None
    n = len(samples.values)
    return _forecast(Pilot(found.value, found.error * sqrt(n), n))


def _forecast(pilot: Pilot) -> int | None:
    """How many items would tell the pilot's difference; None where nobody has so many."""
    count = items_needed(pilot)
    return None if count is None or count > FARTHEST else count


def _bare(a: Side, b: Side, *, n: int, contexts: int, value: float = NONE, win: Figure = NOTHING) -> Gap:
    """A gap with all that needs no resampling."""
    return Gap(
        n=n,
        n_a=len(a.scores),
        n_b=len(b.scores),
        contexts=contexts,
        mean_a=_mean(a.scores),
        mean_b=_mean(b.scores),
        value=value,
        win=win,
    )


def _too_few(groups: int, unit: str, where: str = "") -> str:
    """Why there is no test."""
    return f"{groups} {unit}{'' if groups == 1 else 's'}{where}; three or more are needed"


def _mean(values: FloatArray) -> float:
    """The mean; NaN of nothing."""
    return float(values.mean()) if len(values) else NONE
