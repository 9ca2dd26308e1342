"""What one would conclude about systems from the means of each scorer alone, against what people say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar, NamedTuple

import numpy as np

from rejoinder.humans.rated_set import NO_SYSTEM, PEOPLE, RatedSet
from rejoinder.meta.agreement import Agreement
from rejoinder.meta.scored_set import ScoredSet
from rejoinder.scorer import FloatArray
from rejoinder.stats.arrays import IntArray, numbers_of
from rejoinder.stats.bootstrap import group_means, percentile_interval
from rejoinder.stats.figure import NONE, Figure, written_as
from rejoinder.stats.sampling import Sampling

COUNTS = ("same", "neither", "only_scorer", "only_people", "reversed")
_FEWEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemMean:
    """The mean of one system by one scorer.

    Attributes:
        system: its name.
        mean: mean score of its n lines.
        ahead: whether it is told apart from the system that comes next.
    """

    system: str
    mean: Figure = written_as(n="n", value="mean", low="low", high="high")
    ahead: bool

    @property
    def statistic(self) -> str:
        """What is measured."""
        return f"mean of {self.system}"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What one would conclude about systems from one scorer's means alone, and what people say of that.

    Two systems are told apart where the 95 % interval of the difference of their means leaves 0 out.

    Attributes:
        scorer: its name; "people" for the ratings.
        n: lines with a score, of a named system.
        contexts: contexts they come from.
        systems: best first by this scorer; none where data sets are taken together.
        pairs: pairs of systems.
        same: pairs that the scorer and people tell apart, in the same direction.
        neither: pairs that neither tells apart.
        only_scorer: pairs that only the scorer tells apart.
        only_people: pairs that only people tell apart.
        reversed: pairs that both tell apart, in opposite directions.
        method: how the figures were worked out.
        seed: seed of the resampling.
        reason: why there are none, else "".
    """

    scorer: str
    n: int
    contexts: int
    systems: tuple[SystemMean, ...]
    pairs: int
    same: int
    neither: int
    only_scorer: int
    only_people: int
    reversed: int
    method: str
    seed: int
    reason: str = ""

    level: ClassVar = "system"

    def figures(self) -> Iterator[Agreement | SystemMean]:
        """Yield the shares of pairs by what scorer and people say of them, then the means of systems."""
        for count in COUNTS:
            yield Agreement(
                dataset="",
                scorer=self.scorer,
                level="system",
                statistic=f"share of pairs of systems: {count.replace('_', ' ')}",
                n=self.pairs,
                contexts=self.contexts,
                value=getattr(self, count) / self.pairs if self.pairs else NONE,
                reason=self.reason,
            )
        yield from self.systems


class _Lines(NamedTuple):
    """The lines that one scorer scored, N of G contexts and S systems.

    Attributes:
        places: [N] places among the lines of the set.
        rated: the lines.
        systems: [N] in [0, S).
        contexts: [S] how many each system answered.
        counts: [G, B] how often each context is drawn.
        names: [S].
        signs: by people, of each pair of systems (see `_signs`).
    """

    places: IntArray
    rated: RatedSet
    systems: IntArray
    contexts: list[int]
    counts: FloatArray
    names: list[str]
    signs: list[int]


def conclusions_of(scored: ScoredSet) -> tuple[Conclusion, ...]:
    """One a scorer, people first; none where fewer than two systems are named; of a pool the counts over its sets.

    Scorer and people are compared on the lines that the scorer scored. Source: Liu et al. (2016), section 4.3.
    """
    rated, sampling = scored.rated, scored.sampling
    if scored.members:
        return summed([one for member in scored.members for one in member.result(conclusions_of)])
    known = rated.systems != NO_SYSTEM
    if len(rated.named_systems) < 2:
        return ()
    # What people say of other lines is no yardstick for a scorer that left some out. Most scorers have the same lines,
    # so it is worked out once for each choice of them.
    found, groups = [], dict[bytes, _Lines | str]()
    for name, values in {PEOPLE: rated.ratings, **scored.blind}.items():
        usable = known & np.isfinite(values)
        key = usable.tobytes()
        if key not in groups:
            groups[key] = _lines(rated, np.flatnonzero(usable), sampling)
        lines = groups[key]
        if isinstance(lines, str):
            found.append(_nothing(name, int(usable.sum()), sampling, lines))
        elif np.ptp(values[usable]) == 0:
            reason = f"the score is the same on all {usable.sum()} lines ({values[usable][0]:g})"
            found.append(_nothing(name, int(usable.sum()), sampling, reason))
        else:
            found.append(_conclusion(name, values[lines.places], lines, sampling))
    return tuple(found)


