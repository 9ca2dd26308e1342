"""Scorers on the same lines: what is not the same for all is not compared.

A scorer that reads references has fewer lines than one that does not, of the same data sets too; its correlation inside
a set is then one over other lines. Shapes: N lines, B resamples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rejoinder.meta.agreement import Agreement, pool_counts
from rejoinder.meta.ceiling import people_of
from rejoinder.meta.leave_one_out import SEEN
from rejoinder.meta.parts import POOLED, Part
from rejoinder.meta.yardsticks import kind_of
from rejoinder.records import Example
from rejoinder.scorer import FloatArray, Scores
from rejoinder.stats.arrays import Counts, IntArray, renumbered
from rejoinder.stats.correlation import pearson
from rejoinder.stats.figure import NOTHING, Figure
from rejoinder.stats.independent import mean_of_independent
from rejoinder.stats.paired import mean_correlation
from rejoinder.stats.sampling import Sampling


@dataclass(frozen=True)
class Common:
    """The lines that all scorers score, in the data sets inside which each then has a correlation.

    Attributes:
        sets: the data sets.
        n: the lines in them.
        pearson: by scorer, the mean over the sets of the correlation inside each.
        ceiling: what people's agreement on these lines allows, mean over the sets that tell.
        one_rater: a person against the mean of the others, likewise.
    """

    sets: tuple[str, ...] = ()
    n: int = 0
    pearson: Mapping[str, Figure] = field(default_factory=dict)
    ceiling: Figure = NOTHING
    one_rater: Figure = NOTHING


def on_same_lines(
    parts: Sequence[Part],
    examples: Sequence[Example],
    rows: Sequence[Agreement],
    scores: Mapping[str, Scores],
    dimension: str,
    sampling: Sampling,
) -> Common:
    """The scorers of `rows` that read no ratings, and the judge that saw the sets, on the lines that all score."""
    kinds = {row.scorer: kind_of(row.scorer, scores[row.scorer]) for row in rows if not np.isnan(row.value)}
    blind = [name for name, kind in kinds.items() if kind != "reads ratings"]
    names = [*blind, *(name for name in (SEEN,) if name in scores and scores[name].scored.any())]
    if not blind:
        return Common()
    values = {name: scores[name].values for name in names}
    return common_of(parts, examples, values, pool_counts(parts[-1], sampling), dimension, sampling.seed)


def common_lines(parts: Sequence[Part], scores: Mapping[str, FloatArray]) -> list[tuple[Part, IntArray]]:
    """Each data set of `parts` that all scorers have lines and a correlation in, with the rows [n] that all score.

    Args:
        parts: the data sets; the pool is passed over.
        scores: of all examples, by scorer, NaN where unscored.
    """
    found = []
    for part in parts:
        columns = [values[part.places] for values in scores.values()] if part.name != POOLED else []
        rows = np.flatnonzero(np.isfinite(columns).all(axis=0)) if columns else np.empty(0, dtype=np.intp)
        if len(rows) and not any(pearson(column[rows], part.ratings[rows]).reason for column in columns):
            found.append((part, rows))
    return found


def common_of(
    parts: Sequence[Part],
    examples: Sequence[Example],
    scores: Mapping[str, FloatArray],
    counts: Counts,
    dimension: str,
    seed: int,
) -> Common:
    """How near all scorers come to people on the lines that all of them score.

    Args:
        parts: the data sets, and the pool of them last.
        examples: all examples of the study.
        scores: of all examples, by scorer, NaN where unscored.
        counts: [G, B] resamples of the contexts of the pool.
        dimension: of the ratings.
        seed: of what is said of people.
    """
    found = common_lines(parts, scores)
    if not found:
        return Common()
    pooled = parts[-1]
    places = np.concatenate([part.places[rows] for part, rows in found])
    sets = np.repeat(np.arange(len(found)), [len(rows) for _, rows in found])
    own = np.searchsorted(pooled.places, places)
    figures = {}
    for name, values in scores.items():
        one = mean_correlation("pearson", values[places], pooled.ratings[own], sets, pooled.contexts[own], counts)
        figures[name] = Figure.of(one)
    people = [people_of(_only(part, rows), examples, dimension, seed) for part, rows in found]
    known = [one for one in people if not one.reason]
    ceiling = mean_of_independent([Figure(value=one.ceiling, low=one.low, high=one.high) for one in known])
    rater = float(np.mean([one.one_rater for one in known])) if known else np.nan
    return Common(
        sets=tuple(part.name for part, _ in found),
        n=len(places),
        pearson=figures,
        ceiling=ceiling,
        one_rater=replace(NOTHING, value=rater),
    )


def _only(part: Part, rows: IntArray) -> Part:
    """The given lines of a part, contexts counted from 0."""
    contexts = renumbered(part.contexts[rows])
    return Part(part.name, part.places[rows], part.ratings[rows], contexts, part.systems[rows])
