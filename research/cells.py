"""Cells of the tables of papers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rejoinder.report import tables
from rejoinder.report.tables import Cell, Table
from rejoinder.report.written import DASH, interval, number, p_value, percent


def nothing(why: str = "") -> Cell:
    """Return a dash, and why there is no number."""
    return Cell(DASH, why)


def count(value: int) -> Cell:
    """Return a whole number."""
    return Cell(f"{value:,}")


def plain(value: float, digits: int = 3) -> Cell:
    """Return a number without an interval, or a dash."""
    return Cell(number(value, digits))


def share(value: float) -> Cell:
    """Return a share in percent, or a dash."""
    return Cell(percent(value))


def p(value: float) -> Cell:
    """Return a p-value, or a dash."""
    return Cell(p_value(value))


def measured(estimate: Any, digits: int = 3, *, why: str = "", share: bool = False, signed: bool = False) -> Cell:
    """Return an estimate with its interval; without a value a dash, and why there is none."""
    if not estimate.known:
        return nothing(why)
    return Cell(interval(estimate, digits, ends=min(digits, 2), share=share, signed=signed))


def with_p(estimate: Any) -> list[Cell]:
    """Return two cells: an estimate with its interval, and its p."""
    return [measured(estimate), p(estimate.p)]


def table(header: Sequence[str], rows: Iterable[Iterable[object]], title: str = "") -> Table:
    """Return a table of cells and of texts."""
    cells = ([cell if isinstance(cell, Cell) else str(cell) for cell in row] for row in rows)
    return tables.table(header, cells, title=title)
