"""A rated data set with the scores of its lines: what every analysis takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np

from rejoinder.data.rated import RatedSet
from rejoinder.estimates import Estimate, estimate_of
from rejoinder.scoring.domain import DomainShare
from rejoinder.stats.agreement import Reliability, reliability
from rejoinder.stats.correlation import Statistic, all_resampled, by_part, less_group_means, pearsons
from rejoinder.stats.resamples import FloatArray, IntArray, Resamples, Sampling, percentile_interval, renumbered

Kind = Literal["metric", "judge", "baseline"]
RATERS = "raters"
"""The label `scorer` of estimates about human ratings."""
_EMPTY = Estimate()
Chosen = Literal["chance", "verdict", "label"]
"""How labelled lines were chosen: among all lines, among those with each verdict, or by label."""


class JudgingOptions(TypedDict, total=False):
    """The options of a study for judges against labels.

    Attributes:
        bar: a gate: the share of good replies passed and of bad replies caught that both must reach; without it 0.8.
        cost: how many good replies failed are as bad as one bad reply passed, which decides the best cutoff.
        cutoff: the lowest score that passes, for scorers that give numbers; "best" chooses it on other contexts.
        good: the lowest rating of a good reply: each rating becomes a label.
        chosen: how the labelled lines were chosen: by "chance", by "verdict" or by "label".
        by: keys of the lines: the shares of a judge are also given for each of their values.
    """

    bar: float | None
    cost: float
    cutoff: float | str | None
    good: float | None
    chosen: str
    by: Sequence[str]


class Judging(NamedTuple):
    """How verdicts are judged by labels, see `JudgingOptions`."""

    bar: float = 0.8
    cost: float = 1.0
    cutoff: float | Literal["best"] | None = None
    chosen: Chosen = "chance"
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ScoredSet:
    """The N rated lines of one data set, or of all of them pooled, with their scores.

    Attributes:
        rated: the lines with their ratings, contexts and systems.
        scores: [N] by scorer, NaN where unscored: the scorers that were asked for first, then the baselines.
        kinds: by scorer.
        asked: the scorers that were asked for.
        sampling: number of resamples and seed.
        resamples: one draw of the contexts, which serves every analysis.
        outside: by scorer that cannot judge these lines, why: more than a tenth of its replies are out of its domain.
        members: the data sets of a pool.
        of_all: [M] scores by scorer of `rated.population`: all lines, with a rating or not; empty of a pool.
        unscored: by scorer that leaves lines unscored, the most frequent reason.
        shares: by scorer with a domain, how many of its scored replies are out of it.
        judging: how verdicts are judged by labels.
    """

    rated: RatedSet
    scores: Mapping[str, FloatArray]
    kinds: Mapping[str, Kind]
    asked: tuple[str, ...]
    sampling: Sampling
    resamples: Resamples
    outside: Mapping[str, str] = field(default_factory=dict)
    members: tuple[ScoredSet, ...] = ()
    of_all: Mapping[str, FloatArray] = field(default_factory=dict)
    unscored: Mapping[str, str] = field(default_factory=dict)
    shares: Mapping[str, DomainShare] = field(default_factory=dict)
    judging: Judging = field(default_factory=Judging)
    _draws: dict[Any, dict[str, FloatArray]] = field(default_factory=dict, init=False, repr=False)
    _reliability: dict[tuple[bytes, bool], Reliability] = field(default_factory=dict, init=False, repr=False)

    @property
    def name(self) -> str:
        """Name of the data set, or "pooled"."""
        return self.rated.name

    @property
    def level(self) -> Literal["turn", "dialogue"]:
        """The level of its lines: "dialogue" if all are whole conversations."""
        return self.rated.level

    @property
    def compared(self) -> list[str]:
        """The scorers that can judge these lines. Only these are compared and recommended."""
        return [name for name in self.scores if name not in self.outside]

    def rows(self, *scorers: str) -> IntArray:
        """Return the positions of the lines that all of these scorers score."""
        scored = np.ones(len(self.rated), dtype=bool)
        for name in scorers:
            scored &= np.isfinite(self.scores[name])
        return np.flatnonzero(scored)

    def row(
        self, scorer: str, rows: IntArray, statistic: str = "", measured: Estimate = _EMPTY, **more: Any
    ) -> Estimate:
        """Return `measured` as an estimate about a scorer on some lines; `more` replaces fields."""
        fields = {
            "dataset": self.name,
            "scorer": scorer,
            "level": self.level,
            "statistic": statistic,
            "n": len(rows),
            "unscored": len(self.rated) - len(rows) if scorer != RATERS else 0,
            "contexts": len(np.unique(self.rated.contexts[rows])),
            "seed": self.sampling.seed if self.sampling.resamples else None,
        }
        return estimate_of(measured, **{**fields, **more})

    def estimate(self, draws: FloatArray, scorer: str, rows: IntArray, method: str, **more: Any) -> Estimate:
        """Return the estimate about a scorer whose value and resamples are `draws` [1 + B].

        `more` are other fields: `contexts` is the number of clusters behind the interval, `value` replaces the first
        draw. The method of the interval is added to `method`.
        """
        contexts = more.get("contexts", len(np.unique(self.rated.contexts[rows])))
        interval = percentile_interval(draws, contexts)
        methods = "; ".join(filter(None, [method, interval.method]))
        return self.row(scorer, rows, measured=interval, **{**more, "method": methods})

    def draws(self, statistic: Statistic, scorer: str, rows: IntArray) -> FloatArray:
        """Return [1 + B] the correlation of a scorer with the ratings of some lines over each resample."""
        draws: FloatArray = self._drawn(statistic, scorer, rows, np.zeros_like(rows))[0]
        return draws

    def draws_in_sets(self, statistic: Statistic, scorer: str, rows: IntArray) -> FloatArray:
        """Return [S, 1 + B] the same inside each of the S data sets of these lines."""
        return self._drawn(statistic, scorer, rows, renumbered(self.rated.sets[rows]))

    def within(self, scorer: str, rows: IntArray, groups: IntArray) -> FloatArray:
        """Return [1 + B] Pearson's correlation of scores and ratings less the means of their groups."""
        draws: FloatArray = self._drawn("within", scorer, rows, groups)[0]
        return draws

    def reliability(self, rows: IntArray, *, named: bool = True) -> Reliability:
        """Return the reliability of the single ratings of some lines over each resample, once computed.

        Unless `named`, raters count as drawn for each line.
        """
        key = rows.tobytes(), named
        if key not in self._reliability:
            raters = self.rated.single_raters if named else None
            of_rows = None if raters is None else raters[rows]
            self._reliability[key] = reliability(self.rated.single_ratings[rows], self.resamples.at(rows), of_rows)
        return self._reliability[key]

    def means(self, scorer: str, rows: IntArray, groups: IntArray) -> FloatArray:
        """Return [S, 1 + B] the mean of the scores, or of the ratings, over each of S groups of some lines."""
        return self._drawn("mean", scorer, rows, groups)

    def _drawn(
        self, statistic: Statistic | Literal["mean", "within"], scorer: str, rows: IntArray, groups: IntArray
    ) -> FloatArray:
        """Return [S, 1 + B] a statistic in each of S groups; all scorers of these lines are computed together, once."""
        key = statistic, rows.tobytes(), groups.tobytes()
        if key not in self._draws:
            resamples, ratings = self.resamples.at(rows), self.rated.ratings[rows]
            known = {name: own for name in self.scores if np.isfinite(own := self.scores[name][rows]).all()}
            if statistic == "mean":
                known[RATERS] = ratings
            values = np.stack(list(known.values()))
            if statistic == "mean":
                drawn = resamples.all_means(values, groups)
            elif statistic == "within":
                centred = [less_group_means(row, groups) for row in (*values, ratings)]
                drawn = pearsons(np.stack(centred[:-1]), centred[-1], resamples)[:, None]
            elif groups.any() or not len(rows):
                drawn = by_part(statistic, values, ratings, groups, resamples).swapaxes(0, 1)
            else:
                drawn = all_resampled(statistic, values, ratings, resamples)[:, None]
            self._draws[key] = dict(zip(known, drawn, strict=True))
        return self._draws[key][scorer]


Analysis = Callable[[ScoredSet], list[Estimate]]
"""What measures one scored set."""
Derived = Callable[[list[Estimate], ScoredSet], list[Estimate]]
"""What follows from the estimates of all analyses of a set: it returns all of them, changed, or with more."""
