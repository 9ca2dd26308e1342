"""Tables as text for a terminal, by one library, so that every command's tables look alike."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Iterable, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from rejoinder.io.terminal import inert

_PROSE = 16  # fewest characters of a column of prose


def text_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], width: int, *, folded: Iterable[int] = (), title: str = ""
) -> str:
    """A table as plain text with a line end after each row. No cell is ever cut.

    Args:
        header: column names.
        rows: cells. A column whose every cell reads as a number, an interval or a dash is set flush right.
        width: characters a line should have; it has more where what may not be folded needs more.
        folded: columns of prose, which may be folded to fit.
        title: a line above the table.
    """
    body, prose = [list(map(inert, row)) for row in rows], set(folded)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True, header_style="")
    needed = 0
    for place, name in enumerate(header):
        flush_right = place not in prose and all(_numeric(row[place]) for row in body)
        longest = max(map(cell_len, (name, *(row[place] for row in body))))
        least = min(longest, _PROSE) if place in prose else longest
        table.add_column(name, justify="right" if flush_right else "left", overflow="fold", min_width=least)
        needed += least + 2
    for row in body:
        table.add_row(*row)
    out = io.StringIO()
    Console(file=out, width=max(width, needed), color_system=None, markup=False, emoji=False, highlight=False).print(
        table
    )
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return "\n".join([*([title] if title else []), *lines, ""])


def prose(lines: Iterable[str], width: int) -> str:
    """Sentences for a terminal, each beginning a line and broken between words where it is longer than `width`."""
    return "".join(textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False) + "\n" for line in lines)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The same table in Markdown."""
    body = [list(row) for row in rows]
    rule = ["---:" if all(_numeric(row[place]) for row in body) else "---" for place in range(len(header))]
    return "".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in (header, rule, *body)
    )


def number(value: float, digits: int = 3) -> str:
    """A number with a fixed number of digits; an en dash where there is none."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def p_value(p: float) -> str:
    """A p-value: three digits, and below .001 only that."""
    return "–" if math.isnan(p) else "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _numeric(cell: str) -> bool:
    """Whether a cell holds nothing but numbers and the signs between them."""
    return all(character in "0123456789.,[]<– -+%" for character in cell)
