"""Cells that a spreadsheet would run as a formula: made text in CSV and TSV, and made themselves again on reading.

A cell that begins with `=`, `+`, `-`, `@`, a tab or a line end and is no number gets an apostrophe in front, as OWASP
advises (CSV injection). So that every text comes back as it was, one with apostrophes before such a beginning gets one
more; a reader takes one away. Numbers, `-3` and `+1.5e2` among them, stay as they are: they run nothing.
"""

from __future__ import annotations

import re
from typing import Any

_RISKY = re.compile(r"'*[=+\-@\t\r\n]")
_GUARDED = re.compile(r"''*[=+\-@\t\r\n]")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def guarded(cell: Any) -> Any:
    """A cell for a CSV file: a text with an apostrophe in front where a spreadsheet would run it."""
    return f"'{cell}" if isinstance(cell, str) and _RISKY.match(cell) and not _NUMBER.fullmatch(cell) else cell


def plain(cell: str) -> str:
    """The text that `guarded` was given."""
    return cell[1:] if _GUARDED.match(cell) else cell
