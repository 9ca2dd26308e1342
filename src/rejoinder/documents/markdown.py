"""A document in Markdown."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rejoinder.documents.document import Block, Case, Cell, Document, Picture, Prose, Section, Table, numeric, one_line
from rejoinder.documents.document import Cases as CasesBlock

# What Markdown would take for markup: code, emphasis, formulas, references to links, elements and characters of HTML.
_MARKS = re.compile(r"[`*~$\\]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[])|<(?=[A-Za-z/!?])|&(?=#?\w+;)")
_ENTITIES = {"<": "&lt;", "&": "&amp;"}
# At the beginning of a line: a heading, a list, a rule, a quotation, the target of a link.
_FIRST = re.compile(r"(\d*)([#+.)-](?=[\s#-]|$)|>|\[(?=.*\]:\s*(?:<|\S*\s*$|\S+\s+[\"'(])))")
_LAST_TURNS = 3
_WIDE = 118  # characters of a line of our own words


def markdown(document: Document) -> str:
    """The document with all that it holds, but of pictures only those that have a file of their own."""
    parts = [f"# {escaped(document.title)}", *map(_paragraph, document.answer), _paragraph(document.about)]
    made = [*map(_paragraph, document.made), f"    {one_line(document.command)}" if document.command else ""]
    made.append("\n".join(f"- {_code(str(one))}" for one in document.signatures.values()))
    if any(made):
        made.insert(0, "## How this was made")
    return _joined([*parts, body(document.sections), *made])


def body(sections: Iterable[Section]) -> str:
    """Sections with all that they hold."""
    titles = [f"## {escaped(one.title)}" if one.title else "" for one in sections]
    contents = (_joined(part for block in one.blocks for part in _block(block)) for one in sections)
    return _joined(part for pair in zip(titles, contents, strict=True) for part in pair)


def _joined(parts: Iterable[str]) -> str:
    """Parts with an empty line between them, those left out that hold nothing."""
    return "\n\n".join(part.strip("\n") for part in parts if part.strip("\n")) + "\n"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are Markdown already."""
    body = [list(row) for row in rows]
    rule = ["---:" if numeric(row[place] for row in body) else "---" for place in range(len(header))]
    return "".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in (header, rule, *body)
    )


def escaped(text: str) -> str:
    """`text` on one line, read as it stands: nothing in it is markup."""
    return _MARKS.sub(lambda found: _ENTITIES.get(found[0], f"\\{found[0]}"), one_line(text))


def _block(block: Block) -> Iterator[str]:
    """The parts of one block."""
    if isinstance(block, Table):
        yield _heading(block.title)
        yield _paragraph(block.caption)
        yield markdown_table([*map(escaped, block.header)], [[*map(_cell, row)] for row in block.rows])
        yield from map(_paragraph, block.notes)
    elif isinstance(block, Prose):
        yield _heading(block.title)
        if block.marked:
            yield from (textwrap.fill(one, _WIDE, break_on_hyphens=False) for one in block.said)
        elif block.listed:
            yield "\n".join(f"- {_paragraph(one)}" for one in block.said)
        else:
            yield from map(_paragraph, block.said)
    elif isinstance(block, Picture):
        yield f"![{escaped(block.seen)}]({block.file})" if block.file else ""
    elif isinstance(block, CasesBlock):
        yield _heading(block.title)
        for name, cases in block.groups.items():
            yield f"**{escaped(name)}**" if name else ""
            yield from map(_case, cases)


def _case(case: Case) -> str:
    """A quoted conversation."""
    head = f"**{escaped(case.what)}**" + (f": {escaped(case.said)}" if case.said else "")
    turns = [f"– {escaped(turn)}" for turn in case.turns[-_LAST_TURNS:]]
    replies = [f"{escaped(who)}: {escaped(text)}" for who, text in case.replies]
    return "\n>\n".join(f"> {line}" for line in (head, *turns, *replies))


def _cell(cell: Cell) -> str:
    """A cell of a table."""
    return f"**{escaped(cell.text)}**" if cell.strong else escaped(cell.text)


def _paragraph(text: str) -> str:
    """A paragraph, which begins nothing else."""
    found = _FIRST.match(said := escaped(text))
    return f"{found[1]}\\{said[found.start(2) :]}" if found else said


def _heading(text: str) -> str:
    """The heading of a block, or nothing."""
    return f"### {escaped(text)}" if text else ""


def _code(text: str) -> str:
    """`text` on one line, as code."""
    return f"`{one_line(text).replace('`', '')}`"
