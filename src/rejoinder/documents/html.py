"""A document as one HTML page that reads anywhere: nothing outside it is needed, and no script to read it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from rejoinder.documents.document import Block, Cases, Cell, Document, Gallery, Picture, Prose, Section, Table
from rejoinder.text.normalize import escape_controls

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

_PROSE = 40  # characters of a cell
_CONTENTS = 3  # sections from which on a page has a table of contents
_KINDS = {"prose": Prose, "table": Table, "picture": Picture, "gallery": Gallery, "cases": Cases}


def html(document: Document) -> str:
    """The page; texts are shown as they are, but for characters that are obeyed and not seen, now escapes."""
    parts = [section for section in document.sections if section.title]
    page = _template().render(document=document, parts=parts, contents=len(parts) >= _CONTENTS)
    return escape_controls(page)


@cache
def _template() -> Template:
    """What pages are made of."""
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("rejoinder.documents", ".")
    pages = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    pages.filters |= {"kept": _kept, "label": _label, "marked": _marked}
    pages.tests |= {name: _is(kind) for name, kind in _KINDS.items()} | {"wordy": _wordy}
    return pages.get_template("page.html.jinja")


def _is(kind: type[Block]) -> Callable[[object], bool]:
    """Whether something is a block of this kind."""
    return lambda block: isinstance(block, kind)


def _wordy(cell: Cell) -> bool:
    """Whether a cell holds more than a figure or a name."""
    return len(cell.text) > _PROSE


def _label(table: Table, section: Section) -> str:
    """What a table is called, which is unlike all others of the page."""
    return ", ".join(filter(None, [table.title, section.title]))


def _marked(text: str) -> Markup:
    """Words of our own in Markdown, as HTML."""
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    return Markup(MarkdownIt("commonmark", {"html": False}).renderInline(text))  # noqa: S704 - it escapes elements


def _kept(text: str) -> str:
    """`text` with intervals and percentages kept on one line."""
    return re.sub(r"(?<=\d) (?=%)|(?<=\[low,) (?=high\])|(?<=[\d,]) (?=-?[\d.]+\])|(?<=\d) (?=\[)", "\u00a0", text)
