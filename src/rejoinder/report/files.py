"""Results as files, in the format that the suffix names; CSV and LaTeX."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rejoinder.data.outputs import atomic_file, require_place
from rejoinder.data.write import open_writer, write_csv
from rejoinder.errors import UsageError
from rejoinder.estimates import Estimate, rows
from rejoinder.report.record import Record, masked
from rejoinder.report.tables import Table, numeric
from rejoinder.report.written import one_line
from rejoinder.text.normalize import escape_controls

LINES = ".jsonl"
SECOND_LOOK = "relabel"
"""The name of a file of `study` for lines to label again, in place of the numbers."""
COLUMNS = list(Estimate.__dataclass_fields__)
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


def csv_text(results: Record) -> str:
    """Return a row for each estimate, the same columns for every command."""
    out = io.StringIO()
    write_csv(rows(results.estimates), COLUMNS, out)
    return out.getvalue()


def save(results: Record, path: Path, command_line: str = "") -> None:
    """Write results to `path`, whole or not at all. It must be one that `require_writable` accepts."""
    require_writable(path, lines=results.layout.lines is not None)
    suffix = path.suffix.lower()
    again = path.stem == SECOND_LOOK and results.command == "study"
    if again and results.layout.lines is None:
        raise UsageError(f"{path}: lines to label again need verdicts (-s) and labels. Choose another name for numbers")
    if suffix == LINES or again:
        with open_writer(path) as put:
            for line in results.layout.lines or ():
                put(line)
        return
    from rejoinder.report.html import html
    from rejoinder.report.markdown import markdown

    renderers = {".html": html, ".md": markdown, ".tex": latex}
    if suffix in renderers:
        text = renderers[suffix](results, command_line)
    else:
        text = csv_text(results) if suffix == ".csv" else results.to_json()
    with atomic_file(path) as partial:
        # A lone surrogate cannot be encoded, and must not cost the whole report.
        partial.write_text(text, encoding="utf-8", errors="backslashreplace")


def require_writable(path: Path, *, lines: bool = False) -> None:
    """Raise, before any work, if results, or results of single lines, cannot be written to `path`.

    Raises:
        UsageError: the suffix is of no known format, or the folder does not exist.
    """
    known = [".html", ".md", ".tex", ".csv", ".json", *[LINES] * lines]
    if path.suffix.lower() not in known:
        suffix = path.suffix or "(no suffix)"
        raise UsageError(f"{path}: unknown format of a report {suffix}. Use one of {', '.join(known)}")
    require_place(path)


def latex(results: Record, command_line: str = "") -> str:
    """Return all tables for a text that uses the package booktabs, at most eight columns each.

    They are scaled to the column where they are wider.
    """
    first = f"% {one_line(escape_controls(masked(command_line)))}\n% \\usepackage{{booktabs,graphicx}}\n"
    return first + "".join(map(_table, results.layout.tables))


def _table(table: Table) -> str:
    """Return one table. Spare columns are left out first, then the last ones; prose is broken into lines."""
    kept = list(range(len(table.header)))
    for name in filter(table.header.__contains__, table.spare):
        if len(kept) > _COLUMNS:
            kept.remove(table.header.index(name))
    head, *body = ([row[place] for place in kept[:_COLUMNS]] for row in (table.header, *table.texts))
    columns = [
        "p{4cm}" if max(map(len, texts)) > _PROSE else "r" if numeric(texts) else "l"
        for texts in zip(*body or [head], strict=True)
    ]
    caption = " ".join(filter(None, [table.title and f"{table.title}.", _SENTENCE.split(table.caption)[0]]))
    rows = "\n".join(map(_row, body))
    return _TABLE.format(caption=_tex(caption), columns="".join(columns), head=_row(head), body=rows)


def _row(cells: list[str]) -> str:
    """Return a row. `[` and `*` at its beginning would be arguments of the end of the row before it."""
    guard = "{}" if cells[0].startswith(("[", "*")) else ""
    return guard + " & ".join(map(_tex, cells)) + r" \\"


def _tex(text: str) -> str:
    """Return `text` on one line, with the characters that mean something to LaTeX escaped."""
    return "".join(_TEX.get(character, character) for character in one_line(escape_controls(text)))
