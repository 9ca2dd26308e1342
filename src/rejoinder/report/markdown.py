"""A document in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rejoinder.report.document import Block, Case, Cell, Document, Prose, Section, Table, numeric, one_line
from rejoinder.report.document import Cases as CasesBlock

# What Markdown would take for markup: code, emphasis, formulas, references to links, elements and characters of HTML.
_MARKS = re.compile(r"[`*~$\\]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[])|<(?=[A-Za-z/!?])|&(?=#?\w+;)")
_ENTITIES = {"<": "&lt;", "&": "&amp;"}
# At the beginning of a line: a heading, a list, a rule, a quotation, the target of a link.
_FIRST = re.compile(r"(\d*)([#+.)-](?=[\s#-]|$)|[>\[])")
_LAST_TURNS = 3


def markdown(document: Document) -> str:
    """The document with all that it holds but pictures, which the HTML page has."""
    parts = [f"# {escaped(document.title)}", *map(_paragraph, document.answer), _paragraph(document.about)]
    parts += [body(document.sections), "## How this was made", *map(_paragraph, document.made)]
    if document.command:
        parts.append(f"    {one_line(document.command)}")
    parts.append("\n".join(f"- {_code(str(one))}" for one in document.signatures.values()))
    return _joined(parts)


def body(sections: Iterable[Section]) -> str:
    """Sections with all that they hold."""
    return _joined(part for one in sections for part in (f"## {escaped(one.title)}", contents(one.blocks)))


def contents(blocks: Iterable[Block]) -> str:
    """What stands in a section."""
    return _joined(part for block in blocks for part in _block(block))


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
        if block.listed:
            yield "\n".join(f"- {_paragraph(one)}" for one in block.said)
        else:
            yield from map(_paragraph, block.said)
    elif isinstance(block, CasesBlock):
        yield _heading(block.title)
        for name, cases in block.groups.items():
            yield f"**{escaped(name)}**"
            yield from map(_case, cases)


def _case(case: Case) -> str:
    """A quoted conversation."""
    turns = [f"– {escaped(turn)}" for turn in case.turns[-_LAST_TURNS:]]
    replies = [f"{escaped(who)}: {escaped(text)}" for who, text in case.replies]
    return "\n>\n".join(f"> {line}" for line in (f"**{escaped(case.what)}**: {escaped(case.said)}", *turns, *replies))


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
