"""Results as files, in the format that the suffix names, and as data frames."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rejoinder.data.outputs import atomic_file, require_place
from rejoinder.data.write import open_writer, write_csv
from rejoinder.errors import MissingExtra, UsageError
from rejoinder.estimates import Estimate, rows
from rejoinder.report.results import Results

LINES = ".jsonl"
COLUMNS = list(Estimate.__dataclass_fields__)


def csv_text(results: Results, _: str = "") -> str:
    """Return a row for each estimate, the same columns for every command."""
    out = io.StringIO()
    write_csv(rows(results.estimates), COLUMNS, out)
    return out.getvalue()


def json_text(results: Results, _: str = "") -> str:
    """Return everything as one JSON value."""
    return results.to_json()


def _renderers() -> Mapping[str, Callable[[Results, str], str]]:
    """Return the renderers by suffix."""
    from rejoinder.report.html import html
    from rejoinder.report.latex import latex
    from rejoinder.report.markdown import markdown

    return {".html": html, ".md": markdown, ".tex": latex, ".csv": csv_text, ".json": json_text}


def save(results: Results, path: Path, command_line: str = "") -> None:
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
    text = _renderers()[suffix](results, command_line)
    with atomic_file(path) as partial:
        # A lone surrogate cannot be encoded, and must not cost the whole report.
        partial.write_text(text, encoding="utf-8", errors="backslashreplace")


def require_writable(path: Path, *, lines: bool = False) -> None:
    """Raise, before any work, where results cannot be written to `path`.

    Args:
        path: where to.
        lines: whether there are results of single lines.

    Raises:
        UsageError: the suffix is of no known format, or the folder does not exist.
    """
    known = [".html", ".md", ".tex", ".csv", ".json", *([LINES] if lines else [])]
    if path.suffix.lower() not in known:
        suffix = path.suffix or "(no suffix)"
        raise UsageError(f"{path}: unknown format of a report {suffix}. Use one of {', '.join(known)}")
    require_place(path)


def data_frame(records: Sequence[Mapping[str, Any]], backend: str = "pandas") -> Any:
    """Return a data frame of `records`.

    Raises:
        MissingExtra: the library is not installed.
        UsageError: the backend is unknown.
    """
    if backend not in ("pandas", "polars"):
        raise UsageError(f"backend is {backend!r}. Use 'pandas' or 'polars'")
    try:
        if backend == "pandas":
            import pandas

            return pandas.DataFrame.from_records(list(records))
        import polars

        return polars.DataFrame(list(records), infer_schema_length=None)
    except ImportError as error:
        raise MissingExtra(backend, "pandas" if backend == "pandas" else "parquet", "A data frame") from error
