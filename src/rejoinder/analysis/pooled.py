"""Several data sets: means over them of the agreement inside each, also on the lines that all scorers score.

No correlation over all lines of a pool ranks scorers: a scorer could lead by telling the data sets apart.

Shapes: N lines of the pool, B resamples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rejoinder.analysis.analyses import beyond_chance, raters
from rejoinder.analysis.scored import RATERS, ScoredSet
from rejoinder.estimates import NAN, Estimate, estimate_of, one, pick
from rejoinder.report.charts import intervals
from rejoinder.report.layout import Chart, Section
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import count, number, percent, pluralize
from rejoinder.stats.correlation import mean_correlation, mean_over_parts, pearson
from rejoinder.stats.resamples import FloatArray, IntArray, mean_of_independent

OVER_SETS = "mean over data sets"
"""The data set of these estimates."""
SAME_LINES: Mapping[str, Any] = {"by": "lines", "group": "lines that all score"}
"""The labels of the estimates on the lines that every scorer scores."""
_OF_RATERS = {
    "ceiling of pearson": "ceiling",
    "pearson of one rater": "one rater",
    "spearman of one rater": "one rater",
}
_MOST_SETS = 6  # columns on a page of paper


def over_sets(
    pool: ScoredSet,
    estimates: Sequence[Estimate],
    *,
    fitted: Collection[str] = (),
    beside: Mapping[str, FloatArray] | None = None,
) -> list[Estimate]:
    """Return the means over the data sets of a pool, the best scorer first, with verdicts.

    Judges that were fitted on some of these data sets seem closer to the raters than they are. So they have no means
    but that of Pearson's correlation and are not compared on the same lines. Nor are scorers that cannot judge the
    lines.

    Args:
        pool: the data sets.
        estimates: of all of its members.
        fitted: judges that were fitted on lines of these data sets.
        beside: [N] scores by scorers that are only compared on the same lines.
    """
    means = sorted((_mean(pool, name) for name in pool.scores), key=lambda mean: (not mean.known, -mean.value))
    bands = {mean.scorer: mean_chance(estimates, mean.scorer, pool) for mean in means}
    chance = [
        Estimate(**_about(pool, mean), statistic="pearson by chance", value=0.0, low=-half, high=half, method=method)
        for mean in means
        if np.isfinite(half := bands[mean.scorer])
        for method in ["root of the summed squares of the data sets, over their number"]
    ]
    names = [mean.scorer for mean in means if mean.known and mean.scorer in pool.compared and mean.scorer not in fitted]
    others = [(name, statistic) for name in names for statistic in ("spearman", "share of the ceiling")]
    others += [(RATERS, statistic) for statistic in _OF_RATERS]
    return [
        *beyond_chance(means, bands, pool),
        *chance,
        *(mean for about in others for mean in _of_sets(pool, estimates, *about)),
        *(on_same_lines(pool, {name: pool.scores[name] for name in names} | dict(beside or {})) if names else []),
    ]


def _mean(pool: ScoredSet, name: str) -> Estimate:
    """Return the mean of Pearson's correlation inside each data set; resamples are of the contexts of the pool."""
    rows = pool.rows(name)
    mean = mean_over_parts(pool.draws("pearson", name, rows, inside=True), pool.resamples.at(rows).size)
    about = pool.about(name, rows, dataset=OVER_SETS, statistic="pearson")
    if not mean.parts:
        return Estimate(**about, reason="no data set has a correlation")
    method = f"pearson, mean over {pluralize(mean.parts, 'data set')}; {mean.method}"
    return estimate_of(mean, **about, method=method, reason=mean.reason)


def mean_chance(estimates: Sequence[Estimate], scorer: str, pool: ScoredSet) -> float:
    """Return the chance level of a mean over independent data sets: squares add up, and each data set counts alike."""
    members = [member.name for member in pool.members]
    bands = pick(estimates, dataset=members, scorer=scorer, statistic="pearson by chance")
    half = np.array([band.high for band in bands if np.isfinite(band.high)])
    return float(np.sqrt((half**2).sum()) / len(half)) if len(half) else NAN


