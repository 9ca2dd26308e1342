"""Judges that never saw a data set, and judges that saw other conversations of it: what both make of its lines.

Every line is encoded once. Shapes: N rated lines.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.judges.learner import AnyLearner, Rows, members_of
from rejoinder.judges.lines import RatedLines, encode_rated, unlearnable
from rejoinder.judges.many import Manner, Task, folds_of, scores_of
from rejoinder.scorer import Advance, FloatArray, ignore


def rated_lines(examples: Sequence[Example], learner: AnyLearner) -> RatedLines:
    """The rated lines of `examples`, ready for many judges.

    Raises:
        UsageError: fewer than two data sets have ratings of replies.
        DataError: a rated line has no scale.
    """
    sets = {example.dataset or "" for example in examples if not unlearnable(example)}
    if len(sets) < 2:
        found = f"{len(sets)} data set{'s' * (len(sets) != 1)} with ratings"
        raise UsageError(f"{found}; to leave one out takes two or more. Name more files")
    return encode_rated(examples, learner)


def unseen_scores(lines: RatedLines, *, seed: int = 0, advance: Advance = ignore) -> FloatArray:
    """[N] each line's score by the judge that was fitted on all other data sets; NaN where none could be, or reads it.

    Args:
        lines: the rated lines.
        seed: decides the split of each fit and the order of its lines.
        advance: called with 1 after each fit, of which there is one a data set.
    """
    tasks = [Task(others(lines, own), own) for own in lines.sets.values()]
    return scores_of(lines, tasks, Manner(members_of(lines.learner), seed=seed), advance)


def seen_scores(lines: RatedLines, *, seed: int = 0, advance: Advance = ignore) -> FloatArray:
    """[N] each line's score by a judge that was fitted on other conversations of its data set as well.

    The conversations of a set are divided into five folds (fewer where there are fewer conversations); the lines of a
    fold are scored by the judge that was fitted on the other folds and on what `unseen_scores` fits on. Arguments as
    there, with a fit a fold.
    """
    tasks = []
    for own in lines.sets.values():
        # What the unseen judge is fitted on stays in, so that the two differ by the other conversations alone.
        rest = others(lines, own)
        tasks += [Task(np.sort(np.concatenate([rest, task.rows])), task.asked) for task in folds_of(lines, own, seed)]
    return scores_of(lines, tasks, Manner(members_of(lines.learner), seed=seed), advance)


def others(lines: RatedLines, own: Rows) -> Rows:
    """The rows of all other data sets, without those that share a conversation with the set `own`."""
    # Sets took dialogues from one another: a judge that saw the same conversation elsewhere has seen this set.
    shared = lines.ties.sharing(lines.ties.all_of(own))
    shared[own] = True
    return np.flatnonzero(~shared)
