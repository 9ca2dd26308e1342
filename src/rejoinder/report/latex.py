"""The tables of results in LaTeX, for a text that uses the package booktabs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rejoinder.report.made import masked
from rejoinder.report.tables import Table, numeric
from rejoinder.report.written import one_line
from rejoinder.text.normalize import escape_controls

if TYPE_CHECKING:
    from rejoinder.report.record import Record

_COLUMNS = 8  # of a table, at most
_PROSE = 30  # characters of a cell that is prose
_SENTENCE = re.compile(r"(?<=[.!?])\s")
_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "–": "--",
    "±": r"\ensuremath{\pm}",
}  # fmt: skip
_TABLE = r"""
\begin{{table}}\centering\small\caption{{{caption}}}
\resizebox{{\ifdim\width>\columnwidth\columnwidth\else\width\fi}}{{!}}{{\begin{{tabular}}{{{columns}}}\toprule
{head}
\midrule
{body}
\bottomrule\end{{tabular}}}}\end{{table}}
"""


def latex(results: Record, command_line: str = "") -> str:
    """Return all tables, at most eight columns each and scaled to the column where they are wider."""
    first = f"% {one_line(escape_controls(masked(command_line)))}\n% \\usepackage{{booktabs,graphicx}}\n"
    return first + "".join(map(_table, results.layout.tables))


def _table(table: Table) -> str:
    """Return one table. Spare columns are left out first, then the last ones."""
    kept = list(range(len(table.header)))
    for name in filter(table.header.__contains__, table.spare):
        if len(kept) > _COLUMNS:
            kept.remove(table.header.index(name))
    head, *body = ([row[place] for place in kept[:_COLUMNS]] for row in (table.header, *table.texts))
    caption = " ".join(filter(None, [table.title and f"{table.title}.", _SENTENCE.split(table.caption)[0]]))
    return _TABLE.format(
        caption=_tex(caption),
        columns="".join(map(_column, zip(*body, strict=True))) or "l" * len(head),
        head=_row(head),
        body="\n".join(map(_row, body)),
    )


def _column(texts: tuple[str, ...]) -> str:
    """Return the alignment of a column; prose is broken into lines."""
    return r"p{4cm}" if max(map(len, texts)) > _PROSE else "r" if numeric(texts) else "l"


def _row(cells: list[str]) -> str:
    """Return a row. `[` and `*` at its beginning would be arguments of the end of the row before it."""
    texts = list(map(_tex, cells))
    guard = "{}" if texts[0].startswith(("[", "*")) else ""
    return guard + " & ".join(texts) + r" \\"


def _tex(text: str) -> str:
    """Return `text` on one line, with the characters that mean something to LaTeX escaped."""
    return "".join(_TEX.get(character, character) for character in one_line(escape_controls(text)))