def summed(found: Sequence[Conclusion]) -> tuple[Conclusion, ...]:
    """The counts of each scorer over data sets, those left out that have none."""
    own = [one for one in found if not one.reason]
    total = []
    for name in dict.fromkeys(one.scorer for one in own):
        mine = [one for one in own if one.scorer == name]
        sums = {key: sum(getattr(one, key) for one in mine) for key in ("n", "contexts", "pairs", *COUNTS)}
        total.append(replace(mine[0], **sums, systems=(), method=f"sum over {len(mine)} data sets"))
    return tuple(total)


def _nothing(name: str, n: int, sampling: Sampling, reason: str) -> Conclusion:
    """A scorer from which nothing follows."""
    return Conclusion(name, n, 0, (), 0, 0, 0, 0, 0, 0, "none", sampling.seed, reason)


def _lines(rated: RatedSet, places: IntArray, sampling: Sampling) -> _Lines | str:
    """The lines at `places` with what people say of their systems, or why nothing can be said."""
    lines = rated.at(places)
    numbers, firsts, systems = np.unique(lines.systems, return_index=True, return_inverse=True)
    clusters = lines.clusters
    if len(places) < _FEWEST or len(numbers) < 2 or clusters < 2 or not sampling.resamples:
        found = f"{len(places)} lines of {len(numbers)} systems and {clusters} contexts, {sampling.resamples} resamples"
        return f"{found}; three lines, two systems, two contexts and resamples are needed"
    counts = sampling.counts(clusters, rated.name, "conclusions").astype(np.float64)
    names = [str(lines.examples[first].system) for first in firsts]
    drawn = group_means(lines.ratings, systems, lines.contexts, counts)
    own = systems.astype(np.int64)
    contexts = numbers_of(lines.contexts, own).tolist()
    return _Lines(places, lines, own, contexts, counts, names, _signs(drawn, contexts))


def _signs(drawn: FloatArray, contexts: Sequence[int]) -> list[int]:
    """Of each pair of systems 1 where the first has the higher mean, -1 where the second has, 0 where that is open.

    `drawn` [S, B] are the means of systems on each resample of contexts, and `contexts` [S] how many each answered: a
    difference is no surer than the mean that rests on fewer.
    """
    pairs = combinations(zip(drawn, contexts, strict=True), 2)
    ends = [percentile_interval(one - other, min(own, its), unit="context") for (one, own), (other, its) in pairs]
    return [int(interval.low > 0) - int(interval.high < 0) for interval in ends]


def _conclusion(name: str, values: FloatArray, lines: _Lines, sampling: Sampling) -> Conclusion:
    """What the means of `values` [N] say."""
    drawn = group_means(values, lines.systems, lines.rated.contexts, lines.counts)
    signs = _signs(drawn, lines.contexts)
    pairs = list(combinations(range(len(drawn)), 2))
    apart = {pair for pair, sign in zip(pairs, signs, strict=True) if sign}
    sizes = np.bincount(lines.systems)
    means = np.bincount(lines.systems, weights=values) / sizes
    order = np.argsort(-means, kind="stable").tolist()
    after = [*order[1:], None]
    rows = []
    for one, other in zip(order, after, strict=True):
        mean = percentile_interval(drawn[one], lines.contexts[one], value=float(means[one]), unit="context")
        ahead = other is not None and (min(one, other), max(one, other)) in apart
        rows.append(SystemMean(system=lines.names[one], mean=replace(mean, n=int(sizes[one])), ahead=ahead))
    both = list(zip(signs, lines.signs, strict=True))
    return Conclusion(
        scorer=name,
        n=len(values),
        contexts=len(lines.counts),
        systems=tuple(rows),
        pairs=len(both),
        same=sum(own == people != 0 for own, people in both),
        neither=sum(own == people == 0 for own, people in both),
        only_scorer=sum(own != 0 == people for own, people in both),
        only_people=sum(own == 0 != people for own, people in both),
        reversed=sum(own * people < 0 for own, people in both),
        method="told apart: the 95% expanded percentile interval of the difference of means leaves 0 out, "
        f"{sampling.resamples} resamples of contexts, each pair by itself",
        seed=sampling.seed,
    )
