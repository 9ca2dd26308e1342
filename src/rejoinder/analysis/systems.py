"""The systems of a data set: which are better by human ratings, and how well scorers order them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rejoinder.analysis.scored import RATERS, ScoredSet
from rejoinder.data.rated import NO_SYSTEM
from rejoinder.estimates import Estimate, estimate_of, pick
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import count
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
    draws = scored.means(RATERS, known, places)
    ratings = _by_context(rated.ratings[known], places, contexts)
    swaps = max(scored.sampling.resamples, _FEWEST_SWAPS)
    groups = rank_clusters(
        draws[:, 0], system_p_values(ratings, scored.sampling.generator(rated.name, "systems"), swaps)
    )
    estimates = []
    for name, own, drawn, group in zip(names, rows, draws, groups.tolist(), strict=True):
        labels = {"system": name, "level": "system"}
        mean = {"statistic": "mean rating", "value": float(rated.ratings[own].mean())}
        estimates.append(scored.estimate(drawn, RATERS, own, "mean rating", **mean, **labels))
        rank = {"statistic": "rank group", "value": float(group), "method": f"paired permutation, {swaps} swaps, 5 %"}
        estimates.append(Estimate(**scored.about(RATERS, own, **rank, **labels)))
    for scorer in scored.compared:
        values = scored.scores[scorer]
        for name, own in zip(names, rows, strict=True):
            usable = own[np.isfinite(values[own])]
            about = {"system": name, "level": "system", "statistic": "mean score"}
            if len(usable):
                estimates.append(Estimate(**scored.about(scorer, usable, value=float(values[usable].mean()), **about)))
        again = scored.sampling.generator(rated.name, "systems")  # the same swaps for every scorer
        soft = soft_pairwise_accuracy(_by_context(values[known], places, contexts), ratings, again, swaps)
        soft_about: dict[str, Any] = {
            "level": "system",
            "statistic": "soft pairwise accuracy",
            "method": f"{swaps} swaps",
            "n": soft.n,
        }
        estimates.append(estimate_of(soft, **scored.about(scorer, known[np.isfinite(values[known])], **soft_about)))
    return estimates


def systems_table(estimates: list[Estimate]) -> Table | None:
    """Return the systems, best first by human ratings, with the mean scores of each scorer."""
    rating, means = (
        {"scorer": RATERS, "statistic": "mean rating"},
        pick(estimates, statistic="mean score", level="system"),
    )
    return pivot(
        pick(estimates, level="system"),
        "system",
        [
            Column("rating [low, high]", rating),
            Column("n", rating, lambda row: count(row.n), spare=True),
            Column("group", {"scorer": RATERS, "statistic": "rank group"}, lambda row: f"{row.value:.0f}"),
            *(
                Column(name, {"scorer": name, "statistic": "mean score"})
                for name in dict.fromkeys(e.scorer for e in means)
            ),
        ],
        title="Systems",
        caption="Mean rating and mean scores of the systems, the best by human ratings first. Systems of one group do "
        "not differ significantly (paired permutation over contexts, 5 %).",
    )


def _by_context(values: FloatArray, systems: IntArray, contexts: IntArray) -> FloatArray:
    """Return [S, G] the mean of the finite `values` of each system in each context; NaN without any."""
    shape = (number_of(systems), number_of(contexts))
    usable = np.isfinite(values)
    cells, size = (systems * shape[1] + contexts)[usable], shape[0] * shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.bincount(cells, values[usable], size) / np.bincount(cells, minlength=size)
    table: FloatArray = means.reshape(shape).astype(np.float64)
    return table
