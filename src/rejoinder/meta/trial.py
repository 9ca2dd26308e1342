"""A new judge on trial: what it is worth on conversations that it was not fitted on, against what is there already.

The conversations are divided into five folds; each fold is scored by a judge that was fitted on the others. Beside it
stand the judge in the box, the best closed-form metric and the best trivial baseline. The last two are chosen among all
of their kind on the ratings of the other folds too, so that none of the figures has seen the ratings that it is tested
on.

Shapes: N lines, K candidates, B resamples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from rejoinder.catalogue import DEFAULT, SCORERS, fitted_on, load_scorer
from rejoinder.errors import MissingAsset, MissingExtra
from rejoinder.judges.lines import RatedLines
from rejoinder.judges.many import Manner, folds_of, scores_of
from rejoinder.learner import Rows
from rejoinder.meta.trials import Candidate, Role, Trial
from rejoinder.meta.verdict import LEVEL
from rejoinder.scorer import Advance, FloatArray, Scorer, ignore, run
from rejoinder.stats.arrays import IntArray, number_of, renumbered
from rejoinder.stats.bootstrap import percentile_interval
from rejoinder.stats.figure import NOTHING, Figure
from rejoinder.stats.paired import Statistic, mean_correlations, two_sided
from rejoinder.stats.power import items_needed, pilot_of_correlations
from rejoinder.stats.sampling import Sampling
from rejoinder.stats.significance import adjusted

# A scorer that has nothing to say of many lines is no alternative to one that has.
MOST = 0.9
# A forecast beyond so many times the lines that there are says nothing but that the two are alike.
FARTHEST = 50
# A trial that would take longer than so many seconds is left out; the constants below are those of one core of 2026.
LONGEST = 60.0
_FITS = 4  # five fits on four fifths of the lines each
_PAIR, _LINE = 1.5e-3, 5e-4
_STATISTICS: tuple[Statistic, ...] = ("spearman", "pearson")
_DIRECTIONS = {True: 1, False: -1, None: 0}  # 0: the scorer claims none


class _Column(NamedTuple):
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


class _Lines(NamedTuple):
    """N lines of the folds.

    Attributes:
        ratings: [N].
        folds: [N] the fold of each.
        sets: [N] its data set.
        contexts: [N] its context.
    """

    ratings: FloatArray
    folds: Rows
    sets: Rows
    contexts: Rows

    def of(self, rows: Rows) -> _Lines:
        """The given lines alone."""
        return _Lines(self.ratings[rows], self.folds[rows], self.sets[rows], self.contexts[rows])


def trial_of(
    lines: RatedLines,
    name: str,
    manner: Manner,
    *,
    resamples: int = 1000,
    vectors: str | Path | None = None,
    advance: Advance = ignore,
) -> Trial:
    """The trial of the judge that is fitted on rated lines in some manner.

    Args:
        lines: encoded for the learners of the `manner`.
        name: what the new judge is called.
        manner: how it is fitted, and the seed of folds, fits and resampling.
        resamples: of contexts, for the intervals.
        vectors: file of word vectors for metrics that need them; None takes those in the box.
        advance: called with 1 after each of five fits.
    """
    rows = np.unique(np.concatenate([lines.usable[member.name] for member in manner.members]))
    seconds = seconds_for(lines, manner)
    if seconds > LONGEST:
        found = f"with {len(rows):,} lines it would take about {_rounded(seconds):,} seconds"
        return Trial(seed=manner.seed, reason=f"{found}; over {LONGEST:.0f} it is left out")
    tasks = folds_of(lines, rows, manner.seed)
    predicted = scores_of(lines, tasks, manner, advance)
    if not tasks or any(np.isnan(predicted[task.asked]).all() for task in tasks):
        return Trial(seed=manner.seed, reason=f"four fifths of {len(rows):,} lines are too few to fit the judge on")
    folds = np.full(len(lines.ratings), -1)
    for number, task in enumerate(tasks):
        folds[task.asked] = number
    sets = np.unique([example.dataset or "" for example in lines.examples], return_inverse=True)[1]
    asked = np.flatnonzero(np.isfinite(predicted))
    own = _Lines(lines.ratings, folds, sets, lines.contexts).of(asked)
    beside, absent = _beside(lines, asked, own, vectors)
    columns = [_Column(name, "new", predicted[asked]), *beside]
    copies = sum(lines.examples[row].copies_reference for row in asked.tolist())
    return _judged(columns, own, absent, copies, len(rows), manner.seed, resamples)


def seconds_for(lines: RatedLines, manner: Manner) -> float:
    """About how long a trial takes: a forecast from sizes alone, so that it comes out alike on every machine."""
    fits = sum(member.seconds(len(lines.usable[member.name]) * manner.shares[0]) for member in manner.members)
    pairs = sum(len(example.references) for example in lines.examples)
    return _FITS * fits + _PAIR * pairs + _LINE * len(lines.examples)


def _beside(
    lines: RatedLines, asked: Rows, own: _Lines, vectors: str | Path | None
) -> tuple[list[_Column], dict[str, str]]:
    """What stands beside the new judge on the lines that are `asked`, and why the rest does not."""
    columns: list[_Column] = []
    absent: dict[str, str] = {}
    examples = [lines.examples[row] for row in asked.tolist()]
    scorers: dict[str, Scorer] = {}
    for name in SCORERS:
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
    usable = {name: scores.values for name, scores in found.items() if name not in absent}
    if DEFAULT in usable:
        columns.append(_Column(DEFAULT, "box", usable[DEFAULT]))
    directions = {name: _DIRECTIONS[scorers[name].card.higher_is_better] for name in usable}
    kinds: tuple[Literal["metric", "baseline"], ...] = ("metric", "baseline")
    tables = {kind: {name: usable[name] for name in usable if scorers[name].card.kind == kind} for kind in kinds}
    return [*columns, *(_best(kind, table, directions, own) for kind, table in tables.items() if table)], absent


def _best(role: Role, table: Mapping[str, FloatArray], directions: Mapping[str, int], own: _Lines) -> _Column:
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
    return _Column(name, role, values, tuple(chosen), sign < 0)


def _choice(table: Mapping[str, FloatArray], directions: Mapping[str, int], own: _Lines, rows: Rows) -> tuple[str, int]:
    """The scorer with the highest Spearman correlation on the given rows, and its direction."""
    found = {name: _agreement(values[rows], own.of(rows)) for name, values in table.items()}
    signs = {name: directions[name] or (-1 if found[name] < 0 else 1) for name in table}
    best = max(table, key=lambda name: np.nan_to_num(signs[name] * found[name], nan=-np.inf))
    return best, signs[best]


def _agreement(values: FloatArray, own: _Lines) -> float:
    """The Spearman correlation of scores with ratings, inside data sets; NaN where there is none."""
    scored = np.flatnonzero(np.isfinite(values))
    part = own.of(scored)
    none = np.empty((number_of(part.contexts), 0), dtype=np.uint16)
    found = mean_correlations("spearman", values[scored, None], part.ratings, _whole(part.sets), part.contexts, none)
    return float(found[0, 0])


def _whole(numbers: Rows) -> IntArray:
    """The numbers as the statistics want them."""
    return numbers.astype(np.int64)


def _judged(
    columns: Sequence[_Column],
    own: _Lines,
    absent: Mapping[str, str],
    copies: int,
    lines: int,
    seed: int,
    resamples: int,
) -> Trial:
    """The candidates on the lines that all of them score."""
    table = np.stack([column.values for column in columns], axis=1)
    rows = np.flatnonzero(np.isfinite(table).all(axis=1))
    own, table = own.of(rows), table[rows]
    contexts = renumbered(own.contexts)
    clusters = number_of(contexts)
    counts = Sampling(resamples, seed).counts(clusters, "trial", "trial")
    parts = _whole(own.sets * (int(own.folds.max(initial=0)) + 1) + own.folds)
    drawn = {  # [1 + B, K] each
        name: mean_correlations(name, table, own.ratings, parts, contexts, counts) for name in _STATISTICS
    }
    if not np.isfinite(drawn["spearman"][0]).all():
        return Trial(seed=seed, reason="there is no correlation inside the folds")
    found = _candidates(columns, drawn, clusters)
    recommended = _recommended(found, drawn["spearman"], clusters)
    first = [place for place, one in enumerate(found) if one.role in recommended[:2]]
    return Trial(
        candidates=found,
        recommended=recommended,
        n=len(rows),
        unscored=lines - len(rows),
        contexts=clusters,
        copies=copies,
        folds=len(np.unique(own.folds)),
        needed=_needed(table[:, first], own, parts) if len(first) == 2 else None,
        absent=dict(absent),
        method="correlations inside folds (and data sets), mean by lines; metric and baseline chosen on the other "
        f"folds; [low, high]: 95 % expanded percentile interval, {resamples} resamples of contexts, the same for all",
        seed=seed,
    )


def _candidates(
    columns: Sequence[_Column], drawn: Mapping[Statistic, FloatArray], clusters: int
) -> tuple[Candidate, ...]:
    """The candidates with their figures, from the correlations of all, [1 + B, K] by statistic."""
    spearman, pearson = drawn["spearman"], drawn["pearson"]
    p = adjusted([two_sided(values) for values in spearman[1:].T], "holm").tolist()
    trivial = [place for place, column in enumerate(columns) if column.role == "baseline"]
    found = []
    for place, column in enumerate(columns):
        own = _figure(spearman[:, place], clusters)
        found.append(
            Candidate(
                name=column.name,
                role=column.role,
                spearman=own,
                pearson=_figure(pearson[:, place], clusters),
                p=p[place],
                agrees=own.low > 0 and p[place] < LEVEL,
                beats_trivial=all(_ahead(spearman, place, other, clusters) for other in trivial),
                behind=_figure(spearman[:, 0] - spearman[:, place], clusters) if place else NOTHING,
                behind_pearson=_figure(pearson[:, 0] - pearson[:, place], clusters) if place else NOTHING,
                chosen=column.chosen,
                lower=column.lower,
            )
        )
    return tuple(found)


def _figure(values: FloatArray, clusters: int) -> Figure:
    """A figure from its value as it is and over the resamples, [1 + B]."""
    return percentile_interval(values[1:], clusters, value=float(values[0]))


def _ahead(drawn: FloatArray, one: int, other: int, clusters: int) -> bool:
    """Whether one candidate is shown to be ahead of another, by their places."""
    return bool(percentile_interval(drawn[1:, one] - drawn[1:, other], clusters).low > 0)


def _recommended(candidates: Sequence[Candidate], drawn: FloatArray, clusters: int) -> tuple[Role, ...]:
    """Those that are shown to agree with people and that none is shown to be ahead of, best first."""
    shown = [place for place, one in enumerate(candidates) if one.agrees]
    able = [place for place in shown if candidates[place].role != "baseline"]
    kept = [place for place in able if not any(_ahead(drawn, other, place, clusters) for other in shown)]
    return tuple(candidates[place].role for place in sorted(kept, key=lambda place: -drawn[0, place]))


def _needed(pair: FloatArray, own: _Lines, parts: IntArray) -> int | None:
    """How many lines would tell two candidates apart, by the spread of their ranks inside folds."""
    from scipy.stats import rankdata

    ranks = np.empty((len(pair), 3))
    for part in np.unique(parts):
        rows = parts == part
        ranks[rows] = rankdata(np.column_stack([pair[rows], own.ratings[rows]]), axis=0) / rows.sum()
    first, second, ratings = ranks.T
    count = items_needed(pilot_of_correlations(first, second, ratings, _whole(own.contexts)))
    return None if count is None or count > FARTHEST * len(pair) else count


def _rounded(seconds: float) -> int:
    """A forecast to two digits."""
    return int(float(f"{seconds:.1e}"))
