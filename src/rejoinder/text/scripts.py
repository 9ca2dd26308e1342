"""Scripts without spaces between words: which script a text has, and whether spaces split it into words.

A tokenizer that splits at white space takes a whole Chinese sentence for a single word, so two sentences are either
equal or have nothing in common. A text that was split before (`我 想 吃 火锅`) is read like any other.
"""

from __future__ import annotations

from functools import cache
from typing import Any

EMOJI = "emoji"
# Script, its letters, and the most letters that the words of a text have on average. The words of split Chinese have
# 1.6 letters on average, of Japanese 2, of Thai 4; the limits allow a reply that is a single long word. Japanese comes
# before Chinese, because it has Han letters too.
_SCRIPTS = (
    ("Japanese", r"\p{Hiragana}\p{Katakana}ー", 4),
    ("Chinese", r"\p{Han}", 2),
    ("Thai", r"\p{Thai}", 6),
    ("Lao", r"\p{Lao}", 6),
    ("Khmer", r"\p{Khmer}", 6),
    ("Burmese", r"\p{Myanmar}", 6),
)
UNSPACED = "".join(letters for _, letters, _ in _SCRIPTS)
"""Letters and marks of all these scripts, for a character class."""
_LETTER, _PICTURE = r"\p{L}", r"\p{Extended_Pictographic}"
_UNSPACED_LETTER = rf"[[{UNSPACED}]&&{_LETTER}]"
_EMOJI_IN_A_ROW = rf"[^{_LETTER}\p{{N}}]*?(?={_PICTURE})\X(?={_PICTURE})[^{_LETTER}\p{{N}}]*"


@cache
def pattern(source: str) -> Any:
    """Return a compiled pattern of the library `regex`, which is loaded at the first call."""
    import regex  # type: ignore[import-untyped]

    return regex.compile(source, regex.V1)


def unspaced_script(text: str) -> str | None:
    """Return the script of a text that no white space splits into words, such as `Chinese` or `emoji`, else None.

    A text has a script if at least half of its letters belong to it. It is not split if the pieces between spaces have
    more letters than words have. A text without letters and digits is not split if one emoji follows another.
    """
    if text.isascii():
        return None
    letters = pattern(_UNSPACED_LETTER).findall(text)
    if 2 * len(letters) < len(pattern(_LETTER).findall(text)):
        return None
    if not letters:
        return EMOJI if pattern(_EMOJI_IN_A_ROW).fullmatch(text) else None
    words = sum(pattern(_UNSPACED_LETTER).search(word) is not None for word in text.split())
    script, most = next((name, most) for name, own, most in _SCRIPTS if pattern(rf"[[{own}]&&{_LETTER}]").search(text))
    return script if len(letters) > most * words else None


def unspaced_reason(script: str) -> str:
    """Return the reason why a text of such a script has no score."""
    return f"{script} without spaces between {'words' if script != EMOJI else 'them'}"
