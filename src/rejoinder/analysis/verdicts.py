"""Which correlations are beyond chance, and how many lines would confirm them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from scipy.special import ndtri

from rejoinder.analysis.scored import ScoredSet
from rejoinder.estimates import LEVEL, NAN, Estimate, Verdict, decide, pick
from rejoinder.report.written import DASH

MOST_NEEDED = 1_000_000
"""Lines; a forecast of more only means that there is almost no correlation."""
_EDGE = float(ndtri(1 - LEVEL / 2))  # standard deviations to the edge of a chance band
_POWER = float(ndtri(0.8))


def verdicts(estimates: list[Estimate], scored: ScoredSet) -> list[Estimate]:
    """Decide which correlations are beyond what chance gives the best of as many scorers (Holm, 5 %)."""
    rows = pick(estimates, statistic="pearson", level=scored.level, group="")
    bands = {row.scorer: row.high for row in pick(estimates, statistic="pearson by chance")}
    decided = {row.scorer: row for row in beyond_chance(rows, bands, scored)}
    replaced = {id(row): decided[row.scorer] for row in rows}
    return [replaced.get(id(row), row) for row in estimates]


def beyond_chance(rows: Sequence[Estimate], bands: dict[str, float], scored: ScoredSet) -> list[Estimate]:
    """Return Pearson correlations with verdicts and, if inconclusive, the number of lines that would confirm them.

    The scorers that were asked for and the others are two families. `bands` are the half widths of the chance bands by
    scorer; near their edge the normal distribution replaces Student's, which makes no difference for the verdict.
    """
    decided: list[Estimate] = []
    for asked in (True, False):
        family = [row for row in rows if (row.scorer in scored.asked) is asked]
        widths = [bands.get(row.scorer, NAN) for row in family]
        p = [
            math.erfc(_EDGE * abs(row.value) / band / math.sqrt(2)) if band > 0 else NAN
            for row, band in zip(family, widths, strict=True)
        ]
        tried = sum(row.known and row.scorer not in scored.outside for row in family)
        for row, band in zip(decide(family, p, outside=scored.outside), widths, strict=True):
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


def agreed(*families: Sequence[Estimate]) -> list[list[Estimate]]:
    """Return estimates of Pearson and of Spearman, in one order, with the verdicts that both have.

    A row is inconclusive if they differ. Only what both correlations show is called agreement, or ahead.
    """
    alike = [len({row.verdict for row in rows}) == 1 for rows in zip(*families, strict=True)]
    return [
        [row if same else replace(row, verdict=Verdict.INCONCLUSIVE) for row, same in zip(family, alike, strict=True)]
        for family in families
    ]


def agreement_word(row: Estimate) -> str:
    """Return whether a correlation shows agreement with human ratings, in a word."""
    return {"above": "yes", "below": "reversed", "undefined": DASH}.get(row.verdict, row.verdict.value)
