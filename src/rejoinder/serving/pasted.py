"""A pasted dialogue as turns: whatever `score` reads as JSON, lines that begin with who speaks, or one turn a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import NamedTuple

from rejoinder.data.chat import turns_in
from rejoinder.errors import ColumnError, DataError
from rejoinder.serving.bodies import replies_in
from rejoinder.serving.limits import Limits

_NAME = re.compile(r"^[ \t]*(?:\[[^\]\n]{1,40}\][ \t]*)?(?P<name>\w[\w .'’-]{0,23}?)[ \t]*:[ \t]+", re.MULTILINE)


class Pasted(NamedTuple):
    """What a text comes to.

    Attributes:
        context: the turns before the reply, oldest first.
        replies: the last turn; or all replies to that context, where the text holds several.
        references: what people replied in its place.
        sure: whether the text itself says where turns end; else each of its lines was taken for one.
    """

    context: list[str]
    replies: list[str]
    references: list[str]
    sure: bool


def pasted(text: str, limits: Limits) -> Pasted:
    """The turns in a text that somebody pasted.

    Args:
        text: lines as `score` reads them, as JSON; a list of texts; `User: ...` or `Ann: ...` on lines; or anything.
        limits: how many lines may be there.

    Raises:
        HTTPException: there are too many lines.
        ColumnError: it is JSON of which two keys could each be the reply.
    """
    if text.strip()[:1] in ("[", "{") and (said := _of_json(text.strip(), limits)):
        return said
    for turns in (turns_in(text), _of_names(text.strip())):
        if len(turns) > 1:
            return _of_turns(turns, sure=True)
    return _of_turns([line.strip() for line in text.splitlines()], sure=False)


def _of_turns(turns: Sequence[str], *, sure: bool) -> Pasted:
    """Turns of which the last is the reply."""
    said = [turn for turn in turns if turn.strip()]
    return Pasted(said[:-1], said[-1:], [], sure)


def _of_json(text: str, limits: Limits) -> Pasted | None:
    """What JSON holds, as one value or a value a line; None for a text that is none, or no dialogue."""
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        if isinstance(value, list) and value and all(isinstance(turn, str) for turn in value):
            return _of_turns(value, sure=True)
    for whole in (text, f"[{','.join(filter(str.strip, text.split(chr(10))))}]"):
        try:
            first, *others = replies_in(whole, limits)
        except ColumnError:
            raise
        except DataError:
            continue
        beside = [one.response for one in others if one.context == first.context]
        return Pasted(list(first.context), [first.response, *beside], list(first.references), True)
    return None


def _of_names(text: str) -> list[str]:
    """The turns of a text whose lines begin with who speaks; none where they do not.

    Two names, or names that come again, are people; other words before a colon are headings of something else.
    """
    labels = list(_NAME.finditer(text))
    names = {label["name"].lower() for label in labels}
    if not labels or labels[0].start() or len(names) > max(2, len(labels) // 2):
        return []
    return ["\n".join(said) for said in _spoken(text, labels)]


def _spoken(text: str, labels: Sequence[re.Match[str]]) -> Iterator[list[str]]:
    """What is said at a stretch by one speaker after the other."""
    ends = [*(label.start() for label in labels[1:]), len(text)]
    said = [(label["name"].lower(), text[label.end() : end].strip()) for label, end in zip(labels, ends, strict=True)]
    for _, parts in groupby(((name, words) for name, words in said if words), key=lambda one: one[0]):
        yield [words for _, words in parts]
