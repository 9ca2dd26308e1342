"""Pictures as inline SVG, without a plotting library: scorers against the ceiling, and points."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from rejoinder.scorer import FloatArray

_WIDTH, _LEFT, _RIGHT, _ROW = 560, 180, 52, 24  # of the whiskers, in units of the view box
_PANEL = 200
_POINTS = 400
_JITTER = 0.05  # of the range of the ratings


class Whisker(NamedTuple):
    """A row of the picture.

    Attributes:
        name: what it is of.
        value: in [-1, 1].
        low: lower end of its interval; NaN draws none.
        high: upper end.
        kind: CSS class of its mark.
        note: shown on hovering.
        chance: a band from -`chance` to `chance` is drawn behind the row; NaN draws none.
    """

    name: str
    value: float
    low: float
    high: float
    kind: str
    note: str
    chance: float = math.nan


class Mark(NamedTuple):
    """An upright line, with its interval as a band.

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


def whiskers(
    key: str,
    title: str,
    rows: Sequence[Whisker],
    marks: Sequence[Mark],
    axis: str = "Pearson correlation with people",
) -> str:
    """One row a scorer with its interval, on an axis from the lowest value (0 or less) to 1.

    Args:
        key: tells the ids of this picture from those of others on the page.
        title: read out in place of the picture, with all values.
        rows: what to draw.
        marks: the ceiling and the like.
        axis: what stands under it.
    """
    ends = [value for row in rows for value in (row.value, row.low, -row.chance) if not math.isnan(value)]
    bottom = min(0.0, math.floor(min(ends, default=0.0) * 10) / 10)
    top = 18 * len(marks) + 8
    height = top + _ROW * len(rows) + 34

    def at(value: float) -> str:
        return f"{_LEFT + (value - bottom) / (1 - bottom) * (_WIDTH - _LEFT - _RIGHT):.1f}"

    foot = top + _ROW * len(rows)
    parts = [_chance(row, at, top + _ROW * place) for place, row in enumerate(rows)]
    for tick in np.arange(math.ceil(bottom * 5) / 5, 1.001, 0.2):
        label = f"{round(tick, 1) + 0.0:.1f}"
        line = "zero" if label == "0.0" else "grid"
        parts.append(f'<line class="{line}" x1="{at(tick)}" x2="{at(tick)}" y1="{top}" y2="{foot}"/>')
        parts.append(f'<text class="tick" x="{at(tick)}" y="{foot + 16}" text-anchor="middle">{label}</text>')
    for place, mark in enumerate(marks):
        if not math.isnan(mark.low):
            low, high = float(at(mark.low)), float(at(mark.high))
            parts.append(
                f'<rect class="band" x="{low}" width="{max(high - low, 0.5):.1f}" y="{top}" height="{foot - top}"/>'
            )
        y = 14 + 18 * place
        parts.append(f'<line class="mark" x1="{at(mark.value)}" x2="{at(mark.value)}" y1="{y + 3}" y2="{foot}"/>')
        label = f"{mark.name} {mark.value:.2f}"
        parts.append(f'<text class="label" x="{at(mark.value)}" y="{y}" text-anchor="end">{escape(label)}</text>')
    for place, row in enumerate(rows):
        parts.append(_whisker(row, at, top + _ROW * place + _ROW / 2))
    parts.append(f'<text class="tick" x="{_LEFT}" y="{foot + 31}">{escape(axis)}</text>')
    said = "; ".join(f"{row.name} {row.value:.2f}" for row in rows)
    lines = "; ".join(f"{mark.name} {mark.value:.2f}" for mark in marks)
    return element(key, title, f"{said}. {lines}", _WIDTH, height, "".join(parts))


def _chance(row: Whisker, at: Callable[[float], str], y: float) -> str:
    """The chance band of one row."""
    if math.isnan(row.chance):
        return ""
    low, high = float(at(-row.chance)), float(at(row.chance))
    return f'<rect class="chance" x="{low}" width="{high - low:.1f}" y="{y}" height="{_ROW}"/>'


def _whisker(row: Whisker, at: Callable[[float], str], y: float) -> str:
    """One row."""
    name = row.name if len(row.name) <= 25 else f"{row.name[:11]}…{row.name[-12:]}"
    line = ""
    if not math.isnan(row.low):
        line = f'<line x1="{at(row.low)}" x2="{at(row.high)}" y1="{y}" y2="{y}"/>'
    return (
        f'<g class="{row.kind}"><title>{escape(row.name)}: {escape(row.note)}</title>'
        f'<text x="{_LEFT - 10}" y="{y + 4}" text-anchor="end">{escape(name)}</text>{line}'
        f'<circle cx="{at(row.value)}" cy="{y}" r="4.5"/>'
        f'<text x="{_WIDTH - _RIGHT + 12}" y="{y + 4}">{row.value:.2f}</text></g>'
    )


