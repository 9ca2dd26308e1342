"""Ollama: answers of `/api/chat` and `/api/generate`, with the prompt or the messages if they were logged too.

Shape: ollama/ollama `docs/api.md`. Its `context` is a list of tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.chat import is_call
from rejoinder.data.format import Format, each, keys
from rejoinder.errors import ColumnError

_USED = ("message", "response", "context", "messages", "prompt", "thinking")


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Yield the conversation of a call; nothing if the answer only calls tools.

    Raises:
        ColumnError: a piece of a stream.
    """
    if row["done"] is False:
        remedy = "Join the pieces of each reply first, or log with stream: false"
        raise ColumnError("a piece of a stream (done: false), not a whole reply", remedy, where=where)
    message = row.get("message", {"role": "assistant", "content": row.get("response")})
    before = row.get("messages") or ([{"role": "user", "content": row["prompt"]}] if row.get("prompt") else [])
    if not is_call([message], where):
        kept = {key: value for key, value in row.items() if key not in _USED}
        yield {**kept, "messages": [*before, message] if isinstance(before, list) else [message]}


FORMAT = Format(
    "ollama",
    "Answers of Ollama",
    keys("model response done", "model message done"),
    each(record),
    lambda row: isinstance(row["done"], bool),
)
