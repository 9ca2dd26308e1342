"""Which correlations are beyond chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from scipy.special import ndtri

from rejoinder.analysis.scored import ScoredSet
from rejoinder.analysis.within import SYSTEMS
from rejoinder.estimates import LEVEL, Estimate, Verdict, decide, pick, replaced
from rejoinder.report.written import DASH
from rejoinder.stats.splits import most_needed

_EDGE = float(ndtri(1 - LEVEL / 2))  # standard deviations to the edge of a chance band


def verdicts(estimates: list[Estimate], scored: ScoredSet) -> list[Estimate]:
    """Decide which correlations are beyond what chance gives the best of as many scorers (Holm, 5 %).

    Over all lines Pearson and Spearman must both be.
    """
    families = []
    for statistic, by in {"pearson": "pearson by chance", "spearman": "spearman by chance", SYSTEMS: SYSTEMS}.items():
        rows = pick(estimates, statistic=statistic, level=scored.level, group="")
        bands = {row.scorer: row for row in pick(estimates, statistic=by)}
        families.append(beyond_chance(rows, bands, scored))
    return replaced(estimates, chain(*agreed(*families[:2]), families[2]))


def beyond_chance(rows: Sequence[Estimate], bands: Mapping[str, Estimate], scored: ScoredSet) -> list[Estimate]:
    """Return correlations with p and verdicts; of a single scorer with a forecast if it is inconclusive.

    The scorers that were asked for and the others are two families. The best of several has no forecast, because its
    value is too high. `bands` are by scorer the estimates with the p, or without one an interval as wide as the band
    of chance, from which p follows by the normal distribution.
    """
    decided: list[Estimate] = []
    for asked in (True, False):
        family = [
            replace(row, p=_p(row, bands.get(row.scorer, Estimate())))
            for row in rows
            if (row.scorer in scored.asked) is asked
        ]
        known = [row.scorer for row in family if row.known and row.scorer not in scored.outside]
        alone = len(known) == 1 and len(scored.rated.named_systems) < 2  # more lines of few systems may not be enough
        family = decide(family, outside=scored.outside)
        decided += [replace(row, needed=most_needed(row)) if alone else row for row in family]
    return decided


def _p(row: Estimate, band: Estimate) -> float:
    width = (band.high - band.low) / 2
    return math.erfc(_EDGE * abs(row.value) / width / math.sqrt(2)) if math.isnan(band.p) and width > 0 else band.p


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
