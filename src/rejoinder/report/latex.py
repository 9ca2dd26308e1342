"""The tables of results in LaTeX, for a text that uses the package booktabs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rejoinder.report.made import masked
from rejoinder.report.tables import Table, numeric
from rejoinder.report.written import one_line
from rejoinder.text.normalize import escape_controls

if TYPE_CHECKING:
    from rejoinder.report.results import Results

_COLUMNS = 8  # of a table, at most
_PROSE = 30  # characters of a cell that is prose
_SENTENCE = re.compile(r"(?<=[.!?])\s")
_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "–": "--",
    "±": r"\ensuremath{\pm}",
}  # fmt: skip


def latex(results: Results, command_line: str = "") -> str:
    """Return all tables, at most eight columns each and scaled to the column where they are wider."""
    first = f"% {one_line(escape_controls(masked(command_line)))}\n% \\usepackage{{booktabs,graphicx}}\n"
    return "\n".join([first, *map(_table, results.layout.tables)])


def _table(table: Table) -> str:
    """Return one table. Spare columns are left out first, then the last ones."""
    kept = list(range(len(table.header)))
    for name in table.spare:
        if len(kept) > _COLUMNS and name in table.header:
            kept.remove(table.header.index(name))
    kept = kept[:_COLUMNS]
    head, *body = ([row[place] for place in kept] for row in (table.header, *table.texts))
    columns = "".join(map(_column, zip(*body, strict=True))) if body else "l" * len(kept)
    caption = " ".join(filter(None, [table.title and f"{table.title}.", _SENTENCE.split(table.caption)[0]]))
    return "\n".join(
        [
            rf"\begin{{table}}\centering\small\caption{{{_tex(caption)}}}",
            rf"\resizebox{{\ifdim\width>\columnwidth\columnwidth\else\width\fi}}{{!}}{{\begin{{tabular}}{{{columns}}}\toprule",
            _row(head),
            r"\midrule",
            *map(_row, body),
            r"\bottomrule\end{tabular}}\end{table}",
            "",
        ]
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
