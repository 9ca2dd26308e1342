"""The figures of a document for programs: CSV and JSON."""

from __future__ import annotations

import io
import json
from dataclasses import fields

from rejoinder.io.write import write_csv
from rejoinder.report.document import Document
from rejoinder.stats.figure import Figure


def csv_text(document: Document) -> str:
    """One row a figure; the first tells the columns: what the figure is about, then its parts."""
    known = list(document.results[0]) if document.results else []
    parts = [part.name for part in fields(Figure) if part.name in known]
    out = io.StringIO()
    write_csv(document.results, [*(name for name in known if name not in parts), *parts], out)
    return out.getvalue()


def json_text(document: Document) -> str:
    """Everything, as one JSON value."""
    return json.dumps(document.record, ensure_ascii=False, allow_nan=False) + "\n"
