"""Limits on what a judge reads of an example: a maximum number of subwords of each text as a reader sees it.

A text is cut by characters before anything else is done to it, so a reply of ten megabytes costs what its first
`CHARACTERS` cost. A reply and a reference are read from the beginning, a turn of the context to its end, because the
question is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from rejoinder.example import Example
from rejoinder.text.normalize import visible_text

SUBWORDS = 2000  # of a text
CHARACTERS = 40_000  # of a text as it was written, markup and all: twenty for each subword
Pieces = Callable[[str], Sequence[object]]
"""The subwords of a text."""
_PART = re.compile(r"\s*\S{1,32}")  # a word, or a part of one that is too long to be one


class Shown(NamedTuple):
    """What a judge reads of an example."""

    example: Example  # with what is read of its texts, as a reader sees them
    cut: bool  # whether the response or a reference was cut
    context_cut: bool  # whether a turn was cut


def shown(example: Example, pieces: Pieces) -> Shown:
    """Return what is read of an example, by a judge that counts `pieces`."""
    context, references = (
        tuple(_read(text, pieces, last=last) for text in texts)
        for texts, last in ((example.context, True), (example.references, False))
    )
    response = _read(example.response, pieces)
    cut = response.cut or any(text.cut for text in references)
    context_cut = any(text.cut for text in context)
    turns, others = (tuple(text.text for text in texts) for texts in (context, references))
    if (turns, response.text, others) != (example.context, example.response, example.references):
        example = replace(example, context=turns, response=response.text, references=others)
    return Shown(example, cut, context_cut)


def bounded(example: Example) -> Example:
    """Return the example with no text longer than `CHARACTERS`, for what looks at texts as they were written."""
    texts = (*example.context, example.response, *example.references)
    if max(map(len, texts)) <= CHARACTERS:
        return example
    return replace(
        example,
        context=tuple(_bounded(text, last=True) for text in example.context),
        response=_bounded(example.response),
        references=tuple(map(_bounded, example.references)),
    )


class _Text(NamedTuple):
    """What is read of a text, and whether it was cut."""

    text: str
    cut: bool


def _bounded(text: str, *, last: bool = False) -> str:
    """Return the first or the last `CHARACTERS` of a text, without the blanks around it."""
    if len(text) <= CHARACTERS:
        return text
    text = text.strip()
    return text[-CHARACTERS:] if last else text[:CHARACTERS]


def _read(text: str, pieces: Pieces, *, last: bool = False) -> _Text:
    """Return the first or the last `SUBWORDS` of a text as a reader sees it."""
    part = _bounded(text, last=last)
    whole = visible_text(part)
    seen = _bounded(whole, last=last)  # some signs stand for many letters
    if len(seen) <= SUBWORDS or len(pieces(seen)) <= SUBWORDS:  # no subword is shorter than a character
        return _Text(seen, len(seen) < len(whole) or len(part) < len(text.strip()))
    words, kept, count = _PART.findall(seen), 0, 0
    for word in reversed(words) if last else words:
        count += len(pieces(word))
        if count > SUBWORDS:
            break
        kept += 1
    return _Text("".join(words[-kept:] if last else words[:kept]).strip(), True)
