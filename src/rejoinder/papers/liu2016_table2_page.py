"""The page of Liu et al. 2016, table 2: responders measured by embedding metrics, and by the judge in the box."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rejoinder.catalogue import DEFAULT
from rejoinder.papers.liu2016_table2 import A_DIALOGUE, ALL, LENGTH, METRICS, Row, Table2
from rejoinder.papers.page import About, Page, flat, written
from rejoinder.papers.published import LIU_TABLE2
from rejoinder.report.markdown import markdown_table
from rejoinder.report.tables import text_table
from rejoinder.stats.written import interval, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = {"embedding-average": "average", "embedding-greedy": "greedy", "embedding-extrema": "extrema"}
_NAMES |= {DEFAULT: "judge, 1 to 5", LENGTH: "mean length"}
_SHOWN = (*METRICS, DEFAULT)
_QUOTED, _LAST_TURNS = 8, 2


def page(found: Table2, about: About) -> Page:
    """The page, its figure, and a table for the terminal."""
    header = ["responder", "n", *(_NAMES[key] for key in _SHOWN)]
    groups = found.asked.groups()
    tables = [f"### {group}\n\n{markdown_table(header, _means(found.rows, group))}" for group in groups]
    text = written(
        "liu2016-table2",
        about,
        share=f"{found.share:.0%}",
        contexts=f"{len(found.asked.examples):,}",
        a_dialogue=A_DIALOGUE,
        dialogues=f"{len(set(found.asked.dialogues.tolist())):,}",
        tables="\n\n".join(tables),
        published=markdown_table(
            ["responder", *(f"{corpus}: {_NAMES[key]}" for corpus in ("Ubuntu", "Twitter") for key in METRICS)],
            [[name, *(number(value) for half in both for value in half)] for name, both in LIU_TABLE2.items()],
        ),
        models=markdown_table(
            [
                "responder",
                "answered",
                "perplexity",
                "Recall@1",
                "Recall@2",
                "Recall@5",
                "distinct-1",
                "distinct-2",
                "mean length",
            ],
            map(_model, found.rows),
        ),
        quoted="\n\n".join(_quoted(found)),
        signatures=markdown_table(
            ["responder", "signature"], [[row.name, f"`{row.signature}`"] for row in found.rows if row.signature]
        ),
    )
    return Page(text, {"means": _figure(found.rows)}, text_table(header, _means(found.rows, ALL), 120))


def _means(rows: Sequence[Row], group: str) -> list[list[str]]:
    """A line of the table for each responder: how many replies it has there, and the means."""
    cells = []
    for row in rows:
        means = row.means[group]
        shown = [interval(means[key]) if key in means else "–" for key in _SHOWN]
        cells.append([row.name, f"{means[LENGTH].n:,}", *shown])
    return cells


def _model(row: Row) -> list[str]:
    """What is known of a responder apart from its nearness to the truth."""
    recalls = [f"{one.value:.3f} [{one.low:.2f}, {one.high:.2f}]" for one in row.recall] or ["–"] * 3
    length = row.means[ALL][LENGTH]
    varied = [number(value) for value in row.distinct]
    return [row.name, f"{length.n:,}", number(row.perplexity, 1), *recalls, *varied, interval(length, 1)]


def _quoted(found: Table2) -> Iterator[str]:
    """Contexts, evenly spread, with every reply to them."""
    asked = found.asked.examples
    for place in range(0, len(asked), max(1, len(asked) // _QUOTED)):
        before = " / ".join(flat(turn) for turn in asked[place].context[-_LAST_TURNS:])
        rows = [
            [row.name, "no reply" if row.replies[place] is None else flat(str(row.replies[place]))]
            for row in found.rows
        ]
        yield f"After: {before}\n\n{markdown_table(['responder', 'reply'], rows)}"


def _figure(rows: Sequence[Row]) -> Figure:
    """One panel a measure: the mean of each responder with its interval."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.4 * len(_SHOWN) + 1, 0.8 + 0.25 * len(rows)), layout="constrained")
    for panel, key in zip(figure.subplots(1, len(_SHOWN), sharey=True), _SHOWN, strict=True):
        for place, row in enumerate(rows):
            mean = row.means[ALL].get(key)
            if mean is not None and not math.isnan(mean.value):
                panel.plot([mean.low, mean.high], [place, place], color="C0", linewidth=1)
                panel.plot([mean.value], [place], color="C0", marker="o", markersize=4)
        panel.set_yticks(range(len(rows)), [row.name for row in rows], fontsize="small")
        panel.set_title(_NAMES[key], fontsize="medium")
    figure.axes[0].invert_yaxis()
    return figure
