"""What stands beside a new judge on trial: the judge in the box, the best metric and the best trivial baseline.

The last two are chosen fold by fold on the ratings of the other folds. Shapes: N lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from rejoinder.errors import MissingAsset, MissingExtra
from rejoinder.judges.learner import Rows
from rejoinder.judges.lines import RatedLines
from rejoinder.scoring.domain import domain_share, out_of_domain
from rejoinder.scorer import FloatArray, Scorer, run
from rejoinder.scoring.catalog import DEFAULT, SCORERS, cards, fitted_on, load_scorer
from rejoinder.stats.correlation import mean_correlations
from rejoinder.stats.resamples import IntArray, Resamples

Role = Literal["new", "box", "metric", "baseline"]
# A scorer that has nothing to say of many lines is no alternative to one that has.
MOST = 0.9
_DIRECTIONS = {True: 1, False: -1, None: 0}  # 0: the scorer claims none


class Column(NamedTuple):
    """The scores of a candidate on all lines of the trial.

    Attributes:
        name: see `Candidate`.
        role: see `Candidate`.
        values: [N], higher is better; NaN where unscored.
        chosen: see `Candidate`.
        lower: see `Candidate`.
    """

    name: str
    role: Role
    values: FloatArray
    chosen: tuple[str, ...] = ()
    lower: bool = False


class FoldLines(NamedTuple):
    """N lines of the folds.

    Attributes:
        ratings: [N].
        folds: [N] the fold of each.
        sets: [N] its data set.
        contexts: [N] its context.
    """

    ratings: FloatArray
    folds: IntArray
    sets: IntArray
    contexts: IntArray

    def of(self, rows: Rows) -> FoldLines:
        """The given lines alone."""
        return FoldLines(self.ratings[rows], self.folds[rows], self.sets[rows], self.contexts[rows])


def alternatives(
    lines: RatedLines, asked: Rows, own: FoldLines, vectors: str | Path | None
) -> tuple[list[Column], dict[str, str]]:
    """What stands beside the new judge on the lines that are `asked`, and why the rest does not."""
    columns: list[Column] = []
    absent: dict[str, str] = {}
    examples = [lines.examples[row] for row in asked.tolist()]
    scorers: dict[str, Scorer] = {}
    comparable = any(example.references for example in examples)
    for name in SCORERS:
        # What compares with references scores none of these; METEOR alone would take two seconds to load.
        if not comparable and "reference" in cards()[name].needs:
            absent[name] = f"it scores 0 of {len(examples):,} lines"
            continue
        try:
            scorers[name] = load_scorer(name, vectors=vectors)
        except (MissingAsset, MissingExtra) as error:
            absent[name] = str(error)
    if seen := fitted_on([DEFAULT], [example.dataset for example in examples]).get(DEFAULT):
        absent[DEFAULT] = f"it was fitted on lines of {', '.join(seen)}, these or others"
        del scorers[DEFAULT]
    found = {name: run(scorer, examples) for name, scorer in scorers.items()}
    for name, scores in found.items():
        if scores.scored.mean() < MOST:
            absent[name] = f"it scores {scores.scored.sum():,} of {len(examples):,} lines"
        if outside := out_of_domain(name, scorers[name].card, domain_share(scores, scorers[name])):
            absent[name] = outside
    usable = {name: scores.values for name, scores in found.items() if name not in absent}
    if DEFAULT in usable:
        columns.append(Column(DEFAULT, "box", usable[DEFAULT]))
    directions = {name: _DIRECTIONS[scorers[name].card.higher_is_better] for name in usable}
    kinds: tuple[Literal["metric", "baseline"], ...] = ("metric", "baseline")
    tables = {kind: {name: usable[name] for name in usable if scorers[name].card.kind == kind} for kind in kinds}
    return [*columns, *(_best(kind, table, directions, own) for kind, table in tables.items() if table)], absent


def _best(role: Role, table: Mapping[str, FloatArray], directions: Mapping[str, int], own: FoldLines) -> Column:
    """The best scorer of its kind: for each fold the one that agrees best with the ratings of the others.

    One that claims no direction takes that which it has on the other folds.
    """
    values, chosen = np.full(len(own.ratings), np.nan), []
    everything = np.arange(len(own.ratings))
    for fold in np.unique(own.folds):
        name, sign = _choice(table, directions, own, everything[own.folds != fold])
        rows = own.folds == fold
        values[rows] = sign * table[name][rows]
        chosen.append(name)
    name, sign = _choice(table, directions, own, everything)
    return Column(name, role, values, tuple(chosen), sign < 0)


def _choice(
    table: Mapping[str, FloatArray], directions: Mapping[str, int], own: FoldLines, rows: Rows
) -> tuple[str, int]:
    """The scorer with the highest Spearman correlation on the given rows, and its direction."""
    found = {name: _agreement(values[rows], own.of(rows)) for name, values in table.items()}
    signs = {name: directions[name] or (-1 if found[name] < 0 else 1) for name in table}
    best = max(table, key=lambda name: np.nan_to_num(signs[name] * found[name], nan=-np.inf))
    return best, signs[best]


def _agreement(values: FloatArray, own: FoldLines) -> float:
    """The Spearman correlation of scores with ratings, inside data sets; NaN where there is none."""
    scored = np.flatnonzero(np.isfinite(values))
    inside = own.of(scored)
    once = Resamples.once(inside.contexts)
    found = mean_correlations("spearman", values[scored, None], inside.ratings, inside.sets, once)
    return float(found[0, 0])
