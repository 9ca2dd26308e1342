"""What a scorer of anybody's gives is looked at before it is believed: a number too many would move all scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rejoinder.errors import UsageError, shown


def sound(outcome: Any, n: int, name: str) -> Any:
    """The `scorer.Outcome` of N examples by the scorer `name`, with a reason for every value that is not finite.

    Raises:
        UsageError: it is none, or holds another number of scores.
    """
    if not hasattr(outcome, "reasons"):
        remedy = "Return rejoinder.scorer.Outcome(values), values an array with a number or NaN for each example"
        raise UsageError(f"{name}: score_batch gave {shown(outcome)}, expected an Outcome. {remedy}")
    values = _numbers(outcome.values, name)
    given = {key: getattr(outcome, key) for key in ("statistics", "low", "high")}
    beside = {key: np.atleast_1d(one) for key, one in given.items() if one is not None}
    for key, found in {"values": values, **beside}.items():
        if len(found) != n:
            what = "scores" if key == "values" else key
            raise UsageError(f"{name}: score_batch gave {len(found)} {what} for {n} examples. Return one for each")
    lost = np.flatnonzero(~np.isfinite(values)).tolist()
    told = {row: why for row, why in dict(outcome.reasons or {}).items() if row in range(n)}
    reasons = {row: f"{name} gave {values[row]}" for row in lost} | told
    return replace(outcome, values=np.where(np.isfinite(values), values, np.nan), reasons=reasons, **beside)


def _numbers(values: Any, name: str) -> Any:
    """[N] the values as an array of numbers."""
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty((0, 0))
    if found.ndim != 1:
        raise UsageError(f"{name}: the values of an Outcome are {shown(values)}, expected one number for each example")
    return found