def _of_sets(pool: ScoredSet, estimates: Sequence[Estimate], scorer: str, statistic: str) -> list[Estimate]:
    """Return the mean of the estimates of independent data sets, whose interval follows from theirs; none without any.

    Data sets count in which the scorer has a correlation.
    """
    levels = {member.name: member.level for member in pool.members}
    own = pick(estimates, dataset=levels, scorer=scorer, statistic=statistic, group="")
    own = [estimate for estimate in own if estimate.known and estimate.level == levels[estimate.dataset]]
    if not own:
        return []
    mean = mean_of_independent(own)  # type: ignore[arg-type]
    counts = {"n": sum(estimate.n for estimate in own), "contexts": sum(estimate.contexts for estimate in own)}
    method = f"{statistic}, mean over {pluralize(len(own), 'data set')}; interval from those of the data sets"
    about = {**_about(pool, own[0]), **counts, "statistic": statistic, "method": method, "seed": own[0].seed}
    return [estimate_of(mean, **about)]


def _about(pool: ScoredSet, estimate: Estimate) -> dict[str, Any]:
    """Return the labels and counts of a mean like `estimate`."""
    fields = ("scorer", "n", "unscored", "contexts")
    return {"dataset": OVER_SETS, "level": pool.level, **{name: getattr(estimate, name) for name in fields}}


# the same lines


def common_lines(pool: ScoredSet, scores: Mapping[str, FloatArray]) -> list[tuple[ScoredSet, IntArray]]:
    """Return the data sets in which all scorers have a correlation on the lines that all score, with these rows.

    Args:
        pool: the data sets.
        scores: [N] by scorer.
    """
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
    places = np.concatenate([member.rated.places[rows] for member, rows in common])
    rows = np.searchsorted(pool.rated.places, places)
    names = ", ".join(member.name for member, _ in common)
    resamples, estimates = pool.resamples.at(rows), []
    for name, values in scores.items():
        mean = mean_correlation("pearson", values[rows], pool.rated.ratings[rows], pool.rated.sets[rows], resamples)
        method = f"pearson, mean over {pluralize(len(common), 'data set')} ({names}); {mean.method}"
        about = pool.about(name, rows, dataset=OVER_SETS, statistic="pearson", method=method, **SAME_LINES)
        estimates.append(estimate_of(mean, **about))
    parts = [
        replace(member, rated=member.rated.at(own), scores={}, resamples=member.resamples.at(own), unscored={})
        for member, own in common
    ]
    of_raters = [estimate for part in parts for estimate in raters(part)]
    means = [mean for statistic in _OF_RATERS for mean in _of_sets(pool, of_raters, RATERS, statistic)]
    return [*estimates, *(replace(mean, **SAME_LINES) for mean in means)]


# tables and chart


def over_sets_section(pool: ScoredSet, estimates: Sequence[Estimate]) -> Section:
    """Return the part of the page about all data sets."""
    return Section("All data sets", [over_sets_table(pool, estimates), sets_table(pool, estimates)])


def over_sets_table(pool: ScoredSet, estimates: Sequence[Estimate], *, brief: bool = False) -> Table | None:
    """Return the means over data sets: of the raters, then of the scorers; `brief` is for a terminal."""
    sets = sets_of(pool, estimates)
    pearson = {"statistic": "pearson", "group": ""}
    columns = [
        Column("Pearson [low, high]", pearson),
        Column("against chance", pearson, lambda mean: "" if mean.verdict == "undefined" else mean.verdict),
        Column("data sets", pearson, lambda mean: count(sets[mean.scorer]), spare=True),
        Column("n", pearson, lambda mean: count(mean.n), spare=True),
        Column("Pearson, same lines", {"statistic": "pearson", **SAME_LINES}),
        Column("by chance", {"statistic": "pearson by chance"}, lambda band: f"± {number(band.high)}", spare=True),
        Column("Spearman [low, high]", {"statistic": "spearman", "group": ""}, spare=True),
        Column("share of the ceiling", {"statistic": "share of the ceiling"}, lambda share: percent(share.value)),
    ]
    rows = _rows(estimates)
    if brief:
        wanted = {name for name in pool.scores if name in pool.asked or pool.kinds[name] == "baseline"}
        rows = [row for row in rows if row.scorer in wanted or row.scorer not in pool.scores]
    common = next((mean for mean in rows if mean.group == SAME_LINES["group"] and mean.scorer in pool.scores), None)
    same = f" Same lines: the {count(common.n)} lines that all scorers score." if common else ""
    return pivot(
        rows,
        lambda mean: _name(pool, mean.scorer),
        columns[:4] if brief else columns,
        heading="scorer",
        title="" if brief else "Means over data sets",
        in_order=True,
        caption=""
        if brief
        else "Mean over data sets of the correlation with human ratings inside each; [low, high]: "
        "95 % intervals, those of Spearman computed from the intervals of the data sets (Zou and Donner 2008). Scorers "
        f"differ in data sets and lines, because some lines lack what they read.{same} By chance: 95 % of unrelated "
        "scorers reach no more. Ceiling: the highest correlation to expect of any scorer. One rater: a rater against "
        "the mean of the others.",
    )


