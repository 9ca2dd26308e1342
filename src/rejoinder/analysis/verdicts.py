"""Which correlations are beyond chance, and how many lines would confirm them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from scipy.special import ndtri

from rejoinder.analysis.scored import ScoredSet
from rejoinder.analysis.within import SYSTEMS
from rejoinder.estimates import LEVEL, Estimate, decide, pick
from rejoinder.report.written import DASH

MOST_NEEDED = 1_000_000
"""Lines; a forecast of more only means that there is almost no correlation."""
_EDGE = float(ndtri(1 - LEVEL / 2))  # standard deviations to the edge of a chance band
_POWER = float(ndtri(0.8))


def verdicts(estimates: list[Estimate], scored: ScoredSet) -> list[Estimate]:
    """Decide which correlations are beyond what chance gives the best of as many scorers (Holm, 5 %)."""
    replaced: dict[int, Estimate] = {}
    for statistic, by in {"pearson": "pearson by chance", SYSTEMS: SYSTEMS}.items():
        rows = pick(estimates, statistic=statistic, level=scored.level, group="")
        bands = {row.scorer: row for row in pick(estimates, statistic=by)}
        decided = {row.scorer: row for row in beyond_chance(rows, bands, scored)}
        replaced |= {id(row): decided[row.scorer] for row in rows}
    return [replaced.get(id(row), row) for row in estimates]


def beyond_chance(rows: Sequence[Estimate], bands: Mapping[str, Estimate], scored: ScoredSet) -> list[Estimate]:
    """Return Pearson correlations with p, verdicts and, if inconclusive, how many lines would confirm them.

    The scorers that were asked for and the others are two families. `bands` are by scorer the estimates with the p, or
    without one an interval as wide as the band of chance, from which p follows by the normal distribution.
    """
    decided: list[Estimate] = []
    for asked in (True, False):
        family = [row for row in rows if (row.scorer in scored.asked) is asked]
        own = [bands.get(row.scorer, Estimate()) for row in family]
        widths = [(band.high - band.low) / 2 for band in own]
        p = [
            math.erfc(_EDGE * abs(row.value) / width / math.sqrt(2)) if math.isnan(band.p) and width > 0 else band.p
            for row, band, width in zip(family, own, widths, strict=True)
        ]
        family = [replace(row, p=value) for row, value in zip(family, p, strict=True)]
        tried = sum(row.known and row.scorer not in scored.outside for row in family)
        for row, band in zip(decide(family, outside=scored.outside), widths, strict=True):
            decided.append(replace(row, needed=needed(row, band, tried) if row.verdict == "inconclusive" else None))
    return decided


def needed(row: Estimate, band: float, tried: int) -> int | None:
    """Return about how many lines would confirm a correlation as high as this one with probability 0.8.

    It has a chance band of this half width, and is the best of `tried` scorers. None if it is not positive or has no
    band, if that number of lines exists already, and above a million.
    """
    if not row.value > 0 or math.isnan(band) or not tried:
        return None
    beyond = float(ndtri(1 - LEVEL / 2 / tried)) + _POWER
    lines = math.ceil(min(row.n * (beyond / _EDGE * band / row.value) ** 2, 2 * MOST_NEEDED))
    return lines if row.n < lines <= MOST_NEEDED else None


def agreement_word(row: Estimate) -> str:
    """Return whether a correlation shows agreement with human ratings, in a word."""
    return {"above": "yes", "below": "reversed", "undefined": DASH}.get(row.verdict, row.verdict.value)
