"""The page of what a few ratings of one's own buy."""

from __future__ import annotations

from rejoinder.papers.fit import DRAWS, FIGURES, PAIRS, PAIRS_FITTED, Found
from rejoinder.papers.page import About, paper, table
from rejoinder.report.cells import count, measured, share
from rejoinder.report.document import Cell, Document, Table

_AS_SHARES = ("in the interval", "spread")


def page(found: Found, about: About) -> Document:
    """The page."""
    ratings, choices = _ratings(found), _choices(found)
    tables = {"ratings": ratings, "choices": choices}
    return paper(
        "fit", about, tables, [ratings, choices], draws=DRAWS, fitted=PAIRS_FITTED, pairs=found.pairs, of=PAIRS
    )


def _ratings(found: Found) -> Table:
    """A row a number of ratings."""
    rows: list[list[Cell | str]] = []
    for one in found.ratings:
        figures = [measured(one.means[name], share=name in _AS_SHARES) for name in FIGURES]
        rows.append([count(one.size), count(one.sets), *figures, share(one.kept)])
    header = ["ratings", "sets", *("Spearman " * (name in FIGURES[:3]) + name for name in FIGURES), "kept"]
    return table(header, rows)


def _choices(found: Found) -> Table:
    """A row a kind of pair."""
    rows = [
        [one.which, count(one.after.n), measured(one.before, share=True), measured(one.after, share=True)]
        for one in found.choices
    ]
    return table(["pairs", "asked", "before", "after"], rows)
