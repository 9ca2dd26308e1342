"""Small pictures of points, as inline SVG with the text beside it in HTML, where it keeps its size."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from rejoinder.scorer import FloatArray

_POINTS = 400
_JITTER = 0.05  # of the range of the ratings
_EDGE, _SIDE = 4, 92  # of the view box, 100 wide: what is kept free around the points; what they fill
_Spot = tuple[float, float]
_WIDE, _HIGH = 13, 12  # of a label, in the narrowest panel


def scatter(title: str, ratings: FloatArray, scores: FloatArray, rng: np.random.Generator) -> str:
    """Scores against ratings, ratings jittered so that points do not hide each other; 400 points at most.

    Args:
        title: name of the scorer.
        ratings: [N].
        scores: [N]; NaN is left out.
        rng: decides the jitter and, of more than 400 lines, which are drawn.
    """
    usable = np.flatnonzero(np.isfinite(scores))
    shown = np.sort(rng.choice(usable, _POINTS, replace=False)) if len(usable) > _POINTS else usable
    noise = rng.normal(0, _JITTER * (float(np.ptp(ratings)) or 1.0), len(shown))
    points = zip(_scaled(ratings[shown] + noise, ratings), _scaled(scores[shown], scores[usable]), strict=True)
    dots = "".join(f"M{_EDGE + _SIDE * x:.1f} {100 - _EDGE - _SIDE * y:.1f}h0" for x, y in points)
    said = f"{len(shown):,} of {len(usable):,} lines, ratings jittered"
    return _panel(f"{title}. {said}", f'<path class="dots" d="{dots}"/>', "", _ends(ratings), _ends(scores[usable]))


def systems(title: str, names: Sequence[str], ratings: FloatArray, scores: FloatArray) -> str:
    """Mean scores of systems against their mean ratings, both scaled to fill the panel; the diagonal is the ideal.

    Dots bear the place of the system in `names`, from 1. Source: Lowe et al. (2017), figure 5.
    """
    usable = np.flatnonzero(np.isfinite(scores)).tolist()
    scaled = [_scaled(values[usable], values[usable]) for values in (ratings, scores)]
    far = 100 - _EDGE
    said, drawn = [], f'<line class="ideal" x1="{_EDGE}" y1="{far}" x2="{far}" y2="{_EDGE}"/>'
    labels, taken = "", list[_Spot]()
    dots = [(_EDGE + _SIDE * x, _EDGE + _SIDE * y) for x, y in zip(*scaled, strict=True)]
    for place, (across, up) in zip(usable, dots, strict=True):
        said.append(f"{place + 1} {names[place]}: rated {ratings[place]:.2f}, score {scores[place]:.3f}")
        note = escape(said[-1])
        drawn += f'<circle class="dot" cx="{across:.1f}" cy="{100 - up:.1f}" r="2.4"><title>{note}</title></circle>'
        if spot := _free(across, up, dots, taken):
            taken.append(spot)
            labels += f'<b style="left:{spot[0]:.1f}%;bottom:{spot[1]:.1f}%">{place + 1}</b>'
    return _panel(f"{title}. {len(usable)} systems. {'; '.join(said)}", drawn, labels, ("0", "1"), ("0", "1"))


def _free(across: float, up: float, dots: Sequence[_Spot], taken: Sequence[_Spot]) -> _Spot | None:
    """The middle of a label near a dot where it hides no dot and no label, the nearest first; None where none is."""
    for far in (0.8, 1.4):
        for right, above in ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)):
            x, y = across + far * _WIDE * right, up + far * _HIGH * above
            inside = 0 <= x <= 100 and _HIGH / 2 <= y <= 100
            if inside and _clear(x, y, taken, _WIDE, _HIGH) and _clear(x, y, dots, _WIDE / 2, _HIGH / 2):
                return x, y
    return None


def _clear(x: float, y: float, others: Sequence[_Spot], wide: float, high: float) -> bool:
    """Whether no other spot is both as near as `wide` and as near as `high`."""
    return all(abs(x - one) >= wide or abs(y - other) >= high for one, other in others)


def _panel(said: str, drawn: str, labels: str, across: tuple[str, str], up: tuple[str, str]) -> str:
    """The picture with the ends of both axes; `said` is for those who cannot see it."""
    low, high = across
    bottom, top = up
    return (
        f'<div class="panel" role="img" aria-label="{escape(said, quote=True)}">'
        f'<div class="up"><span>{top}</span><span>{bottom}</span></div>'
        f'<div class="area"><svg viewBox="0 0 100 100">{drawn}</svg>{labels}</div>'
        f'<div class="across"><span>{low}</span><span>people</span><span>{high}</span></div></div>'
    )


def _ends(values: FloatArray) -> tuple[str, str]:
    """The lowest and the highest value; "" where there is none."""
    return (f"{values.min():.3g}", f"{values.max():.3g}") if len(values) else ("", "")


def _scaled(values: FloatArray, over: FloatArray) -> FloatArray:
    """`values` where the range of `over` is 0 to 1; the middle where it has none; kept inside the panel."""
    span = float(np.ptp(over)) if len(over) else 0.0
    if span == 0:
        return np.full(len(values), 0.5)
    moved: FloatArray = np.clip((values - over.min()) / span, -0.02, 1.02)
    return moved
