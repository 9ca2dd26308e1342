"""Sentences, tables and charts of an adapted judge."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from rejoinder.data.scales import in_words
from rejoinder.estimates import Estimate, Verdict, pick
from rejoinder.report.charts import curve, intervals
from rejoinder.report.layout import KeyFigure, Layout, Section
from rejoinder.report.results import About
from rejoinder.report.tables import Column, pivot
from rejoinder.report.written import count, interval, sentences

JUDGE, ADAPTED, CURVE, WITHIN, BY_LENGTH = "judge", "adapted judge", "lines", " within systems", "preferred reply"


def quantity(estimate: Estimate) -> str:
    """Return the name of the quantity that is measured before and after."""
    return f"{estimate.group} preferred" if estimate.by == BY_LENGTH else estimate.statistic.removeprefix("gain in ")


def _leading(estimates: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """Return the estimates before, after and of the gain that the answer is about.

    Within systems if lines name several, because differences between systems do not count there.
    """
    measured = pick(estimates, by=["", BY_LENGTH])
    triples = list(zip(measured[::3], measured[1::3], measured[2::3], strict=True))
    within = (triple for triple in triples if triple[0].statistic == f"spearman{WITHIN}" and triple[2].known)
    return next(within, triples[0])


def text(part: str, estimates: Sequence[Estimate], about: About, **facts: Any) -> tuple[str, ...]:
    """Return the sentences of a part of the template: "answer" or "warnings"."""
    lead, scale = _leading(estimates), in_words(about.scorers[ADAPTED]["scale"])
    facts |= {"about": about, "estimates": estimates, "lead": lead, "scale": scale}
    name = quantity(lead[0]).replace("spearman", "Spearman")
    return sentences("analysis", "fit", part=part, name=name, **facts)


def layout(estimates: Sequence[Estimate], about: About) -> Layout:
    """Return the report of an adaptation."""
    options, lead = about.options, _leading(estimates)
    is_share = options["fitted_to"] == "choices"
    write = partial(interval, share=is_share)
    measured, points = pick(estimates, by=["", BY_LENGTH]), pick(estimates, by=CURVE)
    measured.sort(key=lambda estimate: WITHIN not in estimate.statistic)
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
    learned = pivot(points, "group", [Column(name, {}, write)], heading="fitted on", in_order=True)
    shown = "significant" if lead[2].verdict in (Verdict.ABOVE, Verdict.BELOW) else "not significant"
    contexts = f"of {about.counts['contexts']:,} contexts"
    return Layout(
        title="An adapted judge",
        keys=[
            KeyFigure.of(lead[2], f"gain, {quantity(lead[0])}", shown, share=is_share, signed=True),
            KeyFigure(count(about.counts["lines"]), "", options["fitted_to"], contexts),
        ],
        chart=intervals(
            "gain",
            [*pick(measured, scorer=ADAPTED, versus=""), *pick(measured, scorer=JUDGE)],
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
