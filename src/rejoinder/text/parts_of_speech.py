"""Parts of speech by the lexicon of textblob, which needs no download."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from typing import NamedTuple

from rejoinder.errors import MissingExtra

Tagger = Callable[[str], list[tuple[str, str]]]
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


class Word(NamedTuple):
    """A word of a text, its part of speech by the tags of the Penn Treebank, and its place in the text."""

    text: str
    kind: str
    start: int
    end: int


@cache
def tagger(purpose: str) -> Tagger:
    """Load the lexicon, and return the function from a text to its words and their parts of speech.

    Raises:
        MissingExtra: textblob is not installed, which `purpose` needs.
    """
    try:
        from textblob.en import tag
    except ModuleNotFoundError as error:
        raise MissingExtra("textblob", "train", purpose) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # textblob leaves the file of its lexicon open
        tag("a word")
    return tag  # type: ignore[no-any-return]


def tagger_name(purpose: str) -> str:
    """Return the name of the tagger for signatures; raises as `tagger` does."""
    tagger(purpose)
    return f"textblob-{version('textblob')}-lexicon"


def tagged(text: str, purpose: str) -> list[Word]:
    """Return the words of a text; a contraction has the part of speech of its first piece. Raises as `tagger` does."""
    kinds: dict[int, str] = {}
    end = 0
    for piece, kind in tagger(purpose)(text):
        start = text.find(piece, end)
        if start >= 0:  # the tagger changed the spelling of a piece that is not there
            kinds[start] = kind
            end = start + len(piece)
    return [
        Word(match[0], kinds[match.start()], match.start(), match.end())
        for match in _WORD.finditer(text)
        if match.start() in kinds
    ]