def scatter(key: str, title: str, ratings: FloatArray, scores: FloatArray, rng: np.random.Generator) -> str:
    """Scores against ratings, ratings jittered so that points do not hide each other; 400 points at most.

    Args:
        key: tells the ids of this picture from those of others on the page.
        title: name of the scorer.
        ratings: [N].
        scores: [N]; NaN is left out.
        rng: decides the jitter and, of more than 400 lines, which are drawn.
    """
    usable = np.flatnonzero(np.isfinite(scores))
    shown = np.sort(rng.choice(usable, _POINTS, replace=False)) if len(usable) > _POINTS else usable
    noise = rng.normal(0, _JITTER * (float(np.ptp(ratings)) or 1.0), len(shown))
    parts = _panel("people", ratings, scores[usable])
    points = zip(_scaled(ratings[shown] + noise, ratings), _scaled(scores[shown], scores[usable]), strict=True)
    dots = "".join(f"M{24 + 160 * x:.0f} {168 - 150 * y:.0f}h0" for x, y in points)
    said = f"{len(shown):,} of {len(usable):,} lines, ratings jittered"
    return element(key, title, said, _PANEL, _PANEL, f'{parts}<path class="dots" d="{dots}"/>')


def systems(key: str, title: str, names: Sequence[str], ratings: FloatArray, scores: FloatArray) -> str:
    """Mean scores of systems against their mean ratings, both scaled to fill the panel; the diagonal is the ideal.

    Dots bear the place of the system in `names`, from 1. Source: Lowe et al. (2017), figure 5.
    """
    usable = np.flatnonzero(np.isfinite(scores)).tolist()
    parts = (
        '<path class="axis" d="M20 10V172H190"/><line class="ideal" x1="24" y1="168" x2="184" y2="18"/>'
        '<text class="tick" x="24" y="187">0</text>'
        '<text class="tick" x="104" y="187" text-anchor="middle">people</text>'
        '<text class="tick" x="184" y="187" text-anchor="end">1</text>'
        '<text class="tick" x="6" y="22">1</text><text class="tick" x="6" y="171">0</text>'
    )
    scaled = [_scaled(values[usable], values[usable]) for values in (ratings, scores)]
    said = []
    for place, x, y in zip(usable, *scaled, strict=True):
        said.append(f"{place + 1} {names[place]}: rated {ratings[place]:.2f}, score {scores[place]:.3f}")
        across, down, side = 24 + 160 * x, 168 - 150 * y, "end" if x > 0.9 else "start"
        parts += (
            f'<circle class="dot" cx="{across:.1f}" cy="{down:.1f}" r="4"><title>{escape(said[-1])}</title></circle>'
            f'<text class="tick" x="{across + (-6 if x > 0.9 else 6):.1f}" y="{down + (12 if y > 0.5 else -4):.1f}" '
            f'text-anchor="{side}">{place + 1}</text>'
        )
    return element(key, title, f"{len(usable)} systems. {'; '.join(said)}", _PANEL, _PANEL, parts)


def _panel(label: str, x: FloatArray, y: FloatArray) -> str:
    """The axes of a panel with the ends of both variables."""
    low, high = (f"{value:.3g}" for value in (y.min(), y.max())) if len(y) else ("", "")
    return (
        '<path class="axis" d="M20 10V172H190"/>'
        f'<text class="tick" x="24" y="186">{x.min():.3g}</text>'
        f'<text class="tick" x="104" y="186" text-anchor="middle">{label}</text>'
        f'<text class="tick" x="190" y="186" text-anchor="end">{x.max():.3g}</text>'
        f'<text class="tick" x="24" y="18">{high}</text><text class="tick" x="24" y="166">{low}</text>'
    )


def _scaled(values: FloatArray, over: FloatArray) -> FloatArray:
    """`values` where the range of `over` is 0 to 1; the middle where it has none; kept inside the panel."""
    span = float(np.ptp(over)) if len(over) else 0.0
    if span == 0:
        return np.full(len(values), 0.5)
    moved: FloatArray = np.clip((values - over.min()) / span, -0.02, 1.02)
    return moved


def element(key: str, title: str, said: str, width: int, height: float, inside: str) -> str:
    """The element with a title and a description for those who cannot see it."""
    return (
        f'<svg role="img" aria-labelledby="{key}-t {key}-d" viewBox="0 0 {width} {height:.0f}" '
        f'style="max-width:{width}px"><title id="{key}-t">{escape(title)}</title>'
        f'<desc id="{key}-d">{escape(said)}</desc>{inside}</svg>'
    )
