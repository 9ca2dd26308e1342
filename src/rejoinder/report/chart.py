"""Rows of points on one axis, drawn by HTML and style sheet: the text keeps its size, however narrow the window.

Positions are shares of the axis; the style sheet of the page (`page.html.jinja`) says how things look.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

_WIDEST_NAME = 26  # characters; a longer name takes two lines
_FAR = 45.0  # percent of the axis; what is named beyond has its name on the left


class Point(NamedTuple):
    """A row of the picture.

    Attributes:
        name: what it is of.
        value: where its mark stands.
        low: lower end of the line behind the mark; NaN draws none.
        high: upper end.
        kind: CSS class of its mark.
        note: shown on hovering.
        chance: a band from -`chance` to `chance` is drawn behind the row; NaN draws none.
        before: a second, hollow mark; NaN draws none.
        limit: a stroke; NaN draws none.
        part: "lead" for the one that the answer names, "beside" for what stands there to compare with.
    """

    name: str
    value: float
    low: float
    high: float
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
        value: where it stands.
        low: lower end of its interval; NaN draws none.
        high: upper end.
    """

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan


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
    known = [value for row in rows for value in (row.value, row.low, row.before, -row.chance) if not math.isnan(value)]
    bottom = min(0.0, math.floor(min(known, default=0.0) * 5) / 5)
    wide = min(max((len(row.name) for row in rows), default=0), _WIDEST_NAME)
    ticks = [tick / 4 for tick in range(5)] if percent else [tick / 5 for tick in range(round(bottom * 5), 6)]
    middle = 0.5 if percent else 0.0
    grid = "".join(_upright("zero" if tick == middle else "grid", tick, bottom) for tick in ticks)
    lines = "".join(map(_upright, ["mark"] * len(marks), [mark.value for mark in marks], [bottom] * len(marks)))
    bands = "".join(_span("band", mark.low, mark.high, bottom) for mark in marks)
    parts = [_label(mark, marks[:place], bottom) for place, mark in enumerate(marks)]
    apart = [row for row in rows if row.part == "beside"]
    text = _percent if percent else _number
    parts += [_row(row, bands + grid, lines, bottom, text(row.value)) for row in rows if row not in apart]
    if apart:
        parts.append(f'<div class="gap"><div class="plot">{bands}{grid}{lines}</div></div>')
        parts += [_row(row, bands + grid, lines, bottom, text(row.value)) for row in apart]
    labels = "".join(_tick(tick, middle, bottom, percent=percent) for tick in ticks)
    parts.append(f'<div class="ticks"><div class="plot">{labels}</div></div>')
    parts.append(f'<div class="ticks"><div class="axis">{escape(axis)}</div></div>')
    named: list[Point | Mark] = [*rows, *marks]
    said = "; ".join(f"{one.name} {text(one.value)}" for one in named)
    label = escape(f"{title}. {said}", quote=True)
    return f'<div class="chart" role="img" aria-label="{label}" style="--name:{wide}ch">{"".join(parts)}</div>'


def _row(row: Point, behind: str, before: str, bottom: float, value: str) -> str:
    """One row."""
    drawn = _span("chance", -row.chance, row.chance, bottom) + behind + before
    if not math.isnan(row.limit):
        drawn += _upright("limit", row.limit, bottom)
    drawn += _span("line", row.low, row.high, bottom)
    if not math.isnan(row.before):
        drawn += _upright("dot hollow", row.before, bottom)
    drawn += _upright("dot", row.value, bottom)
    return (
        f'<div class="row {row.kind} {row.part}" title="{escape(f"{row.name}: {row.note}", quote=True)}">'
        f'<div class="name">{escape(row.name)}</div><div class="plot">{drawn}</div>'
        f'<div class="value">{value}</div></div>'
    )


def _tick(value: float, middle: float, bottom: float, *, percent: bool) -> str:
    """A number on the axis; every second one, counted from the middle, is left out where there is no room."""
    step = 0.25 if percent else 0.2
    minor = ' class="minor"' if round((value - middle) / step) % 2 else ""
    return f'<b{minor} style="left:{_at(value, bottom)}%">{_percent(value) if percent else f"{value:z.1f}"}</b>'


def _number(value: float) -> str:
    """A number with two digits."""
    return f"{value:z.2f}"


def _percent(value: float) -> str:
    """A share."""
    return f"{100 * value:.0f} %"


def _label(mark: Mark, above: Sequence[Mark], bottom: float) -> str:
    """A line with the name of a mark beside it; the marks named above go through it."""
    at = _at(mark.value, bottom)
    place = f"right:{100 - at:.2f}%" if at > _FAR else f"left:{at}%"
    through = "".join(_upright("mark", one.value, bottom) for one in (*above, mark))
    name = f"{escape(mark.name)} {mark.value:.2f}"
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
