"""The page of Liu et al. 2016, table 2: responders measured by embedding metrics, and by the judge in the box."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rejoinder.report.layout import Block, Prose
from rejoinder.report.tables import Cell
from rejoinder.scoring.catalog import DEFAULT
from rejoinder.stats.figure import NOTHING
from research.cells import count, measured, nothing, plain, table
from research.liu2016_table2 import A_DIALOGUE, ALL, LENGTH, METRICS, Row, Table2
from research.page import About, Page, paper
from research.published import LIU_TABLE2

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = {"embedding-average": "average", "embedding-greedy": "greedy", "embedding-extrema": "extrema"}
_NAMES |= {DEFAULT: "judge, 1 to 5", LENGTH: "mean length"}
_SHOWN = (*METRICS, DEFAULT)
_QUOTED, _LAST_TURNS = 8, 2


def page(found: Table2, about: About) -> Page:
    """The page."""
    header = ["responder", "n", *(_NAMES[key] for key in _SHOWN)]
    printed = ["responder", *(f"{corpus}: {_NAMES[key]}" for corpus in ("Ubuntu", "Twitter") for key in METRICS)]
    known = ["answered", "perplexity", "Recall@1", "Recall@2", "Recall@5", "distinct-1", "distinct-2", "mean length"]
    signatures = [[row.name, str(row.signature)] for row in found.rows if row.signature]
    return paper(
        "liu2016-table2",
        about,
        {
            "tables": [table(header, _means(found.rows, group), group) for group in found.asked.groups()],
            "published": table(
                printed, [[name, *map(plain, (*first, *second))] for name, (first, second) in LIU_TABLE2.items()]
            ),
            "models": table(["responder", *known], map(_model, found.rows)),
            "quoted": list(_quoted(found)),
            "signatures": table(["responder", "signature"], signatures),
        },
        [table(header, _means(found.rows, ALL))],
        pictures={"means": _figure(found.rows)},
        share=f"{found.share:.0%}",
        contexts=f"{len(found.asked.examples):,}",
        a_dialogue=A_DIALOGUE,
        dialogues=f"{len(set(found.asked.dialogues.tolist())):,}",
    )


def _means(rows: Sequence[Row], group: str) -> list[list[Cell | str]]:
    """A line of the table for each responder: how many replies it has there, and the means."""
    return [
        [
            row.name,
            count(row.means[group][LENGTH].n),
            *(measured(row.means[group].get(key, NOTHING)) for key in _SHOWN),
        ]
        for row in rows
    ]


def _model(row: Row) -> list[Cell | str]:
    """What is known of a responder apart from its nearness to the truth."""
    recalls = [measured(one) for one in row.recall] or [nothing()] * 3
    length = row.means[ALL][LENGTH]
    return [
        row.name,
        count(length.n),
        plain(row.perplexity, 1),
        *recalls,
        *map(plain, row.distinct),
        measured(length, 1),
    ]


def _quoted(found: Table2) -> Iterator[Block]:
    """Contexts, evenly spread, with every reply to them."""
    asked = found.asked.examples
    for place in range(0, len(asked), max(1, len(asked) // _QUOTED)):
        before = " / ".join(asked[place].context[-_LAST_TURNS:])
        rows = [[row.name, "no reply" if row.replies[place] is None else str(row.replies[place])] for row in found.rows]
        yield Prose([f"After: {before}"])
        yield table(["responder", "reply"], rows)


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
