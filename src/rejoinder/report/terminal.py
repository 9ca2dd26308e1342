"""Results for a terminal: the answer, and tables that fit its width."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable

from rejoinder.report.layout import Block, Case, Chart, Prose
from rejoinder.report.tables import Table, numeric
from rejoinder.text.normalize import escape_controls

if TYPE_CHECKING:
    from rejoinder.report.record import Record

_PROSE, _GAP = 16, 2  # fewest characters of a column of prose; those between two columns
_HANG = re.compile(r" *(\S+(?: \S+)? {2,})?")
# Where lines may be broken: not inside an interval, but in a signature that is longer than a line.
_SPACES, _SIGNATURES = re.compile(r"(\s+(?!-?[\d.]+\]))"), re.compile(r"(\s+(?!-?[\d.]+\])|(?<=\|))")


def terminal(results: Record, width: int, *, every: bool = False) -> str:
    """Return the answer, the warnings and the short tables, or with `every` all tables, in lines of `width`."""
    layout = results.layout
    blocks = (layout.every if every else layout.brief) or [*layout.tables, Prose(layout.made)]
    head, rest = [*results.answer[:1], *results.warnings], "\n".join(results.answer[1:])
    first = [*head, rest] if layout.first is None else [*head, "", _block(layout.first, width).strip("\n"), "", rest]
    parts = ["\n".join(first), blocks_text(blocks, width).strip("\n")]
    return escape_controls("\n\n".join(part.rstrip("\n") for part in parts if part) + "\n")


def blocks_text(blocks: Iterable[Block | None], width: int) -> str:
    """Return blocks as text with an empty line between them."""
    parts = [_block(block, width).strip("\n") for block in blocks if block is not None]
    return "\n\n".join(filter(None, parts)) + "\n"


def _block(block: Block, width: int) -> str:
    """Return a block as text; charts are for pages."""
    if isinstance(block, Table):
        header, rows = narrowed(block.header, block.texts, width, block.spare)
        folded = [place for place, name in enumerate(header) if place and not numeric(row[place] for row in rows)]
        text = text_table(header, rows, width, folded=folded, title=block.title)
        return "\n".join([text.rstrip("\n"), *block.notes])
    if isinstance(block, Prose):
        return "\n".join([*filter(None, [block.title]), *block.sentences])
    return "" if isinstance(block, Chart) else "\n\n".join([block.title, *map(_case, block.cases)])


def _case(case: Case) -> str:
    """Return a quoted line as text."""
    first = f"{case.group}: {case.why}: {case.facts}" if case.group else f"{case.why}: {case.facts}"
    return "\n  ".join([first, *(f"– {turn}" for turn in case.context), *map(": ".join, case.replies)])


def text_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], width: int, *, folded: Iterable[int] = (), title: str = ""
) -> str:
    """Return a table as plain text. No cell is cut, and none is broken inside a word.

    Columns of numbers are aligned right. The columns `folded` are prose, which may be broken into lines to fit `width`;
    if that is not enough, each row becomes a block of lines. `title` is a line above the table.
    """
    body, prose = [list(map(escape_controls, row)) for row in rows], set(folded)
    columns = list(zip(header, *body, strict=True))
    longest = [max(map(cell_len, column)) for column in columns]
    widths = [
        min(size, max(_PROSE, *(cell_len(word) for text in columns[place] for word in text.split())))
        if place in prose else size
        for place, size in enumerate(longest)
    ]  # fmt: skip
    room = width - sum(widths) - _GAP * (len(widths) - 1)
    if room < 0:
        return _blocks(header, body, width, title)
    # The library would take from all columns alike, and then crop those of a single word.
    while room and (short := [place for place in prose if widths[place] < longest[place]]):
        widths[max(short, key=lambda place: longest[place] / widths[place])] += 1
        room -= 1
    table = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True, header_style="")
    for place, (name, *cells) in enumerate(columns):
        right = place not in prose and numeric(cells)
        table.add_column(name, justify="right" if right else "left", overflow="fold", width=widths[place])
    for row in body:
        table.add_row(*row)
    out = io.StringIO()
    Console(file=out, width=width, color_system=None, markup=False, emoji=False, highlight=False).print(table)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return "\n".join([*([title] if title else []), *lines, ""])


def narrowed(
    header: Sequence[str], rows: Sequence[Sequence[str]], width: int, spare: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """Return a table without as many of the columns `spare`, from the first on, as it takes to fit `width`."""
    columns = {place: [name, *(row[place] for row in rows)] for place, name in enumerate(header)}
    for name in filter(header.__contains__, spare):
        if sum(max(map(cell_len, column)) + _GAP for column in columns.values()) - _GAP <= width:
            break
        columns.pop(header.index(name), None)
    head, *body = map(list, zip(*columns.values(), strict=True))
    return head, body


def _blocks(header: Sequence[str], rows: Iterable[Sequence[str]], width: int, title: str) -> str:
    """Return a table for a narrow window: for each row a block with its first cell as heading, and a line a cell.

    Names of columns are left of their cells, or above them if that leaves too little room.
    """
    wide = max(map(cell_len, header[1:]), default=0) + 4
    above = wide > width / 2
    lines = [title] if title else []
    for first, *cells in rows:
        lines += ["", first] if lines else [first]
        for name, cell in zip(header[1:], cells, strict=True):
            if cell.strip("– ") and above:
                lines += [f"  {name}:", *_broken(cell, width, "", "    ")]
            elif cell.strip("– "):
                lines += _broken(cell, width, f"  {name:<{wide - 2}}", " " * wide)
    return "\n".join([*lines, ""])


def prose(text: str, width: int) -> str:
    """Return `text` with long lines broken between words; they go on below their beginning.

    A line that begins with a name and two spaces goes on below what comes after these.
    """
    lines = []
    for line in text.split("\n"):
        hang = _HANG.match(line)
        lines += _broken(line, width, "", " " * len(hang[0] if hang else ""))
    return "\n".join(lines)


def _broken(text: str, width: int, first: str, rest: str) -> list[str]:
    """Return `text` in lines that break no word, `first` before the first of them and `rest` before the others."""
    if cell_len(first + text) <= width:
        return [first + text]
    wrapper = textwrap.TextWrapper(
        width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
    fits = max(map(cell_len, text.split())) + len(rest) <= width
    wrapper.wordsep_simple_re = _SPACES if fits else _SIGNATURES
    return wrapper.wrap(text)
