"""Chat messages of every provider to turns, replies and sources. Pure functions; no file is read here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rejoinder.errors import DataError

USER, ASSISTANT, TOOL, SYSTEM = "user", "assistant", "tool", "system"
_BOTS = frozenset(
    (
        "assistant",
        "gpt",
        "chatgpt",
        "model",
        "bot",
        "chatbot",
        "ai",
        "virtual assistant",
        "virtual agent",
        "ai assistant",
        "ai agent",
    )
)
_STAFF = frozenset(
    (
        "agent",
        "support",
        "operator",
        "representative",
        "advisor",
        "admin",
        "teammate",
        "human agent",
        "live agent",
        "support agent",
    )
)
_USERS = frozenset(
    (
        "user",
        "human",
        "prompter",
        "customer",
        "client",
        "visitor",
        "caller",
        "end user",
        "guest",
        "lead",
        "contact",
        "shopper",
        "patient",
    )
)
ROLES = {
    **dict.fromkeys(_USERS, USER),
    **dict.fromkeys(_BOTS | _STAFF, ASSISTANT),
    **dict.fromkeys(("system", "developer"), SYSTEM),
    **dict.fromkeys(
        ("tool", "function", "function_call", "function_response", "tool_call", "tool_response", "observation"), TOOL
    ),
}
_TYPES = {"human": USER, "ai": ASSISTANT, "system": SYSTEM, "tool": TOOL}  # LangChain's in place of a role
_CONTENTS = ("content", "value", "parts", "text", "message")
_REASONING = frozenset(("reasoning", "thinking", "redacted_thinking", "reasoning_text", "summary_text"))
_RESULTS = frozenset(("tool_result", "tool_call_response", "function_response", "function_call_output", "tool-result"))
_MEDIA = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "input_audio": "audio",
    "audio": "audio",
    "file": "file",
    "blob": "file",
    "uri": "file",
    "document": "file",
}
_THOUGHT = re.compile(r"\A\s*<(think|thinking|thought)>.*?</\1>\s*", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"\A.*</(think|thinking|thought)>\s*", re.DOTALL | re.IGNORECASE)
_THOUGHT_CUT = re.compile(r"\A\s*<(think|thinking|thought)>", re.IGNORECASE)
_FINAL = re.compile(r"<\|channel\|>final<\|message\|>(.*?)(?:<\|(?:end|return)\|>|\Z)", re.DOTALL)
_QUESTION = re.compile(r"[?？؟][\W_]*\Z")
NO_ANSWER = "the user's last question has no answer"


class Turn(NamedTuple):
    """What one message says: `role` (user, assistant, staff, tool or system), the visible text, the results of tools."""

    role: str
    text: str | None
    sources: tuple[str, ...] = ()
    end: int = 0


def is_chat(value: Any) -> bool:
    """Whether a value is a list of chat messages."""
    first = value[0] if isinstance(value, list) and value else None
    if not isinstance(first, Mapping):
        return False
    return (
        "role" in first
        or "from" in first
        or ("kwargs" in first and "lc" in first)
        or (first.get("type") in _TYPES and not first.keys().isdisjoint(("content", "data")))
    )


def messages_in(value: Any) -> list[Any] | None:
    """The messages that a value is or holds; None where it is none."""
    if isinstance(value, Mapping):
        held = value.get("messages")
        if isinstance(held, list) and len(held) == 1 and isinstance(held[0], list):  # LangChain: a batch of one
            held = held[0]
        return held if is_chat(held) else [value] if is_chat([value]) else None
    return value if is_chat(value) else None


def turns(messages: Any, where: str) -> list[Turn]:
    """The turns of a conversation, tool results among them; instructions and bare tool calls are none.

    Raises:
        DataError: no list of messages, or one with a role that is none.
    """
    if not isinstance(messages, list) or not messages:
        raise DataError(
            "expected a list of messages", 'Write [{"role": "user", "content": "..."}]', where=where, field="messages"
        )
    named = {str(_name(m)).lower() for m in messages if isinstance(m, Mapping)}
    staff = _STAFF & named if _BOTS & named else frozenset()
    found = []
    for place, message in enumerate(messages, start=1):
        if (turn := _turn(message, place, where)) is not None:
            took_over = str(_name(message)).lower() in staff
            found.append(turn._replace(role="staff" if took_over else turn.role, end=place))
    return found


def _name(message: Any) -> Any:
    named = message.get("role", message.get("from"))
    return named if named is not None else message.get("type") if message.get("type") in _TYPES else None


def _turn(message: Any, place: int, where: str) -> Turn | None:
    if not isinstance(message, Mapping):
        raise _unreadable(f"is a {type(message).__name__}", place, where)
    if message.get("type") in _TYPES and isinstance(message.get("data"), Mapping):  # LangChain, as saved
        message = {**message["data"], "type": message["type"]}
    if isinstance(message.get("kwargs"), Mapping) and message.get("lc"):  # LangChain, serialised
        message = message["kwargs"]
    name = _name(message)
    role = (
        _TYPES.get(message["type"])
        if name == message.get("type") and name in _TYPES
        else ROLES.get(str(name).strip().lower())
    )
    if role is None:
        if message.get("type") in _RESULTS:
            return Turn(TOOL, None, (_as_text(message.get("output")),))
        if message.get("type", "message") != "message":  # reasoning and calls among the items of OpenAI's responses
            return None
        raise _unreadable(f"has role {name!r}", place, where)
    content = next((message[key] for key in _CONTENTS if message.get(key) is not None), None)
    text, sources, called = read_content(content, role)
    if role == TOOL:
        return Turn(TOOL, None, (*sources, *([text] if text else [])))
    if role == SYSTEM:
        return None
    text = text if text is not None else message.get("refusal") or (message.get("audio") or {}).get("transcript")
    if not text and (called or message.get("tool_calls") or message.get("function_call")):
        return Turn(TOOL, None, sources) if sources else None
    if text is None and sources:
        return Turn(TOOL, None, sources)
    return Turn(role, text or "", sources)


def read_content(content: Any, role: str = ASSISTANT) -> tuple[str | None, tuple[str, ...], bool]:
    """The visible text of a message's content, the tool results in it, and whether it calls a tool.

    An assistant's blocks are one text that was cut (citations), so they are put together as they are; a user's blocks
    are texts of their own, one a line. What a model thinks is no part of what it says.
    """
    if isinstance(content, str):
        return (_said(content) if role == ASSISTANT else content), (), False
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list):
        return None, (), False
    texts, sources, media, called = [], [], [], False
    for part in content:
        if isinstance(part, str):
            texts.append(part)
            continue
        if not isinstance(part, Mapping):
            continue
        kind = str(part.get("type", ""))
        if kind in _RESULTS or "functionResponse" in part or "function_response" in part:
            result = next(
                (
                    part[key]
                    for key in ("content", "response", "output", "result", "functionResponse", "function_response")
                    if part.get(key) is not None
                ),
                None,
            )
            sources.append(_as_text(result))
        elif kind.startswith("tool") or kind == "function_call" or "functionCall" in part or "function_call" in part:
            called = True
        elif kind in _REASONING or part.get("thought"):
            continue
        elif isinstance(text := part.get("text", part.get("refusal")), str) or (
            kind == "text" and isinstance(text := part.get("content"), str)
        ):
            texts.append(text)
        elif kind in _MEDIA:
            media.append(f"[{part.get('modality') or _MEDIA[kind]}]")
    text = ("" if role == ASSISTANT else "\n").join(texts) if texts else " ".join(media) or None
    if text is not None and role == ASSISTANT:
        text = _said(text)
    if text is None and not content:
        text = ""
    return text, tuple(sources), called


def _said(text: str) -> str:
    """What a model says, without what it thinks before it; "" where it was cut off while thinking."""
    if "<|channel|>" in text:
        return found[-1].strip() if (found := _FINAL.findall(text)) else ""
    if "</t" not in text[:4_000_000].lower():
        return "" if _THOUGHT_CUT.match(text) else text
    cut = _THOUGHT.sub("", text)
    return cut if cut != text else _THOUGHT_END.sub("", text)


def _as_text(value: Any) -> str:
    text, _, _ = read_content(value, USER) if isinstance(value, (list, str)) else (None, (), False)
    return text if text is not None else json.dumps(value, ensure_ascii=False)


def _unreadable(found: str, place: int, where: str) -> DataError:
    return DataError(
        f"message {place} {found}",
        'Write {"role": "user", "content": "..."}; roles are user, assistant, system, developer, tool',
        where=where,
        field="messages",
    )


def replies(
    messages: Any, where: str, *, every: bool = False, record: Mapping[str, Any] = {}
) -> Iterator[dict[str, Any]]:
    """Context, response and sources of the last turn of the assistant, or of each of its turns.

    A last question of the user that nobody answered is one more, with an empty reply.
    """
    said = turns(messages, where)
    spoken = [turn for turn in said if turn.text is not None and turn.role != TOOL]
    places = [n for n, turn in enumerate(spoken) if turn.role == ASSISTANT]
    after = spoken[places[-1] + 1 :] if places else spoken
    found = [_reply(said, spoken, place) for place in (places if every else places[-1:])]
    taken_over = any(turn.role == "staff" for turn in after)
    marked = record.get("unanswered")
    if (
        after
        and marked is not False
        and (marked or ((places or True) and not taken_over and _QUESTION.search(after[-1].text or "")))
        and places
    ):
        last = {"context": [turn.text for turn in spoken], "response": "", "unanswered": marked or NO_ANSWER}
        found = [*found, last] if every else [last]
    elif after and places:
        found[-1]["followed_by"] = [turn.text for turn in after]
    if not places:
        raise DataError(
            "no turn of the assistant to judge",
            "End with an assistant message, an empty one where nothing was replied",
            where=where,
            field="messages",
        )
    yield from found


def _reply(said: Sequence[Turn], spoken: Sequence[Turn], place: int) -> dict[str, Any]:
    end = spoken[place].end
    sources = [text for turn in said if turn.end <= end for text in turn.sources]
    reply: dict[str, Any] = {"context": [turn.text for turn in spoken[:place]], "response": spoken[place].text}
    return reply | ({"sources": sources} if sources else {})


# --- turns in one text -----------------------------------------------------------------------------------------

SEPARATORS = ("__eou__", "|||", " EOS ", "</s>")
_LABEL = re.compile(
    rf"^[ \t]*({'|'.join(sorted(map(re.escape, (_USERS | _BOTS | _STAFF | {'system'})), key=len, reverse=True))})[ \t]*:[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)


def turns_in(text: str) -> list[str]:
    """The turns in one text: separated by a known mark, or a transcript; any other text is one turn.

    A transcript begins with a speaker, has three labelled turns or more, and two speakers take turns in it. Two
    labelled lines are more often the fields of a form.
    """
    for mark in SEPARATORS:
        if mark in text:
            return [part.strip() for part in text.split(mark) if part.strip()]
    labels = list(_LABEL.finditer(text))
    names = [label[1].lower() for label in labels]
    alternate = all(first != second for first, second in zip(names, names[1:]))
    if len(labels) < 3 or text[: labels[0].start()].strip() or len(set(names)) != 2 or not alternate:
        return [text]
    ends = [*(label.start() for label in labels[1:]), len(text)]
    return [text[label.end() : end].strip() for label, end in zip(labels, ends)]
