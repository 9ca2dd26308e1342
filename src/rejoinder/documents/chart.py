"""Rows of points on one axis, drawn by HTML and style sheet: the text keeps its size, however narrow the window.

Positions are shares of the axis; the style sheet of the page (`page.html.jinja`) says how things look.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from rejoinder.stats.figure import Figure, number
from rejoinder.stats.figure import percent as share

_WIDEST_NAME = 26  # characters; a longer name takes two lines
_FAR = 45.0  # percent of the axis; what is named beyond has its name on the left


class Point(NamedTuple):
    """A row of the picture.

    Attributes:
        name: what it is of.
        figure: where its mark stands, and the line behind it.
        kind: CSS class of its mark.
        note: shown on hovering.
        chance: a band from -`chance` to `chance` is drawn behind the row; NaN draws none.
        before: a second, hollow mark; NaN draws none.
        limit: a stroke; NaN draws none.
        part: "lead" for the one that the answer names, "beside" for what stands there to compare with.
    """

    name: str
    figure: Figure
    kind: str
    note: str
    chance: float = math.nan
    before: float = math.nan
    limit: float = math.nan
    part: str = ""


class Mark(NamedTuple):
    """An upright line through all rows, with its interval as a band.

    Attributes:
        name: what it is.
        figure: where it stands.
    """

    name: str
    figure: Figure


class _Axis(NamedTuple):
    """Where values stand, and how they are told.

    Attributes:
        low: the value at the left end.
        high: that at the right end.
        ticks: the values that are written below it.
        middle: where the line through all rows stands.
        percent: whether values are shares.
    """

    low: float
    high: float
    ticks: Sequence[float]
    middle: float
    percent: bool

    def at(self, value: float) -> float:
        """Percent of the axis."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)

    def text(self, value: float, digits: int = 2) -> str:
        """A number, or a share."""
        return share(value) if self.percent else number(value, digits)


def chart(
    title: str,
    rows: Sequence[Point],
    marks: Sequence[Mark] = (),
    *,
    axis: str = "Pearson correlation with people",
    percent: bool = False,
    scale: tuple[float, float] | None = None,
) -> str:
    """One row a point with its interval, on an axis from the lowest value (0 or less) to 1, or on a scale.

    Args:
        title: read out in place of the picture, with all values.
        rows: what to draw.
        marks: the ceiling and the like.
        axis: what the values are.
        percent: the values are shares, which are told in percent; the line through all rows is one half, not zero.
        scale: the lowest and highest value there can be; the line through all rows is the middle. What lies beyond is
            not drawn.
    """
    where = _of_scale(*scale) if scale else _of_shares(rows) if percent else _of_correlations(rows)
    wide = min(max((len(row.name) for row in rows), default=0), _WIDEST_NAME)
    grid = "".join(_upright("zero" if tick == where.middle else "grid", tick, where) for tick in where.ticks)
    lines = "".join(_upright("mark", mark.figure.value, where) for mark in marks)
    bands = "".join(_span("band", *mark.figure.ends, where) for mark in marks)
    parts = [_label(mark, marks[:place], where) for place, mark in enumerate(marks)]
    apart = [row for row in rows if row.part == "beside"]
    behind = bands + grid
    parts += [_row(row, behind, lines, where) for row in rows if row not in apart]
    if apart:
        parts.append(f'<div class="gap"><div class="plot">{behind}{lines}</div></div>')
        parts += [_row(row, behind, lines, where) for row in apart]
    labels = "".join(_tick(tick, where) for tick in where.ticks)
    parts.append(f'<div class="ticks"><div class="plot">{labels}</div></div>')
    parts.append(f'<div class="ticks"><div class="axis">{escape(axis)}</div></div>')
    named: list[Point | Mark] = [*rows, *marks]
    said = "; ".join(f"{one.name} {where.text(one.figure.value)}" for one in named)
    label = escape(f"{title}. {said}", quote=True)
    return f'<div class="chart" role="img" aria-label="{label}" style="--name:{wide}ch">{"".join(parts)}</div>'


def _of_scale(low: float, high: float) -> _Axis:
    """The axis of ratings."""
    return _Axis(low, high, [low + (high - low) * tick / 4 for tick in range(5)], (low + high) / 2, percent=False)


def _of_shares(rows: Sequence[Point]) -> _Axis:
    """The axis of shares."""
    return _Axis(_bottom(rows), 1.0, [tick / 4 for tick in range(5)], 0.5, percent=True)


def _of_correlations(rows: Sequence[Point]) -> _Axis:
    """The axis of correlations."""
    bottom = _bottom(rows)
    return _Axis(bottom, 1.0, [tick / 5 for tick in range(round(bottom * 5), 6)], 0.0, percent=False)


def _bottom(rows: Sequence[Point]) -> float:
    """The fifth below the lowest value, 0 or less."""
    reached = [end for row in rows for end in (row.figure.value, row.figure.low, row.before, -row.chance)]
    known = [end for end in reached if not math.isnan(end)]
    return min(0.0, math.floor(min(known, default=0.0) * 5) / 5)


def _row(row: Point, behind: str, before: str, axis: _Axis) -> str:
    """One row."""
    drawn = _span("chance", -row.chance, row.chance, axis) + behind + before
    if not math.isnan(row.limit):
        drawn += _upright("limit", row.limit, axis)
    drawn += _span("line", *row.figure.ends, axis)
    if not math.isnan(row.before):
        drawn += _upright("dot hollow", row.before, axis)
    drawn += _upright("dot", row.figure.value, axis)
    return (
        f'<div class="row {row.kind} {row.part}" title="{escape(f"{row.name}: {row.note}", quote=True)}">'
        f'<div class="name">{escape(row.name)}</div><div class="plot">{drawn}</div>'
        f'<div class="value">{axis.text(row.figure.value)}</div></div>'
    )


def _tick(value: float, axis: _Axis) -> str:
    """A number on the axis; every second one, counted from the middle, is left out where there is no room."""
    step = axis.ticks[1] - axis.ticks[0]
    minor = ' class="minor"' if round((value - axis.middle) / step) % 2 else ""
    return f'<b{minor} style="left:{axis.at(value)}%">{axis.text(value, 1)}</b>'


def _label(mark: Mark, above: Sequence[Mark], axis: _Axis) -> str:
    """A line with the name of a mark beside it; the marks named above go through it."""
    at = axis.at(mark.figure.value)
    place = f"right:{100 - at:.2f}%" if at > _FAR else f"left:{at}%"
    through = "".join(_upright("mark", one.figure.value, axis) for one in (*above, mark))
    name = f"{escape(mark.name)} {number(mark.figure.value, 2)}"
    return f'<div class="marks"><div class="plot">{through}<b style="{place}">{name}</b></div></div>'


def _upright(kind: str, value: float, axis: _Axis) -> str:
    """Something at one value."""
    return f'<i class="{kind}" style="left:{axis.at(value)}%"></i>'


def _span(kind: str, low: float, high: float, axis: _Axis) -> str:
    """Something from one value to another; nothing where there is none."""
    if math.isnan(low):
        return ""
    left, right = max(axis.at(low), 0.0), min(axis.at(high), 100.0)
    return f'<i class="{kind}" style="left:{left}%;width:{right - left:.2f}%"></i>'
