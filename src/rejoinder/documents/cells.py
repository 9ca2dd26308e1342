"""Cells of tables, made of numbers: the text, what the column is sorted by, and how the figure came about."""

from __future__ import annotations

import math

from rejoinder.documents.document import Cell
from rejoinder.stats.figure import DASH, Figure, interval, number, p_value, percent


def nothing(why: str = "") -> Cell:
    """A dash where there is no figure, and why there is none."""
    return Cell(DASH, why)


def count(value: int, note: str = "") -> Cell:
    """A whole number."""
    return Cell(f"{value:,}", note, value)


def plain(value: float, digits: int = 3, note: str = "") -> Cell:
    """A number without an interval, or a dash."""
    return Cell(number(value, digits), note, _sortable(value))


def share(value: float, note: str = "") -> Cell:
    """A share in percent, or a dash."""
    return Cell(percent(value), note, _sortable(value))


def p(value: float, note: str = "") -> Cell:
    """A p-value, or a dash."""
    return Cell(p_value(value), note, _sortable(value))


def measured(
    one: Figure,
    digits: int = 3,
    note: str = "",
    why: str = "",
    *,
    ends: int = 2,
    share: bool = False,
    signed: bool = False,
) -> Cell:
    """A figure with its interval; where there is none, a dash and `why`. How it is written: see `interval`."""
    if not one.known:
        return nothing(why)
    said = interval(one, digits, ends=ends, share=share, signed=signed)
    return Cell(said, note, one.value, figure=Figure(value=one.value, low=one.low, high=one.high))


def _sortable(value: float) -> float | None:
    """What a column is sorted by; None where there is no number."""
    return None if math.isnan(value) else value
