"""What a report shows, without its looks. An analysis builds a `Layout`; each renderer draws it in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rejoinder.estimates import Estimate
from rejoinder.report.tables import Table
from rejoinder.report.written import interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Chart(NamedTuple):
    """A chart, drawn only when a page or a file needs it (see `charts.py`).

    `name` is that of its file, `draw` makes a figure for a width in CSS pixels, `label` is its content in words, for
    readers who cannot see it, and `caption` says what there is to see.
    """

    name: str
    draw: Callable[[int], Figure]
    label: str
    caption: str


class Case(NamedTuple):
    """A quoted line."""

    why: str  # why it is shown, in a few words
    facts: str  # its numbers and names as a sentence
    context: Sequence[str]  # the turns before the reply, oldest first
    replies: Sequence[tuple[str, str]]  # the reply first, then other texts to compare it with: each with its name
    group: str = ""  # the heading that it belongs under, such as the scorer
    values: Mapping[str, Any] = {}  # the same facts for programs: id, dataset, system, scorer, score, rating and so on


class Prose(NamedTuple):
    """Paragraphs, or the points of a list; `marked` ones are our own Markdown, for pages in Markdown."""

    sentences: Sequence[str]
    title: str = ""
    listed: bool = False
    marked: bool = False


class Cases(NamedTuple):
    """Quoted lines under a heading."""

    title: str
    cases: Sequence[Case]


Block = Table | Chart | Prose | Cases


class Section(NamedTuple):
    """A part of a page; `None` among its blocks is left out."""

    title: str
    blocks: Sequence[Block | None]


class KeyFigure(NamedTuple):
    """A number of the first screen: `value` with `interval`, what it is, and how to read it."""

    value: str
    interval: str
    what: str
    note: str

    @classmethod
    def of(
        cls, estimate: Estimate, what: str, note: str, *, digits: int = 2, share: bool = False, signed: bool = False
    ) -> KeyFigure:
        """Return the key figure of an estimate."""
        value, _, ends = interval(estimate, digits, share=share, signed=signed).partition(" [")
        return cls(value, f"[{ends}" if ends else "", what, note)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The content of a report.

    Attributes:
        title: what it is, and of which data.
        keys: the numbers of the first screen.
        chart: the chart of the first screen.
        sections: everything else of a page.
        first: what a terminal shows between the headline and the other sentences of the answer.
        brief: what a terminal shows below the answer; empty: every table.
        every: what a terminal shows with `--all`; empty: every table.
        made: how the numbers were computed, in sentences.
        lines: results of single lines, for JSON lines; None without any.
    """

    title: str = ""
    keys: Sequence[KeyFigure] = ()
    chart: Chart | None = None
    sections: Sequence[Section] = ()
    first: Block | None = None
    brief: Sequence[Block | None] = ()
    every: Sequence[Block | None] = ()
    made: Sequence[str] = ()
    lines: Iterable[Mapping[str, Any]] | None = None

    @property
    def tables(self) -> list[Table]:
        """All tables of the page; one without a title has that of its section."""
        return [
            block if block.title else block._replace(title=section.title)
            for section in self.sections
            for block in section.blocks
            if isinstance(block, Table)
        ]

    @property
    def charts(self) -> list[Chart]:
        """All charts of the page."""
        blocks = (block for section in self.sections for block in section.blocks)
        return [*([self.chart] if self.chart else []), *(block for block in blocks if isinstance(block, Chart))]
