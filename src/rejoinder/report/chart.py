"""Rows of points on one axis, drawn by HTML and style sheet: the text keeps its size, however narrow the window.

Positions are shares of the axis; the style sheet of the page (`page.html.jinja`) says how things look.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from rejoinder.stats.figure import Figure
from rejoinder.stats.written import number
from rejoinder.stats.written import percent as share

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


def chart(
    title: str,
    rows: Sequence[Point],
    marks: Sequence[Mark] = (),
    *,
    axis: str = "Pearson correlation with people",
    percent: bool = False,
) -> str:
    """One row a point with its interval, on an axis from the lowest value (0 or less) to 1.

    Args:
        title: read out in place of the picture, with all values.
        rows: what to draw.
        marks: the ceiling and the like.
        axis: what the values are.
        percent: the values are shares, which are told in percent; the line through all rows is one half, not zero.
    """
    reached = [end for row in rows for end in (row.figure.value, row.figure.low, row.before, -row.chance)]
    known = [end for end in reached if not math.isnan(end)]
    bottom = min(0.0, math.floor(min(known, default=0.0) * 5) / 5)
    wide = min(max((len(row.name) for row in rows), default=0), _WIDEST_NAME)
    ticks = [tick / 4 for tick in range(5)] if percent else [tick / 5 for tick in range(round(bottom * 5), 6)]
    middle = 0.5 if percent else 0.0
    grid = "".join(_upright("zero" if tick == middle else "grid", tick, bottom) for tick in ticks)
    lines = "".join(_upright("mark", mark.figure.value, bottom) for mark in marks)
    bands = "".join(_span("band", *mark.figure.ends, bottom) for mark in marks)
    parts = [_label(mark, marks[:place], bottom) for place, mark in enumerate(marks)]
    apart = [row for row in rows if row.part == "beside"]
    behind = bands + grid
    parts += [_row(row, behind, lines, bottom, percent=percent) for row in rows if row not in apart]
    if apart:
        parts.append(f'<div class="gap"><div class="plot">{behind}{lines}</div></div>')
        parts += [_row(row, behind, lines, bottom, percent=percent) for row in apart]
    labels = "".join(_tick(tick, middle, bottom, percent=percent) for tick in ticks)
    parts.append(f'<div class="ticks"><div class="plot">{labels}</div></div>')
    parts.append(f'<div class="ticks"><div class="axis">{escape(axis)}</div></div>')
    named: list[Point | Mark] = [*rows, *marks]
    said = "; ".join(f"{one.name} {_text(one.figure.value, percent=percent)}" for one in named)
    label = escape(f"{title}. {said}", quote=True)
    return f'<div class="chart" role="img" aria-label="{label}" style="--name:{wide}ch">{"".join(parts)}</div>'


def _row(row: Point, behind: str, before: str, bottom: float, *, percent: bool) -> str:
    """One row."""
    drawn = _span("chance", -row.chance, row.chance, bottom) + behind + before
    if not math.isnan(row.limit):
        drawn += _upright("limit", row.limit, bottom)
    drawn += _span("line", *row.figure.ends, bottom)
    if not math.isnan(row.before):
        drawn += _upright("dot hollow", row.before, bottom)
    drawn += _upright("dot", row.figure.value, bottom)
    return (
        f'<div class="row {row.kind} {row.part}" title="{escape(f"{row.name}: {row.note}", quote=True)}">'
        f'<div class="name">{escape(row.name)}</div><div class="plot">{drawn}</div>'
        f'<div class="value">{_text(row.figure.value, percent=percent)}</div></div>'
    )


def _tick(value: float, middle: float, bottom: float, *, percent: bool) -> str:
    """A number on the axis; every second one, counted from the middle, is left out where there is no room."""
    step = 0.25 if percent else 0.2
    minor = ' class="minor"' if round((value - middle) / step) % 2 else ""
    return f'<b{minor} style="left:{_at(value, bottom)}%">{_text(value, 1, percent=percent)}</b>'


def _text(value: float, digits: int = 2, *, percent: bool) -> str:
    """A number, or a share."""
    return share(value) if percent else number(value, digits)


def _label(mark: Mark, above: Sequence[Mark], bottom: float) -> str:
    """A line with the name of a mark beside it; the marks named above go through it."""
    at = _at(mark.figure.value, bottom)
    place = f"right:{100 - at:.2f}%" if at > _FAR else f"left:{at}%"
    through = "".join(_upright("mark", one.figure.value, bottom) for one in (*above, mark))
    name = f"{escape(mark.name)} {number(mark.figure.value, 2)}"
    return f'<div class="marks"><div class="plot">{through}<b style="{place}">{name}</b></div></div>'


def _upright(kind: str, value: float, bottom: float) -> str:
    """Something at one value."""
    return f'<i class="{kind}" style="left:{_at(value, bottom)}%"></i>'


def _span(kind: str, low: float, high: float, bottom: float) -> str:
    """Something from one value to another; nothing where there is none."""
    if math.isnan(low):
        return ""
    left = max(_at(low, bottom), 0.0)
    return f'<i class="{kind}" style="left:{left}%;width:{_at(high, bottom) - left:.2f}%"></i>'


def _at(value: float, bottom: float) -> float:
    """Percent of the axis."""
    return round(100 * (value - bottom) / (1 - bottom), 2)
