"""A value with its interval."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with the ends of its 95 % interval; NaN where there is none."""

    value: float
    low: float
    high: float


NOTHING = Figure(float("nan"), float("nan"), float("nan"))
