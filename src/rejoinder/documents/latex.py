"""The tables of a document in LaTeX, to be put into a text that uses the package booktabs."""

from __future__ import annotations

from rejoinder.documents.document import Cell, Document, Section, Table, one_line
from rejoinder.text.normalize import escape_controls

_PROSE = 40  # characters of a cell
_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "–": "--",
}  # fmt: skip


def latex(document: Document) -> str:
    """All tables, each with its caption; prose is the author's to write."""
    parts = [f"% {one_line(escape_controls(document.command))}"]
    for section in document.sections:
        for table in section.tables:
            head, *body = [list(map(_tex, table.header)), *(list(map(_cell, row)) for row in table.rows)]
            parts += [
                rf"\begin{{table}}\caption{{{_caption(section, table)}}}",
                rf"\begin{{tabular}}{{{_columns(table)}}}\toprule",
                _row(head),
                r"\midrule",
                *map(_row, body),
                r"\bottomrule\end{tabular}\end{table}",
                "",
            ]
    return "\n".join(parts)


def _caption(section: Section, table: Table) -> str:
    """What stands above a table."""
    title = ": ".join(filter(None, [section.title, table.title]))
    return _tex(" ".join(filter(None, [title and f"{title}.", table.caption, *table.notes])))


def _row(cells: list[str]) -> str:
    """A row. What LaTeX would take for an argument of the end of the row before it is kept apart."""
    guard = "{}" if cells[0].startswith(("[", "*")) else ""
    return guard + " & ".join(cells) + r" \\"


def _cell(cell: Cell) -> str:
    """A cell of a table."""
    return rf"\textbf{{{_tex(cell.text)}}}" if cell.strong else _tex(cell.text)


def _tex(text: str) -> str:
    """`text` on one line, with the characters that mean something to LaTeX escaped."""
    return "".join(_TEX.get(character, character) for character in one_line(escape_controls(text)))


def _columns(table: Table) -> str:
    """The columns of a table; figures stand flush right, and prose is broken into lines."""
    prose = [any(len(row[place].text) > _PROSE for row in table.rows) for place in range(len(table.header))]
    return "".join("p{5cm}" if long else "r" if table.numeric(place) else "l" for place, long in enumerate(prose))
