"""Rows that are messages, where it cannot be told whose, or in what conversation: how they are told, and what to do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rejoinder.errors import ColumnError, DataError

_SPEAKER = re.compile(r"(?:.*[\W_])?(?:role|speaker|sender|author|participant|from)(?:[\W_]*(?:name|type|id))?")
_TEXT = re.compile(r"(?:.*[\W_])?(?:text|content|message|utterance|body|msg|context)(?:[\W_]*text)?")
REMEDY = (
    "Say of each row which conversation it belongs to, who speaks (user or bot) and what was said, in columns "
    "conversation, role and text ('A row for each message' in docs/formats.md), then: rejoinder score FILE --turns all"
)
"""What makes such a file one that is read (`io.message_rows`)."""
_HALVES = 2  # rows of either kind, and none with both, for a table to have a row for each message
_BARE_TEXTS = frozenset(("text", "body", "content", "msg"))


def speakers_in(names: Iterable[object]) -> list[str]:
    """The names that say who speaks (`role`, `Sender name`)."""
    return [name for name in map(str, names) if _SPEAKER.fullmatch(name.strip().lower())]


def is_one_message(names: Iterable[object]) -> bool:
    """Whether a record with these names, and without a reply, looks like one message of a conversation."""
    known = list(map(str, names))
    return bool(speakers_in(known)) and has_text(known)


def is_message_of_a_user(names: Iterable[object]) -> bool:
    """Whether a record has `user` or `human` beside a bare text: then that is who speaks, and not what was said."""
    known = {name.strip().lower() for name in map(str, names)}
    return not known.isdisjoint(("user", "human")) and not known.isdisjoint(_BARE_TEXTS)


def has_text(names: Iterable[object]) -> bool:
    """Whether one of the names is of a text."""
    return bool(texts_in(names))


def texts_in(names: Iterable[object]) -> list[str]:
    """The names of what was said (`text`, `Message body`)."""
    return [name for name in map(str, names) if _TEXT.fullmatch(name.strip().lower())]


def one_message(names: Sequence[object], where: str) -> DataError:
    """The error of a record that looks like one message, with its first names."""
    found = listed(names)
    problem = f"missing: this looks like one message of a conversation (found: {found})"
    remedy = f"{REMEDY}. Where each row is a reply by itself, say --map response=NAME"
    return DataError(problem, remedy, where=where, field="response")


class Halves:
    """Tells a table in which what was said and what was replied stand in rows of their own, by its first rows."""

    def __init__(self) -> None:
        self.kinds: Counter[str] | None = Counter()

    def meet(self, record: Any, where: str) -> None:
        """Look at a record under our names.

        Raises:
            ColumnError: rows with a reply alone alternate with rows that lack one.
        """
        if self.kinds is None or not isinstance(record, Mapping):
            return
        asked, replied = (_is_text(record.get(field)) for field in ("context", "response"))
        if "messages" in record or (asked and replied):
            self.kinds = None
        elif asked or replied:
            self.kinds["asked" if asked else "replied"] += 1
            if min(self.kinds["asked"], self.kinds["replied"]) >= _HALVES:
                problem = "what was said and what was replied stand in rows of their own"
                remedy = "Put both into one row, or give each row a speaker: 'A row for each message' in formats.md"
                raise ColumnError(problem, remedy, where=where)


def _is_text(value: Any) -> bool:
    """Whether there is something in a cell, or in the turns that it came to."""
    if isinstance(value, list):
        return any(map(_is_text, value))
    return bool(value.strip()) if isinstance(value, str) else value is not None


def listed(names: Sequence[object]) -> str:
    """The first of the names of a record, for a message."""
    return ", ".join(map(str, names[:6])) + (", ..." if len(names) > 6 else "") if names else "nothing"
