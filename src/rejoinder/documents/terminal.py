"""A document for a terminal: what fits its width, and what can be spared last."""

from __future__ import annotations

from rejoinder.documents.document import Block, Case, Cases, Document, Prose, Table
from rejoinder.documents.tables import fits, narrowed, text_table


def terminal(document: Document, width: int, *, every: bool = False) -> str:
    """The answer, and below it what the document names for a terminal; with `every` all of it."""
    blocks = (document.every if every else document.brief) or _all(document)
    parts = ["\n".join(filter(None, [*document.answer, document.about])), *(_block(one, width) for one in blocks)]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _all(document: Document) -> list[Block]:
    """Every table, each named after its section where that has no name of its own, and how it was made."""
    tables = [
        one._replace(title=f"{section.title}: {one.title}" if one.title else section.title)
        for section in document.sections
        for one in section.tables
    ]
    return [*tables, Prose(document.made)]


def _block(block: Block, width: int) -> str:
    """A block; pictures are for a page."""
    if isinstance(block, Table):
        return "\n\n".join("\n".join([_table(one, width), *one.notes]) for one in _parts(block, width))
    if isinstance(block, Prose):
        return "\n".join([*filter(None, [block.title]), *block.said])
    if isinstance(block, Cases):
        return "\n\n".join([block.title, *(_case(one) for cases in block.groups.values() for one in cases)])
    return ""


def _table(table: Table, width: int) -> str:
    """A table without the columns that can be spared, where it is too wide with them."""
    header, rows = narrowed(table.header, table.texts, width, table.spare)
    folded = [place for place, name in enumerate(header) if name in table.folded]
    return text_table(header, rows, width, folded=folded, title=table.title).rstrip("\n")


def _parts(table: Table, width: int) -> list[Table]:
    """The table, or several where it goes into parts and is too wide as a whole."""
    stay, together = table.split
    if not together or fits(table.header, table.texts, width):
        return [table]
    return [
        table._replace(
            header=table.header[:stay] + table.header[first : first + together],
            rows=tuple(row[:stay] + row[first : first + together] for row in table.rows),
        )
        for first in range(stay, len(table.header), together)
    ]


def _case(case: Case) -> str:
    """A quoted conversation."""
    replies = [f"  {who}: {text}" for who, text in case.replies]
    return "\n".join([f"{case.what}: {case.said}", *(f"  – {turn}" for turn in case.turns), *replies])
