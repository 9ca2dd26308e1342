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
_ANSWERED = ("choices", "candidates", "output", "content", "message", "response")


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row is an answer, or a request with its answer."""
    return _is_answer(row) or _is_answer(_body(row.get("response")))


def record(call: Mapping[str, Any], where: str) -> Iterator[dict[str, Any] | None]:
    """Yield the conversation of a call. Raises `DataError` for a piece of a stream or several choices."""
    alone = not _is_answer(_body(call.get("response")))
    answer = call if alone else _body(call["response"])
    request = _body(call.get("request"))
    asked = request if isinstance(request, Mapping) else {"messages": request} if request else call
    if any("delta" in choice for choice in answer.get("choices") or ()):
        raise ColumnError("a piece of a stream, not a whole reply", "Join the pieces of each reply", where=where)
    said = _said(answer, where)
    if is_call(said, where):
        yield None
        return
    key = next((name for name in _ASKED if isinstance(asked.get(name), (str, list)) and asked[name]), "")
    before = asked.get(key, [])
    before = [{"role": "user", "content": before}] if isinstance(before, str) else before
    gone = {"request", "response", key if asked is call else "", *(_ANSWERED if alone else ())}
    kept = {name: value for name, value in call.items() if name not in gone}
    for name, held in (("request", mapping(request)), ("raw_response", {} if alone else answer)):
        if rest := {inner: value for inner, value in held.items() if inner not in (key, *_ANSWERED)}:
            kept[name] = rest
    if "custom_id" in call:  # the user's own, in OpenAI's batches
        kept["id"] = kept.pop("custom_id")
    model = answer.get("model", answer.get("modelVersion", asked.get("model")))
    if isinstance(model, str) and "model" not in kept:
        kept.setdefault("system", model)
    yield {**kept, "messages": [*before, *said]}


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
    """Return the messages that an answer holds; several messages of one OpenAI response are one reply."""
    said = messages_in(answer, where)
    if answer.get("object") == "response":
        said = answer["output"]
        texts = [read_content(item.get("content")).text for item in mappings(said) if item.get("type") == "message"]
        if len(texts) > 1:
            others = [item for item in mappings(said) if item.get("type") != "message"]
            said = [*others, {"role": "assistant", "content": "\n".join(filter(None, texts))}]
    return said or [{"role": "assistant", "content": None}]


FORMAT = Format(
    "completions",
    "Calls of OpenAI, Anthropic and Gemini",
    keys("request response", "custom_id response", "choices", "candidates", "object output", "type role content"),
    each(record),
    confirm,
)
