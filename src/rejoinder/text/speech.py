"""Parts of speech, by the lexicon of textblob, which needs no download."""

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
    """A word of a text.

    Attributes:
        text: as it is written.
        kind: its part of speech, by the tags of the Penn Treebank.
        start: where it begins.
        end: where it ends.
    """

    text: str
    kind: str
    start: int
    end: int


@cache
def tagger(purpose: str) -> Tagger:
    """What gives the words of a text and their parts of speech, its lexicon loaded.

    Args:
        purpose: what needs it, for the message.

    Raises:
        MissingExtra: textblob is not installed.
    """
    try:
        from textblob.en import tag
    except ModuleNotFoundError as error:
        raise MissingExtra("textblob", "train", purpose) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it does not close the file of its lexicon
        tag("a word")
    found: Tagger = tag
    return found


def tagger_name(purpose: str) -> str:
    """What the tagger is called in a signature; raises as `tagger` does."""
    tagger(purpose)
    return f"textblob-{version('textblob')}-lexicon"


def tagged(text: str, purpose: str) -> list[Word]:
    """The words of a text where they stand, contractions whole, with the part of speech of their first piece.

    Raises:
        MissingExtra: see `tagger`.
    """
    kinds: dict[int, str] = {}
    place = 0
    for piece, kind in tagger(purpose)(text):
        found = text.find(piece, place)
        if found >= 0:  # a piece that the tagger wrote anew has no place
            kinds[found] = kind
            place = found + len(piece)
    return [
        Word(match[0], kinds[match.start()], match.start(), match.end())
        for match in _WORD.finditer(text)
        if match.start() in kinds
    ]
