"""Conversations as chat messages (`[{"role", "content"}, ...]`) to context and response, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rejoinder.errors import DataError
from rejoinder.io.values import kind_of

_SPEAKERS = ("user", "assistant")
_INSTRUCTORS = ("system", "developer")


def spoken(messages: Any, where: str) -> list[tuple[str, str]]:
    """Role (`user` or `assistant`) and text of each turn of a conversation.

    Instructions (`system`, `developer`) are no turns, nor is what an assistant and its tools say to each other.

    Raises:
        DataError: no list of messages.
    """
    if not isinstance(messages, list) or not messages:
        raise DataError(
            f"{kind_of(messages)}, expected a list of messages",
            'Write [{"role": ..., "content": ...}]',
            where=where,
            field="messages",
        )
    said = [turn for place, message in enumerate(messages, start=1) if (turn := _turn(message, place, where))]
    return [(role, text) for role, text in said if role in _SPEAKERS]


def turns_of(messages: Any, where: str) -> tuple[list[str], str]:
    """The context and the response of a conversation: the last turn of the assistant and what stands before it.

    Raises:
        DataError: no list of messages, or none by the assistant.
    """
    turns = spoken(messages, where)
    last = max((place for place, (role, _) in enumerate(turns) if role == "assistant"), default=None)
    if last is None:
        raise DataError(
            "no turn of the assistant to judge", "End with an assistant message", where=where, field="messages"
        )
    return [text for _, text in turns[:last]], turns[last][1]


def as_chat(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with `messages` in place of `context` and `response`.

    Messages that the record was read from go back unchanged. Without them roles alternate and end with the assistant.
    A record with messages that say something else than its context and response keeps all three.
    """
    turns = [*record["context"], record["response"]]
    if "messages" not in record:
        roles = ["assistant" if (len(turns) - place) % 2 else "user" for place in range(len(turns))]
        messages = [{"role": role, "content": text} for role, text in zip(roles, turns, strict=True)]
        record = {"messages": messages, **record}
    elif not _say(record["messages"], turns):
        return dict(record)
    rest = {key: value for key, value in record.items() if key not in ("messages", "context", "response")}
    return {"messages": record["messages"], **rest}


def _turn(message: Any, place: int, where: str) -> tuple[str, str] | None:
    """The role and the text of a message; None for one between an assistant and its tools."""
    role = message.get("role") if isinstance(message, Mapping) else None
    if role in ("tool", "function") or (role == "assistant" and message.get("tool_calls")):
        return None
    known = role in _SPEAKERS + _INSTRUCTORS
    text = _content(message.get("content")) if isinstance(message, Mapping) else None
    if not known or text is None:
        raise DataError(
            f"message {place} has {'no text content' if known else f'role {role!r}'}",
            'Write {"role": "user", "content": "..."}; roles are user, assistant, system, developer, tool',
            where=where,
            field="messages",
        )
    return str(role), text


def _content(content: Any) -> str | None:
    """The text of a message: a string, or the text parts of a list of parts; None where it has no text."""
    if isinstance(content, list):
        texts = [part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
        return "\n".join(texts) if texts else None
    return content if isinstance(content, str) else None


def _say(messages: Any, turns: list[str]) -> bool:
    """Whether `messages` come to just these turns."""
    try:
        context, response = turns_of(messages, "")
    except DataError:
        return False
    return [*context, response] == turns
