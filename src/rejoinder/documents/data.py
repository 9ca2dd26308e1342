"""The figures of a document for programs: CSV and JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from rejoinder.data.write import write_csv
from rejoinder.meta.frames import FORMAT_VERSION
from rejoinder.documents.document import Document
from rejoinder.stats.figure import Figure, plain


def csv_text(document: Document) -> str:
    """One row a figure; the first tells the columns: what the figure is about, then its parts."""
    found = _figures(document)
    known = list(found[0]) if found else []
    parts = [part.name for part in fields(Figure) if part.name in known]
    out = io.StringIO()
    write_csv(found, [*(name for name in known if name not in parts), *parts], out)
    return out.getvalue()


def json_text(document: Document) -> str:
    """Everything, as one JSON value."""
    record = document.record or {
        "version": FORMAT_VERSION,
        "title": document.title,
        "answer": list(document.answer),
        "results": _figures(document),
    }
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def _figures(document: Document) -> Sequence[Mapping[str, Any]]:
    """The results; where a document has none of its own, every number in its tables and where it stands."""
    return document.results or [
        {
            "section": section.title,
            "table": table.title,
            "row": row[0].text,
            "column": name,
            "note": cell.note,
            **plain(cell.figure or Figure(value=cell.value)),
        }
        for section in document.sections
        for table in section.tables
        for row in table.rows
        for name, cell in zip(table.header, row, strict=True)
        if cell.value is not None
    ]
