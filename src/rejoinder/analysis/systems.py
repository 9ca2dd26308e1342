"""The systems of a data set: which are better by human ratings, and how well scorers order them."""

from __future__ import annotations

import numpy as np

from rejoinder.analysis.scored import RATERS, ScoredSet
from rejoinder.data.rated import NO_SYSTEM
from rejoinder.estimates import Estimate, pick
from rejoinder.report.tables import Cell, Table
from rejoinder.report.written import count, interval, number
from rejoinder.stats.ranking import rank_clusters, soft_pairwise_accuracy, system_p_values
from rejoinder.stats.resamples import FloatArray, IntArray, number_of, renumbered

_FEWEST_SWAPS = 100  # groups of systems are reported without intervals too


def systems(scored: ScoredSet) -> list[Estimate]:
    """Return the mean rating of each system with its rank group, and by scorer its mean scores and soft accuracy."""
    rated = scored.rated
    known = np.flatnonzero(rated.systems != NO_SYSTEM)
    numbers, places = np.unique(rated.systems[known], return_inverse=True)
    if rated.pooled or len(numbers) < 2:
        return []
    places, contexts = places.astype(np.int64), renumbered(rated.contexts[known])
    names = [str(rated.examples[known[np.argmax(places == place)]].system) for place in range(len(numbers))]
    rows = [known[places == place] for place in range(len(numbers))]
    draws = scored.resamples.at(known).means(rated.ratings[known], places)
    ratings = _by_context(rated.ratings[known], places, contexts)
    swaps = max(scored.sampling.resamples, _FEWEST_SWAPS)
    groups = rank_clusters(
        draws[:, 0], system_p_values(ratings, scored.sampling.generator(rated.name, "systems"), swaps)
    )
    estimates = []
    for name, own, drawn, group in zip(names, rows, draws, groups.tolist(), strict=True):
        mean = float(rated.ratings[own].mean())
        labels = {"system": name, "level": "system"}
        estimates += [
            scored.estimate(drawn, RATERS, own, "mean rating", value=mean, statistic="mean rating", **labels),
            _single(
                scored,
                RATERS,
                own,
                float(group),
                f"paired permutation over contexts, {swaps} swaps, 5 %",
                "rank group",
                labels,
            ),
        ]
    for scorer in scored.compared:
        values = scored.scores[scorer]
        for name, own in zip(names, rows, strict=True):
            usable = own[np.isfinite(values[own])]
            if len(usable):
                labels = {"system": name, "level": "system"}
                estimates.append(
                    _single(scored, scorer, usable, float(values[usable].mean()), "mean", "mean score", labels)
                )
        swapped = scored.sampling.generator(rated.name, "systems")  # the same swaps for every scorer
        soft = soft_pairwise_accuracy(_by_context(values[known], places, contexts), ratings, swapped, swaps)
        usable = known[np.isfinite(values[known])]
        more = {"level": "system", "n": soft.n, "reason": soft.reason}
        estimates.append(_single(scored, scorer, usable, soft.value, f"{swaps} swaps", "soft pairwise accuracy", more))
    return estimates


def systems_table(estimates: list[Estimate]) -> Table | None:
    """Return the systems, best first by human ratings, with the mean scores of each scorer."""
    ratings = sorted(pick(estimates, scorer=RATERS, statistic="mean rating", level="system"), key=lambda e: -e.value)
    if not ratings:
        return None
    groups = {row.system: row.value for row in pick(estimates, scorer=RATERS, statistic="rank group", level="system")}
    soft = {row.scorer: row for row in pick(estimates, statistic="soft pairwise accuracy")}
    pearson = {row.scorer: row for row in pick(estimates, statistic="pearson", level="system")}
    scores = {(row.scorer, row.system): row for row in pick(estimates, statistic="mean score", level="system")}

    def cells(rows: list[Estimate | None], digits: int = 2) -> list[Cell]:
        return [Cell(interval(row, digits), row.method, row.value) if row else Cell(number(np.nan)) for row in rows]

    body = [
        [Cell(row.system), Cell(count(row.n)), *cells([row]), Cell(f"{groups[row.system]:.0f}")]
        + cells([scores.get((scorer, row.system)) for scorer in soft])
        for row in ratings
    ]
    last = {"Pearson over systems": pearson, "soft pairwise accuracy": soft}
    body += [
        [Cell(name), *[Cell("")] * 3, *cells([rows.get(scorer) for scorer in soft])] for name, rows in last.items()
    ]
    return Table(
        "Systems",
        ("system", "n", "rating [low, high]", "group", *soft),
        tuple(map(tuple, body)),
        "Mean rating and mean scores of the systems, the best by human ratings first. Systems of one group do not differ "
        "significantly (paired permutation over contexts, 5 %). Soft pairwise accuracy compares how certain scores and "
        "ratings are about which of two systems is better; 0.5 is chance.",
    )


def _single(
    scored: ScoredSet, scorer: str, rows: IntArray, value: float, method: str, statistic: str, more: dict[str, object]
) -> Estimate:
    """Return an estimate without an interval."""
    return Estimate(**scored.about(scorer, rows, **{"statistic": statistic, "value": value, "method": method, **more}))


def _by_context(values: FloatArray, systems: IntArray, contexts: IntArray) -> FloatArray:
    """Return [S, G] the mean of the finite `values` of each system in each context; NaN without any."""
    shape = (number_of(systems), number_of(contexts))
    usable = np.isfinite(values)
    cells, size = (systems * shape[1] + contexts)[usable], shape[0] * shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.bincount(cells, values[usable], size) / np.bincount(cells, minlength=size)
    table: FloatArray = means.reshape(shape).astype(np.float64)
    return table
