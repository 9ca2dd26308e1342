"""The systems of a data set: which are better by human ratings, and how well scorers order them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rejoinder.analysis.scored import RATERS, ScoredSet
from rejoinder.data.rated import NO_SYSTEM
from rejoinder.estimates import Estimate, pick
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import count
from rejoinder.stats.ranking import rank_clusters, soft_pairwise_accuracy, system_p_values
from rejoinder.stats.resamples import FloatArray, IntArray, number_of, renumbered

_FEWEST_SWAPS = 100  # groups of systems are reported without intervals too


def systems(scored: ScoredSet) -> list[Estimate]:
    """Return the mean rating of each system with its rank group, and by scorer its mean scores and soft accuracy."""
    rated = scored.rated
    known = np.flatnonzero(rated.systems != NO_SYSTEM)
    places, contexts = renumbered(rated.systems[known]), renumbered(rated.contexts[known])
    if rated.pooled or number_of(places) < 2:
        return []
    rows = [known[places == place] for place in range(number_of(places))]
    names = [str(rated.examples[own[0]].system) for own in rows]
    draws = scored.means(RATERS, known, places)
    ratings, swaps = _by_context(rated.ratings[known], places, contexts), max(scored.sampling.resamples, _FEWEST_SWAPS)
    p = system_p_values(ratings, scored.sampling.generator(rated.name, "systems"), swaps)
    estimates = []
    for name, own, drawn, group in zip(names, rows, draws, rank_clusters(draws[:, 0], p).tolist(), strict=True):
        about: dict[str, Any] = {"system": name, "level": "system", "value": float(rated.ratings[own].mean())}
        estimates.append(scored.estimate(drawn, RATERS, own, "mean rating", statistic="mean rating", **about))
        about |= {"value": float(group), "method": f"paired permutation, {swaps} swaps, 5 %"}
        estimates.append(scored.row(RATERS, own, "rank group", **about))
    for scorer in scored.compared:
        values = scored.scores[scorer]
        scored_rows = [own[np.isfinite(values[own])] for own in rows]
        estimates += [
            scored.row(scorer, own, "mean score", value=float(values[own].mean()), system=name, level="system")
            for name, own in zip(names, scored_rows, strict=True)
            if len(own)
        ]
        again = scored.sampling.generator(rated.name, "systems")  # the same swaps for every scorer
        soft = soft_pairwise_accuracy(_by_context(values[known], places, contexts), ratings, again, swaps)
        usable, about = known[np.isfinite(values[known])], {"level": "system", "method": f"{swaps} swaps", "n": soft.n}
        estimates.append(scored.row(scorer, usable, "soft pairwise accuracy", soft, **about))
    return estimates


def systems_table(estimates: list[Estimate]) -> Table | None:
    """Return the systems, best first by human ratings, with the mean scores of each scorer."""
    rating = {"scorer": RATERS, "statistic": "mean rating"}
    scorers = dict.fromkeys(row.scorer for row in pick(estimates, statistic="mean score", level="system"))
    return pivot(
        pick(estimates, level="system"),
        "system",
        [
            Column("rating [low, high]", rating),
            Column("n", rating, lambda row: count(row.n), spare=True),
            Column("group", {"scorer": RATERS, "statistic": "rank group"}, lambda row: f"{row.value:.0f}"),
            *(Column(name, {"scorer": name, "statistic": "mean score"}) for name in scorers),
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
        means: FloatArray = np.bincount(cells, values[usable], size) / np.bincount(cells, minlength=size)
    return means.reshape(shape)
