"""The page of scores of whole conversations."""

from __future__ import annotations

from collections.abc import Sequence

from rejoinder.papers.dialogue import LAST, LENGTH, MOST, WHOLE, OfSet
from rejoinder.papers.page import About, paper, table
from rejoinder.report.cells import count, measured
from rejoinder.report.document import Document
from rejoinder.stats.figure import NOTHING
from rejoinder.stats.independent import mean_of_independent

_COLUMNS = (WHOLE, LAST, LENGTH)


def page(found: Sequence[OfSet], about: About) -> Document:
    """The page."""
    rows = [
        [one.dataset, count(one.n), count(one.given), *(measured(one.spearman.get(name, NOTHING)) for name in _COLUMNS)]
        for one in found
    ]
    means = [mean_of_independent([one.spearman[name] for one in found if name in one.spearman]) for name in _COLUMNS]
    last = ["mean of the sets", count(sum(one.n for one in found)), count(sum(one.given for one in found))]
    agreement = table(["set", "n", "of", *_COLUMNS], [*rows, [*last, *map(measured, means)]])
    return paper("dialogue", about, {"agreement": agreement}, [agreement], most=MOST)
