"""The scores of one scorer and the ratings of one set to rows of agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from rejoinder.frames import FORMAT_VERSION, results_frame
from rejoinder.humans.rated_set import NO_SYSTEM, RatedSet
from rejoinder.scorer import Scores, Signature
from rejoinder.stats.arrays import Counts, FloatArray, IntArray, number_of, renumbered
from rejoinder.stats.bootstrap import (
    group_means,
    percentile_interval,
    resample_correlations,
    resample_group_correlations,
)
from rejoinder.stats.correlation import CORRELATIONS
from rejoinder.stats.figure import NOTHING, Figure, plain
from rejoinder.stats.sampling import Sampling

Level = Literal["turn", "system"]
FEW_SYSTEMS = {
    1: "one system: there is nothing to correlate; needs three or more",
    2: "two systems: any two points lie on a line, a correlation over them says nothing; needs three or more",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement(Figure):
    """How far one scorer agrees with people on one data set, by one statistic, most often a correlation in [-1, 1].

    n counts what was correlated: lines at turn level, systems at system level. p is two-sided, of no correlation, and
    takes lines (or systems) as independent.

    Attributes:
        dataset: name of the data set, or "pooled" for all of them together.
        scorer: name of the scorer.
        level: "turn" correlates lines, "system" correlates the means of systems.
        statistic: "pearson", "spearman" or "kendall" (tau-b).
        unscored: rated lines that the scorer gave no score and that are therefore not in.
        contexts: clusters that the resampling drew from.
    """

    dataset: str
    scorer: str
    level: Level
    statistic: str
    unscored: int = 0
    contexts: int = 0


@dataclass(frozen=True, slots=True)
class Study:
    """The agreement of scorers with people.

    Attributes:
        agreements: one per data set, scorer, level and statistic, in that order.
        signatures: where the scores came from, by scorer.
        dimension: the dimension of the ratings.
        resamples: number of resamples behind each interval.
        seed: seed of the resampling.
        drop_copies: whether responses that copy a reference were left out.
        examples: number of lines given.
        rated: lines with a rating that were used (copies left out are not among them).
        copies: lines whose response equals one of its references word for word.
        notes: by scorer, how many lines each note stands at.
    """

    agreements: tuple[Agreement, ...]
    signatures: Mapping[str, Signature]
    dimension: str
    resamples: int
    seed: int
    drop_copies: bool
    examples: int
    rated: int
    copies: int
    notes: Mapping[str, Mapping[str, int]]

    def to_pandas(self) -> Any:
        """The results as a `pandas.DataFrame`, a row each; the signatures stand in its `attrs`."""
        return results_frame(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The study as plain JSON values: numbers that do not exist are None, never NaN.

        Keys: `version` of this form, `results` (one mapping an agreement), `signature` (a mapping by scorer),
        `options`, `counts` and `notes`.
        """
        return {
            "version": FORMAT_VERSION,
            "results": plain(self.agreements),
            "signature": {name: plain(signature.fields) for name, signature in self.signatures.items()},
            "options": {
                "dimension": self.dimension,
                "resamples": self.resamples,
                "seed": self.seed,
                "drop_copies": self.drop_copies,
            },
            "counts": {"examples": self.examples, "rated": self.rated, "copies": self.copies},
            "notes": {name: dict(notes) for name, notes in self.notes.items()},
        }


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a set that have both a rating and a score, N lines.

    Attributes:
        scores: [N].
        ratings: [N].
        contexts: [N] number of the line's context, from 0 to G - 1.
        systems: [N] number of the line's system, from 0 to S - 1 (all 0 at turn level).
        unscored: how many rated lines have no score.
        why_unscored: the reason given most often, "" where all were scored.
    """

    scores: FloatArray
    ratings: FloatArray
    contexts: IntArray
    systems: IntArray
    unscored: int
    why_unscored: str

    @property
    def clusters(self) -> int:
        """G, the number of contexts."""
        return number_of(self.contexts)


def agreements(rated: RatedSet, scorer: str, scores: Scores, sampling: Sampling) -> list[Agreement]:
    """Rows of agreement of `scores` with the ratings of a set: turn level, then system level where systems are known.

    The draws depend on the seed, the set's name and the number of contexts alone, so scorers with the same usable
    lines meet the same resamples, in whatever order they come.
    """
    rows = _rows("turn", rated.name, scorer, _usable(rated, scores, "turn"), sampling)
    of_systems = _usable(rated, scores, "system")
    return rows + _rows("system", rated.name, scorer, of_systems, sampling) if len(of_systems.scores) else rows


def _usable(rated: RatedSet, scores: Scores, level: Level) -> Lines:
    """The lines that count at `level`: rated and scored, and at system level of a known system."""
    wanted = rated.systems != NO_SYSTEM if level == "system" else np.ones(len(rated), dtype=bool)
    missing = rated.places[wanted & ~scores.scored[rated.places]].tolist()
    chosen = np.flatnonzero(wanted & scores.scored[rated.places])
    return Lines(
        scores.values[rated.places[chosen]],
        rated.ratings[chosen],
        renumbered(rated.contexts[chosen]),
        renumbered(rated.systems[chosen] if level == "system" else np.zeros_like(chosen)),
        len(missing),
        most_frequent([scores.reasons.get(place, "no reason given") for place in missing]),
    )


def most_frequent(reasons: Iterable[str]) -> str:
    """The reason given most often, the first of them where several are; "" where there is none."""
    return next((reason for reason, _ in Counter(reasons).most_common(1)), "")


def _rows(level: Level, dataset: str, scorer: str, lines: Lines, sampling: Sampling) -> list[Agreement]:
    """One row a statistic."""
    found = _system_values(lines) if level == "system" else _turn_values(lines)
    intervals = dict.fromkeys(found, NOTHING)
    if any(correlation.known for correlation in found.values()):
        intervals = _intervals(level, dataset, lines, sampling)
    return [
        Agreement.of(
            correlation,
            dataset=dataset,
            scorer=scorer,
            level=level,
            statistic=statistic,
            unscored=lines.unscored,
            contexts=lines.clusters,
            low=intervals[statistic].low,
            high=intervals[statistic].high,
            method=f"{statistic}; {intervals[statistic].method or 'no interval'}",
            seed=sampling.seed,
            reason=correlation.reason or intervals[statistic].reason,
        )
        for statistic, correlation in found.items()
    ]


def _turn_values(lines: Lines) -> dict[str, Figure]:
    """The correlations over lines; where there are none, the reason says also why lines have no score."""
    found = {
        name: correlate(lines.scores, lines.ratings, names=("score", "rating"))
        for name, correlate in CORRELATIONS.items()
    }
    if lines.unscored:
        why = f"; {lines.unscored} rated lines unscored, most often: {lines.why_unscored}"
        found = {name: replace(value, reason=value.reason and value.reason + why) for name, value in found.items()}
    return found


def _system_values(lines: Lines) -> dict[str, Figure]:
    """The correlations over the means of systems."""
    count = number_of(lines.systems)
    if count in FEW_SYSTEMS:
        return dict.fromkeys(CORRELATIONS, Figure(n=count, reason=FEW_SYSTEMS[count]))
    once = np.ones((lines.clusters, 1))
    means = [group_means(values, lines.systems, lines.contexts, once)[:, 0] for values in (lines.scores, lines.ratings)]
    return {name: correlate(*means, names=("mean score", "mean rating")) for name, correlate in CORRELATIONS.items()}


def _intervals(level: Level, dataset: str, lines: Lines, sampling: Sampling) -> dict[str, Figure]:
    """The interval of each statistic from resampled contexts."""
    counts = sampling.counts(lines.clusters, dataset, "agreement")
    if level == "system":
        values = resample_group_correlations(lines.scores, lines.ratings, lines.systems, lines.contexts, counts)
    else:
        values = resample_correlations(lines.scores, lines.ratings, lines.contexts, counts)
    return {name: percentile_interval(found, lines.clusters, unit="context") for name, found in values.items()}


def pool_counts(pool: RatedSet, sampling: Sampling) -> Counts:
    """[G, B] how often each context of the pool is drawn."""
    return sampling.counts(number_of(pool.contexts), pool.name, "pool")
