"""Scores of people, in formats that name the kind of judge."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rejoinder.data.values import number
from rejoinder.errors import ColumnError


def human_scores(scores: Iterable[tuple[Any, Any, Any]]) -> dict[str, Any]:
    """Return `ratings`, `raters` and `scales` of scores by people; a word that is no verdict is left out.

    Args:
        scores: name, value and rater of each score.
    """
    ratings: dict[str, list[float]] = {}
    raters: dict[str, list[Any]] = {}
    scales: dict[str, list[float]] = {}
    for name, value, rater in scores:
        try:
            rated = number(value, "", str(name))
        except ColumnError:
            continue
        if rated is not None:
            ratings.setdefault(str(name), []).append(rated[0])
            raters.setdefault(str(name), []).append(rater)
            if rated[1] == 1 or isinstance(value, bool):
                scales[str(name)] = [0, 1]
    if not any(rater is not None for named in raters.values() for rater in named):
        raters = {}
    return {key: held for key, held in (("ratings", ratings), ("raters", raters), ("scales", scales)) if held}
