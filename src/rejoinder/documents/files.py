"""A document as a file, in the format that its suffix names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from rejoinder.data.outputs import atomic_file, require_place
from rejoinder.data.write import open_writer
from rejoinder.errors import UsageError
from rejoinder.documents.data import csv_text, json_text
from rejoinder.documents.document import Document
from rejoinder.documents.html import html
from rejoinder.documents.latex import latex
from rejoinder.documents.markdown import markdown

RENDERERS: Mapping[str, Callable[[Document], str]] = {
    ".html": html,
    ".md": markdown,
    ".tex": latex,
    ".csv": csv_text,
    ".json": json_text,
}
LINES = ".jsonl"


def write_document(document: Document, path: Path) -> None:
    """Write the document to `path`, whole or not at all; beside a page in Markdown also the pictures that have a file.

    Raises:
        UsageError: see `require_writable`.
    """
    require_writable(path, lines=document.lines is not None)
    suffix = path.suffix.lower()
    if suffix == LINES:
        with open_writer(path) as put:
            for line in document.lines or ():
                put(line)
        return
    if suffix == ".md":
        for picture in document.drawings:
            with atomic_file(path.with_name(picture.file)) as partial:
                partial.write_text(picture.drawn, encoding="utf-8")
    text = RENDERERS[suffix](document)
    with atomic_file(path) as partial:
        # What is no character of its own (half of one) cannot be written, and would take the whole report along.
        partial.write_text(text, encoding="utf-8", errors="backslashreplace")


def require_writable(path: Path, *, lines: bool = False) -> None:
    """Raise, before any work, where a report cannot be written to `path`.

    Args:
        path: where to.
        lines: whether there are lines to be written one by one.

    Raises:
        UsageError: the suffix is of no known format, or the folder does not exist.
    """
    known = [*RENDERERS, *([LINES] if lines else [])]
    if path.suffix.lower() not in known:
        found = path.suffix or "(no suffix)"
        raise UsageError(f"{path}: unknown format of a report {found}. Known: {', '.join(known)}")
    require_place(path)
