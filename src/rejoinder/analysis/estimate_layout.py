"""Tables and the chart of `estimate`."""

from __future__ import annotations

from collections.abc import Sequence

from rejoinder.data.scales import Scale
from rejoinder.estimates import Estimate, one, pick
from rejoinder.report.charts import intervals
from rejoinder.report.layout import Chart, KeyFigure, Layout, Prose, Section
from rejoinder.report.tables import Column, Table, pivot
from rejoinder.report.written import count, interval, p_value, rounded

_SHOWN = 10  # differences on a terminal
_DRAWN = 20  # systems in the chart
_ALL = "all lines"


def layout(
    estimates: Sequence[Estimate], made: Sequence[str], *, scale: Scale | None, ratings: int, lines: int
) -> Layout:
    """Return the content of the report."""
    means = [estimate for estimate in estimates if not estimate.versus]
    systems, differences = _systems(means), _differences([estimate for estimate in estimates if estimate.versus])
    keys = [
        KeyFigure.of(mean, f"mean rating of {_name(mean)}", f"{mean.n:,} ratings")
        for mean in pick(means, statistic="mean rating")[:2]
        if mean.known
    ]
    return Layout(
        title="Mean ratings of systems",
        keys=[*keys, KeyFigure(count(ratings), "", "ratings", f"of {lines:,} lines")],
        chart=_chart(means, scale),
        sections=[Section("Systems", [systems]), *([Section("Differences", [differences])] if differences else [])],
        brief=[systems, differences and _shortened(differences), Prose(made)],
        made=made,
    )


def _name(estimate: Estimate) -> str:
    """Return the name of a system."""
    return estimate.system or _ALL


def _systems(estimates: Sequence[Estimate]) -> Table | None:
    """Return a table with a row for each system."""
    columns = [
        Column("lines", {"statistic": "mean score"}, lambda estimate: count(estimate.n), spare=True),
        Column("ratings", {"statistic": "mean rating"}, lambda estimate: count(estimate.n)),
        Column("mean rating [low, high]", {"statistic": "mean rating"}),
        Column("ratings only", {"statistic": "mean rating, ratings only"}),
        Column("effective ratings", {"statistic": "effective ratings"}, _whole, spare=True),
        Column("ratings needed", {"statistic": "ratings needed"}, _whole),
        Column("needed, ratings only", {"statistic": "ratings needed, ratings only"}, _whole, spare=True),
    ]
    caption = "Effective ratings: number of ratings that would give as narrow an interval without the scorer."
    return pivot(estimates, _name, columns, heading="system", caption=caption, in_order=True)


def _differences(estimates: Sequence[Estimate]) -> Table | None:
    """Return a table with a row for each difference."""
    with_scores = {"statistic": "difference"}
    columns = [
        Column("[low, high]", with_scores, _signed),
        Column("ratings only", {"statistic": "difference, ratings only"}, _signed, spare=True),
        Column("p", with_scores, lambda estimate: p_value(estimate.p_adjusted)),
        Column("verdict", with_scores, lambda estimate: estimate.verdict),
    ]
    several = len(pick(estimates, **with_scores)) > 1
    return pivot(
        estimates,
        lambda estimate: f"{estimate.system} - {estimate.versus}",
        columns,
        heading="difference",
        caption="p is adjusted for all pairs of systems (Holm)." if several else "",
        in_order=True,
    )


def _whole(estimate: Estimate) -> str:
    """Return a forecast."""
    return rounded(round(estimate.value))


def _signed(estimate: Estimate) -> str:
    """Return a difference."""
    return interval(estimate, signed=True)


def _shortened(table: Table) -> Table:
    """Return the first rows of a table."""
    more = len(table.rows) - _SHOWN
    notes = (f"and {more:,} more: -o report.html",) if more > 0 else ()
    return table._replace(rows=table.rows[:_SHOWN], notes=notes)


def _chart(estimates: Sequence[Estimate], scale: Scale | None) -> Chart | None:
    """Return the means of the first systems, and next to them by ratings only; None without a scale."""
    if scale is None:
        return None
    means = [mean for mean in pick(estimates, statistic="mean rating") if mean.has_interval][:_DRAWN]
    rows = {}
    for mean in means:
        name, alone = _name(mean), one(estimates, statistic="mean rating, ratings only", system=mean.system)
        rows[name] = mean
        if alone.ends != mean.ends:
            rows[f"{name}, ratings only"] = alone
    return intervals(
        "systems",
        list(rows.values()),
        row=lambda estimate: next(name for name, drawn in rows.items() if drawn is estimate),
        null=scale[0],
        scale=scale,
        xlabel="Mean rating",
        caption="Ratings only: without the scores." if len(rows) > len(means) else "",
    )
