"""Calls of chat interfaces as they are logged, a request and what came back, to one conversation in messages.

Understood are OpenAI's chat completions, completions, responses and batches, Anthropic's messages, Gemini's contents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rejoinder.errors import DataError
from rejoinder.io.chat import are_said, content_of, is_conversation, messages_in, spoken

_ASKED = ("messages", "contents", "input", "prompt")
_CHOSEN = ("choices", "candidates")
_SAID = ("message", "output", "content", "parts", "text")


def as_conversation(record: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """`record` with `messages` in place of the request and the reply of a logged call; any other record as it is.

    Who replied, `system`, is the model that the reply names, or the request. What else is in the request stays under
    `request`, what else came back under `reply`.

    Raises:
        DataError: the reply holds several choices.
    """
    request, reply = _body(record.get("request")), _body(record.get("response"))
    alone = request is None and reply is None
    if alone and not _is_reply(record):
        return record
    reply = record if alone or reply is None else reply
    text = reply_in(reply, where)
    if text is None:
        return record
    asked = record if request is None else request
    key = next((name for name in _ASKED if isinstance(asked.get(name), (str, list)) and asked[name]), None)
    used = {"request", "response", *_CHOSEN, *(_SAID if alone else ()), *([key] if request is None else [])}
    kept: dict[str, Any] = {name: value for name, value in record.items() if name not in used}
    if request is not None and (rest := {name: value for name, value in request.items() if name != key}):
        kept["request"] = rest
    if reply is not record and (
        rest := {name: value for name, value in reply.items() if name not in (*_CHOSEN, *_SAID)}
    ):
        kept["reply"] = rest
    if (model := reply.get("model", asked.get("model"))) and request is not None and "system" not in kept:
        kept["system"] = model
    if key is None:
        return {**kept, "response": text}
    before = asked[key]
    messages = [{"role": "user", "content": before}] if isinstance(before, str) else before
    return {**kept, "messages": [*messages, {"role": "assistant", "content": text}]}


def reply_in(value: Any, where: str) -> str | None:
    """The text of a reply as an interface gives it, or None where there is none.

    Args:
        value: a response body, one of its choices, a message, items, or parts of a content.
        where: `file:line`, for messages.

    Raises:
        DataError: it holds several choices.
    """
    if isinstance(value, Mapping):
        return _reply_in_object(value, where)
    if not isinstance(value, list) or not all(isinstance(part, Mapping) for part in value) or not value:
        return value if isinstance(value, str) else None
    if any("role" in part or part.get("type") == "message" for part in value):
        turns = spoken(value, where)
        asked = max((place for place, (role, _) in enumerate(turns, start=1) if role != "assistant"), default=0)
        return "\n".join(text for _, text in turns[asked:]) if turns[asked:] else None
    return content_of(value)


def is_reply(value: Any) -> bool:
    """Whether a decoded text says that an assistant speaks: by messages, or by the choices of a chat interface."""
    if isinstance(value, Mapping) and not isinstance(messages_in(value), list):
        chosen = [one for key in _CHOSEN for one in _chosen(value, key)]
        return bool(chosen) and all(isinstance(one.get("message", one.get("content")), Mapping) for one in chosen)
    return are_said(messages_in(value))


def _reply_in_object(value: Mapping[str, Any], where: str) -> str | None:
    """The text of a reply in an object."""
    if (body := _body(value)) is not value:
        return None if body is None else _reply_in_object(body, where)
    for key in _CHOSEN:
        if chosen := _chosen(value, key):
            if len(chosen) > 1:
                raise DataError(f"{len(chosen)} {key}, expected one", "Write a line for each", where=where, field=key)
            return reply_in(chosen[0], where)
    if is_conversation(value.get("messages")):
        return reply_in(value["messages"], where)
    if "role" in value and value.get("type", "message") == "message" and "parts" not in value:
        return reply_in([value], where)
    said = next((value[key] for key in _SAID if value.get(key) is not None), None)
    return None if said is None else reply_in(said, where)


def _chosen(value: Mapping[str, Any], key: str) -> list[Any]:
    """What a reply offers under `key`; neither the texts of a multiple-choice question nor candidates of ours."""
    found = value.get(key)
    if not isinstance(found, list) or not all(isinstance(one, Mapping) and "response" not in one for one in found):
        return []
    return found


def _body(value: Any) -> Mapping[str, Any] | None:
    """The request or the response itself, which OpenAI's batches wrap in an object with its `body`."""
    if not isinstance(value, Mapping):
        return None
    return value["body"] if isinstance(value.get("body"), Mapping) else value


def _is_reply(record: Mapping[str, Any]) -> bool:
    """Whether a record is what an interface gave back, with or without the request beside it."""
    return (
        any(_chosen(record, key) for key in _CHOSEN)
        or (record.get("object") == "response" and isinstance(record.get("output"), list))
        or (record.get("type") == "message" and record.get("role") == "assistant" and "content" in record)
    )
