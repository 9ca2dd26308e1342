"""The best of the scorers that were asked for against the others, and against trivial baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from rejoinder.analysis.scored import ScoredSet
from rejoinder.analysis.standings import has_correlation, standings
from rejoinder.estimates import NAN, Estimate, Verdict, decide
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import count, interval, p_value
from rejoinder.stats.correlation import RANKED_BY, Ranked, mean_of_known
from rejoinder.stats.permutation import drawn_swaps, step_down, swap_test, swapped_differences
from rejoinder.stats.ranking import rank_clusters
from rejoinder.stats.resamples import BoolArray, FloatArray, IntArray
from rejoinder.stats.splits import most_needed

_DIFFERENCES = [f"difference of {statistic}" for statistic in RANKED_BY]
Pair = tuple[str, str]


def contrasts(scored: ScoredSet) -> list[Estimate]:
    """Return how far the best scorer is ahead of the others, by Pearson and by Spearman, and the rank groups.

    There are two families of tests: of each two scorers that were asked for, and of each of these with each baseline.
    Which scorer is best is chosen on the same lines, so both families hold the pairs of all that might have been. p is
    by permutation of whole contexts, adjusted by Westfall and Young over the same swaps.
    """
    place = standings(scored)
    if not place.ranked:
        return []
    lead, named = place.ranked[0], [*place.ranked, *place.fewer]
    trivial = [name for name in scored.compared if scored.kinds[name] == "baseline" and name not in named]
    baselines = [name for name in trivial if has_correlation(scored, name)]
    among, to_baselines = list(combinations(named, 2)), list(product(place.ranked, baselines))
    count = max(scored.sampling.resamples, 1)
    swaps = drawn_swaps(scored.rated.clusters, count, scored.sampling.generator(scored.name, "contrasts"))
    estimates, groups = list[Estimate](), list[Estimate]()
    for family, most in ((among, 2), (to_baselines, 1)):  # of more scorers, the best seems better than it is
        for statistic in RANKED_BY:
            rows = _decided(scored, statistic, family, place.lines, swaps, forecasts=len(named) <= most)
            of_lead = [row for row in rows if lead in (row.scorer, row.versus)]
            estimates += [row if row.scorer == lead else _turned(row) for row in of_lead]
            groups += rows if family is among else []
    return [*estimates, *_rank_groups(scored, groups, place.ranked)]


def _turned(row: Estimate) -> Estimate:
    sides = {Verdict.ABOVE: Verdict.BELOW, Verdict.BELOW: Verdict.ABOVE}
    return replace(-row, scorer=row.versus, versus=row.scorer, verdict=sides.get(row.verdict, row.verdict))


def ahead(estimates: Sequence[Estimate], first: str, second: str) -> bool:
    """Return whether the first scorer is significantly ahead of the second, by Pearson and by Spearman."""
    rows = [row for row in estimates if {row.scorer, row.versus} == {first, second} and row.statistic in _DIFFERENCES]
    return bool(rows) and all(row.verdict == (Verdict.ABOVE if row.scorer == first else Verdict.BELOW) for row in rows)


def _rank_groups(scored: ScoredSet, differences: Sequence[Estimate], ranked: Sequence[str]) -> list[Estimate]:
    """Return the rank group of each ranked scorer; a new one begins where all above are ahead of all below."""
    p = np.array([[0.0 if ahead(differences, first, second) else 1.0 for second in ranked] for first in ranked])
    groups = rank_clusters(-np.arange(len(ranked), dtype=np.float64), p).tolist()
    method = "a new group: all above are significantly ahead of all below"
    return [
        scored.row(name, scored.rows(name), "rank group", value=float(group), method=method)
        for name, group in zip(ranked, groups, strict=True)
    ]


def contrasts_table(estimates: list[Estimate]) -> Table | None:
    """Return the differences between the best scorer and the others."""
    pearson, spearman = ({"statistic": name} for name in _DIFFERENCES)
    return pivot(
        [row for row in estimates if row.versus],
        lambda row: f"{row.scorer} - {row.versus}",
        [
            Column("Pearson [low, high]", pearson, partial(interval, digits=3)),
            Column("p, adjusted", pearson, lambda row: p_value(row.p_adjusted)),
            Column("Spearman [low, high]", spearman, partial(interval, digits=3)),
            Column("p of Spearman, adjusted", spearman, lambda row: p_value(row.p_adjusted), spare=True),
            Column("n", pearson, lambda row: count(row.n), spare=True),
        ],
        title="The best scorer against the others",
        heading="pair",
        in_order=True,
        caption="Difference of the correlations over the lines that both score. p: scorers swapped in random contexts; "
        "adjusted (Westfall and Young) for all pairs of two scorers, and for all pairs of a scorer and a baseline.",
    )


def _decided(
    scored: ScoredSet, statistic: Ranked, family: Sequence[Pair], lines: IntArray, swaps: BoolArray, *, forecasts: bool
) -> list[Estimate]:
    """Return the differences of one correlation for a family of pairs, with verdicts.

    Each pair is compared on the lines that the ranked scorers (`lines`) and both of the pair score. All pairs meet the
    same swaps of contexts.
    """
    alike: dict[bytes, list[Pair]] = {}
    rows = {pair: np.intersect1d(lines, scored.rows(*pair)) for pair in family}
    for pair in family:
        alike.setdefault(rows[pair].tobytes(), []).append(pair)
    swapped, rated = dict[Pair, FloatArray](), scored.rated
    for same in alike.values():
        at = rows[same[0]]
        scores = {name: scored.scores[name][at] for pair in same for name in pair}
        about = rated.ratings[at], rated.sets[at], rated.contexts[at]
        swapped |= swapped_differences(statistic, scores, *about, swaps, same)
    known = [pair for pair in family if np.isfinite(swapped[pair][0])]
    tested = scored.sampling.resamples > 0
    p = step_down(np.stack([swapped[pair] for pair in known])).tolist() if known and tested else [NAN] * len(known)
    adjusted = dict(zip(known, p, strict=True))
    estimates = []
    for pair in family:
        row = _difference(scored, statistic, pair, rows[pair], swap_test(swapped[pair]), len(family))
        row = decide([row], [adjusted.get(pair, NAN)])[0]
        estimates.append(replace(row, needed=most_needed(row, len(family))) if forecasts else row)
    return estimates


def _difference(
    scored: ScoredSet, statistic: Ranked, pair: Pair, rows: IntArray, test: Estimate, tests: int
) -> Estimate:
    """Return the difference of one correlation between two scorers, with its interval."""
    about: dict[str, Any] = {"versus": pair[1], "statistic": f"difference of {statistic}"}
    if not test.known:
        return scored.row(pair[0], rows, reason=f"{len(rows)} lines have both scores, and no correlation", **about)
    about |= {"value": test.value, "p": test.p if scored.sampling.resamples else NAN}
    first, second = (scored.draws_in_sets(statistic, name, rows) for name in pair)
    method = "p: both scorers swapped in random contexts"
    method += f"; adjusted by Westfall and Young over {tests} pairs" if tests > 1 else ""
    return scored.estimate(mean_of_known(first - second), pair[0], rows, method, **about)
