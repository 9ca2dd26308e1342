"""Sentences, tables and charts of a study of preference pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from rejoinder.analysis.scored import RATERS
from rejoinder.estimates import Estimate, Verdict, one, pick
from rejoinder.report.charts import intervals
from rejoinder.report.layout import Chart, KeyFigure, Layout, Section
from rejoinder.report.results import About
from rejoinder.report.sentences import sentences
from rejoinder.report.tables import Column, Table, pivot, table
from rejoinder.report.written import count, interval, p_value, percent, pluralize
from rejoinder.scoring.domain import without_domain
from rejoinder.scoring.noted import noted

ACCURACY, DIFFERENCE, OF_RATER = "accuracy", "difference of accuracy", "accuracy of one rater"
LENGTH, CHANCE = "length", 0.5
_TOTAL = {"statistic": ACCURACY, "by": ""}
_WORDS = {Verdict.ABOVE: "yes", Verdict.BELOW: "the reverse"}
_share = partial(interval, share=True)


def answer(estimates: Sequence[Estimate], about: About) -> tuple[str, ...]:
    """Return the answer in sentences, for one data set after the other."""
    asked, names = about.options["scorers"], [facts["dataset"] for facts in about.data]
    sets = [
        {
            "dataset": name if len(names) > 1 else "",
            "estimates": pick(estimates, dataset=name),
            "ranked": _ranked(estimates, about, name),
            "outside": [scorer for scorer in asked if name in about.scorers[scorer]["out_of_domain"]],
        }
        for name in names
    ]
    kinds = {name: facts["kind"] for name, facts in about.scorers.items()}
    return sentences("analysis", "preferences", sets=sets, kinds=kinds)


def layout(estimates: Sequence[Estimate], about: About) -> Layout:
    """Return the report of a study of pairs."""
    titles = ", ".join(facts["title"] for facts in about.data)
    parts = [(facts, pick(estimates, dataset=facts["dataset"])) for facts in about.data]
    many = len(parts) > 1
    sections = [
        Section(facts["title"], [_chart(rows, about, facts) if place else None, *_tables(rows, about, facts, many)])
        for place, (facts, rows) in enumerate(parts)
    ]
    tables = [block for section in sections for block in section.blocks if isinstance(block, Table)]
    return Layout(
        title=f"Scorers against human choices between two replies: {titles}",
        keys=_keys(parts[0][1], about, about.data[0]),
        chart=_chart(parts[0][1], about, about.data[0]),
        sections=[*sections, Section("Data", [_data(about.data)])],
        brief=tables[::2],
        every=tables,
        made=_made(about),
    )


def _ranked(estimates: Iterable[Estimate], about: About, dataset: str) -> list[Estimate]:
    """Return the accuracies of the scorers that were asked for and can judge the replies, the best first.

    Baselines are left out if there are other scorers.
    """
    rows = [row for row in pick(estimates, dataset=dataset, **_TOTAL) if about.scorers[row.scorer]["asked"] and row.n]
    rows = sorted((row for row in rows if row.verdict != Verdict.OUT_OF_DOMAIN), key=lambda row: -row.value)
    return [row for row in rows if about.scorers[row.scorer]["kind"] != "baseline"] or rows


def _keys(rows: Sequence[Estimate], about: About, facts: Mapping[str, Any]) -> list[KeyFigure]:
    """Return the numbers of the first screen."""
    keys = []
    for lead in _ranked(rows, about, facts["dataset"])[:1]:
        note = "significantly above chance" if lead.verdict == Verdict.ABOVE else "not significantly above chance"
        keys.append(KeyFigure.of(lead, lead.scorer, note, share=True))
    keys.append(KeyFigure(percent(CHANCE), "", "chance", "chooses at random"))
    keys += [KeyFigure.of(row, "one rater", "against the others", share=True) for row in pick(rows, scorer=RATERS)]
    return [*keys, KeyFigure(count(facts["pairs"]), "", "pairs of replies", f"to {count(facts['contexts'])} contexts")]


def _chart(rows: Sequence[Estimate], about: About, facts: Mapping[str, Any]) -> Chart | None:
    """Return the accuracies with chance and one rater."""
    shown = sorted(pick(rows, **_TOTAL), key=lambda row: -row.value)
    shown = [row for row in shown if row.verdict != Verdict.OUT_OF_DOMAIN]
    kinds = {row.scorer: about.scorers[row.scorer]["kind"] for row in shown}
    ranked = _ranked(rows, about, facts["dataset"])
    above = sum(row.verdict == Verdict.ABOVE for row in ranked)
    return intervals(
        f"accuracy-{facts['dataset']}",
        shown,
        kinds=kinds,
        marks={"one rater": row for row in pick(rows, scorer=RATERS)},
        apart=[name for name, kind in kinds.items() if kind == "baseline" or not about.scorers[name]["asked"]],
        null=CHANCE,
        xlabel="Share of pairs in which the preferred reply is chosen",
        caption=f"{above} of {pluralize(len(ranked), 'scorer')} significantly above chance.",
    )


def _tables(rows: Sequence[Estimate], about: About, facts: Mapping[str, Any], many: bool) -> list[Table | None]:
    """Return the tables of accuracies and of tests."""
    name = f"{facts['title']}: " if many else ""

    def agreement(row: Estimate) -> str:
        if about.scorers[row.scorer]["kind"] == "baseline":
            return "baseline"
        return _WORDS.get(row.verdict, str(row.verdict))

    rater = [f"One rater against the others: {interval(row)}, n = {row.n:,}." for row in pick(rows, scorer=RATERS)]
    accuracies = pivot(
        rows,
        "scorer",
        [
            Column("accuracy [low, high]", _TOTAL),
            Column("n", _TOTAL, lambda row: count(row.n)),
            Column("longer preferred", {"statistic": ACCURACY, "group": "longer"}, lambda row: f"{row.value:.2f}"),
            Column("shorter preferred", {"statistic": ACCURACY, "group": "shorter"}, lambda row: f"{row.value:.2f}"),
            Column("agreement", _TOTAL, agreement),
        ],
        title=f"{name}Accuracy against human choices",
        caption="Share of pairs in which a scorer chooses the reply that people prefer; by chance .50. Also of the pairs "
        "whose longer reply, in words, is preferred, and whose shorter one is. length chooses the longer reply.",
        notes=rater,
    )
    able = [row for row in rows if one(rows, scorer=row.scorer, **_TOTAL).verdict != Verdict.OUT_OF_DOMAIN]
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
        title=f"{name}Tests against chance and against the longer reply",
        caption="p: two-sided, by sign flips of whole contexts; by Holm: for the number of scorers asked for.",
    )
    return [accuracies, tests]


def _data(data: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of the data sets."""
    names = ("pairs", "ties", "contexts", "votes", "longer", "shorter", "empty")
    header = ("data set", *names[:3], "single votes", "longer preferred", "shorter preferred", "empty reply")
    return table(header, [(facts["title"], *(count(facts[name]) for name in names)) for facts in data])


