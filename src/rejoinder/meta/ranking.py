"""What scorers are ranked by: Pearson over the lines of a data set, of a pool the mean over its data sets."""

from __future__ import annotations

from rejoinder.meta.agreement import Agreement, pool_resamples
from rejoinder.meta.scored_set import ScoredSet
from rejoinder.stats.correlation import mean_correlation

OVER_SETS = "mean over data sets"


def ranking_of(scored: ScoredSet) -> dict[str, float]:
    """The correlation of each scorer that has one and reads no ratings, best first."""
    # Over the lines of a pool a scorer could lead by telling the data sets apart, which nobody asks it to do.
    rows = scored.result(means_over_sets) if scored.rated.pooled else scored.agreements
    blind = scored.blind
    found = {
        row.scorer: row.value
        for row in rows
        if row.level != "system" and row.statistic == "pearson" and row.scorer in blind and row.known
    }
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def means_over_sets(pool: ScoredSet) -> tuple[Agreement, ...]:
    """The mean over the data sets of a pool of the correlation inside each, best first."""
    rated, resamples = pool.rated, pool_resamples(pool.rated, pool.sampling)
    rows = []
    for name, values in pool.scores.items():
        found = mean_correlation("pearson", values, rated.ratings, rated.sets, resamples)
        rows.append(
            Agreement.of(
                found,
                dataset=OVER_SETS,
                scorer=name,
                level="turn",
                statistic="pearson",
                unscored=len(values) - found.n,
                contexts=rated.clusters,
                method=f"pearson, mean over {found.parts} data sets; {pool.sampling.resamples} resamples of contexts",
                seed=pool.sampling.seed,
                reason="" if found.parts else "no data set has a correlation",
            )
        )
    return tuple(sorted(rows, key=lambda row: (not row.known, -row.value)))
