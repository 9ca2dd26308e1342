"""Agreement with human ratings, and the list of all analyses of a scored set."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rejoinder.analysis.baselines import each_scorer
from rejoinder.analysis.ceiling import SAME_OTHERS, SHARE, WORTH, compared_with_raters, raters, raters_table
from rejoinder.analysis.contrasts import contrasts, contrasts_table
from rejoinder.analysis.disagreements import mistakes
from rejoinder.analysis.labellers import labellers
from rejoinder.analysis.labels import labels, labels_table, without_chance
from rejoinder.analysis.length import length, length_table
from rejoinder.analysis.pass_rate import pass_rates
from rejoinder.analysis.scored import RATERS, Analysis, Derived, ScoredSet
from rejoinder.analysis.slices import slices
from rejoinder.analysis.standings import SAME_LINES, best_first, standing
from rejoinder.analysis.systems import systems, systems_table
from rejoinder.analysis.verdicts import agreement_word, verdicts
from rejoinder.analysis.within import ceiling_within_systems, system_mean, systems_of_scorers_table, within
from rejoinder.data.rated import NO_SYSTEM
from rejoinder.estimates import NAN, Estimate, pick
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import interval, lines_scored, pluralize
from rejoinder.stats.correlation import CORRELATIONS, chance_band, columns, pearson
from rejoinder.stats.ranking import pair_accuracy, pair_accuracy_by_chance
from rejoinder.stats.resamples import FEWEST_CLUSTERS, FloatArray, IntArray, groups_drawn, renumbered
from rejoinder.stats.splits import fold_groups

FEWEST_SYSTEMS = 10
"""For an interval over systems."""
MOST_PAIRED = 2000
"""Lines; all pairs of more take too long."""
TIE_FOLDS = 5
WITHOUT_COPIES = {"by": "lines", "group": "without reference copies"}
_FEW_SYSTEMS = {
    1: "one system: there is nothing to correlate; needs three or more",
    2: "two systems: any two points lie on a line, a correlation over them says nothing; needs three or more",
}


# agreement with human ratings


def agreement(scored: ScoredSet) -> list[Estimate]:
    """Return Pearson, Spearman and Kendall by scorer: over lines, then over the mean scores of systems."""
    estimates = []
    for scorer, rows, values, ratings in each_scorer(scored):
        for name, correlate in CORRELATIONS.items():
            result = correlate(values, ratings, names=("score", "rating"))
            draws = scored.draws(name, scorer, rows) if result.known else np.empty(0)
            estimates.append(_correlation(scored, scorer, rows, result, draws, statistic=name))
        named = rows[scored.rated.systems[rows] != NO_SYSTEM]
        estimates += _over_systems(scored, scorer, named) if len(named) else []
    return estimates


def _over_systems(scored: ScoredSet, scorer: str, rows: IntArray) -> list[Estimate]:
    """Return the correlations of one scorer over the means of systems.

    From ten systems on they have an interval over resamples of both systems and contexts. Those of the contexts alone
    would be for these systems, and with few systems no interval has the right coverage and any use.

    Source: Deutsch, Dror and Roth (2021), A Statistical Analysis of Summarization Evaluation Metrics.
    """
    of_systems = renumbered(scored.rated.systems[rows])
    means = [scored.means(name, rows, of_systems) for name in (scorer, RATERS)]
    named = int((scored.rated.systems != NO_SYSTEM).sum())
    size, contexts = len(means[0]), len(np.unique(scored.rated.contexts[rows]))
    about = {"level": "system", "n": size, "unscored": named - len(rows), "contexts": min(size, contexts)}
    resampled = [groups_drawn(mean, scored.sampling.generator(scored.name, "systems drawn")) for mean in means]
    estimates = []
    for name, correlate in CORRELATIONS.items():
        result = correlate(*(mean[:, 0] for mean in means), names=("mean score", "mean rating"))
        result = replace(result, reason=_FEW_SYSTEMS.get(size, result.reason))
        draws = columns(name, *resampled) if size >= FEWEST_SYSTEMS else np.array([result.value])
        estimate = _correlation(scored, scorer, rows, result, draws, statistic=name, **about)
        few = f"no interval: {size} systems, ten are needed" if result.known and size < FEWEST_SYSTEMS else ""
        estimates.append(replace(estimate, contexts=contexts, reason=few or estimate.reason))
    return estimates


def _correlation(
    scored: ScoredSet, scorer: str, rows: IntArray, result: Estimate, draws: FloatArray, **more: Any
) -> Estimate:
    """Return a correlation with its interval; or the reason for none, and why lines are unscored if any are.

    Over lines it has no p yet, because the one of the correlation takes lines as independent.
    """
    about = {"value": result.value, "p": result.p if more.get("level") == "system" else NAN, **more}
    if result.known:
        return scored.estimate(draws, scorer, rows, more["statistic"], **about)
    estimate, why = scored.row(scorer, rows, **about), scored.unscored.get(scorer)
    unscored = f"; {estimate.unscored} rated lines unscored, most often: {why}" if why and estimate.unscored else ""
    return replace(estimate, reason=f"{result.reason}{unscored}")


def without_copies(scored: ScoredSet) -> list[Estimate]:
    """Return Pearson over the lines whose response equals no reference, if others do: those are easy to score."""
    copies, estimates = scored.rated.copies, []
    for scorer, rows, values, ratings in each_scorer(scored) if copies.any() else ():
        kept = ~copies[rows]
        result = pearson(values[kept], ratings[kept], names=("score", "rating"))
        draws = scored.draws("pearson", scorer, rows[kept])
        estimates.append(_correlation(scored, scorer, rows[kept], result, draws, statistic="pearson", **WITHOUT_COPIES))
    return estimates


def by_chance(scored: ScoredSet) -> list[Estimate]:
    """Return the interval that holds 95 % of the correlations of scorers that are unrelated to the ratings.

    p is that of the scorer's correlation, from the same distribution; for Spearman, of ranks. A line without a system
    is alone in its own.
    """
    from scipy.stats import rankdata

    rated = scored.rated
    alone = rated.named_systems.max(initial=NO_SYSTEM) + 1 + np.arange(len(rated))
    systems = np.where(rated.systems == NO_SYSTEM, alone, rated.systems)
    bands = [
        scored.row(scorer, rows, f"{name} by chance", chance_band(*both, rated.contexts[rows], systems[rows]))
        for scorer, rows, values, ratings in each_scorer(scored)
        for name, both in (("pearson", (values, ratings)), ("spearman", (rankdata(values), rankdata(ratings))))
    ]
    return [band for band in bands if band.known]


def pairs_of_lines(scored: ScoredSet) -> list[Estimate]:
    """Return the share of pairs of lines that a scorer orders as the ratings do, and what that is without knowledge."""
    rated = scored.rated
    number, rng = min(TIE_FOLDS, rated.clusters), scored.sampling.generator(scored.name, "tie folds")
    folds = fold_groups(rated.contexts, number, rng)
    estimates = []
    for scorer, rows, values, ratings in each_scorer(scored):
        contexts = len(np.unique(rated.contexts[rows]))
        accuracy, chance = Estimate(reason=f"not computed for more than {MOST_PAIRED:,} lines"), Estimate()
        if contexts < FEWEST_CLUSTERS:
            accuracy = Estimate(reason=f"{pluralize(contexts, 'context')}, {FEWEST_CLUSTERS} are needed")
        elif len(rows) <= MOST_PAIRED:
            accuracy = pair_accuracy(values, ratings, folds[rows])
            chance = pair_accuracy_by_chance(ratings)
        method = f"ties calibrated on other contexts, in {number} folds"
        estimates.append(scored.row(scorer, rows, "pair accuracy", accuracy, method=method))
        if accuracy.known:
            estimates.append(scored.row(scorer, rows, "pair accuracy by chance", chance))
    return estimates


def out_of_domain(scored: ScoredSet) -> list[Estimate]:
    """Return the share of scored replies that are out of the domain of each scorer that has one."""
    return [
        scored.row(name, scored.rows(name), "share out of domain", value=share.outside / share.scored, n=share.scored)
        for name, share in scored.shares.items()
        if share.scored
    ]


# tables


def scorers_table(estimates: list[Estimate]) -> Table | None:
    """Return all scorers, the best by Pearson first."""
    level = next((row.level for row in estimates if row.level != "system"), "turn")

    def column(
        title: str, statistic: str, write: Callable[[Estimate], str] = interval, *, spare: bool = False
    ) -> Column:
        return Column(title, {"statistic": statistic, "level": level, "group": "", "versus": ""}, write, spare)

    copies = {"statistic": "pearson", "level": level, **WITHOUT_COPIES}
    same = {"statistic": "pearson", "level": level, **SAME_LINES}
    order = best_first(estimates, level=level)
    rows = [row for name in order for row in pick(estimates, scorer=name)]
    return pivot(
        rows + [row for row in estimates if row.scorer not in order],
        "scorer",
        [
            column("Pearson [low, high]", "pearson"),
            column("agreement", "pearson", agreement_word),
            column("n", "pearson", lines_scored, spare=True),
            Column("same lines", same, spare=True),
            column("by chance", "pearson by chance", lambda row: f"±{row.high:.2f}"),
            column(SHARE, SHARE, partial(interval, share=True)),
            column(f"{WORTH} [low, high]", WORTH, partial(interval, digits=1)),
            column("against the other raters", SAME_OTHERS, spare=True),
            column("Spearman [low, high]", "spearman"),
            Column("without copies", copies, spare=True),
            column("pairs", "pair accuracy", spare=True),
            column("pairs by chance", "pair accuracy by chance", spare=True),
            column("group", "rank group", lambda row: f"{row.value:.0f}", spare=True),
        ],
        title="Scorers",
        in_order=True,
        caption="Agreement with human ratings line by line. [low, high]: 95 % interval from resampled contexts. By "
        "chance: where 95 % of scorers fall that are unrelated to the ratings. Same lines: over those that all ranked "
        "scorers score, which decides the order; a scorer of less than 95 % of the lines is not ranked. Without "
        "copies: over responses that equal no reference. Pairs: share of pairs of responses in the order of the "
        "ratings, ties calibrated on other contexts; by chance: what the better one of a constant and a random order "
        "has. Group: a new one begins where all above are significantly ahead of all below, by Pearson and by "
        "Spearman.",
    )


# the lists

TableOf = Callable[[list[Estimate]], Table | None]
"""What makes the table of an analysis from the estimates of one data set."""
ANALYSES: tuple[tuple[Analysis, TableOf | None], ...] = (
    (agreement, scorers_table),
    (within, systems_of_scorers_table),
    (without_copies, None),
    (by_chance, None),
    (pairs_of_lines, None),
    (out_of_domain, None),
    (raters, raters_table),
    (compared_with_raters, None),
    (system_mean, None),
    (standing, None),
    (contrasts, contrasts_table),
    (systems, systems_table),
    (length, length_table),
    (labels, labels_table),
    (labellers, None),
    (pass_rates, None),
    (slices, None),
    (mistakes, None),
)
"""The analyses of a data set, each with its table. To add one, write a function and its table, and one line here."""
DERIVED: tuple[Derived, ...] = (verdicts, ceiling_within_systems, without_chance)


def analyse(scored: ScoredSet, analyses: Iterable[tuple[Analysis, TableOf | None]] = ANALYSES) -> list[Estimate]:
    """Return all estimates of one scored set."""
    estimates = [estimate for analysis, _ in analyses for estimate in analysis(scored)]
    for derive in DERIVED:
        estimates = derive(estimates, scored)
    return estimates
