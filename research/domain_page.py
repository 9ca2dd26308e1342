"""The tables of what is out of the domain of the bundled judges."""

from __future__ import annotations

from collections.abc import Sequence

from rejoinder.report.tables import Cell, Table
from research.cells import measured, share, table
from research.domain import Measured, Row


def domain_tables(found: Measured) -> dict[str, Table]:
    """The tables by what they are called in the text of the page."""
    chat = _table(found.chat, "chat set")
    if found.chat:
        mean = ["mean of the sets", "", str(sum(row.replies for row in found.chat)), share(found.mean)]
        chat = table(list(chat.header), [*map(list, chat.rows), mean])
    return {
        "domain_chat": chat,
        "domain_others": _table(found.others, "data set"),
        "domain_support": _table(found.support, "support replies"),
        "domain_curve": _curve(found),
    }


def _curve(found: Measured) -> Table:
    """What other bounds would flag."""
    names = list(next(iter(found.curve.values()), {}))
    rows = [[share(chat), *(share(flagged[name]) for name in names)] for chat, flagged in found.curve.items()]
    return table(["mean of the chat sets", *names], rows)


def _table(rows: Sequence[Row], what: str) -> Table:
    """A table of sets."""
    cells: list[list[Cell | str]] = [
        [row.name, row.role, f"{row.replies:,}", measured(row.flagged, share=True)] for row in rows
    ]
    return table([what, "by the rule", "replies", "out of domain"], cells)
