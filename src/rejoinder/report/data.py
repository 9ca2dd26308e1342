"""The figures of a document for programs: CSV and JSON."""

from __future__ import annotations

import io
import json

from rejoinder.io.write import write_csv
from rejoinder.report.document import Document


def csv_text(document: Document) -> str:
    """One row a figure; the first tells the columns."""
    out = io.StringIO()
    write_csv(document.results, list(document.results[0]) if document.results else [], out)
    return out.getvalue()


def json_text(document: Document) -> str:
    """Everything, as one JSON value."""
    return json.dumps(document.record, ensure_ascii=False, allow_nan=False) + "\n"
