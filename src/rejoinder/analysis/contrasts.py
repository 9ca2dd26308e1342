"""Each two scorers on the lines that both score: whether one agrees better with human ratings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np

from rejoinder.analysis.scored import ScoredSet
from rejoinder.estimates import NAN, Estimate, Verdict, decide, pick
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import DASH, count, interval, p_value, rounded
from rejoinder.stats.correlation import pearson, williams
from rejoinder.stats.permutation import paired_permutations
from rejoinder.stats.ranking import rank_clusters
from rejoinder.stats.resamples import FloatArray, IntArray
from rejoinder.stats.splits import items_needed, pilot_of_correlations

# with few swaps no difference among many scorers could ever be significant: p is at least 1 over their number
SWAPS_FOR_EACH_PAIR = 50
RANKED_BY: tuple[Literal["pearson", "spearman"], ...] = ("pearson", "spearman")
_DIFFERENCES = [f"difference of {statistic}" for statistic in RANKED_BY]
Pair = tuple[str, str]


def ranking(scored: ScoredSet) -> dict[str, float]:
    """Return the Pearson correlation of the compared scorers that have one, best first; of a pool the mean inside sets.

    Over all lines of a pool a scorer could lead by telling the data sets apart, which is no skill.
    """
    values = {name: _mean(scored.draws_in_sets("pearson", name, scored.rows(name)))[0] for name in scored.compared}
    known = {name: float(value) for name, value in values.items() if np.isfinite(value)}
    return dict(sorted(known.items(), key=lambda item: -item[1]))


def contrasts(scored: ScoredSet) -> list[Estimate]:
    """Return the differences of Pearson and of Spearman for each two scorers, the better by Pearson first.

    p is by permutation of whole contexts, adjusted by Holm over all pairs. Pairs over the same lines share swaps and
    resamples, so their differences add up: a - c = (a - b) + (b - c) in every resample.
    """
    order = list(ranking(scored))
    pairs = list(combinations(order, 2))
    resamples = scored.sampling.resamples
    swaps = max(resamples, SWAPS_FOR_EACH_PAIR * len(pairs)) if resamples else 1  # 1: the observed differences alone
    alike: dict[bytes, list[Pair]] = {}
    for pair in pairs:
        alike.setdefault(scored.rows(*pair).tobytes(), []).append(pair)
    estimates: list[Estimate] = []
    for same_lines in alike.values():
        names = [name for name in order if any(name in pair for pair in same_lines)]
        rows = scored.rows(*same_lines[0])
        for statistic in RANKED_BY:
            estimates += _differences(scored, statistic, names, same_lines, rows, swaps)
        if _is_one_set(scored, rows):  # there is no such test of a mean over data sets
            estimates += [_williams(scored, pair, rows) for pair in same_lines]
    places = {pair: place for place, pair in enumerate(pairs)}
    estimates.sort(key=lambda estimate: places[estimate.scorer, estimate.versus])
    families = [decide(pick(estimates, statistic=f"difference of {statistic}")) for statistic in RANKED_BY]
    return [*families[0], *families[1], *pick(estimates, statistic="williams")]


def ahead(estimates: Sequence[Estimate], first: str, second: str) -> bool:
    """Return whether the first scorer is significantly ahead of the second, by Pearson and by Spearman."""
    rows = [row for row in estimates if {row.scorer, row.versus} == {first, second} and row.statistic in _DIFFERENCES]
    return bool(rows) and all(row.verdict == (Verdict.ABOVE if row.scorer == first else Verdict.BELOW) for row in rows)


def rank_groups(estimates: list[Estimate], scored: ScoredSet) -> list[Estimate]:
    """Add the rank group of each compared scorer; a new one begins where all above are ahead of all below."""
    values = ranking(scored)
    differences = pick(estimates, scorer=values, versus=values, statistic=_DIFFERENCES)
    p = np.array([[0.0 if ahead(differences, first, second) else 1.0 for second in values] for first in values])
    groups = rank_clusters(np.array(list(values.values())), p.reshape(len(values), len(values))).tolist()
    method = "a new group: all above are significantly ahead of all below"
    return estimates + [
        scored.row(name, scored.rows(name), "rank group", value=float(group), method=method)
        for name, group in zip(values, groups, strict=True)
    ]


def contrasts_table(estimates: list[Estimate]) -> Table | None:
    """Return the differences between scorers."""
    pearson, spearman = ({"statistic": f"difference of {statistic}"} for statistic in RANKED_BY)
    return pivot(
        [row for row in estimates if row.versus],
        lambda row: f"{row.scorer} - {row.versus}",
        [
            Column("Pearson [low, high]", pearson, partial(interval, digits=3)),
            Column("p, Holm", pearson, lambda row: p_value(row.p_adjusted)),
            Column("Spearman [low, high]", spearman, partial(interval, digits=3)),
            Column("p of Spearman, Holm", spearman, lambda row: p_value(row.p_adjusted), spare=True),
            Column("p, Williams", {"statistic": "williams"}, lambda row: p_value(row.p), spare=True),
            Column("n", pearson, lambda row: count(row.n), spare=True),
            Column("responses needed", pearson, lambda row: DASH if row.needed is None else rounded(row.needed)),
        ],
        title="Differences between scorers",
        heading="pair",
        in_order=True,
        caption="Difference of the correlations over the lines that both score. p: scorers swapped in random contexts; "
        "Holm: adjusted for the number of pairs. Williams' test takes lines as independent. Responses needed: rated "
        "responses in all that would confirm the difference of Pearson with probability 0.8.",
    )


def _differences(
    scored: ScoredSet,
    statistic: Literal["pearson", "spearman"],
    names: Sequence[str],
    pairs: Sequence[Pair],
    rows: IntArray,
    swaps: int,
) -> list[Estimate]:
    """Return the differences of one correlation for pairs over the same lines; p not yet adjusted."""
    rated, rng = scored.rated, scored.sampling.generator(scored.name, "contrasts")
    table = np.stack([scored.scores[name][rows] for name in names], axis=1)
    ratings, contexts = rated.ratings[rows], rated.contexts[rows]
    tested = paired_permutations(statistic, table, ratings, rated.sets[rows], contexts, rng, swaps)
    draws = {name: scored.draws_in_sets(statistic, name, rows) for name in names}
    estimates = []
    for first, second in pairs:
        test = tested[names.index(first), names.index(second)]
        about: dict[str, Any] = {"versus": second, "statistic": f"difference of {statistic}"}
        if not test.known:
            estimates.append(scored.row(first, rows, reason=_no_correlation(rows), **about))
            continue
        if statistic == "pearson" and _is_one_set(scored, rows):
            x, y = (scored.scores[name][rows] for name in (first, second))
            about["needed"] = items_needed(pilot_of_correlations(x, y, ratings, contexts))
        about |= {"value": test.value, "p": test.p if scored.sampling.resamples else NAN}
        method = f"p: {swaps} swaps of the two scorers in random contexts, by Holm"
        estimates.append(scored.estimate(_mean(draws[first] - draws[second]), first, rows, method, **about))
    return estimates


def _williams(scored: ScoredSet, pair: Pair, rows: IntArray) -> Estimate:
    """Return the difference of Pearson with the p of Williams' test, which takes lines as independent."""
    x, y, ratings = scored.scores[pair[0]][rows], scored.scores[pair[1]][rows], scored.rated.ratings[rows]
    first, second, between = (pearson(a, b).value for a, b in ((x, ratings), (y, ratings), (x, y)))
    p, value = williams(first, second, between, len(rows)), first - second
    reason = "" if np.isfinite(value) else _no_correlation(rows)
    method = "Williams' test, takes lines as independent"
    return scored.row(pair[0], rows, "williams", versus=pair[1], value=value, p=p, reason=reason, method=method)


def _no_correlation(rows: IntArray) -> str:
    """Return why two scorers have no difference on these lines."""
    return f"{len(rows)} lines have both scores, and no correlation"


def _is_one_set(scored: ScoredSet, rows: IntArray) -> bool:
    """Return whether lines are of a single data set."""
    return len(np.unique(scored.rated.sets[rows])) == 1


def _mean(draws: FloatArray) -> FloatArray:
    """Return [1 + B] the mean of `draws` [S, 1 + B] over the data sets that have a value."""
    known = np.isfinite(draws)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: FloatArray = np.where(known, draws, 0.0).sum(axis=0) / known.sum(axis=0)
    return means
