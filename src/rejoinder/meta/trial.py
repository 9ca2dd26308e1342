"""A new judge on trial: what it is worth on conversations that it was not fitted on, against what is there already.

The conversations are divided into five folds; each fold is scored by a judge that was fitted on the others. Beside it
stand the judge in the box, the best closed-form metric and the best trivial baseline. The last two are chosen among all
of their kind on the ratings of the other folds too, so that none of the figures has seen the ratings that it is tested
on.

Shapes: N lines, K candidates, B resamples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from rejoinder.judges.lines import RatedLines
from rejoinder.judges.many import Manner, folds_of, scores_of
from rejoinder.meta.alternatives import Column, FoldLines, Role, alternatives
from rejoinder.meta.verdict import LEVEL
from rejoinder.scorer import Advance, FloatArray, ignore
from rejoinder.stats.correlation import Statistic, mean_correlations
from rejoinder.stats.figure import NOTHING, Figure
from rejoinder.stats.permutation import adjusted
from rejoinder.stats.resamples import IntArray, Sampling, number_of, percentile_interval, renumbered, two_sided
from rejoinder.stats.splits import items_needed, pilot_of_correlations

# A forecast beyond so many times the lines that there are says nothing but that the two are alike.
FARTHEST = 50
# A trial that would take longer than so many seconds is left out; the constants below are those of one core of 2026.
LONGEST = 60.0
_FITS = 4  # five fits on four fifths of the lines each
_PAIR, _LINE = 1.5e-3, 5e-4
_STATISTICS: tuple[Statistic, ...] = ("spearman", "pearson")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One scorer on trial. Correlations are means over folds (and inside data sets, where there are several).

    Attributes:
        name: of the scorer; of a chosen one that which all ratings together would choose.
        role: `new`, the judge that was fitted; `box`, the judge in the box; the best `metric`; the best `baseline`.
        spearman: its correlation with the ratings.
        pearson: the same, Pearson.
        p: two-sided, of no correlation by Spearman, by Holm for all candidates; NaN where there is none.
        agrees: whether it is shown to agree with people: p below .05, the interval above 0.
        beats_trivial: whether it is shown to be ahead of the best baseline; of that itself False.
        behind: Spearman of the new judge less its own, over the same resamples; of the new judge itself NaN.
        behind_pearson: the same, Pearson.
        chosen: what each fold chose, for `metric` and `baseline`; else empty.
        lower: whether lower scores are taken as better; the figures are after that.
    """

    name: str
    role: Role
    spearman: Figure
    pearson: Figure
    p: float
    agrees: bool
    beats_trivial: bool
    behind: Figure
    behind_pearson: Figure
    chosen: tuple[str, ...] = ()
    lower: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """What cross-validation says of a new judge.

    Attributes:
        candidates: the new judge first; none where there is a `reason`.
        recommended: those that may be used, the highest Spearman first: shown to agree with people, and no candidate
            is shown to be ahead of them; baselines are never among them. Empty where there is none.
        n: lines that all candidates score.
        unscored: lines of the folds that one of them does not score, which are left out.
        contexts: contexts that the lines come from; these are resampled.
        copies: lines whose response equals a reference.
        folds: how many.
        needed: rated lines in all that would tell the first two recommended apart; None where that is not the
            question, or they are too much alike.
        absent: what else could have stood beside the new judge, and why it does not.
        method: how the figures were worked out.
        seed: of folds, fits and resampling.
        reason: why there is no trial, else "".
        note: what to know of the conversations, in a sentence, else "".
    """

    candidates: tuple[Candidate, ...] = ()
    recommended: tuple[Role, ...] = ()
    n: int = 0
    unscored: int = 0
    contexts: int = 0
    copies: int = 0
    folds: int = 0
    needed: int | None = None
    absent: Mapping[str, str] = field(default_factory=dict)
    method: str = "none"
    seed: int = 0
    reason: str = ""
    note: str = ""

    def of(self, role: Role) -> Candidate | None:
        """The candidate with this role, or None."""
        return next((one for one in self.candidates if one.role == role), None)


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
    folds = np.full(len(lines.ratings), -1, dtype=np.int64)
    for number, task in enumerate(tasks):
        folds[task.asked] = number
    sets = renumbered(np.array([example.dataset or "" for example in lines.examples]))
    asked = np.flatnonzero(np.isfinite(predicted))
    clusters = np.full(len(lines.ratings), -1, dtype=np.int64)
    grouped = lines.clusters(rows)
    clusters[rows] = grouped.numbers
    own = FoldLines(lines.ratings, folds, sets, clusters).of(asked)
    beside, absent = alternatives(lines, asked, own, vectors)
    columns = [Column(name, "new", predicted[asked]), *beside]
    copies = sum(lines.examples[row].copies_reference for row in asked.tolist())
    trial = _judged(columns, own, absent, copies, len(rows), manner.seed, resamples)
    return replace(trial, note=grouped.note)


def seconds_for(lines: RatedLines, manner: Manner) -> float:
    """About how long a trial takes: a forecast from sizes alone, so that it comes out alike on every machine."""
    fits = sum(member.seconds(len(lines.usable[member.name]) * manner.shares[0]) for member in manner.members)
    pairs = sum(len(example.references) for example in lines.examples)
    return _FITS * fits + _PAIR * pairs + _LINE * len(lines.examples)


def _judged(
    columns: Sequence[Column],
    own: FoldLines,
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
    draws = Sampling(resamples, seed).draw(contexts, "trial", "trial")
    parts = own.sets * (int(own.folds.max(initial=0)) + 1) + own.folds
    drawn = {  # [1 + B, K] each
        name: mean_correlations(name, table, own.ratings, parts, draws) for name in _STATISTICS
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
    columns: Sequence[Column], drawn: Mapping[Statistic, FloatArray], clusters: int
) -> tuple[Candidate, ...]:
    """The candidates with their figures, from the correlations of all, [1 + B, K] by statistic."""
    spearman, pearson = drawn["spearman"], drawn["pearson"]
    p = adjusted([two_sided(values, clusters) for values in spearman.T], "holm").tolist()
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
    return percentile_interval(values, clusters)


def _ahead(drawn: FloatArray, one: int, other: int, clusters: int) -> bool:
    """Whether one candidate is shown to be ahead of another, by their places."""
    return bool(percentile_interval(drawn[:, one] - drawn[:, other], clusters).low > 0)


def _recommended(candidates: Sequence[Candidate], drawn: FloatArray, clusters: int) -> tuple[Role, ...]:
    """Those that are shown to agree with people and that none is shown to be ahead of, best first."""
    shown = [place for place, one in enumerate(candidates) if one.agrees]
    able = [place for place in shown if candidates[place].role != "baseline"]
    kept = [place for place in able if not any(_ahead(drawn, other, place, clusters) for other in shown)]
    return tuple(candidates[place].role for place in sorted(kept, key=lambda place: -drawn[0, place]))


def _needed(pair: FloatArray, own: FoldLines, parts: IntArray) -> int | None:
    """How many lines would tell two candidates apart, by the spread of their ranks inside folds."""
    from scipy.stats import rankdata

    ranks = np.empty((len(pair), 3))
    for part in np.unique(parts):
        rows = parts == part
        ranks[rows] = rankdata(np.column_stack([pair[rows], own.ratings[rows]]), axis=0) / rows.sum()
    first, second, ratings = ranks.T
    count = items_needed(pilot_of_correlations(first, second, ratings, own.contexts))
    return None if count is None or count > FARTHEST * len(pair) else count


def _rounded(seconds: float) -> int:
    """A forecast to two digits."""
    return int(float(f"{seconds:.1e}"))
