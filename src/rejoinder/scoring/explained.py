"""Scorers that explain their scores, and the warning of scorers that check no facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeGuard

from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.scorer import FACTS_NOT_CHECKED, Explanation, Scorer, missing_need


class Explained(Scorer, Protocol):
    """A scorer that explains its scores; its card has `explains`."""

    def explain(self, examples: Sequence[Example]) -> Sequence[Explanation | None]:
        """Return [N] explanations that do not depend on the other examples; None for an example without a score."""
        ...


def is_explained(scorer: Scorer) -> TypeGuard[Explained]:
    """Return whether a scorer explains its scores."""
    return scorer.card.explains


def require_explained(scorers: Mapping[str, Scorer]) -> dict[str, Explained]:
    """Return the scorers that explain their scores.

    Raises:
        UsageError: no scorer does.
    """
    explained = {name: scorer for name, scorer in scorers.items() if is_explained(scorer)}
    if not explained:
        names, verb = ", ".join(scorers), "does" if len(scorers) == 1 else "do"
        problem = f"{names} {verb} not explain scores. Use a judge over views"
        raise UsageError(f"{problem}: rejoinder train judge FILE -o FOLDER")
    return explained


def explanations(scorer: Explained, examples: Sequence[Example]) -> list[Explanation | None]:
    """Return [N] explanations; None for an example without a score."""
    result: list[Explanation | None] = [None] * len(examples)
    rows = [row for row, example in enumerate(examples) if missing_need(scorer.card, example) is None]
    for row, explanation in zip(rows, scorer.explain([examples[row] for row in rows]), strict=True):
        result[row] = explanation
    return result


def facts_warning(scorers: Mapping[str, Scorer]) -> str:
    """Return the warning that facts were not checked, once for one answer about all these scorers; else "".

    The scorers that read no facts are named if there are others.
    """
    names = [name for name, scorer in scorers.items() if "facts" in scorer.card.unread]
    if not names or len(names) == len(scorers):
        return FACTS_NOT_CHECKED if names else ""
    return f"{', '.join(names)}: {FACTS_NOT_CHECKED}"
