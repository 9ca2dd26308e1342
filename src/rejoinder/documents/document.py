"""What a report says, and nothing of how it looks: one document, which every format is made of.

A report is one function that returns a `Document`; `files.py` names the renderers, one a format.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rejoinder.stats.figure import Figure, interval

_SIGNS = frozenset("0123456789.,[]<–± -+%")


class Cell(NamedTuple):
    """What a table shows at one place.

    Attributes:
        text: as it is read.
        note: how the figure came about, for hovering and for readers of the page's source; "" where that is plain.
        value: what the column is sorted by where it is a number; None sorts by text.
        strong: whether it stands out.
        figure: what was measured, with its interval; None where that is not known.
    """

    text: str
    note: str = ""
    value: float | None = None
    strong: bool = False
    figure: Figure | None = None


class Table(NamedTuple):
    """A table with its caption.

    Attributes:
        title: its heading; "" where that of its section is enough.
        caption: what it shows and how its figures were worked out.
        header: column names; the first column names the row.
        rows: cells, as many as there are columns.
        spare: columns that a narrow window does without, the first to go first.
        folded: columns of prose, which may be folded to fit a window.
        notes: sentences below it.
        split: how many columns stay and how many go together where a window that is too narrow gets several tables;
            0 go together where it gets one.
    """

    title: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    spare: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()
    notes: Sequence[str] = ()
    split: tuple[int, int] = (0, 0)

    @property
    def texts(self) -> list[list[str]]:
        """The rows as they are read."""
        return [[cell.text for cell in row] for row in self.rows]

    def numeric(self, column: int) -> bool:
        """Whether a column holds figures, which are set flush right."""
        return numeric(row[column].text for row in self.rows)


class Prose(NamedTuple):
    """Words.

    Attributes:
        said: a paragraph each.
        title: their heading, or "".
        listed: whether they are points of a list, in small type.
        marked: whether they are Markdown that we wrote: emphasis, code, links. Else nothing in them is markup.
    """

    said: Sequence[str]
    title: str = ""
    listed: bool = False
    marked: bool = False


class Picture(NamedTuple):
    """A drawing.

    Attributes:
        drawn: HTML or SVG, which says in words what it shows.
        seen: what there is to see, in a sentence; stands below it.
        kinds: the looks of its points, and what they mean.
        limits: the looks of its lines and bands, and what they mean.
        file: what it is called where it stands in a file of its own, beside a page in Markdown; "" where it has none.
    """

    drawn: str
    seen: str
    kinds: Mapping[str, str] = {}
    limits: Mapping[str, str] = {}
    file: str = ""


class Gallery(NamedTuple):
    """Small drawings side by side.

    Attributes:
        title: their heading.
        pictures: one or more.
        said: what all have in common, or "".
    """

    title: str
    pictures: Sequence[Picture]
    said: str = ""


class Case(NamedTuple):
    """A quoted piece of a conversation.

    Attributes:
        what: why it is shown, in a few words.
        said: what is known of it.
        turns: what was said before, oldest first.
        replies: the reply that it is about, then those to compare it with, each with what it is.
    """

    what: str
    said: str
    turns: Sequence[str]
    replies: Sequence[tuple[str, str]]


class Cases(NamedTuple):
    """Quoted conversations.

    Attributes:
        title: their heading.
        groups: by whose they are.
    """

    title: str
    groups: Mapping[str, Sequence[Case]]


Block = Prose | Table | Picture | Gallery | Cases


class Section(NamedTuple):
    """A part of a document.

    Attributes:
        title: its heading; "" for what stands before all parts.
        blocks: what stands below it.
    """

    title: str
    blocks: Sequence[Block]

    @property
    def tables(self) -> list[Table]:
        """Its tables."""
        return [block for block in self.blocks if isinstance(block, Table)]


class KeyFigure(NamedTuple):
    """A figure to remember.

    Attributes:
        value: the figure.
        interval: its interval, or "".
        what: what it is of.
        note: how it may be read.
    """

    value: str
    interval: str
    what: str
    note: str

    @classmethod
    def of(
        cls, one: Figure, what: str, note: str, *, digits: int = 2, share: bool = False, signed: bool = False
    ) -> KeyFigure:
        """That of a measured number."""
        value, _, ends = interval(one, digits, share=share, signed=signed).partition(" [")
        return cls(value, f"[{ends}" if ends else "", what, note)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What one report says.

    Attributes:
        title: what it is, and of what.
        question: what it answers; stands above the answer on a page.
        answer: sentences, the first of which is enough for those in a hurry; none where there is no one answer.
        sections: all it has to tell.
        about: what the answer is about, in a sentence, or "".
        keys: the figures of the first screen.
        picture: the drawing of the first screen.
        made: how it came about, in sentences.
        command: the call that made it, or "".
        signatures: where its scores came from, by scorer.
        brief: what a terminal shows below the answer; empty: every table and how it was made.
        every: what a terminal shows where all was asked for; empty: as above.
        results: one mapping of plain values a figure, the same keys in each; empty: the numbers in the tables.
        record: the whole as plain JSON values; empty: what it says and the results.
        lines: what was looked at one by one, for JSON lines; None where there is no such thing.
    """

    title: str
    question: str
    answer: Sequence[str]
    sections: Sequence[Section]
    about: str = ""
    keys: Sequence[KeyFigure] = ()
    picture: Picture | None = None
    made: Sequence[str] = ()
    command: str = ""
    signatures: Mapping[str, object] = field(default_factory=dict)
    brief: Sequence[Block] = ()
    every: Sequence[Block] = ()
    results: Sequence[Mapping[str, Any]] = ()
    record: Mapping[str, Any] = field(default_factory=dict)
    lines: Iterable[Mapping[str, Any]] | None = None

    @property
    def drawings(self) -> list[Picture]:
        """The pictures that have a file of their own."""
        blocks = (block for section in self.sections for block in section.blocks)
        return [block for block in blocks if isinstance(block, Picture) and block.file]


def numeric(texts: Iterable[str]) -> bool:
    """Whether texts are nothing but numbers and the signs between them."""
    return all(_SIGNS.issuperset(text) for text in texts)


def one_line(text: str) -> str:
    """`text` without line ends, which would end a table's row, a heading or a comment."""
    return " ".join(text.split())
