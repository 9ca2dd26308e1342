"""Tables with a row for each message, whose rows are no replies yet: how they are told, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SPEAKER = re.compile(r"(?:.*[\W_])?(?:role|speaker|sender|author|participant|from)(?:[\W_]*(?:name|type|id))?")
_TEXT = re.compile(r"(?:.*[\W_])?(?:text|content|message|utterance|body|msg|context)(?:[\W_]*text)?")
REMEDY = (
    "Make chat messages of the rows, a conversation a line, by the lines of Python under 'A row for each message' in "
    "docs/formats.md, then: rejoinder score chats.jsonl --turns all"
)
"""What reads such a file."""


def speakers_in(names: Iterable[object]) -> list[str]:
    """The names that say who speaks (`role`, `Sender name`)."""
    return [name for name in map(str, names) if _SPEAKER.fullmatch(name.strip().lower())]


def is_one_message(names: Iterable[object]) -> bool:
    """Whether a record with these names, and without a reply, looks like one message of a conversation."""
    known = list(map(str, names))
    return bool(speakers_in(known)) and any(_TEXT.fullmatch(name.strip().lower()) for name in known)
