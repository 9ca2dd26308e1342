"""Tables: pivots of estimates, and rows of plain texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from rejoinder.estimates import Estimate, one
from rejoinder.report.written import DASH, interval, one_line

_SIGNS = frozenset("0123456789.,[]<± -+%" + DASH)


class Cell(NamedTuple):
    """What a table shows at one place."""

    text: str  # what people read
    note: str = ""  # how the number was computed, or why there is none, for hovering
    value: float | None = None  # what the column is sorted by; None sorts by text


class Table(NamedTuple):
    """A table."""

    title: str  # its heading
    header: tuple[str, ...]  # names of the columns; the first column names the row
    rows: tuple[tuple[Cell, ...], ...]  # the cells, one for each column
    caption: str = ""  # what it shows and how its numbers were computed
    spare: tuple[str, ...] = ()  # columns that a narrow terminal, or a page of paper, leaves out, the first to go first
    notes: tuple[str, ...] = ()  # sentences below it

    @property
    def texts(self) -> list[list[str]]:
        """The texts of the cells."""
        return [[cell.text for cell in row] for row in self.rows]

    def numeric(self, column: int) -> bool:
        """Return whether a column holds numbers only, which are aligned right."""
        return numeric(row[column].text for row in self.rows)


class Column(NamedTuple):
    """A column of a pivot: the estimates with these labels, how they are written, and whether the column is spare."""

    title: str
    labels: Mapping[str, str]
    write: Callable[[Estimate], str] = interval
    spare: bool = False


def numeric(texts: Iterable[str]) -> bool:
    """Return whether texts are nothing but numbers and the signs between them."""
    return all(_SIGNS.issuperset(text) for text in texts)


def grouped(estimates: Iterable[Estimate], by: str | Callable[[Estimate], str]) -> dict[str, list[Estimate]]:
    """Return the estimates by a label, or by a function of an estimate."""
    groups: dict[str, list[Estimate]] = {}
    for estimate in estimates:
        groups.setdefault(str(getattr(estimate, by) if isinstance(by, str) else by(estimate)), []).append(estimate)
    return groups


def pivot(
    estimates: Iterable[Estimate],
    by: str | Callable[[Estimate], str],
    columns: Sequence[Column],
    *,
    title: str = "",
    caption: str = "",
    heading: str = "",
    in_order: bool = False,
    notes: Sequence[str] = (),
) -> Table | None:
    """Return a table with a row for each value of a label, or of a function of an estimate; None without any row.

    Rows without an estimate in any column are left out, as are columns without one in any row. Rows are sorted by the
    first column, the highest value first, or are `in_order` of the estimates. `heading` names the first column;
    empty takes the label.
    """
    groups = grouped(estimates, by)
    cells = {row: [one(group, **column.labels) for column in columns] for row, group in groups.items()}
    cells = {row: line for row, line in cells.items() if any(map(_measured, line))}
    if not cells:
        return None
    kept = [place for place in range(len(columns)) if any(_measured(line[place]) for line in cells.values())]
    order = list(cells)
    if not in_order:
        order.sort(key=lambda row: (not cells[row][kept[0]].known, -cells[row][kept[0]].value))
    body = [(Cell(row), *(_cell(cells[row][place], columns[place]) for place in kept)) for row in order]
    header = (heading or (by if isinstance(by, str) else ""), *(columns[place].title for place in kept))
    spare = tuple(columns[place].title for place in kept if columns[place].spare)
    return Table(title, header, tuple(body), caption, spare, tuple(notes))


def table(header: Sequence[str], rows: Iterable[Sequence[str | Cell]], *, title: str = "", caption: str = "") -> Table:
    """Return a table of plain texts."""
    body = tuple(tuple(cell if isinstance(cell, Cell) else Cell(one_line(cell)) for cell in row) for row in rows)
    return Table(title, tuple(header), body, caption)


def _measured(estimate: Estimate) -> bool:
    """Return whether an estimate is there, with a value or a reason why it has none."""
    return estimate.reason != "not measured"


def _cell(estimate: Estimate, column: Column) -> Cell:
    """Return an estimate as a cell."""
    if not estimate.known:
        return Cell(DASH, estimate.reason)
    note = "; ".join(filter(None, [estimate.method, estimate.reason]))
    return Cell(column.write(estimate), note, None if math.isnan(estimate.value) else estimate.value)
