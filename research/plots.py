"""Figures of reproduced experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rejoinder.estimates import Estimate
from rejoinder.scorer import FloatArray
from research.figures import OfSystems

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What the caption of Lowe et al. 2017, figure 4, adds to human scores alone, so that points do not hide each other.
_JITTER = 0.3
_PANEL = 2.7  # inches


class Line(NamedTuple):
    """A curve with its intervals.

    Attributes:
        name: for the legend.
        x: [n].
        estimates: [n].
    """

    name: str
    x: Sequence[float]
    estimates: Sequence[Estimate]


def scatter_figure(ratings: FloatArray, scores: Mapping[str, FloatArray], rng: np.random.Generator) -> Figure:
    """One panel a scorer: its scores against the ratings of the same lines, with noise on the ratings."""
    panels, axes = _panels(len(scores), sharex=True)
    noisy = ratings + rng.normal(0, _JITTER, len(ratings))
    for panel, (name, values) in zip(axes, scores.items(), strict=True):
        panel.plot(noisy, values, linestyle="", marker=".", markersize=2.5, alpha=0.5)
        panel.set_title(name, fontsize="medium")
        panel.set_xlabel("people")
    axes[0].set_ylabel("score")
    return panels


def systems_figure(found: Mapping[str, OfSystems]) -> Figure:
    """One panel a scorer: the mean score of each system, scaled to 0 to 1, against its mean rating."""
    panels, axes = _panels(len(found), sharex=True, sharey=True)
    for panel, (name, one) in zip(axes, found.items(), strict=True):
        span = np.ptp(one.scores) if len(one.scores) else 0.0
        if span > 0:
            panel.plot(one.ratings, (one.scores - one.scores.min()) / span, linestyle="", marker="o", markersize=4)
        panel.set_title(name, fontsize="medium")
        panel.set_xlabel("people")
    axes[0].set_ylabel("mean score, scaled")
    return panels


def labels_figure(errors: FloatArray, lines: Sequence[Line]) -> Figure:
    """Validation error over epochs [epochs + 1], and correlations over shares of the labels."""
    panels, (left, right) = _panels(2)
    left.plot(range(len(errors)), errors)
    left.set_xlabel("epoch")
    left.set_ylabel("validation error")
    for line in lines:
        low, high = ([getattr(one, end) for one in line.estimates] for end in ("low", "high"))
        values = [one.value for one in line.estimates]
        right.plot(line.x, values, marker=".", label=line.name)
        right.fill_between(line.x, low, high, alpha=0.15)
    right.axhline(0, color="grey", linewidth=0.5)
    right.set_xlabel("share of the labels")
    right.set_ylabel("correlation, test")
    right.legend(fontsize="small")
    return panels


def folds_figure(folds: Mapping[str, Sequence[tuple[str, Estimate]]]) -> Figure:
    """One panel a way of splitting: the correlation on each fold with its interval."""
    from matplotlib.figure import Figure

    tallest = max(map(len, folds.values()))
    figure = Figure(figsize=(4 * len(folds), 1 + 0.22 * tallest), layout="constrained")
    for panel, (title, rows) in zip(figure.subplots(1, len(folds), squeeze=False)[0], folds.items(), strict=True):
        for place, (_, one) in enumerate(rows):
            panel.plot([one.low, one.high], [place, place], color="C0", linewidth=1)
            panel.plot([one.value], [place], color="C0", marker="o", markersize=4)
        panel.axvline(0, color="grey", linewidth=0.5)
        panel.set_yticks(range(len(rows)), [name for name, _ in rows], fontsize="small")
        panel.invert_yaxis()
        panel.set_title(title, fontsize="medium")
        panel.set_xlabel("Pearson")
    return figure


def _panels(count: int, *, sharex: bool = False, sharey: bool = False) -> tuple[Figure, list[Any]]:
    """A figure with `count` panels in a row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_PANEL * count + 0.5, _PANEL), layout="constrained")
    return figure, list(figure.subplots(1, count, squeeze=False, sharex=sharex, sharey=sharey)[0])
