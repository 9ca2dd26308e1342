"""Sentences, tables and charts of a training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rejoinder.data.scales import in_words
from rejoinder.estimates import Estimate, Verdict, one, pick
from rejoinder.report.charts import intervals
from rejoinder.report.layout import KeyFigure, Layout, Prose, Section
from rejoinder.report.results import About
from rejoinder.report.sentences import sentences
from rejoinder.report.tables import Column, Table, pivot, table
from rejoinder.report.written import count, number

ROLES = ("new judge", "bundled judge", "best metric", "best baseline")


def is_ahead(estimates: Sequence[Estimate], first: str, second: str) -> bool:
    """Return whether the first scorer is significantly better than the second, by Pearson and by Spearman."""
    rows = [
        *pick(estimates, scorer=first, versus=second),
        *(-row for row in pick(estimates, scorer=second, versus=first)),
    ]
    return len(rows) == 2 and all(row.verdict in (Verdict.ABOVE, Verdict.BELOW) and row.value > 0 for row in rows)


def recommended(estimates: Sequence[Estimate], baseline: str) -> list[str]:
    """Return the scorers to use, the highest Spearman correlation first.

    They agree with people significantly, and no scorer that does is significantly better. Baselines are never among them.
    """
    agreeing = [row for row in pick(estimates, statistic="spearman", by="") if row.verdict == Verdict.ABOVE]
    names = [row.scorer for row in sorted(agreeing, key=lambda row: -row.value)]
    return [name for name in names if name != baseline and not any(is_ahead(estimates, other, name) for other in names)]


def _called(facts: Mapping[str, Any], name: str) -> str:
    """Return the name of a candidate in a sentence."""
    if facts["role"] == "best baseline":
        return f"the baseline {name}" + " (the lower the better)" * facts["reversed"]
    return f"the {facts['role']}" + (f" ({name})" if facts["role"] == "best metric" else "")


def answer(estimates: Sequence[Estimate], about: About, reason: str) -> tuple[str, ...]:
    """Return the answer in sentences."""
    compared = {facts["role"]: name for name, facts in about.scorers.items() if facts.get("role") in ROLES}
    names = {name: _called(about.scorers[name], name) for name in compared.values()} if not reason else {}
    rows = {row.scorer: row for row in pick(estimates, statistic="spearman", by="")}
    baseline = compared.get("best baseline", "")
    use = [row for name, row in rows.items() if about.scorers[name]["recommended"]]
    return sentences(
        "analysis",
        "train",
        reason=reason,
        rows=rows,
        use=sorted(use, key=lambda row: -row.value),
        compared=compared,
        names=names,
        baseline=rows.get(baseline),
        weak=[row.scorer for row in use if baseline and not is_ahead(estimates, row.scorer, baseline)],
        needed=[row.needed for row in pick(estimates, scorer=list(rows), versus=list(rows)) if row.needed]
        if len(use) == 2
        else [],
        ahead=lambda first, second: is_ahead(estimates, first, second),
        difference=lambda first, second: one(
            estimates, scorer=first, versus=second, statistic="difference of spearman"
        ),
        about=about,
    )


def layout(estimates: Sequence[Estimate], about: About, reason: str) -> Layout:
    """Return the report of a training."""
    rows = pick(estimates, by="", versus="")
    new = next(name for name, facts in about.scorers.items() if facts.get("role") == "new judge")
    lead = one(rows, scorer=new, statistic="spearman")
    title = {name: f"{facts['role']}: {name}" for name, facts in about.scorers.items() if "role" in facts}
    figures = pivot(
        rows,
        lambda row: title[row.scorer],
        [
            Column("Spearman", {"statistic": "spearman"}),
            Column("Pearson", {"statistic": "pearson"}),
            Column("agreement", {"statistic": "spearman"}, lambda row: str(row.verdict)),
        ],
        title="Cross-validation",
        heading="scorer",
        in_order=True,
        notes=_chosen(about),
    )
    differences = pivot(
        pick(estimates, scorer=new),
        lambda row: title.get(row.versus, ""),
        [
            Column("Spearman", {"statistic": "difference of spearman"}),
            Column("Pearson", {"statistic": "difference of pearson"}),
        ],
        title="Difference (new judge - other)",
        heading="other",
        in_order=True,
    )
    fits = [_fit(estimates, name, facts) for name, facts in about.scorers.items() if "training" in facts]
    absent = [
        f"no {name}: {facts['left_out']}"
        for name, facts in about.scorers.items()
        if facts.get("role") == "member" and "left_out" in facts
    ]
    counts, blocks = about.counts, [Prose(absent), *fits, figures, differences]
    made = [] if reason else [
        f"{counts['lines']:,} lines of {counts['contexts']:,} contexts in {counts['folds']} folds of whole conversations, "
        f"each scored by a judge fitted on the other folds; {counts['unscored']:,} lines that a scorer does not score are "
        "left out.",
        f"{lead.method}; seed {about.options['seed']}.",
    ]  # fmt: skip
    kinds = {row.scorer: about.scorers[row.scorer]["kind"] for row in rows}
    return Layout(
        title="A new judge",
        keys=[]
        if reason
        else [
            KeyFigure.of(lead, f"Spearman, {new}", "on conversations that it was not fitted on"),
            KeyFigure(count(counts["lines"]), "", "rated lines", f"of {count(counts['contexts'])} contexts"),
        ],
        chart=intervals(
            "cross-validation",
            pick(rows, statistic="spearman"),
            kinds=kinds,
            apart=[name for name, kind in kinds.items() if kind == "baseline"],
            xlabel="Spearman correlation with the ratings",
            caption="The new judge and the scorers that exist already, by cross-validation.",
        ),
        sections=[
            Section("Cross-validation", [figures, differences]),
            Section("How it was fitted", [Prose(absent), *fits]),
        ],
        brief=[*blocks, Prose([*made, f"the judge answers from {in_words(about.options['scale'])}"])],
        made=made,
    )


def _fit(estimates: Sequence[Estimate], name: str, facts: Mapping[str, Any]) -> Table:
    """Return a table of the parts of the data: lines, and agreement on the parts that a judge was not fitted on."""
    training, rows = facts["training"], pick(estimates, scorer=name, by="part")
    lines = []
    for part, size in training["lines"].items():
        values = [one(rows, group=part, statistic=statistic).value for statistic in ("pearson", "spearman")]
        lines.append((part, count(size), *("" if part == "train" else number(value) for value in values)))
    test = one(rows, group="test", statistic="pearson")
    doubt = [] if test.p < 0.05 else [f"no significant agreement with people on the {test.n:,} lines of the test part"]
    left_out = [f"left out, {reason}: {lost:,}" for reason, lost in training["left_out"].items()]
    parts = table(("part", "lines", "Pearson", "Spearman"), lines, title=f"Fit of {name}")
    return parts._replace(notes=(*facts["account"], *doubt, *left_out))


def _chosen(about: About) -> list[str]:
    """Return what the folds chose, if they differ, and the direction of reversed scorers."""
    notes = []
    for name, facts in about.scorers.items():
        counts = Counter(facts.get("chosen", ())).most_common()
        folds = "the folds chose " + ", ".join(f"{chosen} ({times})" for chosen, times in counts)
        parts = [
            *(["lower is taken as better"] if facts.get("reversed") else []),
            *([folds] if len(counts) > 1 else []),
        ]
        notes += [f"{name}: {'; '.join(parts)}."] if parts else []
    return notes
