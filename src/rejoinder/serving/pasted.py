"""A pasted dialogue as turns: JSON and chat messages, lines that begin with who speaks, or one turn a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

from rejoinder.errors import DataError
from rejoinder.io.chat import turns_in
from rejoinder.io.parse import parse_record

_NAME = re.compile(r"^[ \t]*(?:\[[^\]\n]{1,40}\][ \t]*)?(?P<name>\w[\w .'’-]{0,23}?)[ \t]*:[ \t]+", re.MULTILINE)
_WHERE = "what was pasted"


class Pasted(NamedTuple):
    """What a text comes to.

    Attributes:
        turns: oldest first.
        references: what people replied in place of the last turn.
        sure: whether the text itself says where turns end; else each of its lines was taken for one.
    """

    turns: list[str]
    references: list[str]
    sure: bool


def pasted(text: str) -> Pasted:
    """The turns in a text that somebody pasted.

    Args:
        text: chat messages or any other line that `score` reads, as JSON; a list of texts; `User: ...` or `Ann: ...`
            on lines; or anything.
    """
    said = _of_json(text)
    if said is not None:
        return said
    for turns in (turns_in(text), _of_names(text)):
        if len(turns) > 1:
            return Pasted(turns, [], True)
    return Pasted([line.strip() for line in text.splitlines() if line.strip()], [], False)


def _of_json(text: str) -> Pasted | None:
    """The turns of a JSON value, or of the first of several lines of JSON; None for a text that is none."""
    for part in (text.strip(), text.strip().partition("\n")[0]):
        if part[:1] not in ("[", "{"):
            return None
        try:
            return _of_value(json.loads(part))
        except (ValueError, RecursionError, DataError):
            continue
    return None


def _of_value(value: Any) -> Pasted:
    """The turns of a decoded value.

    Raises:
        DataError: it holds no reply.
    """
    if isinstance(value, list) and value and all(isinstance(turn, str) for turn in value):
        return Pasted([turn for turn in value if turn.strip()], [], True)
    example = parse_record(value, _WHERE)
    return Pasted([*example.context, example.response], list(example.references), True)


def _of_names(text: str) -> list[str]:
    """The turns of a text whose lines begin with who speaks; none where they do not.

    Two names, or names that come again, are people; other words before a colon are headings of something else.
    """
    labels = list(_NAME.finditer(text.strip()))
    names = {label["name"].lower() for label in labels}
    if not labels or labels[0].start() or not len(names) <= max(2, len(labels) // 2):
        return []
    return [" ".join(said) for said in _spoken(text.strip(), labels)]


def _spoken(text: str, labels: list[re.Match[str]]) -> Iterator[list[str]]:
    """What is said at a stretch by one speaker after the other."""
    ends = [*(label.start() for label in labels[1:]), len(text)]
    said = [(label["name"].lower(), text[label.end() : end].strip()) for label, end in zip(labels, ends, strict=True)]
    for _, parts in groupby(((name, words) for name, words in said if words), key=lambda one: one[0]):
        yield [words for _, words in parts]
