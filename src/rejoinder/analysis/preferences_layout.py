"""Sentences, tables and charts of a study of preference pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rejoinder.analysis.analyses import agreement_word
from rejoinder.analysis.scored import RATERS
from rejoinder.estimates import Estimate, Verdict, one, pick
from rejoinder.report.charts import intervals
from rejoinder.report.layout import Chart, KeyFigure, Layout, Prose, Section
from rejoinder.report.results import About
from rejoinder.report.tables import Column, Table, pivot, table
from rejoinder.report.written import count, interval, number, p_value, percent, pluralize, sentences
from rejoinder.scoring.domain import advice, without_domain
from rejoinder.scoring.noted import noted

ACCURACY, DIFFERENCE, OF_RATER = "accuracy", "difference of accuracy", "accuracy of one rater"
LENGTH, CHANCE = "length", 0.5
_TOTAL = {"statistic": ACCURACY, "by": ""}
_COUNTS = {"ties": "ties", "contexts": "contexts", "votes": "single votes", "longer": "longer preferred"} | {
    "shorter": "shorter preferred",
    "empty": "empty reply",
}


def text(part: str, estimates: Sequence[Estimate], about: About, **facts: Any) -> tuple[str, ...]:
    """Return the sentences of a part of the template: "answer", "warnings" or "made"."""
    outside = [name for data in about.data for name in data["out_of_domain"]]
    warnings = {name: scorer.get("warnings", {}) for name, scorer in about.scorers.items()}
    return sentences(
        "analysis",
        "preferences",
        part=part,
        estimates=estimates,
        about=about,
        ranked={data["dataset"]: _ranked(estimates, about, data["dataset"]) for data in about.data},
        noted=noted(without_domain(warnings, outside), 2 * about.counts["lines"]),
        advice=advice,
        **facts,
    )


def layout(estimates: Sequence[Estimate], about: About) -> Layout:
    """Return the report of a study of pairs."""
    sections = [_section(facts, pick(estimates, dataset=facts["dataset"]), about) for facts in about.data]
    chart, *blocks = sections[0].blocks
    sections[0] = sections[0]._replace(blocks=blocks)
    first, made = about.data[0], text("made", estimates, about)
    keys = [KeyFigure(percent(CHANCE), "", "chance", "chooses at random")]
    for lead in _ranked(estimates, about, first["dataset"])[:1]:
        note = "significantly above chance" if lead.verdict == Verdict.ABOVE else "not significantly above chance"
        keys.insert(0, KeyFigure.of(lead, lead.scorer, note, share=True))
    rater = pick(estimates, dataset=first["dataset"], scorer=RATERS)
    keys += [KeyFigure.of(row, "one rater", "against the others", share=True) for row in rater]
    keys.append(KeyFigure(count(first["pairs"]), "", "pairs of replies", f"of {count(first['contexts'])} contexts"))
    rows = [(facts["title"], *(count(facts[name]) for name in ("pairs", *_COUNTS))) for facts in about.data]
    tables = [block for section in sections for block in section.blocks if isinstance(block, Table)]
    return Layout(
        title=f"Scorers and human choices between two replies: {', '.join(facts['title'] for facts in about.data)}",
        keys=keys,
        chart=chart if isinstance(chart, Chart) else None,
        sections=[*sections, Section("Data", [table(("data set", "pairs", *_COUNTS.values()), rows)])],
        brief=[*(block for block in tables if "agreement" in block.header), Prose(made)],
        every=[*tables, Prose(made)],
        made=made,
    )


def _ranked(estimates: Iterable[Estimate], about: About, dataset: str) -> list[Estimate]:
    """Return the accuracies of the scorers that were asked for and can judge the replies, the best first.

    Baselines are left out if there are other scorers.
    """
    rows = [row for row in pick(estimates, dataset=dataset, **_TOTAL) if about.scorers[row.scorer]["asked"] and row.n]
    rows = sorted((row for row in rows if row.verdict != Verdict.OUT_OF_DOMAIN), key=lambda row: -row.value)
    return [row for row in rows if about.scorers[row.scorer]["kind"] != "baseline"] or rows


def _section(facts: Mapping[str, Any], rows: Sequence[Estimate], about: About) -> Section:
    """Return the chart of accuracies and the tables of one data set."""
    prefix = f"{facts['title']}: " if len(about.data) > 1 else ""
    able = [row for row in rows if one(rows, scorer=row.scorer, **_TOTAL).verdict != Verdict.OUT_OF_DOMAIN]
    rater = pick(rows, scorer=RATERS)

    def agreement(row: Estimate) -> str:
        return "baseline" if about.scorers[row.scorer]["kind"] == "baseline" else agreement_word(row)

    def value(row: Estimate) -> str:
        return number(row.value)

    accuracies = pivot(
        rows,
        "scorer",
        [
            Column("accuracy [low, high]", _TOTAL),
            Column("n", _TOTAL, lambda row: count(row.n)),
            Column("longer preferred", {"statistic": ACCURACY, "group": "longer"}, value),
            Column("shorter preferred", {"statistic": ACCURACY, "group": "shorter"}, value),
            Column("agreement", _TOTAL, agreement),
        ],
        title=f"{prefix}Accuracy against human choices",
        caption="Share of pairs in which a scorer chooses the reply that people prefer; by chance .50. Also of the "
        "pairs whose longer reply, in words, is preferred, and of those whose shorter one is.",
        notes=[f"One rater against the others: {interval(row)} of {pluralize(row.n, 'pair')}." for row in rater],
    )
    tests = pivot(
        able,
        "scorer",
        [
            Column("accuracy [low, high]", _TOTAL),
            Column("p, chance", _TOTAL, lambda row: p_value(row.p)),
            Column("p by Holm", _TOTAL, lambda row: p_value(row.p_adjusted)),
            Column("difference from the longer reply [low, high]", {"statistic": DIFFERENCE}),
            Column("p, longer reply", {"statistic": DIFFERENCE}, lambda row: p_value(row.p)),
        ],
        title=f"{prefix}Tests against chance and against the longer reply",
        caption="p: two-sided, by sign flips of whole contexts; by Holm: for the number of scorers asked for.",
    )
    return Section(facts["title"], [_chart(facts, able, about), accuracies, tests])


def _chart(facts: Mapping[str, Any], rows: Sequence[Estimate], about: About) -> Chart | None:
    """Return the accuracies with chance and one rater."""
    shown = sorted(pick(rows, **_TOTAL), key=lambda row: -row.value)
    kinds = {row.scorer: about.scorers[row.scorer]["kind"] for row in shown}
    return intervals(
        f"accuracy-{facts['dataset']}",
        shown,
        kinds=kinds,
        marks={"chance": Estimate(value=CHANCE)} | dict(zip(["one rater"], pick(rows, scorer=RATERS), strict=False)),
        apart=[name for name, kind in kinds.items() if kind == "baseline" or not about.scorers[name]["asked"]],
        null=CHANCE,
        xlabel="Accuracy",
        caption=f"Share of pairs of {facts['title']} in which the preferred reply is chosen.",
    )
