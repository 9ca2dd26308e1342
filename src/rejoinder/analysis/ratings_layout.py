"""The report of `ratings`: key figures, tables, charts and quoted lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from rejoinder.estimates import Estimate, Verdict, one, pick
from rejoinder.report.charts import intervals
from rejoinder.report.layout import Block, Case, Cases, Chart, KeyFigure, Layout, Prose, Section
from rejoinder.report.results import About
from rejoinder.report.tables import Column, Table, pivot, table
from rejoinder.report.written import count, interval, number, p_value, percent

AGREEMENT = {
    "alpha interval": "Krippendorff's alpha, interval",
    "alpha ordinal": "Krippendorff's alpha, ordinal",
    "alpha nominal": "Krippendorff's alpha, nominal",
    "kappa quadratic": "kappa of pairs, quadratic (median)",
    "kappa linear": "kappa of pairs, linear (median)",
    "kappa": "kappa of pairs, unweighted (median)",
    "spearman": "Spearman of pairs (median)",
    "ICC(1)": "ICC(1), one rating",
    "ICC(1,k)": "ICC(1,k), mean of a line",
    "ICC(2,1)": "ICC(2,1), agreement, one rating",
    "ICC(2,k)": "ICC(2,k), agreement, mean of all raters",
    "ICC(3,1)": "ICC(3,1), consistency, one rating",
    "ICC(3,k)": "ICC(3,k), consistency, mean of all raters",
    "pearson of halves": "random halves, Pearson",
    "spearman of halves": "random halves, Spearman",
}
_PAIRWISE = {"kappa quadratic": False, "kappa linear": True, "kappa": True, "spearman": True}
_MOST_PAIRS, _MOST_RATERS, _MOST_IN_CHART = 30, 50, 40


def _size(estimate: Estimate) -> str:
    return count(estimate.n)


def _share(estimate: Estimate) -> str:
    return percent(estimate.value)


def _plain(estimate: Estimate, digits: int = 2) -> str:
    return number(estimate.value, digits)


def _yes(estimate: Estimate) -> str:
    words = {Verdict.ABOVE: "yes", Verdict.INCONCLUSIVE: "no"}
    return words.get(estimate.verdict, str(estimate.verdict))


def layout(
    estimates: Sequence[Estimate], about: About, cases: Sequence[Case], notes: Sequence[str], lines: Any
) -> Layout:
    """Return the report.

    Args:
        estimates: all of them.
        about: the data sets and options.
        cases: quoted lines.
        notes: what was counted and how.
        lines: one mapping for each line with its rating.
    """
    sections, brief = list[Section](), list[Block | None]()
    for data in about.data:
        prefix = f"{data['title']}: " if len(about.data) > 1 else ""
        rows = pick(estimates, dataset=data["dataset"])
        quoted = [case for case in cases if case.values["dataset"] == data["dataset"]]
        for title, blocks in _sections(rows, data, about.options, quoted):
            kept = [block for block in blocks if block is not None]
            sections += [Section(prefix + title, kept)] if kept else []
            if title in ("Agreement", "Raters", "Systems", "Can a scorer replace a rater?"):
                shown = [block for block in kept if isinstance(block, Table) and " against " not in block.title]
                brief += [block._replace(title=prefix + (block.title or title)) for block in shown]
    first = about.data[0]
    rows = pick(estimates, dataset=first["dataset"], rater="", by="")
    alpha, mean = one(rows, statistic="alpha interval"), one(rows, statistic="ICC(1,k)")
    known = [
        KeyFigure.of(alpha, "Krippendorff's alpha", "0 is chance, 1 full agreement") if alpha.known else None,
        KeyFigure.of(mean, "reliability of the mean rating", "ICC(1,k)") if mean.known else None,
    ]
    counting = first["counting"]
    people = "raters" if first["named"] else "ratings of a line at most"
    of = f"{count(counting['ratings'])} ratings of {count(counting['lines'])} lines"
    keys = [*filter(None, known), KeyFigure(count(counting["raters"]), "", people, of)]
    if first["left_out"]:
        keys.append(KeyFigure(count(len(first["left_out"])), "", "raters left out", "by rule; see below"))
    return Layout(
        title=f"How much do the raters of {', '.join(data['title'] for data in about.data)} agree?",
        keys=keys,
        chart=_chart(pick(estimates, dataset=first["dataset"]), first),
        sections=sections,
        brief=[*brief, Prose(notes)],
        made=notes,
        lines=lines,
    )


def _name(estimate: Estimate, data: Mapping[str, Any]) -> str:
    """Return the name of a rater, marked if the rater is left out."""
    out = any(rater["rater"] == estimate.rater for rater in data["left_out"])
    return f"{estimate.rater} (left out)" if out else estimate.rater


def _chart(rows: Sequence[Estimate], data: Mapping[str, Any]) -> Chart | None:
    """Return a chart of the kappa of each rater with the others."""
    kappas = [row for row in pick(rows, statistic="kappa quadratic", versus="") if row.rater and row.known]
    kappas.sort(key=lambda row: -row.value)
    caption = "Agreement of each rater with the others beyond chance; at 0 there is none."
    name, label = partial(_name, data=data), "Quadratic kappa with the other raters"
    return intervals("raters", kappas[:_MOST_IN_CHART], row=name, xlabel=label, caption=caption)


def _sections(
    rows: Sequence[Estimate], data: Mapping[str, Any], options: Mapping[str, Any], cases: Sequence[Case]
) -> Iterator[tuple[str, list[Block | None]]]:
    """Yield the sections of a data set."""
    pairwise = [Column(name.capitalize(), {"statistic": name}, spare=spare) for name, spare in _PAIRWISE.items()]
    yield "Agreement", [_agreement(rows, data)]
    name = partial(_name, data=data)
    out = [[rater["rater"], count(rater["ratings"]), rater["why"]] for rater in data["left_out"]]
    of_raters = [row for row in pick(rows, versus="", by="", scorer="raters") if row.rater]
    columns = [
        *pairwise,
        Column("ratings", {"statistic": "mean rating"}, _size),
        Column("mean", {"statistic": "mean rating"}, _plain),
        Column("spread", {"statistic": "spread of ratings"}, _plain, spare=True),
        Column("competence", {"statistic": "competence"}, _plain),
    ]
    caption = "Each rater with all others, over the lines they share; Spearman: with the mean of the other ratings."
    raters = pivot(of_raters, name, columns, caption=caption, heading="rater")
    aside = "Their ratings are kept in the lines, under set_aside."
    yield "Raters", [raters, table(("rater", "ratings", "why"), out, title="Left out", caption=aside) if out else None]
    pairs = sorted((row for row in rows if row.versus), key=lambda row: -row.n)
    shown = pairs[: _MOST_PAIRS * len(pairwise)]
    more = len(pairs) // len(pairwise) - _MOST_PAIRS
    columns = [Column("lines", {"statistic": "spearman"}, _size), *pairwise]
    yield "Pairs of raters", [
        pivot(
            shown,
            lambda row: f"{row.rater}, {row.versus}",
            columns,
            caption="Two raters who share ten lines or more.",
            heading="raters",
            in_order=True,
            notes=[f"{more:,} more pairs are in the JSON."] if more > 0 else [],
        )
    ]
    yield "Systems", [_systems(pick(rows, level="system"), data)]
    yield "Can a scorer replace a rater?", list(_stand_ins(rows, options))
    columns = [
        Column("median", {"group": "0.5"}, partial(_plain, digits=1)),
        Column("fastest tenth", {"group": "0.1"}, partial(_plain, digits=1)),
        Column("replies", {"group": "0.5"}, _size),
    ]
    seconds, caption = pick(rows, statistic="seconds"), "Seconds for a reply; a tenth of the replies took that or less."
    yield "Pace", [pivot(seconds, "rater", columns, caption=caption)]
    yield "Lines on which raters disagree most", [Cases("", cases) if cases else None]


def _agreement(rows: Sequence[Estimate], data: Mapping[str, Any]) -> Table | None:
    """Return the agreement of the raters who count, and of all of them."""
    of_all = [row for row in pick(rows, statistic=list(AGREEMENT), rater="") if row.group != "by chance"]
    why = dict.fromkeys(row.reason for row in of_all if not row.known and row.statistic.startswith("ICC(2"))
    columns = [
        Column("raters who count" if data["left_out"] else "all raters", {"by": ""}),
        Column("all raters", {"by": "raters"}),
    ]
    return pivot(
        [row for row in of_all if row.known],
        lambda row: AGREEMENT[row.statistic],
        columns,
        heading="statistic",
        caption="Agreement beyond chance: 0 is chance, 1 full agreement.",
        in_order=True,
        notes=[f"Two-way ICC: {reason}." for reason in why],
    )


def _systems(rows: Sequence[Estimate], data: Mapping[str, Any]) -> Table | None:
    """Return the systems, the best first."""
    shares = [
        Column(f"{value:g}", {"statistic": "share of ratings", "group": f"{value:g}"}, _share, spare=True)
        for value in data["values"]
    ]
    columns = [
        Column("mean [low, high]", {"statistic": "mean rating"}),
        Column("lines", {"statistic": "mean rating"}, _size),
        Column("spread", {"statistic": "spread of ratings"}, _plain),
        *shares,
    ]
    caption = "Mean of the ratings of the lines; below each value, its share of the single ratings."
    return pivot(rows, "system", columns, caption=caption, in_order=True)


def _stand_ins(rows: Sequence[Estimate], options: Mapping[str, Any]) -> Iterator[Table | None]:
    """Yield the alternative annotator test of all scorers, then of each scorer against each rater."""
    beaten = {"statistic": "raters beaten", "rater": ""}
    columns = [
        Column("raters", beaten, _size),
        Column("beaten", beaten, _share),
        Column("advantage [low, high]", {"statistic": "advantage", "rater": ""}),
        Column("passes", beaten, _yes),
    ]
    caption = (
        "Alternative annotator test (Calderon et al. 2025): the share of raters that a scorer beats, with epsilon "
        f"{options['epsilon']:g}, and how often it is at least as near to the other raters of a line. It means little if "
        "the mean rating of other contexts, which ignores the reply, passes too."
    )
    tested = pick(rows, statistic=["raters beaten", "advantage", "advantage of the rater"])
    yield pivot(tested, "scorer", columns, caption=caption, in_order=True)
    nearer, beyond = {"statistic": "advantage"}, {"statistic": "advantage of the rater"}
    columns = [
        Column("lines", nearer, _size),
        Column("scorer as near or nearer", nearer),
        Column("rater as near or nearer", beyond, _plain),
        Column("p", nearer, lambda row: p_value(row.p_adjusted)),
        Column("beaten", nearer, _yes),
    ]
    for scorer in dict.fromkeys(row.scorer for row in tested):
        own = [row for row in pick(tested, scorer=[scorer]) if row.rater]
        names = list(dict.fromkeys(row.rater for row in own))
        more = [f"{len(names) - _MOST_RATERS:,} more raters are in the JSON."] if len(names) > _MOST_RATERS else []
        yield pivot(
            [row for row in own if row.rater in names[:_MOST_RATERS]],
            "rater",
            columns,
            title=f"{scorer} against each rater",
            caption="p: of the rater being ahead by epsilon or more, adjusted by Benjamini and Yekutieli.",
            in_order=True,
            notes=more,
        )
