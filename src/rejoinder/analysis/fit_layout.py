"""Sentences, tables and charts of an adapted judge."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from rejoinder.data.scales import in_words
from rejoinder.estimates import Estimate, Verdict, one, pick
from rejoinder.report.charts import curve, intervals
from rejoinder.report.layout import KeyFigure, Layout, Section
from rejoinder.report.results import About
from rejoinder.report.tables import Column, pivot
from rejoinder.report.written import count, interval, number, percent, sentences

JUDGE, ADAPTED, CURVE, WITHIN = "judge", "adapted judge", "lines", " within systems"


def quantity(estimate: Estimate) -> str:
    """Return the name of the quantity that is measured before and after."""
    name = estimate.statistic.removeprefix("gain in ")
    return f"{estimate.group} preferred" if estimate.group and estimate.by != CURVE else name


def _leading(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return the estimates before, after and of the gain that the answer is about.

    Within systems if lines name several, because differences between systems do not count there.
    """
    groups = [list(estimates[place : place + 3]) for place in range(0, len(pick(estimates, versus=JUDGE)) * 3, 3)]
    return next((group for group in groups if quantity(group[0]) == f"spearman{WITHIN}" and group[2].known), groups[0])


def text(part: str, estimates: Sequence[Estimate], about: About, **facts: Any) -> tuple[str, ...]:
    """Return the sentences of a part of the template: "answer" or "warnings"."""
    lead, is_share = _leading(estimates), about.options["fitted_to"] == "choices"
    points = pick(estimates, by=CURVE)
    write = partial(interval, share=is_share)
    return sentences(
        "analysis",
        "fit",
        part=part,
        first=estimates[:3],
        lead=lead,
        about=about,
        name=quantity(lead[0]).replace("spearman", "Spearman"),
        by_length=[
            [one(estimates, scorer=s, versus="", group=g) for s in (JUDGE, ADAPTED)] for g in ("longer", "shorter")
        ],
        points=[f"{point.group}: {percent(point.value) if is_share else number(point.value)}" for point in points],
        rise=points[-1].value - points[-2].value if len(points) > 1 else None,
        figures=lambda group: (
            f"{write(group[1])} after, {write(group[0])} before (gain {write(group[2], signed=True)})"
        ),
        gain=write(lead[2], signed=True),
        scale=in_words(about.scorers[ADAPTED]["scale"]),
        **facts,
    )


def layout(estimates: Sequence[Estimate], about: About) -> Layout:
    """Return the report of an adaptation."""
    is_share = about.options["fitted_to"] == "choices"
    measured, points = pick(estimates, by=["", "preferred reply"]), pick(estimates, by=CURVE)
    measured.sort(key=lambda estimate: WITHIN not in estimate.statistic)
    write = partial(interval, share=is_share)
    lead, options = _leading(estimates), about.options
    table = pivot(
        measured,
        quantity,
        [
            Column("before", {"scorer": JUDGE}, write),
            Column("after", {"scorer": ADAPTED, "versus": ""}, write),
            Column("gain", {"versus": JUDGE}, partial(write, signed=True)),
            Column("lines", {"versus": JUDGE}, lambda estimate: count(estimate.n), spare=True),
        ],
        heading="measure",
        in_order=True,
        notes=[f"left out, {reason}: {lines:,}" for reason, lines in about.counts["left_out"].items()],
    )
    name = points[0].statistic if points else ""
    learned = pivot(
        points,
        "group",
        [Column(name, {"scorer": ADAPTED}, write)],
        heading="fitted on",
        in_order=True,
    )
    shown = "significant" if lead[2].verdict in (Verdict.ABOVE, Verdict.BELOW) else "not significant"
    after = [*pick(measured, scorer=ADAPTED, versus=""), *pick(measured, scorer=JUDGE)]
    return Layout(
        title="An adapted judge",
        keys=[
            KeyFigure.of(lead[2], f"gain, {quantity(lead[0])}", shown, share=is_share, signed=True),
            KeyFigure(
                count(about.counts["lines"]), "", f"{options['fitted_to']}", f"of {about.counts['contexts']:,} contexts"
            ),
        ],
        chart=intervals(
            "gain",
            after,
            row=quantity,
            null=0.5 if is_share else 0.0,
            xlabel="Accuracy" if is_share else "Agreement with the ratings",
            caption="The adapted judge, and hollow the judge before; each conversation scored without it.",
        ),
        sections=[
            Section("Before and after, by cross-validation", [table]),
            Section("Learning curve", [curve("learning-curve", points, xlabel="fitted on", ylabel=name), learned]),
        ][: 2 if points else 1],
        made=[
            f"{lead[2].method}; each conversation is scored by a judge that was adapted to others; "
            f"seed {options['seed']}."
        ],
    )
