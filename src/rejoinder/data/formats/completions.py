"""Logged calls: a request and what came back, of OpenAI (chat, responses, batches, stored), Anthropic and Gemini.

Sources: openai/openai-python src/openai/types/chat/chat_completion.py (`object: "chat.completion"`, `choices`),
responses/response.py (`object: "response"`, `output`); anthropics/anthropic-sdk-python types/message.py.
A stored completion has no messages (they are at .../{id}/messages), so its context is empty unless the request is there.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.data.chat import ROLES, is_chat, read_content, turns
from rejoinder.data.format import Format, each, keys, without_nothing
from rejoinder.data.values import from_cell
from rejoinder.errors import DataError


def _body(value: Any, where: str, field: str) -> Any:
    value = from_cell(value, where, field)
    return value["body"] if isinstance(value, Mapping) and isinstance(value.get("body"), Mapping) else value


def is_reply(value: Any) -> bool:
    """What an interface gave back."""
    if not isinstance(value, Mapping):
        return False
    chosen = value.get("choices", value.get("candidates"))
    listed = (
        isinstance(chosen, list)
        and bool(chosen)
        and all(isinstance(one, Mapping) and not {"message", "content", "text"}.isdisjoint(one) for one in chosen)
    )
    return (
        listed
        or value.get("object") == "response"
        or (value.get("type") == "message" and value.get("role") == "assistant" and "content" in value)
    )


def confirm(row: Mapping[str, Any]) -> bool:
    if is_page(row):
        return True
    reply = _body(row.get("response"), "", "response")
    asked = "request" in row or not {"messages", "input", "contents", "prompt"}.isdisjoint(row)
    return is_reply(row) or (asked and "request" in row and is_reply(reply))


def is_page(row: Mapping[str, Any]) -> bool:
    return (
        row.get("object") == "list"
        and isinstance(row.get("data"), list)
        and bool(row["data"])
        and is_reply(row["data"][0])
    )


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    if is_page(row):
        for item in row["data"]:
            yield from record(item, where)
        return
    request, reply = _body(row.get("request"), where, "request"), _body(row.get("response"), where, "response")
    reply = reply if isinstance(reply, Mapping) else row
    asked = request if isinstance(request, Mapping) else row
    text, sources = _reply(reply, where)
    key = next((name for name in ("messages", "contents", "input", "prompt") if asked.get(name)), None)
    before = asked[key] if key else []
    before = [{"role": "user", "content": before}] if isinstance(before, str) else before
    said = turns(before, where) if is_chat(before) else []
    model = reply.get("model", asked.get("model")) if isinstance(asked.get("model", reply.get("model")), str) else None
    found = {
        "id": row.get("id") or row.get("custom_id"),
        "system": row.get("system")
        if reply is row and isinstance(row.get("system"), str) and "max_tokens" not in row
        else model,
        "context": [turn.text for turn in said if turn.text is not None],
        "sources": [*(text for turn in said for text in turn.sources), *sources],
        "metadata": reply.get("metadata"),
    }
    yield {**without_nothing(found), "context": found["context"], "response": text}


def _reply(reply: Mapping[str, Any], where: str) -> tuple[str, tuple[str, ...]]:
    chosen = reply.get("choices", reply.get("candidates"))
    if isinstance(chosen, list):
        if len(chosen) != 1:
            raise DataError(
                f"{len(chosen)} choices, expected one", "Write a line for each", where=where, field="choices"
            )
        message = chosen[0].get("message", chosen[0])
        message = message if isinstance(message, Mapping) else {"content": message}
        if isinstance(message.get("content"), Mapping):
            message = message["content"]
    elif isinstance(reply.get("output"), list):
        items = [item for item in reply["output"] if isinstance(item, Mapping)]
        texts = [
            read_content(item.get("content"))[0] or ""
            for item in items
            if item.get("type") == "message" and ROLES.get(str(item.get("role", "assistant"))) == "assistant"
        ]
        return "\n".join(texts), ()
    else:
        message = reply
    content = next((message[key] for key in ("content", "parts", "text") if message.get(key) is not None), None)
    text, sources, _ = read_content(content)
    return text or message.get("refusal") or (message.get("audio") or {}).get("transcript") or "", sources


FORMAT = Format(
    "completions",
    "Logged calls of OpenAI, Anthropic and Gemini",
    keys("request response", "choices", "candidates", "object output", "type role content", "object data"),
    each(record),
    confirm,
)
