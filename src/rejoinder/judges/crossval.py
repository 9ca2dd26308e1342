"""Splits and folds of rated lines, and many fits on one encoding. Shapes: N rated lines, n those of one fold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import NamedTuple

import numpy as np

from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example
from rejoinder.judges.protocol import Fitted, Learner, Rows, members_of
from rejoinder.judges.rated import MAPPED, NOT_RATED, OF_DIALOGUE, UNREAD, RatedLines, why_unlearnable
from rejoinder.scorer import Advance, FloatArray, ignore
from rejoinder.stats.splits import fold_groups, split_groups

SHARES = (0.70, 0.15, 0.15)  # as Lowe et al. 2017, section 5
PARTS = ("train", "validation", "test")
FOLD_SHARES = (SHARES[0] / (SHARES[0] + SHARES[1]), SHARES[1] / (SHARES[0] + SHARES[1]))
"""The same shares without a test part, which is the fold itself."""
FOLDS = 5  # each judge is then fitted on four fifths, which is not far from what all lines would give
MIN_CONTEXTS = 30  # of fewer, validation and test parts would be four contexts or less
MIN_LINES = 3  # two points are always on a line: their correlation means nothing
_REMEDIES = {
    OF_DIALOGUE: "Judges learn from ratings of single replies: have such rated",
    NOT_RATED: "Rate more, or say where the ratings stand: --map rating=NAME",
    UNREAD: MAPPED,
    "no reference": "Rate more, or train a judge that needs no reference: rejoinder train c-adem, or autojudge",
    "no context": (
        "Rate more, or train the judge that needs no context: rejoinder train r-adem; or say where it stands: --map "
        "context=NAME"
    ),
}


class Fold(NamedTuple):
    """Ascending rows that a judge is fitted on and stopped by, and those that it scores."""

    train: Rows
    scored: Rows


def split(lines: RatedLines, rows: Rows, shares: Sequence[float], rng: np.random.Generator) -> list[Rows]:
    """Return ascending `rows` in parts of these shares, conversations kept whole."""
    return [rows[part] for part in split_groups(lines.conversations(rows), shares, rng)]


def conversation_folds(lines: RatedLines, rows: Rows, seed: int) -> list[Fold]:
    """Return five folds of the conversations of `rows`, or as many as there are conversations, but none of one."""
    groups = lines.conversations(rows)
    count = min(FOLDS, len(np.unique(groups)))
    fold = fold_groups(groups, count, np.random.default_rng(seed))
    return [Fold(rows[fold != number], rows[fold == number]) for number in range(count if count > 1 else 0)]


def set_folds(lines: RatedLines) -> list[Fold]:
    """Return a fold for each data set: its lines are scored by the judge that was fitted on all other sets."""
    return [Fold(others(lines, own), own) for own in lines.sets.values()]


def same_set_folds(lines: RatedLines, seed: int) -> list[Fold]:
    """Return five folds for each data set, fitted on the other conversations of the set and on all other sets.

    So their judges differ from those of `set_folds` by the other conversations alone.
    """
    return [
        Fold(np.sort(np.concatenate([others(lines, own), fold.train])), fold.scored)
        for own in lines.sets.values()
        for fold in conversation_folds(lines, own, seed)
    ]


def others(lines: RatedLines, own: Rows) -> Rows:
    """Return the rows of all other data sets, without those that share a conversation with the set `own`."""
    # Sets took dialogues from one another: a judge that saw the same conversation elsewhere has seen this set.
    shared = lines.ties.sharing(lines.ties.all_of(own))
    shared[own] = True
    return np.flatnonzero(~shared)


def require_sets(examples: Sequence[Example]) -> None:
    """Raise `UsageError` if fewer than two data sets have ratings of replies."""
    sets = {example.dataset or "" for example in examples if not why_unlearnable(example)}
    if len(sets) < 2:
        found = f"{len(sets)} data set{'s' * (len(sets) != 1)} with ratings"
        raise UsageError(f"{found}; to leave one out takes two or more. Name more files")


def fit(
    lines: RatedLines, learner: Learner, parts: Sequence[Rows], rng: np.random.Generator, advance: Advance = ignore
) -> Fitted:
    """Fit the learner of the lines, or a member of it, on the first of some parts of them, stopped by the second.

    Parts are ascending rows; those that the learner cannot use are skipped. Raises `DataError` if too few are left.
    """
    own = [part[np.isin(part, lines.usable[learner.name])] for part in parts]
    require_enough(lines, learner, np.concatenate(own))
    for name, part in zip(PARTS, own, strict=False):
        if len(part) < MIN_LINES:
            problem = f"the {name} part of the split has {len(part)} lines that {learner.name} can use"
            remedy = "Rate responses to more contexts, or choose another --seed"
            raise DataError(f"{problem}, expected {MIN_LINES}", remedy)
    return learner.fit(lines.encoded, lines.ratings, own[0], own[1], rng, advance)


def require_enough(lines: RatedLines, learner: Learner, rows: Rows) -> None:
    """Raise `DataError` if the `rows` are too few to fit and test a learner on, or all rated alike."""
    contexts = len(np.unique(lines.ties.contexts[rows]))
    if contexts < MIN_CONTEXTS:
        dropped = lines.dropped(learner)
        why = ", ".join(f"{count} lines: {reason}" for reason, count in dropped.most_common()) or "none left out"
        problem = f"{contexts} rated contexts that {learner.name} can learn from, expected {MIN_CONTEXTS} or more"
        raise DataError(f"{problem} ({why})", _remedy(dropped))
    if len(np.unique(lines.ratings[rows])) == 1:
        raise DataError("all ratings are equal", "Give ratings that differ; there is nothing to learn from these")


def _remedy(dropped: Counter[str]) -> str:
    """Return what to do about the most frequent reason, or about a side that is missing."""
    most = max(dropped, key=dropped.__getitem__, default="")
    if most not in (OF_DIALOGUE, NOT_RATED, UNREAD):
        most = next((reason for reason in ("no reference", "no context") if dropped[reason]), "")
    return _REMEDIES.get(most, "Rate responses to more contexts")


def cross_validate(
    lines: RatedLines,
    folds: Sequence[Fold],
    members: Sequence[Learner] | None = None,
    *,
    shares: Sequence[float] = SHARES,
    seed: int = 0,
    advance: Advance = ignore,
) -> FloatArray:
    """Return [N] scores of the lines of the folds, NaN elsewhere and where none could be fitted; two fits at a time.

    Args:
        lines: N rated lines.
        folds: no line is scored by two.
        members: learners in the order in which a line looks for the first whose sides it has; by default all of them.
        shares: of the conversations of a fold that it is fitted on and stopped by; what comes after is left out.
        seed: decides the split of each fold and the order of its lines.
        advance: called with 1 after each fold.
    """
    from threadpoolctl import threadpool_limits

    members, stopped = members_of(lines.learner) if members is None else members, Event()
    scores = np.full(len(lines.ratings), np.nan)
    # The matrices are small: threads inside one product cost more than two fits side by side gain.
    with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(2) as pool:
        try:
            results = pool.map(lambda fold: _scores(lines, fold, members, shares, seed, stopped), folds)
            for fold, values in zip(folds, results, strict=True):
                scores[fold.scored] = values
                advance(1)
        except BaseException:
            stopped.set()  # an interruption would wait for every fit, even those that have not begun
            raise
    return scores


def _scores(
    lines: RatedLines, fold: Fold, members: Sequence[Learner], shares: Sequence[float], seed: int, stopped: Event
) -> FloatArray:
    """Return [n] scores of the lines of a fold by the judge that is fitted on the others."""

    def go_on(_: int) -> None:
        if stopped.is_set():
            raise InterruptedError

    scores, left = np.full(len(fold.scored), np.nan), np.ones(len(fold.scored), dtype=bool)
    if stopped.is_set() or not len(fold.train):
        return scores
    # The same seed for every fold: its judge depends on its rows alone, not on which folds there are.
    parts = split(lines, fold.train, shares, np.random.default_rng(seed))
    for member in members:
        mine = left & lines.complete(member)[fold.scored]
        if not mine.any():
            continue
        try:
            fitted = fit(lines, member, parts, np.random.default_rng(seed), go_on)
        except DataError:  # too little for this member, so that the next one is tried
            continue
        # What it cannot read stays without a score, as in a panel; no later member takes it.
        scores[mine] = fitted.predict(lines.encoded, fold.scored[mine])
        left &= ~mine
    return scores
