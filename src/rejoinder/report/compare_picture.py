"""How often B wins, as a picture: one row a scorer and a value of the field, on an axis from 0 to 100 %."""

from __future__ import annotations

import math

from rejoinder.meta.compare_answer import percent
from rejoinder.meta.comparison import Comparison
from rejoinder.meta.gap import Gap
from rejoinder.report.chart import Point, chart

_MOST = 40
# The looks of the page's points, and what they mean here.
KINDS = {"metric": "B is shown to be better", "judge": "A is shown to be better", "baseline": "no difference is shown"}
_LOOKS = {"B is better": "metric", "A is better": "judge"}


def win_rates(found: Comparison) -> str:
    """The picture, of many rows the first 40; "" where no scorer has a win rate."""
    rows = _rows(found)[:_MOST]
    if not rows:
        return ""
    points = [
        Point(name, gap.win, gap.win_low, gap.win_high, _look(gap), f"{percent(gap)}, {gap.n:,} compared")
        for name, gap in rows
    ]
    return chart("How often B wins", points, axis="How often a reply of B beats one of A", percent=True)


def seen_of_wins(found: Comparison) -> str:
    """What to see in the picture."""
    wins = [gap for _, gap in _rows(found)]
    right, left = (sum(gap.verdict == verdict for gap in wins) for verdict in _LOOKS)
    if not right and not left:
        return "No row is shown to lie on either side of the middle, where a reply of B is as likely to win as to lose."
    return f"B is shown to be better in {right} of {len(wins)} rows, A in {left}; in the middle neither wins."


def _rows(found: Comparison) -> list[tuple[str, Gap]]:
    """Scorers, and the values of the field under each, with their win rates."""
    several = len(found.contrasts) > 1
    return [
        (name, gap)
        for one in found.contrasts
        for name, gap in [
            (one.scorer, one),
            *((f"{kind.name} ({one.scorer})" if several else kind.name, kind) for kind in one.strata),
        ]
        if not math.isnan(gap.win)
    ]


def _look(gap: Gap) -> str:
    """How a row is drawn."""
    return _LOOKS.get(gap.verdict, "baseline")
