"""The scores of one scorer and the ratings of one set to rows of agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from rejoinder.data.rated import NO_SYSTEM, RatedSet
from rejoinder.meta.frames import FORMAT_VERSION, results_frame
from rejoinder.scorer import Scores, Signature
from rejoinder.stats.correlation import CORRELATIONS, columns, resampled
from rejoinder.stats.figure import NOTHING, Figure, plain
from rejoinder.stats.resamples import FloatArray, Resamples, Sampling, number_of, percentile_interval, renumbered

Level = Literal["turn", "dialogue", "system"]
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
        level: "turn" correlates lines, "dialogue" too, where all are whole conversations; "system" correlates the
            means of systems.
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
        shared_ids: what was made of ids that stand in several files, in a sentence; "" where there are none.
        unscored: by scorer that scored some of the rated lines and not others, how many it did not, and why, in words.
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
    shared_ids: str = ""
    unscored: Mapping[str, str] = field(default_factory=dict)

    def to_pandas(self) -> Any:
        """The results as a `pandas.DataFrame`, a row each; the signatures stand in its `attrs`."""
        return results_frame(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The study as plain JSON values: numbers that do not exist are None, never NaN.

        Keys: `version` of this form, `results` (one mapping an agreement), `signature` (a mapping by scorer),
        `options`, `counts`, `notes`, `shared_ids` and `unscored`.
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
            "shared_ids": self.shared_ids,
            "unscored": dict(self.unscored),
        }


def agreements(rated: RatedSet, scorer: str, scores: Scores, sampling: Sampling) -> list[Agreement]:
    """Rows of agreement of `scores` with the ratings of a set: turn level, then system level where systems are known.

    The draws depend on the seed, the set's name and the number of contexts alone, so scorers with the same usable
    lines meet the same resamples, in whatever order they come.
    """
    rows = _rows(
        "dialogue" if all(one.is_dialogue for one in rated.examples) else "turn", rated, scorer, scores, sampling
    )
    named = rated.at(np.flatnonzero(rated.systems != NO_SYSTEM))
    return rows + (_rows("system", named, scorer, scores, sampling) if scores.scored[named.places].any() else [])


def most_frequent(reasons: Iterable[str]) -> str:
    """The reason given most often, the first of them where several are; "" where there is none."""
    return next((reason for reason, _ in Counter(reasons).most_common(1)), "")


def partly_unscored(places: Sequence[int], scores: Scores) -> str:
    """How many of the rated lines at `places` have no score, and why; "" where it is all of them, or none."""
    missing = [place for place in places if not scores.scored[place]]
    if len(missing) in (0, len(places)):
        return ""
    most = most_frequent(scores.reasons.get(place, "no reason given") for place in missing)
    return f"{len(missing):,} of {len(places):,} rated lines without a score, most often: {most}"


def _rows(level: Level, rated: RatedSet, scorer: str, scores: Scores, sampling: Sampling) -> list[Agreement]:
    """One row a statistic, of the lines that have a score."""
    has_score = scores.scored[rated.places]
    lines, missing = rated.at(np.flatnonzero(has_score)), rated.places[~has_score].tolist()
    values = scores.values[lines.places]
    found = _of_systems(lines, values) if level == "system" else _of_lines(lines, values)
    if missing and level != "system":
        most = most_frequent([scores.reasons.get(place, "no reason given") for place in missing])
        why = f"; {len(missing)} rated lines unscored, most often: {most}"
        found = {name: replace(one, reason=one.reason and one.reason + why) for name, one in found.items()}
    intervals = dict.fromkeys(found, NOTHING)
    if any(correlation.known for correlation in found.values()):
        intervals = _intervals(level, lines, values, sampling)
    return [
        Agreement.of(
            correlation,
            dataset=rated.name,
            scorer=scorer,
            level=level,
            statistic=statistic,
            unscored=len(missing),
            contexts=lines.clusters,
            low=intervals[statistic].low,
            high=intervals[statistic].high,
            method=f"{statistic}; {intervals[statistic].method or 'no interval'}",
            seed=sampling.seed,
            reason=correlation.reason or intervals[statistic].reason,
        )
        for statistic, correlation in found.items()
    ]


def _of_lines(lines: RatedSet, scores: FloatArray) -> dict[str, Figure]:
    """The correlations over lines."""
    names = ("score", "rating")
    return {name: correlate(scores, lines.ratings, names=names) for name, correlate in CORRELATIONS.items()}


def _of_systems(lines: RatedSet, scores: FloatArray) -> dict[str, Figure]:
    """The correlations over the means of systems."""
    systems = renumbered(lines.systems)
    count = number_of(systems)
    if count in FEW_SYSTEMS:
        return dict.fromkeys(CORRELATIONS, Figure(n=count, reason=FEW_SYSTEMS[count]))
    once = Resamples.once(lines.contexts)
    means = [once.means(values, systems)[:, 0] for values in (scores, lines.ratings)]
    return {name: correlate(*means, names=("mean score", "mean rating")) for name, correlate in CORRELATIONS.items()}


def _intervals(level: Level, lines: RatedSet, scores: FloatArray, sampling: Sampling) -> dict[str, Figure]:
    """The interval of each statistic from resampled contexts."""
    resamples = sampling.draw(lines.contexts, lines.name, "agreement")
    if level == "system":
        systems = renumbered(lines.systems)
        means = [resamples.means(values, systems) for values in (scores, lines.ratings)]
        drawn = {name: columns(name, *means) for name in CORRELATIONS}
    else:
        drawn = {name: resampled(name, scores, lines.ratings, resamples) for name in CORRELATIONS}
    return {name: percentile_interval(values, lines.clusters) for name, values in drawn.items()}


def pool_resamples(pool: RatedSet, sampling: Sampling) -> Resamples:
    """Return resamples of the contexts of the pool."""
    return sampling.draw(pool.contexts, pool.name, "pool")
