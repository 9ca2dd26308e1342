"""Scripts that put no spaces between words: which they are, and whether a text in one of them is cut into words.

What cuts at white space takes a whole Chinese sentence for one word, so that two sentences are either equal or have
nothing in common. A text that somebody has cut before (`我 想 吃 火锅`) is read like any other.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

EMOJI = "emoji"


class _Script(NamedTuple):
    """A script without spaces between words.

    Attributes:
        name: what texts in it are called.
        letters: its letters, inside a character class of the library `regex`.
        most: how many letters the words of a text have at most, on average.
    """

    name: str
    letters: str
    most: int


# The words of cut Chinese have 1.6 letters on average, of Japanese 2, of Thai 4; the bounds leave room for a reply of
# one long word. Kana stand before Han, which Japanese has too.
_SCRIPTS = (
    _Script("Japanese", r"\p{Hiragana}\p{Katakana}ー", 4),
    _Script("Chinese", r"\p{Han}", 2),
    _Script("Thai", r"\p{Thai}", 6),
    _Script("Lao", r"\p{Lao}", 6),
    _Script("Khmer", r"\p{Khmer}", 6),
    _Script("Burmese", r"\p{Myanmar}", 6),
)
UNSPACED = "".join(script.letters for script in _SCRIPTS)
"""Letters and marks of all these scripts, for a character class."""


def uncut(text: str) -> str | None:
    """What `text` is, `Chinese` or `emoji` for instance, where it is that and no white space cuts it into words.

    It is Chinese where most letters are; it is not cut where there are more of them between spaces than words have. A
    text without letter and digit is not cut where emoji stand side by side. None for every other text.
    """
    if text.isascii():
        return None
    own = _letters(UNSPACED).findall(text)
    if 2 * len(own) < len(_letters(r"\p{L}").findall(text)):
        return None
    if not own:
        return EMOJI if _emoji_in_a_row().fullmatch(text) else None
    words = sum(1 for word in text.split() if _letters(UNSPACED).search(word))
    script = next(script for script in _SCRIPTS if _letters(script.letters).search(text))
    return script.name if len(own) > script.most * words else None


def without_spaces(script: str) -> str:
    """What is wrong with a text that `uncut` has found, for the reason why it is unscored."""
    return f"{script} without spaces between {'words' if script != EMOJI else 'them'}"


@cache
def _letters(those: str) -> Any:
    """The pattern of a letter of the class."""
    import regex  # type: ignore[import-untyped]

    return regex.compile(rf"(?V1)[[{those}]&&\p{{L}}]")


@cache
def _emoji_in_a_row() -> Any:
    """The pattern of a text without letter and digit in which an emoji stands right behind another."""
    import regex

    emoji = r"\p{Extended_Pictographic}"
    return regex.compile(rf"[^\p{{L}}\p{{N}}]*?(?={emoji})\X(?={emoji})[^\p{{L}}\p{{N}}]*")
