"""Several data sets: means over them of the agreement inside each, also on the lines that all scorers score.

No correlation over all lines of a pool ranks scorers: a scorer could lead by telling the data sets apart.

Shapes: N lines of the pool, B resamples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from rejoinder.analysis.ceiling import (
    CEILING,
    ONE_RATER,
    SAME_OTHERS,
    SHARE,
    over_ceiling,
    raters,
    ratio_of,
    shares,
    singly_rated,
)
from rejoinder.analysis.scored import RATERS, ScoredSet
from rejoinder.analysis.standings import OVER_SETS, SAME_LINES, over_members, standings
from rejoinder.analysis.verdicts import agreed, agreement_word, beyond_chance
from rejoinder.analysis.within import SYSTEM_MEAN, SYSTEMS
from rejoinder.estimates import Estimate, estimate_of, one, pick
from rejoinder.report.charts import intervals
from rejoinder.report.layout import Chart
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import DASH, count, ends, interval, number, pluralize
from rejoinder.stats.correlation import mean_correlation, mean_over_parts, pearson
from rejoinder.stats.resamples import FloatArray, IntArray, mean_of_independent, prediction_interval

FEWEST_SETS = 3
"""For which another data set is predicted; with two, the interval holds all values."""
OF_RATERS = {
    CEILING: ("raters: ceiling", "pearson"),
    ONE_RATER: ("raters: one rater", SAME_OTHERS),
    SYSTEM_MEAN: ("system mean", "pearson"),
}
"""What raters set, and what knowing the system gives: the row and column among the scorers."""


def over_sets(
    pool: ScoredSet,
    estimates: Sequence[Estimate],
    *,
    fitted: Collection[str] = (),
    also: Mapping[str, FloatArray] | None = None,
) -> list[Estimate]:
    """Return the means over the data sets of a pool, the best scorer first, with verdicts.

    Judges that were `fitted` on some of these data sets seem closer to the raters than they are. So they have no means
    but that of Pearson's correlation and are not compared on the same lines, nor are scorers that cannot judge the
    lines or score fewer. `also` are [N] scores by scorers that are only compared on the same lines.
    """
    place = standings(pool)
    order = {name: -draws[0] for name, draws in place.draws.items()}
    means = [_mean(pool, name) for name in pool.scores]
    means.sort(key=lambda mean: (not mean.known, mean.scorer not in order, order.get(mean.scorer, -mean.value)))
    chance, rank_chance, of_ranks = (
        {mean.scorer: row for mean in means for row in _of_sets(pool, estimates, mean.scorer, statistic)}
        for statistic in ("pearson by chance", "spearman by chance", "spearman")
    )
    ranks = [of_ranks.get(mean.scorer, Estimate(scorer=mean.scorer)) for mean in means]
    agreement, ranks = agreed(beyond_chance(means, chance, pool), beyond_chance(ranks, rank_chance, pool))
    names = [mean.scorer for mean in means if mean.known and mean.scorer in pool.compared and mean.scorer not in fitted]
    ranked = [name for name in names if name in place.draws]
    met = len(pick(_inside(pool, estimates), scorer=RATERS, statistic=ONE_RATER))
    inside = [mean for name in names for mean in _of_sets(pool, estimates, name, SYSTEMS)]
    return [
        *agreement,
        *beyond_chance(inside, {mean.scorer: mean for mean in inside}, pool),
        *chance.values(),
        *pick(ranks, scorer=names),
        *(mean for name in names for mean in _of_sets(pool, estimates, name, SAME_OTHERS, met)),
        *(mean for statistic in OF_RATERS for mean in _of_sets(pool, estimates, RATERS, statistic)),
        *(share for name in names for share in share_over_sets(pool, name)),
        *(row for name in names for row in _another_set(pool, estimates, name)),
        *(on_same_lines(pool, {name: pool.scores[name] for name in ranked} | dict(also or {})) if ranked else []),
    ]


def _mean(pool: ScoredSet, name: str) -> Estimate:
    """Return the mean of Pearson's correlation inside each data set; resamples are of the contexts of the pool."""
    rows = pool.rows(name)
    mean = mean_over_parts(pool.draws_in_sets("pearson", name, rows), pool.resamples.at(rows).size)
    why = {"method": f"pearson in each data set, {mean.method}"}
    why = why if mean.known else {"reason": "no data set has a correlation"}
    return pool.row(name, rows, "pearson", mean, dataset=OVER_SETS, **why)


def share_over_sets(pool: ScoredSet, scorer: str) -> list[Estimate]:
    """Return the mean correlation over the mean ceiling, of the data sets that have both; or nothing.

    Each data set has its own resamples.
    """
    rows, draws = list[Estimate](), list[tuple[FloatArray, FloatArray]]()
    for member in pool.members:
        lines = singly_rated(member)
        ratio = over_ceiling(member, scorer, lines)
        if ratio and pick(shares(member, scorer, lines), statistic=SHARE):
            rows.append(member.row(scorer, ratio[0]))
            draws.append((ratio[2], member.reliability(ratio[1]).ceiling))
    if not rows:
        return []
    about = over_members(rows, scorer=scorer, level=pool.level, statistic=SHARE)
    correlation, ceiling = np.mean(draws, axis=0)
    share = ratio_of(correlation, ceiling, about["contexts"])
    return [estimate_of(share, **about, method=f"means over {pluralize(len(rows), 'data set')}; {share.method}")]


