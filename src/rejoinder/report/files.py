"""Results as files, in the format that the suffix names."""

from __future__ import annotations

import io
from pathlib import Path

from rejoinder.data.outputs import atomic_file, require_place
from rejoinder.data.write import open_writer, write_csv
from rejoinder.errors import UsageError
from rejoinder.estimates import Estimate, rows
from rejoinder.report.record import Record

LINES = ".jsonl"
COLUMNS = list(Estimate.__dataclass_fields__)


def csv_text(results: Record) -> str:
    """Return a row for each estimate, the same columns for every command."""
    out = io.StringIO()
    write_csv(rows(results.estimates), COLUMNS, out)
    return out.getvalue()


def save(results: Record, path: Path, command_line: str = "") -> None:
    """Write results to `path`, whole or not at all.

    Raises:
        UsageError: see `require_writable`.
    """
    require_writable(path, lines=results.layout.lines is not None)
    suffix = path.suffix.lower()
    if suffix == LINES:
        with open_writer(path) as put:
            for line in results.layout.lines or ():
                put(line)
        return
    text = _rendered(results, suffix, command_line)
    with atomic_file(path) as partial:
        # A lone surrogate cannot be encoded, and must not cost the whole report.
        partial.write_text(text, encoding="utf-8", errors="backslashreplace")


def _rendered(results: Record, suffix: str, command_line: str) -> str:
    """Return results as text in the format that a suffix names."""
    if suffix in (".csv", ".json"):
        return csv_text(results) if suffix == ".csv" else results.to_json()
    from rejoinder.report.html import html
    from rejoinder.report.latex import latex
    from rejoinder.report.markdown import markdown

    return {".html": html, ".md": markdown, ".tex": latex}[suffix](results, command_line)


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
