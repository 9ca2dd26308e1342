"""Which of several candidates an attack takes: seen from their scores, or by asking the scorer again.

A search is a function from the scores of all candidates to the candidate that each example gets. Scores are turned so
that higher is what the attack is after. A seek has the scorer at hand, and asks it as often as it likes: hill climbing
(`climbing`), and looking for replies in a pool (`pool`).

Shapes: K candidates, N examples, G clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rejoinder.auditing.scoring import carefully
from rejoinder.example import Example
from rejoinder.scorer import Advance, Scorer, ignore
from rejoinder.stats.resamples import FloatArray, IntArray

Search = Callable[[FloatArray, IntArray], IntArray]
"""`search(scores [K, N], clusters [N])` gives the candidate of each example, [N]."""


@dataclass(frozen=True)
class Target:
    """The scorer that an attack is after.

    Attributes:
        scorer: the scorer.
        sign: -1 where a lower score is the better one.
        advance: is called with the number of replies that were asked for.
    """

    scorer: Scorer
    sign: int
    advance: Advance = ignore

    def ask(self, examples: Sequence[Example]) -> FloatArray:
        """[N] how good the scorer finds examples: higher is better; minus infinity where it has no score."""
        if not examples:
            return np.empty(0)
        values = self.sign * carefully(self.scorer, examples, self.advance).values
        return np.where(np.isfinite(values), values, -np.inf)


Seek = Callable[[Sequence[Example], Sequence[np.random.Generator], Target], Sequence[Example | None]]
"""`seek(starts [N], generators [N], target)` gives what it found from each start; None where that is nothing."""


def the_only(scores: FloatArray, clusters: IntArray) -> IntArray:  # noqa: ARG001 - every search takes clusters
    """The first candidate, for attacks that have no other."""
    return np.zeros(scores.shape[1], dtype=np.int64)


def best_for_all(scores: FloatArray, clusters: IntArray) -> IntArray:
    """One candidate for all examples: for one half of the clusters the one that scores highest over the other half.

    What was chosen on a half of the clusters is measured on the other, so that the luck of a choice among many does not
    count as the weakness of the scorer. With a single cluster it is chosen where it is measured.
    """
    halves = clusters % 2
    chosen = np.zeros(scores.shape[1], dtype=np.int64)
    for half in (0, 1):
        others = halves != half
        chosen[~others] = _best(scores[:, others if others.any() else ~others])
    return chosen


def _best(scores: FloatArray) -> int:
    """The candidate with the highest mean; where none is scored, the first."""
    known = np.isfinite(scores)
    means = np.where(known, scores, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return int(np.argmax(np.where(known.any(axis=1), means, -np.inf))) if known.any() else 0