def _of_sets(
    pool: ScoredSet, estimates: Sequence[Estimate], scorer: str, statistic: str, least: int = 1
) -> list[Estimate]:
    """Return the mean of the estimates of the data sets that have one, whose interval follows from theirs.

    Data sets are independent, so squared widths add up, and each data set counts alike. Nothing if fewer than `least`
    have one.
    """
    rows = pick(_inside(pool, estimates), scorer=scorer, statistic=statistic)
    if len(rows) < least or not rows:
        return []
    about = over_members(rows, scorer=scorer, level=pool.level, statistic=statistic)
    method = f"{statistic}, mean over {pluralize(len(rows), 'data set')}; interval from those of the data sets"
    return [estimate_of(mean_of_independent(rows), method=method, **about)]


def _another_set(pool: ScoredSet, estimates: Sequence[Estimate], scorer: str) -> list[Estimate]:
    """Return the interval that holds the correlation of a scorer in another data set of this kind."""
    rows = range_of_sets(pool, estimates, scorer)
    if len(rows) < FEWEST_SETS:
        return []
    predicted = prediction_interval([row.value for row in rows]).between(-1, 1)
    statistic = "pearson in another data set"
    return [pool.row(scorer, pool.rows(scorer), statistic, predicted, dataset=OVER_SETS, seed=None)]


