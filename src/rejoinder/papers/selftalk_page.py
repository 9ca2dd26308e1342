"""The page of systems that talk to themselves."""

from __future__ import annotations

from collections.abc import Sequence

from rejoinder.papers.page import About, paper, table
from rejoinder.papers.published import DERIU_SYSTEMS
from rejoinder.papers.selftalk import Row, Talks
from rejoinder.records import Example
from rejoinder.report.cells import count, measured, plain
from rejoinder.report.document import Cell, Document, Prose

_HEADER = ["system", "turns", "judge", "first three turns", "last three", "said before", "distinct-2", "length"]
_HEADER += ["people, published"]


def page(found: Talks, about: About) -> Document:
    """The page."""
    judged = table(_HEADER, map(_row, found.rows))
    return paper(
        "selftalk",
        about,
        {"table": judged, "shown": [_dialogue(name, turns) for name, turns in found.turns.items()]},
        [judged],
        dialogues=sum(len({turn.extra["dialogue_id"] for turn in turns}) for turns in found.turns.values()),
        turns=f"{sum(map(len, found.turns.values())):,}",
    )


def _row(row: Row) -> list[Cell | str]:
    """A system's line of the table."""
    means = [measured(one, 2) for one in (row.judged, row.early, row.late)]
    published = DERIU_SYSTEMS.get(row.name, float("nan"))
    varied = [plain(row.distinct), plain(row.length, 1), plain(published, 2)]
    return [row.name, count(row.judged.n), *means, f"{row.again:.0%}", *varied]


def _dialogue(name: str, turns: Sequence[Example]) -> Prose:
    """The first dialogue as a list, the last turn of what it began with first."""
    own = [turn for turn in turns if turn.extra["dialogue_id"] == turns[0].extra["dialogue_id"]]
    return Prose([own[0].context[-1], *(turn.response for turn in own)], name, listed=True)