def sets_table(pool: ScoredSet, estimates: Sequence[Estimate]) -> Table | None:
    """Return Pearson's correlation inside each data set, and the mean."""
    names = {OVER_SETS: "mean [low, high]"} | {member.name: member.rated.title for member in pool.members}
    picked = pick(
        estimates, dataset=names, scorer=pool.scores, level=("turn", "dialogue"), statistic="pearson", group=""
    )
    return pivot(
        sorted(picked, key=lambda estimate: estimate.dataset != OVER_SETS),
        lambda estimate: _name(pool, estimate.scorer),
        [
            Column(title, {"dataset": name, "versus": ""}, spare=place > _MOST_SETS)
            for place, (name, title) in enumerate(names.items())
        ],
        heading="scorer",
        title="Inside each data set",
        in_order=True,
        caption="Pearson correlation with human ratings inside each data set, and its mean. Means over different data "
        "sets are not comparable: compare the columns.",
    )


def over_sets_chart(pool: ScoredSet, estimates: Sequence[Estimate]) -> Chart | None:
    """Return the means of all scorers that can judge the lines, with the ceiling and one rater."""
    means = pick(estimates, dataset=OVER_SETS, scorer=pool.scores, statistic="pearson", group="")
    bands = pick(estimates, dataset=OVER_SETS, scorer=pool.scores, statistic="pearson by chance")
    return intervals(
        "scorers",
        [mean for mean in means if mean.scorer not in pool.outside],
        kinds=pool.kinds,
        bands={band.scorer: band.high for band in bands},
        marks={
            text: one(estimates, dataset=OVER_SETS, scorer=RATERS, statistic=statistic, group="")
            for statistic, text in list(_OF_RATERS.items())[:2]
        },
        apart=[name for name in pool.scores if name not in pool.asked or pool.kinds[name] == "baseline"],
        xlabel="Pearson correlation with human ratings, mean over data sets",
    )


def sets_of(pool: ScoredSet, estimates: Sequence[Estimate]) -> dict[str, int]:
    """Return the number of data sets in which each scorer has a correlation; of raters, of those with the statistic."""
    levels = {member.name: member.level for member in pool.members}
    known = [row for row in pick(estimates, dataset=levels, group="") if row.known and row.level == levels[row.dataset]]
    counts = Counter(row.scorer for row in known if row.statistic == "pearson")
    return counts + Counter(
        f"raters: {_OF_RATERS[row.statistic]}" for row in known if row.statistic in list(_OF_RATERS)[:2]
    )


def _rows(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return the means as rows of a table: the raters first, with what corresponds to a correlation of a scorer."""
    means = pick(estimates, dataset=OVER_SETS)
    of_raters = [
        replace(mean, scorer=f"raters: {_OF_RATERS[mean.statistic]}", statistic=statistic)
        for mean in pick(means, scorer=RATERS, statistic=_OF_RATERS)
        for statistic in ["spearman" if mean.statistic.startswith("spearman") else "pearson"]
    ]
    return [*of_raters, *(mean for mean in means if mean.scorer != RATERS)]


def _name(pool: ScoredSet, scorer: str) -> str:
    """Return the name of a row; a baseline is called one."""
    kind = pool.kinds.get(scorer, "")
    return f"{scorer} ({kind})" if "baseline" in kind else scorer
