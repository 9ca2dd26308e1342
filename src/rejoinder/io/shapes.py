"""What a value is, before anybody knows what its name means: a conversation, a flag."""

from __future__ import annotations

import json
from typing import Any

from rejoinder.io.chat import is_conversation, waits

_FLAGS = frozenset(("true", "false", "0", "1"))  # "no" is a reply


def shape_of(value: Any) -> str:
    """Whether a value is a conversation in messages, and whether it waits for a reply; a text may be one in JSON."""
    if isinstance(value, str):
        if not value.lstrip().startswith("[{"):
            return ""
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):  # for the parser to refuse
            return "chat"
    if not is_conversation(value):
        return ""
    return "waits" if waits(value) else "chat"


def is_flag(value: Any) -> bool:
    """Whether a value says that something is so or not, and no more."""
    return isinstance(value, bool) or (isinstance(value, str) and value.strip().lower() in _FLAGS)