def _inside(pool: ScoredSet, estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return the values of the data sets over all of their lines."""
    levels = {member.name: member.level for member in pool.members}
    rows = pick(estimates, dataset=levels, group="", versus="")
    return [row for row in rows if row.known and row.level == levels[row.dataset]]


def sets_of(pool: ScoredSet, estimates: Sequence[Estimate]) -> dict[str, int]:
    """Return the number of data sets in which each scorer has a correlation; of raters, in which the limits exist."""
    rows = [(row.scorer, row.statistic) for row in _inside(pool, estimates)]
    counts = Counter(scorer for scorer, statistic in rows if statistic == "pearson")
    return counts + Counter(OF_RATERS[name][0] for scorer, name in rows if scorer == RATERS and name in OF_RATERS)


def range_of_sets(pool: ScoredSet, estimates: Sequence[Estimate], scorer: str) -> list[Estimate]:
    """Return the Pearson correlations of a scorer inside the data sets, the lowest first."""
    return sorted(pick(_inside(pool, estimates), scorer=scorer, statistic="pearson"), key=lambda row: row.value)


def common_lines(pool: ScoredSet, scores: Mapping[str, FloatArray]) -> list[tuple[ScoredSet, IntArray]]:
    """Return the data sets in which all scorers have a correlation on the lines that all score, with these rows."""
    common = []
    for member in pool.members:
        places = np.searchsorted(pool.rated.places, member.rated.places)
        columns = [values[places] for values in scores.values()]
        rows = np.flatnonzero(np.isfinite(columns).all(axis=0))
        if len(rows) and all(pearson(column[rows], member.rated.ratings[rows]).known for column in columns):
            common.append((member, rows))
    return common


def on_same_lines(pool: ScoredSet, scores: Mapping[str, FloatArray]) -> list[Estimate]:
    """Return the means over data sets on the lines that all scorers score, and those of the raters on these lines.

    A scorer that reads references has fewer lines than others, in the same data sets too.
    """
    common = common_lines(pool, scores)
    if not common:
        return []
    rows = np.searchsorted(pool.rated.places, np.concatenate([member.rated.places[own] for member, own in common]))
    names = ", ".join(member.name for member, _ in common)
    resamples, ratings, sets = pool.resamples.at(rows), pool.rated.ratings[rows], pool.rated.sets[rows]
    estimates = []
    for name, values in scores.items():
        mean = mean_correlation("pearson", values[rows], ratings, sets, resamples)
        method = f"pearson, mean over {pluralize(len(common), 'data set')} ({names}); {mean.method}"
        estimates.append(pool.row(name, rows, "pearson", mean, dataset=OVER_SETS, method=method, **SAME_LINES))
    parts = [
        replace(member, rated=member.rated.at(own), scores={}, resamples=member.resamples.at(own), unscored={})
        for member, own in common
    ]
    of_raters = [estimate for part in parts for estimate in raters(part)]
    means = [mean for statistic in OF_RATERS for mean in _of_sets(pool, of_raters, RATERS, statistic)]
    return [*estimates, *(replace(mean, **SAME_LINES) for mean in means)]


def among_scorers(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return the limits that raters set as rows of a table of scorers."""
    return [
        replace(row, scorer=OF_RATERS[row.statistic][0], statistic=OF_RATERS[row.statistic][1])
        for row in pick(estimates, scorer=RATERS, statistic=OF_RATERS)
        if row.known
    ]


def over_sets_table(pool: ScoredSet, estimates: Sequence[Estimate]) -> Table | None:
    """Return the means over data sets: of the raters, then of the scorers."""
    means, sets = pick(estimates, dataset=OVER_SETS), sets_of(pool, estimates)
    rows = among_scorers(means) + [row for row in means if row.known and row.scorer != RATERS]
    whole = {"statistic": "pearson", "group": ""}

    def lowest_to_highest(row: Estimate) -> str:
        inside = range_of_sets(pool, estimates, row.scorer)
        return f"{number(inside[0].value)} to {number(inside[-1].value)}" if inside else DASH

    def verdicts_inside(row: Estimate) -> str:
        words = Counter(own.verdict.value for own in range_of_sets(pool, estimates, row.scorer))
        return " / ".join(str(words[word]) for word in ("above", "inconclusive", "below"))

    columns = [
        Column("Pearson [low, high]", whole),
        Column("agreement", whole, agreement_word),
        Column("lowest to highest", whole, lowest_to_highest),
        Column("another data set", {"statistic": "pearson in another data set"}, ends),
        Column("sets above / inconclusive / below", whole, verdicts_inside, spare=True),
        Column("data sets", whole, lambda row: count(sets[row.scorer]), spare=True),
        Column("n", whole, lambda row: count(row.n), spare=True),
        Column("Pearson, same lines", {"statistic": "pearson", **SAME_LINES}),
        Column("by chance", {"statistic": "pearson by chance"}, lambda row: f"±{number(row.high)}", spare=True),
        Column("Spearman [low, high]", {"statistic": "spearman", "group": ""}, spare=True),
        Column(SHARE, {"statistic": SHARE}, partial(interval, share=True)),
        Column("against the other raters", {"statistic": SAME_OTHERS, "group": ""}, spare=True),
    ]
    same = {
        f" Same lines: the {count(row.n)} that all ranked scorers score, which decide the order."
        for row in rows
        if row.group and row.scorer in pool.asked
    }
    caption = (
        "Mean over these data sets of the correlation with human ratings inside each. [low, high]: 95 % intervals of "
        "the mean over these sets, that of Spearman from the intervals of the data sets (Zou and Donner 2008). "
        "Another data set: where 95 % of the correlations in other data sets of this kind fall. Scorers differ "
        f"in data sets and lines, because some lines lack what they read.{''.join(same)} By chance: where 95 % of "
        "unrelated scorers fall. Ceiling: the highest correlation to expect of any scorer."
    )
    title = "Means over data sets"
    return pivot(rows, partial(_row, pool), columns, heading="scorer", title=title, in_order=True, caption=caption)


def sets_table(pool: ScoredSet, estimates: Sequence[Estimate]) -> Table | None:
    """Return Pearson's correlation inside each data set, and the mean."""
    titles = {OVER_SETS: "mean [low, high]"} | {member.name: member.rated.title for member in pool.members}
    rows = [*pick(estimates, dataset=OVER_SETS, group=""), *_inside(pool, estimates)]
    return pivot(
        [row for row in rows if row.known and row.statistic == "pearson"],
        partial(_row, pool),
        [Column(title, {"dataset": name}, spare=place > 6) for place, (name, title) in enumerate(titles.items())],
        heading="scorer",
        title="Inside each data set",
        in_order=True,
        caption="Pearson correlation with human ratings inside each data set. Means over different data sets are not "
        "comparable: compare the columns.",
    )


def scorers_chart(
    scored: ScoredSet, estimates: Sequence[Estimate], name: str = "scorers", caption: str = ""
) -> Chart | None:
    """Return the scorers that can judge the lines and the ceiling; of a pool the means over data sets."""
    own = pick(estimates, dataset=OVER_SETS if scored.members else scored.name, group="")
    rows = pick(own, statistic="pearson", level=scored.level, scorer=scored.scores)
    rows += [row for row in among_scorers(own) if row.scorer == OF_RATERS[SYSTEM_MEAN][0]]
    return intervals(
        name,
        sorted((row for row in rows if row.scorer not in scored.outside), key=lambda row: -row.value),
        kinds={**scored.kinds, OF_RATERS[SYSTEM_MEAN][0]: "oracle baseline"},
        bands={row.scorer: row.high for row in pick(own, statistic="pearson by chance")},
        marks={"ceiling": one(own, scorer=RATERS, statistic=CEILING)},
        apart=[
            row.scorer for row in rows if scored.kinds.get(row.scorer) == "baseline" or row.scorer not in scored.asked
        ],
        xlabel=f"Pearson correlation with human ratings{', mean over data sets' if scored.members else ''}",
        caption=f"{caption}Grey: where 95 % of scorers fall that are unrelated to the ratings.",
    )


def _row(pool: ScoredSet, estimate: Estimate) -> str:
    """Return the name of the row of an estimate."""
    kind = pool.kinds.get(estimate.scorer, "")
    return f"{estimate.scorer} ({kind})" if "baseline" in kind else estimate.scorer
