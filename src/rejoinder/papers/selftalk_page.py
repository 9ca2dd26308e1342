"""The page of systems that talk to themselves."""

from __future__ import annotations

from collections.abc import Sequence

from rejoinder.papers.page import About, Page, flat, written
from rejoinder.papers.published import DERIU_SYSTEMS
from rejoinder.papers.selftalk import Row, Talks
from rejoinder.records import Example
from rejoinder.report.markdown import markdown_table
from rejoinder.report.tables import text_table
from rejoinder.stats.written import interval, number

_HEADER = ["system", "turns", "judge", "first three turns", "last three", "said before", "distinct-2", "length"]
_HEADER += ["people, published"]


def page(found: Talks, about: About) -> Page:
    """The page, and its table for the terminal."""
    rows = list(map(_row, found.rows))
    dialogues = sum(len({turn.extra["dialogue_id"] for turn in turns}) for turns in found.turns.values())
    text = written(
        "selftalk",
        about,
        dialogues=dialogues,
        turns=f"{sum(map(len, found.turns.values())):,}",
        table=markdown_table(_HEADER, rows),
        shown="\n\n".join(f"### {name}\n\n{_dialogue(turns)}" for name, turns in found.turns.items()),
    )
    return Page(text, {}, text_table(_HEADER, rows, 120))


def _row(row: Row) -> list[str]:
    """A system's line of the table."""
    means = [interval(one, 2) for one in (row.judged, row.early, row.late)]
    published = DERIU_SYSTEMS.get(row.name, float("nan"))
    varied = [number(row.distinct), number(row.length, 1), number(published, 2)]
    return [row.name, f"{row.judged.n:,}", *means, f"{row.again:.0%}", *varied]


def _dialogue(turns: Sequence[Example]) -> str:
    """The first dialogue as a list, the last turn of what it began with first."""
    own = [turn for turn in turns if turn.extra["dialogue_id"] == turns[0].extra["dialogue_id"]]
    return "\n".join(f"- {flat(said)}" for said in (own[0].context[-1], *(turn.response for turn in own)))
