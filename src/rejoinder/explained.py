"""What moved a score: how much each group of what a scorer reads added to it. Shapes: N examples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeGuard, cast

from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.scorer import Scorer, missing_need

SHOWN = 3  # groups in words: the strongest; the rest seldom changes a mind


@dataclass(frozen=True, slots=True)
class Explanation:
    """What moved one score, in the points that scores are in.

    Attributes:
        base: the score before anything of the example has moved it, that of an average line.
        moved: what each group of features added, by its name; together with `base` they add up to the score.
    """

    base: float
    moved: Mapping[str, float]

    @property
    def score(self) -> float:
        """What they add up to."""
        return math.fsum((self.base, *self.moved.values()))

    @property
    def words(self) -> str:
        """The strongest groups: `context fit +0.41, repetition -0.20`."""
        strongest = sorted(self.moved.items(), key=lambda one: -abs(one[1]))[:SHOWN]
        return ", ".join(f"{group} {points:+.2f}" for group, points in strongest)


class Explained(Scorer, Protocol):
    """A scorer that says what moved its scores."""

    def explain(self, examples: Sequence[Example]) -> Sequence[Explanation | None]:
        """[N] what moved the score of each example, whatever stands beside it; None where it has no score."""
        ...


def is_explained(scorer: Scorer) -> TypeGuard[Explained]:
    """Whether a scorer says what moved its scores."""
    return hasattr(cast("object", scorer), "explain")


def require_explained(scorers: Mapping[str, Scorer]) -> dict[str, Explained]:
    """Those of the scorers that say what moved their scores.

    Raises:
        UsageError: none does.
    """
    found = {name: one for name, one in scorers.items() if is_explained(one)}
    if not found:
        names, does = ", ".join(scorers), "does" if len(scorers) == 1 else "do"
        raise UsageError(
            f"{names} {does} not say what moved a score. A judge over views does: rejoinder train judge FILE -o FOLDER"
        )
    return found


def explanations(scorer: Explained, examples: Sequence[Example]) -> list[Explanation | None]:
    """[N] what moved the score of each example; None where it has none."""
    found: list[Explanation | None] = [None] * len(examples)
    rows = [row for row, example in enumerate(examples) if missing_need(scorer.card, example) is None]
    for row, one in zip(rows, scorer.explain([examples[row] for row in rows]), strict=True):
        found[row] = one
    return found
