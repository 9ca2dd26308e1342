"""Results: what every analysis returns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rejoinder.errors import MissingExtra, UsageError
from rejoinder.estimates import rows
from rejoinder.report.record import About as About
from rejoinder.report.record import Gate as Gate
from rejoinder.report.record import Record
from rejoinder.scorer import data_frame


@dataclass(frozen=True, kw_only=True)
class Results(Record):
    """The results of one analysis: see `Record` for the fields. They can be saved, printed and drawn."""

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame by "pandas" or "polars" with a row for each estimate.

        Raises:
            MissingExtra: the library is not installed.
            UsageError: the backend is unknown.
        """
        if backend == "pandas":
            return data_frame(rows(self.estimates))
        if backend != "polars":
            raise UsageError(f"backend is {backend!r}. Use 'pandas' or 'polars'")
        try:
            import polars
        except ImportError as error:
            raise MissingExtra("polars", "parquet", "A data frame") from error
        return polars.DataFrame(rows(self.estimates), infer_schema_length=None)

    def save(self, *paths: str | Path, command_line: str = "") -> None:
        """Write the results to files: .html, .md, .tex, .csv, .json, or .jsonl for results of single lines.

        Each file is written whole or not at all. A report shows the `command_line`, without secrets.

        Raises:
            UsageError: the suffix is of no known format, or the folder does not exist.
        """
        from rejoinder.report.files import save

        for path in paths:
            save(self, Path(path), command_line)

    def save_figures(self, folder: str | Path) -> None:
        """Draw every chart into a folder, which is made if necessary, as SVG, PNG and PDF."""
        from rejoinder.report.charts import save_charts

        save_charts(self, Path(folder))

    def __str__(self) -> str:
        """Return what the command prints."""
        from rejoinder.report.terminal import terminal

        return terminal(self, 100).rstrip("\n")

    def _repr_html_(self) -> str:
        """Return the answer and the tables for a notebook."""
        from rejoinder.report.html import fragment

        return fragment(self)
