"""Lines with several replies to one context and a rating of each, as `response_a, response_b, rating_a, rating_b`.

They are rated lines, not pairs: nobody was asked which reply is better.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from rejoinder.io.names import CONVERSATIONS, DIALOGUE, MESSAGES, NAMES, RATER, RATING, header, is_rating
from rejoinder.io.pairs import REPLIES
from rejoinder.io.verdicts import A_COLUMN_EACH, VERDICTS

_MARKED = re.compile(r"(.+)_([a-h]|\d)")
_MARKS_FIRST = re.compile(r"([a-h]|\d)_(.+)")
_OTHERS = NAMES["response"][0].union(("response", "responses", "chosen", "rejected", "votes"), VERDICTS, A_COLUMN_EACH)
"""Names of what makes a line a pair, or one reply."""
_MAY_PREFER = frozenset(("vote", "label", "feedback"))
"""Of these a number for each reply may be a choice between them."""

_CHOICE = re.compile(
    r"(?:.*_)?(?:best|better|prefer\w*|choices?|chosen|picks?|picked|selected|favou?rite|win\w*)(?:_.*)?"
)
"""Names of what people chose."""
_SAID_OF_EACH = frozenset().union(*NAMES["system"], *NAMES[RATER])
"""What beside a rating may be said of each reply; turns with a number are turns of one context."""

Part = tuple[str, Mapping[str, Any]]
"""The mark of a reply, "" of the only one; the record with what is said of it alone."""


def apart(record: Any, mapped: Collection[str] = ()) -> tuple[list[Part], list[str]]:
    """A record for each reply in a line that has a rating of each, and the names of replies and ratings; else itself.

    Args:
        record: a decoded JSON value, or cells by column.
        mapped: the names that the user gave a meaning; a line in which they are of one reply stays whole.
    """
    whole = [("", record)], list[str]()
    if not isinstance(record, Mapping):
        return whole
    words = {name: header(name).word for name in record if isinstance(name, str)}
    if not _OTHERS.isdisjoint(words.values()) or any(map(_CHOICE.fullmatch, words.values())):
        return whole
    columns = _by_stem(words)
    replies = next((columns[stem] for stem in REPLIES if stem in columns), {})
    columns = {
        stem: names
        for stem, names in columns.items()
        if names.keys() <= replies.keys() and (names is replies or is_rating(stem) or stem in _SAID_OF_EACH)
    }
    rated = [stem for stem in columns if is_rating(stem) and stem not in _MAY_PREFER]
    marked = {name: (stem, mark) for stem, names in columns.items() for mark, name in names.items()}
    if not rated or not marked.keys().isdisjoint(mapped):
        return whole
    both = {name: value for name, value in record.items() if name not in marked}
    parts = [(mark, dict(both)) for mark in replies]
    for mark, part in parts:
        for stem, names in columns.items():
            if mark in names:
                part[_unmarked(names[mark], stem, names is replies)] = record[names[mark]]
    return list(parts), [*replies.values(), *columns[rated[0]].values()]


def of_part(record: Mapping[str, Any], mark: str, where: str) -> dict[str, Any]:
    """The record of one reply under our names, with an id of its own, and that of its line where no context is told."""
    name = record.get("id")
    name = where if name in (None, "") else name
    told = any(record.get(field) not in (None, "", []) for field in ("context", MESSAGES, DIALOGUE, "context_id"))
    return {**record, "id": f"{name}/{mark}", **({} if told else {"context_id": str(name)})}


def _by_stem(words: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The columns that differ in their mark alone, by what they have in common and by mark."""
    found: dict[str, dict[str, str]] = {}
    for name, word in words.items():
        if match := _MARKED.fullmatch(word):
            found.setdefault(match[1], {})[match[2]] = name
        elif match := _MARKS_FIRST.fullmatch(word):
            found.setdefault(match[2], {})[match[1]] = name
    return {stem: names for stem, names in found.items() if len(names) > 1}


def _unmarked(name: str, stem: str, is_reply: bool) -> str:
    """The name of a column without its mark, but with the scale that it states (`Rating A (1-5)`)."""
    if is_reply:
        return MESSAGES if stem in CONVERSATIONS else "response"
    text = header(name).text
    own = text[:-1].rstrip("_- ") if text.lower().startswith(f"{RATING}.") else stem
    return f"{own}{name.strip()[len(text) :]}"
