"""The report of `ratings`: key figures, tables, charts and quoted lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from rejoinder.estimates import Estimate, Verdict, one, pick
from rejoinder.report.charts import intervals
from rejoinder.report.layout import Block, Case, Cases, KeyFigure, Layout, Prose, Section
from rejoinder.report.results import About
from rejoinder.report.tables import Column, Table, pivot, table
from rejoinder.report.written import count, number, p_value, percent

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
_BRIEF = ("Agreement", "Raters", "Systems", "Alternative annotator test")  # sections, of which a terminal shows
_MOST_ROWS, _MOST_PAIRS = 50, 30
_PASSES = {Verdict.ABOVE: "yes", Verdict.INCONCLUSIVE: "no"}
_SPARE = ("kappa linear", "kappa", "spearman")


def layout(
    estimates: Sequence[Estimate], about: About, cases: Sequence[Case], notes: Sequence[str], lines: Any
) -> Layout:
    """Return the report; `lines` are mappings, each with its rating."""
    sections, brief = list[Section](), list[Block | None]()
    for data in about.data:
        prefix = f"{data['title']}: " if len(about.data) > 1 else ""
        quoted = [case for case in cases if case.values["dataset"] == data["dataset"]]
        for title, blocks in _sections(pick(estimates, dataset=data["dataset"]), data, about.options, quoted):
            tables = [block for block in blocks if isinstance(block, Table)]
            sections += [Section(prefix + title, blocks)] if any(blocks) else []
            shown = tables[:2] if title in _BRIEF[:2] else tables[:1] if title in _BRIEF else []
            brief += [block._replace(title=prefix + (block.title or title)) for block in shown]
    data = about.data[0]
    rows = pick(estimates, dataset=data["dataset"])
    keys = [
        KeyFigure.of(one(rows, statistic="alpha interval", by=""), "Krippendorff's alpha", "0 is chance, 1 is best"),
        KeyFigure.of(one(rows, statistic="ICC(1,k)", by=""), "reliability of the mean rating", "ICC(1,k)"),
    ]
    sizes, people = data["counting"], "raters who count" if data["named"] else "ratings of a line at most"
    of = f"{count(sizes['ratings'])} ratings of {count(sizes['lines'])} lines"
    kappas = [row for row in pick(rows, statistic="kappa quadratic", versus="") if row.rater and row.known]
    return Layout(
        title=f"How much do the raters of {', '.join(data['title'] for data in about.data)} agree?",
        keys=[*keys, KeyFigure(count(sizes["raters"]), "", people, of)],
        chart=intervals(
            "raters",
            sorted(kappas, key=lambda row: -row.value)[:_MOST_PAIRS],
            row=partial(_name, data=data),
            xlabel="Quadratic kappa with the other raters",
            caption="Agreement of each rater with the others beyond chance; at 0 there is none.",
        ),
        sections=sections,
        brief=[*brief, Prose(notes)],
        made=notes,
        lines=lines,
    )


def _name(row: Estimate, data: Mapping[str, Any]) -> str:
    """Return the name of a rater, marked if the rater is left out."""
    out = any(rater["rater"] == row.rater for rater in data["left_out"])
    return f"{row.rater} (left out)" if out else row.rater


def _plain(row: Estimate, digits: int = 2) -> str:
    return number(row.value, digits)


def _size(row: Estimate) -> str:
    return count(row.n)


def _sections(
    rows: Sequence[Estimate], data: Mapping[str, Any], options: Mapping[str, Any], cases: Sequence[Case]
) -> Iterator[tuple[str, list[Block | None]]]:
    """Yield the sections of a data set."""
    yield "Agreement", [_agreement(rows, data)]
    names = ("kappa quadratic", *_SPARE)
    kappas = [Column(name.replace("sp", "Sp"), {"statistic": name, "by": ""}, spare=name in _SPARE) for name in names]
    columns = [
        *kappas,
        Column("ratings", {"statistic": "mean rating"}, _size),
        Column("mean", {"statistic": "mean rating"}, _plain),
        Column("spread", {"statistic": "spread of ratings"}, _plain, spare=True),
        Column("competence", {"statistic": "competence"}, _plain),
        Column("median seconds", {"statistic": "seconds", "group": "0.5"}, partial(_plain, digits=1), spare=True),
        Column("fastest tenth", {"statistic": "seconds", "group": "0.1"}, partial(_plain, digits=1), spare=True),
    ]
    caption = "Each rater with all others, over the lines they share; Spearman: with the mean of the other ratings."
    raters = [row for row in pick(rows, versus="", scorer="raters") if row.rater]
    out = [(rater["rater"], count(rater["ratings"]), rater["why"]) for rater in data["left_out"]]
    aside = "Their ratings are kept in the lines, under set_aside."
    yield (
        "Raters",
        [
            pivot(raters, partial(_name, data=data), columns, caption=caption, heading="rater"),
            table(("rater", "ratings", "why"), out, title="Left out", caption=aside) if out else None,
        ],
    )
    pairs = sorted((row for row in rows if row.versus), key=lambda row: -row.n)
    columns = [Column("lines", {"statistic": "spearman"}, _size), *kappas]
    caption = f"Two raters who share ten lines or more, the {_MOST_PAIRS} pairs with the most first."
    shown = pairs[: _MOST_PAIRS * len(names)]
    both = pivot(shown, lambda row: f"{row.rater}, {row.versus}", columns, caption=caption, heading="raters")
    yield "Pairs of raters", [both]
    columns = [
        Column("mean [low, high]", {"statistic": "mean rating"}),
        Column("lines", {"statistic": "mean rating"}, _size),
        Column("spread", {"statistic": "spread of ratings"}, _plain),
    ]
    for value in data["values"]:
        labels = {"statistic": "share of ratings", "group": f"{value:g}"}
        columns.append(Column(f"{value:g}", labels, lambda row: percent(row.value), spare=True))
    caption = "Mean of the ratings of the lines; below each value, its share of the single ratings."
    yield "Systems", [pivot(pick(rows, level="system"), "system", columns, caption=caption, in_order=True)]
    yield "Alternative annotator test", _stand_ins(rows, options)
    yield "Lines on which raters disagree most", [Cases("", cases) if cases else None]


def _agreement(rows: Sequence[Estimate], data: Mapping[str, Any]) -> Table | None:
    """Return the agreement of the raters who count, and of all of them."""
    of_all = [row for row in pick(rows, statistic=list(AGREEMENT), rater="") if row.group != "by chance"]
    why = dict.fromkeys(row.reason for row in of_all if not row.known and row.statistic.startswith("ICC(2"))
    title = "raters who count" if data["left_out"] else "all raters"
    return pivot(
        [row for row in of_all if row.known],
        lambda row: AGREEMENT[row.statistic],
        [Column(title, {"by": ""}), Column("all raters", {"by": "raters"})],
        heading="statistic",
        caption="Agreement beyond chance: 0 is chance, 1 full agreement.",
        in_order=True,
        notes=[f"Two-way ICC: {reason}." for reason in why],
    )


def _stand_ins(rows: Sequence[Estimate], options: Mapping[str, Any]) -> list[Block | None]:
    """Return the alternative annotator test of each scorer, and of each scorer against each rater."""
    beaten, advantage = {"statistic": "raters beaten"}, {"statistic": "advantage"}
    columns = [
        Column("raters", beaten, _size),
        Column("beaten", beaten, lambda row: percent(row.value)),
        Column("advantage [low, high]", advantage),
        Column("passes", beaten, lambda row: _PASSES.get(row.verdict, str(row.verdict))),
    ]
    caption = (
        f"The share of raters that a scorer beats with epsilon {options['epsilon']:g}, and how often it is at least as "
        "near to the other raters of a line (Calderon, Reichart and Dror 2025). It means little if the mean rating of "
        "other contexts, which ignores the reply, passes too."
    )
    tested = pick(rows, statistic=["raters beaten", "advantage", "advantage of the rater"])
    overall = [row for row in tested if not row.rater]
    single = [row for row in tested if row.rater][: 2 * _MOST_ROWS]
    columns_of_rater = [
        Column("lines", advantage, _size),
        Column("scorer as near or nearer", advantage),
        Column("rater as near or nearer", {"statistic": "advantage of the rater"}, _plain),
        Column("p", advantage, lambda row: p_value(row.p_adjusted)),
        Column("beaten", advantage, lambda row: _PASSES.get(row.verdict, str(row.verdict))),
    ]
    more = "p: of the rater being ahead by epsilon or more, adjusted by Benjamini and Yekutieli."
    heading, title = "scorer, rater", "Scorers against each rater"
    against = partial(pivot, single, lambda row: f"{row.scorer}, {row.rater}", columns_of_rater, in_order=True)
    return [
        pivot(overall, "scorer", columns, caption=caption, in_order=True),
        against(title=title, heading=heading, caption=more),
    ]
