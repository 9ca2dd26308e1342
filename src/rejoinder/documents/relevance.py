"""Relevant against irrelevant replies as a document."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rejoinder.auditing.relevance_results import CHANCE, KINDS, STATISTICS, Relevance, Told
from rejoinder.documents.audit import case_of
from rejoinder.documents.cells import count, measured, nothing
from rejoinder.documents.chart import Mark, Point, chart
from rejoinder.documents.document import Cases, Cell, Document, KeyFigure, Picture, Prose, Section, Table
from rejoinder.stats.figure import Figure, interval


def relevance_document(found: Relevance, files: Sequence[str] = (), command: str = "") -> Document:
    """The document.

    Args:
        found: the figures.
        files: what they are of.
        command: the call that made them.
    """
    record, on = found.to_dict(), f" on {', '.join(files)}" if files else ""
    table = _table(found)
    made = [
        *(f"{name}: {how}." for name, how in STATISTICS.items()),
        f"[low, high]: 95 % interval. Seed {found.seed}.",
    ]
    groups = {f"Beside {KINDS[kind]}": [case_of(one, _REPLIES) for one in own] for kind, own in found.worst.items()}
    return Document(
        title=f"Does {found.scorer} tell relevant replies{on}?",
        question=f"Does {found.scorer} tell relevant from irrelevant replies?",
        answer=found.answer,
        about="; ".join(files),
        keys=[
            KeyFigure.of(one, "of pairs right", f"beside {KINDS[one.irrelevant]}", share=True)
            for one in found.results
            if one.statistic == "pairs" and one.known and not found.out_of_domain
        ],
        picture=None if found.out_of_domain else _picture(found),
        sections=[
            Section("Figures", [table]),
            Section("Worst pairs", [Cases("", groups)] if any(groups.values()) else []),
        ],
        made=made,
        command=command,
        signatures={found.scorer: found.signature},
        brief=[table, Prose([*made, str(found.signature)])],
        results=[{**row, "thresholds": None} for row in record["results"]],
        record=record,
    )


_REPLIES = ("Relevant", "Irrelevant")


def _picture(found: Relevance) -> Picture:
    """A row a figure, with chance and what was published."""
    points = [
        Point(f"{one.statistic}, {one.irrelevant}", one, "judge", f"{interval(one, share=True)} of {one.n:,}")
        for one in found.results
        if one.known
    ]
    marks = [Mark("chance", Figure(value=CHANCE))]
    marks += [Mark("DEB, single replies", Figure(value=one.published)) for one in found.results if _is_published(one)]
    drawn = chart("Relevant against irrelevant replies", points, marks, axis="Share that is right", percent=True)
    return Picture(drawn, "How often a relevant reply is told from an irrelevant one.", {"judge": found.scorer})


def _table(found: Relevance) -> Table:
    """A row a figure."""
    rows = tuple(
        (
            Cell(one.statistic, one.method),
            Cell(KINDS[one.irrelevant]),
            count(one.n),
            measured(one, note=one.method, why=one.reason),
            Cell(f"{one.published:.4f}", "Sai et al. (2020)", one.published) if _is_published(one) else nothing(),
        )
        for one in found.results
    )
    return Table("", "", ("of", "beside", "n", "right [low, high]", "DEB, published"), rows, folded=("beside",))


def _is_published(one: Told) -> bool:
    """Whether there is a published figure of the kind."""
    return not np.isnan(one.published)
