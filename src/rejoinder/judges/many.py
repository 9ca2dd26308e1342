"""Many fits on one encoding: each judge is fitted on some rated lines and scores others.

A judge is what `train_judge` fits, or a panel as `train_panel` fits it, but for the members that no line goes to.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import NamedTuple

import numpy as np

from rejoinder.judges.bilinear.fit import FitOptions, Fitted, fit_bilinear
from rejoinder.judges.bilinear.judge import TERMS, Kind
from rejoinder.judges.bilinear.oversample import Rows
from rejoinder.judges.bilinear.sides import References
from rejoinder.judges.lines import RatedLines
from rejoinder.judges.train import FEWEST_CONTEXTS, FEWEST_LINES, SHARES
from rejoinder.scorer import Advance, FloatArray, ignore
from rejoinder.stats.splits import fold_groups, joined_numbers, split_groups

FOLDS = 5


class Task(NamedTuple):
    """A judge to fit.

    Attributes:
        rows: ascending lines that it is fitted on and stopped by.
        asked: ascending lines that it scores.
    """

    rows: Rows
    asked: Rows


@dataclass(frozen=True)
class Manner:
    """How the judge of every task is fitted.

    Attributes:
        kinds: its members, in the order in which a line looks for the first whose sides it has.
        options: how each is fitted.
        references: how a member counts several references.
        shares: of the conversations of a task's rows, those it is fitted on, then those that decide when to stop; what
            comes after is left out.
        seed: decides the split of each task and the order of its lines.
    """

    kinds: Sequence[Kind]
    options: FitOptions
    references: References = "mean"
    shares: Sequence[float] = SHARES
    seed: int = 0


def folds_of(lines: RatedLines, rows: Rows, seed: int) -> list[Task]:
    """Five folds of the conversations of `rows` (or as many as there are, over one), each asked of the others."""
    groups = joined_numbers(lines.traces[rows])
    folds = min(FOLDS, len(np.unique(groups)))
    fold = fold_groups(groups, folds, np.random.default_rng(seed))
    return [Task(rows[fold != number], rows[fold == number]) for number in range(folds if folds > 1 else 0)]


def scores_of(lines: RatedLines, tasks: Sequence[Task], manner: Manner, advance: Advance = ignore) -> FloatArray:
    """[N] scores of the lines that are asked for, NaN elsewhere and where none could be fitted; two fits at a time.

    Args:
        lines: N rated lines, encoded for the kinds of the `manner`.
        tasks: no line is asked for twice.
        manner: how to fit.
        advance: called with 1 after each task.
    """
    from threadpoolctl import threadpool_limits

    scores = np.full(len(lines.ratings), np.nan)
    stopped = Event()
    with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(2) as pool:
        try:
            found = pool.map(lambda task: _scores(lines, task, manner, stopped), tasks)
            for task, values in zip(tasks, found, strict=True):
                scores[task.asked] = values
                advance(1)
        except BaseException:
            # An interruption would wait for every fit, those not begun among them.
            stopped.set()
            raise
    return scores


def _scores(lines: RatedLines, task: Task, manner: Manner, stopped: Event) -> FloatArray:
    """[n] scores of the lines that are asked for, by the judge that is fitted on the task's rows."""
    scores, left = np.full(len(task.asked), np.nan), np.ones(len(task.asked), dtype=bool)
    if stopped.is_set() or not len(task.rows):
        return scores
    groups, rng = joined_numbers(lines.traces[task.rows]), np.random.default_rng(manner.seed)
    parts = [task.rows[part] for part in split_groups(groups, manner.shares, rng)]
    for kind in manner.kinds:
        mine = left & lines.readable(kind)[task.asked]
        if mine.any() and (fitted := _member(lines, parts, kind, manner, stopped)):
            # Those without a known word stay without a score, as in a panel; no later member takes them.
            scores[mine] = lines.predicted(task.asked[mine], fitted, kind, manner.references)
            left &= ~mine
    return scores


def _member(lines: RatedLines, parts: Sequence[Rows], kind: Kind, manner: Manner, stopped: Event) -> Fitted | None:
    """The member `kind` fitted on the first part and stopped on the second; None where too little is there.

    What is too little is what `train_judge` refuses.
    """
    known = lines.known[kind]
    parts = [np.flatnonzero(np.isin(known.rows, part)) for part in parts]
    own = np.concatenate([np.empty(0, dtype=np.intp), *parts])
    contexts, different = len(np.unique(lines.contexts[known.rows[own]])), len(np.unique(known.ratings[own]))
    if contexts < FEWEST_CONTEXTS or different < 2 or min(map(len, parts)) < FEWEST_LINES:
        return None
    rng, terms = np.random.default_rng(manner.seed), TERMS[kind]

    def go_on(_: int) -> None:
        if stopped.is_set():
            raise InterruptedError

    return fit_bilinear(known.raw, known.ratings, known.lengths, parts[0], parts[1], terms, manner.options, rng, go_on)
