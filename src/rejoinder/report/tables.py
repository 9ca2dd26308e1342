"""Tables as text for a terminal, by one library, so that every command's tables look alike."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table


def text_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], width: int, *, right: Iterable[int] = (), title: str = ""
) -> str:
    """A table as plain text with a line end after each row.

    Args:
        header: column names.
        rows: cells; a cell too long for its column is folded.
        width: characters a line may have.
        right: columns that are set flush right, numbers mostly.
        title: a line above the table.
    """
    flush_right = set(right)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True, header_style="")
    for place, name in enumerate(header):
        whole = place == 0 or place in flush_right
        table.add_column(name, justify="right" if place in flush_right else "left", overflow="fold", no_wrap=whole)
    for row in rows:
        table.add_row(*row)
    out = io.StringIO()
    Console(file=out, width=width, color_system=None, markup=False, emoji=False, highlight=False).print(table)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return "\n".join([*([title] if title else []), *lines, ""])


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[int] = ()) -> str:
    """The same table in Markdown."""
    flush_right = set(right)
    rule = ["---:" if place in flush_right else "---" for place in range(len(header))]
    cells = [header, rule, *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in cells)


def number(value: float, digits: int = 3) -> str:
    """A number with a fixed number of digits; an en dash where there is none."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def p_value(p: float) -> str:
    """A p-value: three digits, and below .001 only that."""
    return "–" if math.isnan(p) else "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")
