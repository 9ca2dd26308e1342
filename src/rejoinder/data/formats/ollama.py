"""Ollama: answers of `/api/chat` and `/api/generate`, with the prompt or the messages if they were logged too.

Shape: ollama/ollama `docs/api.md`. Its `context` is a list of tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.chat import exchange
from rejoinder.data.format import Format, each, keys
from rejoinder.errors import ColumnError

_USED = ("message", "response", "context", "messages", "prompt", "thinking")


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any] | None]:
    """Yield the conversation of a call. Raises `ColumnError` for a piece of a stream."""
    if row["done"] is False:
        remedy = "Join the pieces of each reply first, or log with stream: false"
        raise ColumnError("a piece of a stream (done: false), not a whole reply", remedy, where=where)
    said = exchange(row.get("messages") or row.get("prompt"), row.get("message", row.get("response")), where)
    yield said and {**{key: value for key, value in row.items() if key not in _USED}, **said}


FORMAT = Format(
    "ollama",
    "Answers of Ollama",
    keys("model response done", "model message done"),
    each(record),
    lambda row: isinstance(row["done"], bool),
)
