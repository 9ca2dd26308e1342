"""Calls of OpenAI, Anthropic and Gemini: the answer of an interface, alone or with the request.

Shapes: openai/openai-python `types/chat/chat_completion.py`, `types/responses/response.py`;
anthropics/anthropic-sdk-python `types/message.py`, `types/content_block.py`; Gemini's REST reference
(`GenerateContentResponse`, `Content`, `Part`). A stored completion of OpenAI holds no messages: they are at
`/chat/completions/{id}/messages`, so its context is empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.chat import is_call, messages_in
from rejoinder.data.content import mapping, mappings, read_content
from rejoinder.data.format import Format, each, keys
from rejoinder.data.messages import is_choice
from rejoinder.data.values import from_cell
from rejoinder.errors import ColumnError

_ASKED = ("messages", "contents", "input", "prompt")
_NOTHING = {"role": "assistant", "content": None}
_ANSWERED = ("choices", "candidates", "output", "content", "message", "response")


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row is an answer, a page of answers, or a request with its answer."""
    return bool(_page(row)) or _is_answer(row) or _is_answer(_body(row.get("response")))


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Yield the conversation of a call; nothing if the answer only calls tools, since a later call holds the reply.

    Raises:
        ColumnError: a piece of a stream.
        DataError: several choices.
    """
    for call in _page(row) or [row]:
        alone = not _is_answer(_body(call.get("response")))
        answer = call if alone else _body(call["response"])
        request = _body(call.get("request"))
        if isinstance(request, (str, list)):
            request = {"messages": request}
        asked = request if isinstance(request, Mapping) else call
        if any("delta" in choice for choice in answer.get("choices") or ()):
            raise ColumnError("a piece of a stream, not a whole reply", "Join the pieces of each reply", where=where)
        said = _said(answer, where)
        if is_call(said, where):
            continue
        key = next((name for name in _ASKED if isinstance(asked.get(name), (str, list)) and asked[name]), "")
        before = asked[key] if key else []
        before = [{"role": "user", "content": before}] if isinstance(before, str) else before
        gone = {"request", "response", key if asked is call else "", *(_ANSWERED if alone else ())}
        kept = {name: value for name, value in call.items() if name not in gone}
        more = {"request": mapping(request), "raw_response": {} if alone else answer}
        for name, held in more.items():
            if rest := {name: value for name, value in held.items() if name not in (key, *_ANSWERED)}:
                kept[name] = rest
        if "custom_id" in call:  # the user's own, in OpenAI's batches
            kept["id"] = kept.pop("custom_id")
        model = answer.get("model", answer.get("modelVersion", asked.get("model")))
        if isinstance(model, str) and not (alone and asked is call and "model" in call):
            kept.setdefault("system", model)
        yield {**kept, "messages": [*before, *said]}


def _page(row: Mapping[str, Any]) -> list[Any]:
    """Return the answers on a page of a list, as of OpenAI's stored completions."""
    held = row.get("data") if row.get("object") == "list" else None
    return held if isinstance(held, list) and held and all(map(_is_answer, held)) else []


def _body(value: Any) -> Any:
    """Return a request or an answer, out of a cell and out of the object around it in OpenAI's batches."""
    value = from_cell(value, "", "")
    return value["body"] if isinstance(value, Mapping) and isinstance(value.get("body"), Mapping) else value


def _is_answer(value: Any) -> bool:
    """Return whether a value is what an interface gave back."""
    if not isinstance(value, Mapping):
        return False
    if value.get("object") == "response":
        return isinstance(value.get("output"), list)
    if value.get("type") == "message" and value.get("role") == "assistant":
        return "content" in value
    choices = value.get("choices", value.get("candidates"))
    return isinstance(choices, list) and bool(choices) and all(map(is_choice, choices))


def _said(answer: Mapping[str, Any], where: str) -> list[Any]:
    """Return the messages that an answer holds."""
    if answer.get("object") == "response":
        said = [item for item in mappings(answer["output"]) if item.get("type") == "message"]
        texts = [text for item in said if (text := read_content(item.get("content")).text)]
        if len(texts) < 2:
            return list(answer["output"]) or [_NOTHING]
        others = [item for item in mappings(answer["output"]) if item.get("type") != "message"]
        return [*others, {"role": "assistant", "content": "\n".join(texts)}]
    return messages_in(answer, where) or [_NOTHING]


FORMAT = Format(
    "completions",
    "Calls of OpenAI, Anthropic and Gemini",
    keys("request response", "custom_id response", "choices", "candidates", "object output", "type role content")
    + keys("object data"),
    each(record),
    confirm,
)
