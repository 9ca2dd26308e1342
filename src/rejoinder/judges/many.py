"""Many fits on one encoding: each judge is fitted on some rated lines and scores others."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import NamedTuple

import numpy as np

from rejoinder.errors import DataError
from rejoinder.judges.learner import Learner, Rows
from rejoinder.judges.lines import RatedLines
from rejoinder.judges.train import SHARES, divided, fit_member
from rejoinder.scorer import Advance, FloatArray, ignore
from rejoinder.stats.splits import fold_groups

FOLDS = 5  # each judge is then fitted on four fifths, which is not far from what the whole would give


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
        members: its learners, in the order in which a line looks for the first whose sides it has.
        shares: of the conversations of a task's rows, those it is fitted on, then those that decide when to stop; what
            comes after is left out.
        seed: decides the split of each task and the order of its lines.
    """

    members: Sequence[Learner]
    shares: Sequence[float] = SHARES
    seed: int = 0


def folds_of(lines: RatedLines, rows: Rows, seed: int) -> list[Task]:
    """Five folds of the conversations of `rows` (or as many as there are, over one), each asked of the others."""
    groups = lines.clusters(rows).numbers
    folds = min(FOLDS, len(np.unique(groups)))
    fold = fold_groups(groups, folds, np.random.default_rng(seed))
    return [Task(rows[fold != number], rows[fold == number]) for number in range(folds if folds > 1 else 0)]


def scores_of(lines: RatedLines, tasks: Sequence[Task], manner: Manner, advance: Advance = ignore) -> FloatArray:
    """[N] scores of the lines that are asked for, NaN elsewhere and where none could be fitted; two fits at a time.

    Args:
        lines: N rated lines, encoded for the learners of the `manner`.
        tasks: no line is asked for twice.
        manner: how to fit.
        advance: called with 1 after each task.
    """
    from threadpoolctl import threadpool_limits

    scores = np.full(len(lines.ratings), np.nan)
    stopped = Event()
    # The matrices are small: threads inside one product cost more than two fits side by side gain.
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

    def go_on(_: int) -> None:
        if stopped.is_set():
            raise InterruptedError

    scores, left = np.full(len(task.asked), np.nan), np.ones(len(task.asked), dtype=bool)
    if stopped.is_set() or not len(task.rows):
        return scores
    # The same seed for every task, so that a task's judge depends on its rows alone, not on which tasks there are.
    parts = divided(lines, task.rows, manner.shares, np.random.default_rng(manner.seed))
    for member in manner.members:
        mine = left & lines.readable(member)[task.asked]
        if not mine.any():
            continue
        try:
            fitted = fit_member(lines, member, parts, np.random.default_rng(manner.seed), go_on)
        except DataError:  # too little for this member, so that the next one is asked
            continue
        # Those that it cannot read stay without a score, as in a panel; no later member takes them.
        scores[mine] = fitted.predict(lines.encoded, task.asked[mine])
        left &= ~mine
    return scores
