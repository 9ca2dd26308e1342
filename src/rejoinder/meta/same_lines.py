"""Scorers on the same lines: what is not the same for all is not compared.

A scorer that reads references has fewer lines than one that does not, of the same data sets too; its correlation inside
a set is then one over other lines. Shapes: N lines, B resamples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rejoinder.humans.ceiling import people_of
from rejoinder.data.rated import RatedSet
from rejoinder.meta.agreement import pool_resamples
from rejoinder.meta.scored_set import ScoredSet
from rejoinder.scorer import FloatArray
from rejoinder.stats.correlation import mean_correlation, pearson
from rejoinder.stats.figure import NOTHING, Figure
from rejoinder.stats.resamples import IntArray, mean_of_independent


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


def common_lines(sets: Sequence[RatedSet], scores: Mapping[str, FloatArray]) -> list[tuple[RatedSet, IntArray]]:
    """Each data set that all scorers have lines and a correlation in, with the rows [n] that all score.

    Args:
        sets: the data sets.
        scores: of all examples, by scorer, NaN where unscored.
    """
    found = []
    for one in sets:
        columns = [values[one.places] for values in scores.values()]
        rows = np.flatnonzero(np.isfinite(columns).all(axis=0))
        if len(rows) and not any(pearson(column[rows], one.ratings[rows]).reason for column in columns):
            found.append((one, rows))
    return found


def on_same_lines(pool: ScoredSet, scores: Mapping[str, FloatArray]) -> Common:
    """How near all scorers come to people on the lines that all of them score, over the data sets of a pool.

    Args:
        pool: the data sets.
        scores: of all examples, by scorer, NaN where unscored.
    """
    found = common_lines([member.rated for member in pool.members], scores) if scores else []
    if not found:
        return Common()
    rated, seed = pool.rated, pool.sampling.seed
    places = np.concatenate([one.places[rows] for one, rows in found])
    own = np.searchsorted(rated.places, places)
    resamples = pool_resamples(rated, pool.sampling).at(own)
    figures = {
        name: Figure.of(mean_correlation("pearson", values[places], rated.ratings[own], rated.sets[own], resamples))
        for name, values in scores.items()
    }
    people = [people_of(one.at(rows), seed) for one, rows in found]
    known = [one for one in people if not one.reason]
    return Common(
        sets=tuple(one.name for one, _ in found),
        n=len(places),
        pearson=figures,
        ceiling=mean_of_independent([one.ceiling for one in known]),
        one_rater=mean_of_independent([one.one_rater for one in known]),
    )
