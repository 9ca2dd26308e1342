"""The page of what models of the user's add to the judge."""

from __future__ import annotations

from rejoinder.report.tables import Table
from research.cells import measured, plain, table
from research.judge_page import attacks_table, relevance_table
from research.page import About, Page, paper
from research.plus import EACH, EVERY, LIMIT, SEARCHES, Compared, Found


def page(found: Found, about: About) -> Page:
    """The page."""
    means = _means(found)
    first, last = found.compared[0], found.compared[-1]
    return paper(
        "plus",
        about,
        {
            "means": means,
            "each": _each(found),
            "attacks": attacks_table(found.attacks),
            "relevance": relevance_table(found.relevance),
        },
        [means],
        lines=found.lines,
        sets=len(first.each),
        without=first.mean.value,
        spearman=last.mean.value,
        models=" and ".join(found.names),
        attacked=EACH,
        every=EVERY,
        limit=LIMIT,
        searches=" and ".join(SEARCHES),
    )


def _said(one: Compared) -> str:
    """What judges read, in words."""
    return " + ".join(["own views", *one.added]) + ", attacked replies and DailyDialog++ learnt from" * one.defended


def _means(found: Found) -> Table:
    """Means over data sets, a row for what judges read."""
    return table(
        ["judges that read", "mean Spearman over sets", "within systems"],
        [[_said(one), measured(one.mean), plain(one.within)] for one in found.compared],
    )


def _each(found: Found) -> Table:
    """Spearman on each data set."""
    names = list(found.compared[0].each)
    rows = [
        [
            name,
            str(found.compared[0].each[name][0].n),
            *(measured(one.each[name][0]) for one in found.compared),
            measured(found.compared[-1].each[name][1]),
        ]
        for name in names
    ]
    header = ["set, unseen", "n", *map(_said, found.compared), f"Pearson, {_said(found.compared[-1])}"]
    return table(header, rows)
