"""How often B wins, as a picture: one row a scorer and a value of the field, on an axis from 0 to 100 %."""

from __future__ import annotations

import math
from html import escape

from rejoinder.meta.compare_answer import percent
from rejoinder.meta.comparison import Comparison, Gap
from rejoinder.report.svg import element

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 560, 180, 110, 24, 8
_MOST = 40
_KINDS = {"B is better": "metric", "A is better": "judge"}  # the colours of the page: blue and red


def win_rates(key: str, found: Comparison) -> str:
    """The picture; "" where no scorer has a win rate.

    Args:
        key: tells the ids of this picture from those of others on the page.
        found: what to draw; of many rows the first 40.
    """
    several = len(found.contrasts) > 1
    rows = [
        (name, gap)
        for one in found.contrasts
        for name, gap in [
            (one.scorer, one),
            *((f"{kind.name} ({one.scorer})" if several else kind.name, kind) for kind in one.strata),
        ]
        if not math.isnan(gap.win)
    ][:_MOST]
    if not rows:
        return ""
    foot = _TOP + _ROW * len(rows)
    parts = [_tick(share, foot) for share in (0, 25, 50, 75, 100)]
    parts += [_row(name, gap, _TOP + _ROW * (place + 0.5)) for place, (name, gap) in enumerate(rows)]
    parts.append(f'<text class="tick" x="{_LEFT}" y="{foot + 31}">how often a reply of B beats one of A</text>')
    said = "; ".join(f"{name} {percent(gap)}" for name, gap in rows)
    return element(key, "How often B wins", said, _WIDTH, foot + 36, "".join(parts))


def _at(share: float) -> str:
    """Where a share stands."""
    return f"{_LEFT + share * (_WIDTH - _LEFT - _RIGHT):.1f}"


def _tick(share: int, foot: float) -> str:
    """An upright line with its label; the middle one is where neither wins."""
    line, x = "zero" if share == 50 else "grid", _at(share / 100)
    return (
        f'<line class="{line}" x1="{x}" x2="{x}" y1="{_TOP}" y2="{foot}"/>'
        f'<text class="tick" x="{x}" y="{foot + 16}" text-anchor="middle">{share} %</text>'
    )


def _row(name: str, gap: Gap, y: float) -> str:
    """One row."""
    short = name if len(name) <= 25 else f"{name[:11]}…{name[-12:]}"
    line = ""
    if not math.isnan(gap.win_low):
        line = f'<line x1="{_at(gap.win_low)}" x2="{_at(gap.win_high)}" y1="{y}" y2="{y}"/>'
    return (
        f'<g class="{_KINDS.get(gap.verdict, "baseline")}"><title>{escape(name)}: {percent(gap)}, '
        f"{gap.n:,} compared</title>"
        f'<text x="{_LEFT - 10}" y="{y + 4}" text-anchor="end">{escape(short)}</text>{line}'
        f'<circle cx="{_at(gap.win)}" cy="{y}" r="4.5"/>'
        f'<text x="{_WIDTH - _RIGHT + 12}" y="{y + 4}">{percent(gap)}</text></g>'
    )