def _made(about: About) -> list[str]:
    """Return what was counted, and how."""
    made = []
    for facts in about.data:
        name = f"{facts['title']}: " if len(about.data) > 1 else ""
        ties = f"; {facts['ties']:,} of them are ties and are left out" if facts["ties"] else ""
        empty = f"; an empty reply is the worse one ({pluralize(facts['empty'], 'pair')})" if facts["empty"] else ""
        lines = f"; {facts['lines']:,} lines hold them, and the lines of a pair are averaged"
        again = lines if facts["lines"] > facts["pairs"] else ""
        pairs = f"{pluralize(facts['pairs'], 'pair')} of {pluralize(facts['contexts'], 'context')}"
        made.append(f"{name}{pairs}{ties}{empty}{again}.")
    warnings = {name: facts.get("warnings", {}) for name, facts in about.scorers.items()}
    outside = [name for name, facts in about.scorers.items() if facts.get("out_of_domain")]
    replies = 2 * sum(facts["lines"] for facts in about.data)
    return [
        *made,
        *(f"{line}." for line in noted(without_domain(warnings, outside), replies)),
        "Accuracy: the preferred reply has the higher score; equal scores are half right. [low, high]: 95 % interval "
        f"over {about.options['resamples']:,} resamples of contexts, seed {about.options['seed']}.",
    ]
