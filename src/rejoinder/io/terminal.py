"""Texts for terminals and pages: control characters are shown, not obeyed."""

from __future__ import annotations

import re

# C0 but tab and line end, DEL, C1, what turns the direction of writing, line ends of Unicode, halves of characters.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u202a-\u202e\u2028\u2029\u2066-\u2069\ud800-\udfff]")


def inert(text: str) -> str:
    r"""`text` with each character that a terminal obeys as its escape, `\u001b` for ESC; tabs and line ends stay."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
