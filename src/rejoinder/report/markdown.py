"""Results in Markdown."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rejoinder.report.html import templates
from rejoinder.report.layout import Section
from rejoinder.report.record import Made, made
from rejoinder.report.tables import numeric
from rejoinder.report.written import one_line

if TYPE_CHECKING:
    from rejoinder.report.record import Record

# What Markdown would take for markup: code, emphasis, formulas, references to links, elements and characters of HTML.
_MARKS = re.compile(r"[`*~$\\]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[])|<(?=[A-Za-z/!?])|&(?=#?\w+;)")
_ENTITIES = {"<": "&lt;", "&": "&amp;"}
# At the beginning of a line: a heading, a list, a rule, a quotation, the target of a link.
_FIRST = re.compile(r"(\d*)([#+.)-](?=[\s#-]|$)|>|\[(?=.*\]:\s*(?:<|\S*\s*$|\S+\s+[\"'(])))")


def markdown(results: Record, command_line: str = "") -> str:
    """Return everything but the charts."""
    title, gate = results.layout.title or f"rejoinder {results.command}", [results.gate.text] if results.gate else []
    sentences = [*results.answer[:1], *gate, *results.warnings, *results.answer[1:]]
    return page(title, results.layout.sections, made(results, command_line), sentences)


def page(title: str, sections: Sequence[Section], made: Made | None = None, sentences: Sequence[str] = ()) -> str:
    """Return a page: its sentences, its sections, and how it was made."""
    pages = templates()
    pages.filters |= {"escaped": escaped, "paragraph": _paragraph, "filled": _filled, "one_line": one_line}
    pages.filters["table"] = lambda table: markdown_table(
        [*map(escaped, table.header)], [[*map(escaped, row)] for row in table.texts]
    )
    text = pages.get_template("page.md.jinja").render(title=title, sections=sections, made=made, sentences=sentences)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


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


def _paragraph(text: str) -> str:
    """Return a paragraph that begins no list, heading or other structure."""
    line = escaped(text)
    start = _FIRST.match(line)
    return f"{start[1]}\\{line[start.start(2) :]}" if start else line


def _filled(text: str) -> str:
    """Return our own Markdown in lines, an image on one."""
    return text if text.startswith("![") else textwrap.fill(text, 118, break_on_hyphens=False)
