"""Results in Markdown."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rejoinder.report.layout import Block, Case, Chart, Prose, Section
from rejoinder.report.made import Made, made
from rejoinder.report.tables import Table, numeric
from rejoinder.report.written import one_line

if TYPE_CHECKING:
    from rejoinder.report.results import Results

# What Markdown would take for markup: code, emphasis, formulas, references to links, elements and characters of HTML.
_MARKS = re.compile(r"[`*~$\\]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[])|<(?=[A-Za-z/!?])|&(?=#?\w+;)")
_ENTITIES = {"<": "&lt;", "&": "&amp;"}
# At the beginning of a line: a heading, a list, a rule, a quotation, the target of a link.
_FIRST = re.compile(r"(\d*)([#+.)-](?=[\s#-]|$)|>|\[(?=.*\]:\s*(?:<|\S*\s*$|\S+\s+[\"'(])))")
_LAST_TURNS = 3
_WIDTH = 118  # characters of a line of our own Markdown


def markdown(results: Results, command_line: str = "") -> str:
    """Return everything but the charts."""
    layout, gate = results.layout, [results.gate.text] if results.gate else []
    title = layout.title or f"rejoinder {results.command}"
    first = [*results.answer[:1], *gate, *results.warnings, *results.answer[1:]]
    return page(title, layout.sections, made(results, command_line), first)


def page(title: str, sections: Iterable[Section], made: Made | None = None, sentences: Iterable[str] = ()) -> str:
    """Return a page: its sentences, its sections, and how it was made."""
    made = made or Made()
    parts = [f"# {escaped(title)}", *map(_paragraph, sentences), body(sections)]
    how = [*map(_paragraph, made.sentences), f"    {one_line(made.command_line)}" if made.command_line else ""]
    how.append("\n".join(f"- {_code(signature)}" for signature in made.signatures.values()))
    return _joined([*parts, "## How this was made" if any(how) else "", *how])


def body(sections: Iterable[Section]) -> str:
    """Return sections without a page around them."""
    parts = []
    for section in sections:
        blocks = [part for block in section.blocks if block is not None for part in _block(block)]
        parts += [f"## {escaped(section.title)}" if section.title and blocks else "", *blocks]
    return _joined(parts)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose cells are Markdown already."""
    lines = [list(row) for row in rows]
    rule = ["---:" if numeric(row[place] for row in lines) else "---" for place in range(len(header))]
    return "".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in (header, rule, *lines)
    )


def escaped(text: str) -> str:
    """Return `text` on one line, without markup."""
    return _MARKS.sub(lambda sign: _ENTITIES.get(sign[0], f"\\{sign[0]}"), one_line(text))


def _joined(parts: Iterable[str]) -> str:
    """Return the parts that are not empty, with an empty line between them."""
    return "\n\n".join(part.strip("\n") for part in parts if part.strip("\n")) + "\n"


def _block(block: Block) -> Iterator[str]:
    """Return the parts of a block; charts are left out."""
    if isinstance(block, Chart):
        return
    yield f"### {escaped(block.title)}" if block.title else ""
    if isinstance(block, Table):
        yield _paragraph(block.caption)
        yield markdown_table([*map(escaped, block.header)], [[*map(escaped, row)] for row in block.texts])
        yield from map(_paragraph, block.notes)
    elif isinstance(block, Prose) and block.marked:
        yield from (textwrap.fill(text, _WIDTH, break_on_hyphens=False) for text in block.sentences)
    elif isinstance(block, Prose):
        points = [_paragraph(text) for text in block.sentences]
        yield from ["\n".join(f"- {point}" for point in points)] if block.listed else points
    else:
        group = ""
        for case in block.cases:
            yield f"**{escaped(case.group)}**" if case.group not in ("", group) else ""
            group = case.group
            yield _case(case)


def _case(case: Case) -> str:
    """Return a quoted line."""
    head = f"**{escaped(case.why)}**" + (f": {escaped(case.facts)}" if case.facts else "")
    turns = [f"– {escaped(turn)}" for turn in case.context[-_LAST_TURNS:]]
    replies = [f"{escaped(who)}: {escaped(text)}" for who, text in case.replies]
    return "\n>\n".join(f"> {line}" for line in (head, *turns, *replies))


def _paragraph(text: str) -> str:
    """Return a paragraph that begins no list, heading or other structure."""
    line = escaped(text)
    start = _FIRST.match(line)
    return f"{start[1]}\\{line[start.start(2) :]}" if start else line


def _code(text: str) -> str:
    """Return `text` on one line, as code."""
    return f"`{one_line(text).replace('`', '')}`"
