"""The report of `ratings`: key figures, tables, charts and quoted lines."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from rejoinder.analysis.agreement_of_raters import DISTANCE, FALSE_SUSPECTS
from rejoinder.analysis.stand_in import MEAN_RATING
from rejoinder.estimates import Estimate, Verdict, one, pick
from rejoinder.report.charts import intervals
from rejoinder.report.layout import Block, Case, Cases, KeyFigure, Layout, Prose, Section
from rejoinder.report.results import About
from rejoinder.report.tables import Column, Table, pivot, table
from rejoinder.report.written import DASH, count, number, p_value, percent

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
_BRIEF = {"Agreement": 2, "Raters": 2, "Systems": 1, "Alternative annotator test": 1}  # tables that a terminal shows
_MOST_ROWS, _MOST_PAIRS = 50, 30
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
            sections += [Section(prefix + title, blocks)] if any(blocks) else []
            tables = [block for block in blocks if isinstance(block, Table)]
            brief += [table._replace(title=prefix + (table.title or title)) for table in tables[: _BRIEF.get(title, 0)]]
    data = about.data[0]
    rows = pick(estimates, dataset=data["dataset"])
    sizes, people = data["counting"], "raters who count" if data["named"] else "ratings of a line at most"
    of = f"{count(sizes['ratings'])} ratings of {count(sizes['lines'])} lines"
    kappas = [row for row in pick(rows, statistic="kappa quadratic", versus="") if row.rater and row.known]
    alpha, reliability = (one(rows, statistic=name, by="") for name in ("alpha interval", "ICC(1,k)"))
    return Layout(
        title=f"How much do the raters of {', '.join(data['title'] for data in about.data)} agree?",
        keys=[
            KeyFigure.of(alpha, "Krippendorff's alpha", "0 is chance, 1 is best"),
            KeyFigure.of(reliability, "reliability of the mean rating", "ICC(1,k)"),
            KeyFigure(count(sizes["raters"]), "", people, of),
        ],
        chart=intervals(
            "raters",
            sorted(kappas, key=lambda row: -row.value)[:_MOST_PAIRS],
            row=partial(_name, data=data, suspects=_suspects(rows)),
            xlabel="Quadratic kappa with the other raters",
            caption="Agreement of each rater with the others beyond chance; at 0 there is none.",
        ),
        sections=sections,
        brief=[*brief, Prose(notes)],
        made=notes,
        lines=lines,
    )


def _suspects(rows: Sequence[Estimate]) -> set[str]:
    """Return the raters who are further from the others than chance explains."""
    return {row.rater for row in pick(rows, statistic=DISTANCE, verdict=Verdict.ABOVE)}


def _name(row: Estimate, data: Mapping[str, Any], suspects: Collection[str]) -> str:
    """Return the name of a rater, marked if the rater is left out or a suspect."""
    if any(rater["rater"] == row.rater for rater in data["left_out"]):
        return f"{row.rater} (left out)"
    return f"{row.rater} (suspect)" if row.rater in suspects else row.rater


def _plain(row: Estimate, digits: int = 2) -> str:
    return number(row.value, digits)


def _size(row: Estimate) -> str:
    return count(row.n)


def _share(row: Estimate) -> str:
    return percent(row.value)


def _passes(row: Estimate) -> str:
    return {Verdict.ABOVE: "yes", Verdict.UNDEFINED: DASH}.get(row.verdict, str(row.verdict))


def _sections(
    rows: Sequence[Estimate], data: Mapping[str, Any], options: Mapping[str, Any], cases: Sequence[Case]
) -> Iterator[tuple[str, list[Block | None]]]:
    yield "Agreement", [_agreement(rows, data)]
    names = ("kappa quadratic", *_SPARE)
    kappas = [Column(name.replace("sp", "Sp"), {"statistic": name, "by": ""}, spare=name in _SPARE) for name in names]
    mean, spread, seconds = {"statistic": "mean rating"}, {"statistic": "spread of ratings"}, {"statistic": "seconds"}
    columns = [
        *kappas,
        Column("ratings", mean, _size),
        Column("mean", mean, _plain),
        Column("spread", spread, _plain, spare=True),
        Column("distance", {"statistic": DISTANCE}, _plain, spare=True),
        Column("p of distance", {"statistic": DISTANCE}, lambda row: p_value(row.p_adjusted)),
        Column("competence", {"statistic": "competence"}, _plain),
        Column("median seconds", {**seconds, "group": "0.5"}, partial(_plain, digits=1), spare=True),
        Column("fastest tenth", {**seconds, "group": "0.1"}, partial(_plain, digits=1), spare=True),
    ]
    caption = (
        "Each rater with all others, over the lines they share; Spearman: with the mean of the other ratings. "
        "Distance: mean squared distance to that mean; p by permutation inside lines, adjusted by Benjamini and "
        f"Hochberg. Up to {FALSE_SUSPECTS} a rater is a suspect, whose ratings count."
    )
    raters = [row for row in pick(rows, versus="", scorer="raters") if row.rater]
    name = partial(_name, data=data, suspects=_suspects(raters))
    table_of_raters = pivot(raters, name, columns, caption=caption, heading="rater")
    out = [(rater["rater"], count(rater["ratings"]), rater["why"]) for rater in data["left_out"]]
    aside = "Their ratings are kept in the lines, under set_aside."
    left = table(("rater", "ratings", "why"), out, title="Left out", caption=aside) if out else None
    yield "Raters", [table_of_raters, left]
    pairs = sorted((row for row in rows if row.versus), key=lambda row: -row.n)[: _MOST_PAIRS * len(names)]
    columns = [Column("lines", {"statistic": "spearman"}, _size), *kappas]
    caption = f"Two raters who share ten lines or more, the {_MOST_PAIRS} pairs with the most first."
    yield "Pairs of raters", [pivot(pairs, "{0.rater}, {0.versus}".format, columns, caption=caption, heading="raters")]
    shares = [(f"{value:g}", {"statistic": "share of ratings", "group": f"{value:g}"}) for value in data["values"]]
    columns = [
        Column("mean [low, high]", mean),
        Column("lines", mean, _size),
        Column("spread", spread, _plain),
        *(Column(*share, _share, spare=True) for share in shares),
    ]
    caption = "Mean of the ratings of the lines; below each value, its share of the single ratings."
    yield "Systems", [pivot(pick(rows, level="system"), "system", columns, caption=caption, in_order=True)]
    yield "Alternative annotator test", _stand_ins(rows, options["epsilon"])
    yield "Lines on which raters disagree most", [Cases("", cases) if cases else None]


def _agreement(rows: Sequence[Estimate], data: Mapping[str, Any]) -> Table | None:
    """Return the agreement of the raters who pass the checks, of all, and of those left by a least kappa."""
    of_all = [row for row in pick(rows, statistic=list(AGREEMENT), rater="") if row.group != "by chance"]
    why = dict.fromkeys(row.reason for row in of_all if not row.known and row.statistic.startswith("ICC(2"))
    title = "all raters" if data["passing"]["raters"] == data["raters"] else "raters who pass the checks"
    return pivot(
        [row for row in of_all if row.known],
        lambda row: AGREEMENT[row.statistic],
        [
            Column(title, {"by": ""}),
            Column("all raters", {"group": "all"}),
            Column("left by the least kappa", {"group": "left"}),
        ],
        heading="statistic",
        caption="Agreement beyond chance: 0 is chance, 1 full agreement.",
        in_order=True,
        notes=[f"Two-way ICC: {reason}." for reason in why],
    )


def _stand_ins(rows: Sequence[Estimate], epsilon: float) -> list[Block | None]:
    """Return the alternative annotator test of each scorer, and of each scorer against each rater."""
    beaten, lead, over_mean = {"statistic": "raters beaten"}, {"statistic": "advantage"}, {"versus": MEAN_RATING}
    columns = [
        Column("advantage [low, high]", {**lead, "versus": ""}),
        Column("over the mean rating", over_mean),
        Column("p", over_mean, lambda row: p_value(row.p_adjusted), spare=True),
        Column("raters", beaten, _size, spare=True),
        Column("beaten", beaten, _share),
        Column("can replace a rater", {**lead, "versus": ""}, _passes),
    ]
    caption = (
        "On calibrated scores. Advantage: how often a scorer is at least as near to the other raters of a line as a "
        f"rater is. Beaten: the share of raters that it beats with epsilon {epsilon:g} (Calderon, Reichart and Dror "
        "2025), of which a pass needs half. A scorer can replace a rater if it passes and its advantage is above that "
        "of the mean rating of other contexts, which ignores the reply (p by resampling, adjusted by Holm)."
    )
    tested = pick(rows, statistic=["advantage", "raters beaten", "advantage of the rater"])
    overall = pivot(pick(tested, rater=""), "scorer", columns, caption=caption, in_order=True)
    columns = [
        Column("lines", lead, _size),
        Column("scorer as near or nearer", lead),
        Column("rater as near or nearer", {"statistic": "advantage of the rater"}, _plain),
        Column("p", lead, lambda row: p_value(row.p_adjusted)),
        Column("beaten", lead, _passes),
    ]
    single = [row for row in tested if row.rater][: 2 * _MOST_ROWS]
    texts = {"heading": "scorer, rater", "title": "Scorers against each rater"}
    texts["caption"] = "p: of the rater being ahead by epsilon or more, adjusted by Benjamini and Yekutieli."
    return [overall, pivot(single, "{0.scorer}, {0.rater}".format, columns, in_order=True, **texts)]
