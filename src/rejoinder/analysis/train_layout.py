"""Sentences, tables and charts of a training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rejoinder.analysis.verdicts import agreement_word
from rejoinder.data.scales import in_words
from rejoinder.estimates import Estimate, Verdict, pick
from rejoinder.report.charts import intervals
from rejoinder.report.layout import Block, KeyFigure, Layout, Prose, Section
from rejoinder.report.results import About
from rejoinder.report.tables import Column, Table, pivot, table
from rejoinder.report.written import count, number, sentences


def is_ahead(estimates: Sequence[Estimate], first: str, second: str) -> bool:
    """Return whether the first scorer is significantly better than the second, by Pearson and by Spearman."""
    above = pick(estimates, scorer=first, versus=second, verdict="above")
    return bool(above or pick(estimates, scorer=second, versus=first, verdict="below"))


def recommended(estimates: Sequence[Estimate], baselines: Sequence[str]) -> list[str]:
    """Return the scorers to use, the highest Spearman correlation first; none if no scorer agrees significantly.

    They are the highest and those that it is not ahead of, without those that a baseline is ahead of.
    """
    rows = [row for row in pick(estimates, statistic="spearman") if row.scorer not in baselines]
    if all(row.verdict != Verdict.ABOVE for row in rows):
        return []
    names = [row.scorer for row in sorted(rows, key=lambda row: -row.value)]
    return [name for name in names if not any(is_ahead(estimates, best, name) for best in (names[0], *baselines))]


def text(part: str, estimates: Sequence[Estimate], about: About) -> tuple[str, ...]:
    """Return the sentences of the answer or, if `part` is "made", how the numbers were computed."""
    rows = {row.scorer: row for row in pick(estimates, statistic="spearman")}
    compared = {about.scorers[name]["role"]: name for name in rows}
    use = sorted((row for name, row in rows.items() if about.scorers[name]["recommended"]), key=lambda row: -row.value)
    baseline = rows.get(compared.get("best baseline", ""))
    return sentences(
        "analysis",
        "train",
        part=part,
        rows=rows,
        about=about,
        compared=compared,
        use=use,
        baseline=baseline,
        weak=[row.scorer for row in use if baseline and not is_ahead(estimates, row.scorer, baseline.scorer)],
        estimates=estimates,
        is_ahead=is_ahead,
        scale=in_words(about.options["scale"]),
    )


def layout(estimates: Sequence[Estimate], about: About) -> Layout:
    """Return the report of a training."""
    lead, made = estimates[0], text("made", estimates, about)
    titles = {name: f"{facts['role']}: {name}" for name, facts in about.scorers.items() if "role" in facts}
    kinds = {row.scorer: about.scorers[row.scorer]["kind"] for row in pick(estimates, statistic="spearman")}
    new = lead.scorer
    figures = pivot(
        [row for row in estimates if not row.versus or row.scorer == new],
        lambda row: titles[row.versus or row.scorer],
        [
            Column("Spearman", {"statistic": "spearman"}),
            Column("Pearson", {"statistic": "pearson"}),
            Column("agreement", {"statistic": "spearman"}, agreement_word),
            Column(f"Spearman, {new} - it", {"statistic": "difference of spearman"}),
            Column(f"Pearson, {new} - it", {"statistic": "difference of pearson"}, spare=True),
        ],
        title="Cross-validation",
        heading="scorer",
        in_order=True,
    )
    fits: list[Block] = [_fit(name, facts) for name, facts in about.scorers.items() if "training" in facts]
    absent = [
        f"no {name}: {facts['left_out']}"
        for name, facts in about.scorers.items()
        if facts.get("role") == "member" and "left_out" in facts
    ]
    return Layout(
        title="A new judge",
        keys=[KeyFigure.of(lead, f"Spearman, {new}", "on conversations that it was not fitted on")],
        chart=intervals(
            "cross-validation",
            pick(estimates, statistic="spearman"),
            kinds=kinds,
            apart=[name for name, kind in kinds.items() if kind == "baseline"],
            xlabel="Spearman correlation with the ratings",
            caption="The new judge and the scorers that exist already, by cross-validation.",
        ),
        sections=[
            Section("Comparison with other scorers", [figures]),
            Section("How it was fitted", [*([Prose(absent)] if absent else []), *fits]),
        ],
        brief=[figures if lead.known else None, Prose(absent), *fits, Prose(made)],
        made=made,
    )


def _fit(name: str, facts: Mapping[str, Any]) -> Table:
    """Return a table of the parts of the data: lines, and agreement on the parts that a judge was not fitted on."""
    training, rows = facts["training"], []
    for part, lines in training["lines"].items():
        values = [training.get(part, {}).get(statistic) for statistic in ("pearson", "spearman")]
        rows.append((part, count(lines), *("" if value is None else number(value) for value in values)))
    test = training["test"]
    known = test.get("p") is not None and test["p"] < 0.05
    doubt = [] if known else [f"no significant agreement with people on the {test['n']:,} lines of the test part"]
    left_out = [f"left out, {reason}: {lost:,}" for reason, lost in training["left_out"].items()]
    parts = table(("part", "lines", "Pearson", "Spearman"), rows, title=f"Fit of {name}")
    return parts._replace(notes=(*facts["account"], *doubt, *left_out))
