"""Words and tables as one document, in Markdown and in LaTeX; results as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rejoinder.io.formulas import guarded
from rejoinder.report.markdown import markdown_table
from rejoinder.report.sections import Table

_PROSE = 40  # characters of a cell
_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "–": "--",
}  # fmt: skip


class Section(NamedTuple):
    """A part of a document.

    Attributes:
        title: its heading.
        said: sentences.
        tables: what stands below them.
    """

    title: str
    said: Sequence[str]
    tables: Sequence[Table]


def markdown_page(
    title: str, answer: Iterable[str], sections: Iterable[Section], signatures: Iterable[object], command: str
) -> str:
    """The document in Markdown, with the call that made it and where its scores came from."""
    parts = [f"# {title}", *map(_md, answer)]
    for section in sections:
        parts += [f"## {_md(section.title)}", *map(_md, section.said)]
        for table in section.tables:
            rows = [[_md(cell.text) for cell in row] for row in table.rows]
            parts += [f"### {_md(table.title)}", _md(table.caption), markdown_table([*map(_md, table.header)], rows)]
    made = [f"- `{_one_line(str(one)).replace('`', '')}`" for one in signatures]
    parts += ["## How this was made", f"    {_one_line(command)}", "\n".join(made)]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def latex(sections: Iterable[Section], command: str) -> str:
    """All tables in LaTeX, to be put into a document that uses the package booktabs."""
    parts = [f"% {_one_line(command)}"]
    for section in sections:
        for table in section.tables:
            lines = [table.header, *((cell.text for cell in row) for row in table.rows)]
            head, *body = [" & ".join(_tex(_one_line(text)) for text in line) + r" \\" for line in lines]
            parts += [
                rf"\begin{{table}}\caption{{{_tex(_one_line(f'{section.title}: {table.title}. {table.caption}'))}}}",
                rf"\begin{{tabular}}{{{_columns(table)}}}\toprule",
                head,
                r"\midrule",
                *body,
                r"\bottomrule\end{tabular}\end{table}",
                "",
            ]
    return "\n".join(parts)


def csv_page(rows: Iterable[Mapping[str, Any]]) -> str:
    """One row a result; the first tells the columns."""
    out, known = io.StringIO(), list(rows)
    table = csv.DictWriter(out, list(known[0]), lineterminator="\n")
    table.writeheader()
    for row in known:
        table.writerow({key: guarded(value) for key, value in row.items()})
    return out.getvalue()


def _one_line(text: str) -> str:
    """`text` without line ends, which would end a table's row, a heading or a comment."""
    return " ".join(text.split())


def _md(text: str) -> str:
    """`text` on one line, with what would open an HTML element escaped."""
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", _one_line(text))


def _tex(text: str) -> str:
    """`text` with the characters that mean something to LaTeX escaped."""
    return "".join(_TEX.get(character, character) for character in text)


def _columns(table: Table) -> str:
    """The columns of a table in LaTeX; those of prose are broken into lines."""
    columns = zip(*table.rows, strict=True)
    return "".join("p{5cm}" if max(len(cell.text) for cell in column) > _PROSE else "l" for column in columns)
