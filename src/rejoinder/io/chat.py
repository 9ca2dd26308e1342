"""Conversations as chat messages (`[{"role", "content"}, ...]`) to context and response, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rejoinder.errors import DataError
from rejoinder.example import FOLLOWED, UNANSWERED
from rejoinder.io import limits
from rejoinder.io.roles import SIDES, role_of, staff_in
from rejoinder.io.thoughts import without_thoughts
from rejoinder.io.values import kind_of

SPEAKERS = "speakers"
"""The key of who said each turn of context and response, where they do not alternate."""
Said = tuple[str | None, str]
"""Who speaks (`user` or `assistant`; None where nobody tells), and what."""
_KEYS_OF_MESSAGES = frozenset(("role", "from"))
_TYPES_OF_MESSAGES = ("human", "ai", "system")  # what LangChain has in place of a role
_CONTENTS = ("content", "value", "parts", "text", "message")
_CALLS = ("tool_use", "functionCall", "function_call")
_KINDS_OF_THOUGHT = ("reasoning", "thinking", "redacted_thinking", "thought", "summary_text", "reasoning_text")
_RESULTS = ("tool_result", "functionResponse", "function_response")
NO_ANSWER = "the user's last question has no answer"
"""Why a chat that ends with a question of the user has no reply."""
_QUESTION = re.compile(r"[?？؟][\W_]*\Z")
_EOU = re.compile(r"\s*__eou__\s*")
_LABEL = re.compile(
    r"^[ \t]*(User|Human|Customer|Client|Visitor|Caller|Assistant|Bot|Chatbot|AI|Model|Agent|Support|Operator"
    r"|Representative|Advisor|System)[ \t]*:[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)


def is_conversation(value: Any) -> bool:
    """Whether a value looks like a list of chat messages."""
    first = value[0] if isinstance(value, list) and value else None
    if not isinstance(first, Mapping):
        return False
    typed = first.get("type") in _TYPES_OF_MESSAGES and not first.keys().isdisjoint(("content", "data"))
    return typed or not _KEYS_OF_MESSAGES.isdisjoint(first)


def messages_in(value: Any) -> Any:
    """The messages that an object holds, or the one that it is, as tracing tools have them; else the value itself."""
    if not isinstance(value, Mapping):
        return value
    held = value.get("messages")
    return held if is_conversation(held) else [value] if is_conversation([value]) else value


def are_said(value: Any) -> bool:
    """Whether a value is a list of chat messages in which somebody speaks; a `role` may be something else too."""
    try:
        return is_conversation(value) and bool(spoken(value, ""))
    except DataError:
        return False


def waits(messages: list[Any]) -> bool:
    """Whether a conversation ends with something else than a turn of the assistant."""
    return not messages or not isinstance(messages[-1], Mapping) or _role(messages[-1]) != "assistant"


def spoken(messages: Any, where: str) -> list[tuple[str, str]]:
    """Role (`user` or `assistant`) and text of each turn of a conversation.

    Understands the messages of OpenAI (chat completions, and the items of responses), Anthropic, Gemini, ShareGPT,
    Cohere and LangChain. Instructions (`system`, `developer`) are no turns, nor is what an assistant and its tools say
    to each other; but the text beside a call is a turn where no other reply follows it. A person who took over from a
    bot is no assistant.

    Raises:
        DataError: no list of messages.
    """
    return [("assistant" if role == "assistant" else "user", text) for role, text, _ in _placed(messages, where)]


def _placed(messages: Any, where: str) -> list[tuple[str, str, int]]:
    """Role (`staff` too, beside a bot) and text of each turn, and how many messages end with it."""
    if not isinstance(messages, list) or not messages:
        raise DataError(
            f"{kind_of(messages)}, expected a list of messages",
            'Write [{"role": ..., "content": ...}]',
            where=where,
            field="messages",
        )
    staff = staff_in(_named(message) for message in messages if isinstance(message, Mapping))
    said: list[tuple[str, str, int]] = []
    beside_call = False
    for place, message in enumerate(messages, start=1):
        if (turn := _turn(message, place, where)) and turn[0] in SIDES:
            if beside_call and turn[0] == "assistant":  # the reply came after what the tool gave back
                said.pop()
            beside_call = _calls(_unwrapped(message))
            said.append(("staff" if _named(message) in staff else turn[0], turn[1], place))
    return said


def replies_of(messages: Any, where: str, *, every: bool) -> list[tuple[list[str], str, int]]:
    """Context and response for each turn of the assistant, and how many messages end with it.

    Args:
        messages: the conversation.
        where: `file:line`, for messages.
        every: whether all turns are wanted; else only the last one comes.

    Raises:
        DataError: no list of messages, or none by the assistant; all contexts together hold too many turns.
    """
    turns = _placed(messages, where)
    texts = [text for _, text, _ in turns]
    places = [at for at, (role, _, _) in enumerate(turns) if role == "assistant"]
    if every and sum(places) > limits.VALUES:
        problem = (
            f"the contexts of {len(places):,} turns hold {sum(places):,} turns, expected at most {limits.VALUES:,}"
        )
        raise DataError(problem, "Split the conversation, or read its last turn alone", where=where, field="messages")
    replies = [(texts[:at], turns[at][1], turns[at][2]) for at in (places if every else places[-1:])]
    if not replies:
        raise DataError(
            "no turn of the assistant to judge",
            "End with an assistant message, an empty one where nothing was replied",
            where=where,
            field="messages",
        )
    return replies


def replies_in(record: Mapping[str, Any], where: str, *, every: bool) -> list[dict[str, Any]]:
    """Messages, context and response of turns of the assistant; of the last also what the user said after it.

    A last question of the user that has no answer is one more, without a reply: the one before would be judged in its
    place. What else the user says last may want none, as "thanks, bye" does.
    """
    said = record["messages"]
    found: list[dict[str, Any]] = [
        {"messages": said[:end], "context": context, "response": response}
        for context, response, end in replies_of(said, where, every=every)
    ]
    last, words = found[-1], last_words(said, where)
    after, taken_over = [text for _, text in words], any(role == "staff" for role, _ in words)
    if not after or record.get(UNANSWERED) is False:
        last["messages"] = said
    elif why := record.get(UNANSWERED) or (NO_ANSWER if is_question(after[-1]) and not taken_over else None):
        context = [*last["context"], last["response"], *after]
        found.append({"messages": said, "context": context, "response": "", UNANSWERED: why})
    else:
        last |= {"messages": said, FOLLOWED: after}
    return found


def turns_of(messages: Any, where: str) -> tuple[list[str], str]:
    """The context and the response of a conversation: the last turn of the assistant and what stands before it.

    Raises:
        DataError: no list of messages, or none by the assistant.
    """
    context, response, _ = replies_of(messages, where, every=False)[-1]
    return context, response


def last_words(messages: Any, where: str) -> list[tuple[str, str]]:
    """Who said what after the last turn of the assistant; a call of a tool is no answer to it.

    Raises:
        DataError: no list of messages.
    """
    said = [(role, text) for role, text, _ in _placed(messages, where)]
    answered = max((place for place, (role, _) in enumerate(said, start=1) if role == "assistant"), default=0)
    return said[answered:]


def is_question(text: str) -> bool:
    """Whether a text ends with a question mark, so that whoever wrote it waits for an answer."""
    return bool(_QUESTION.search(text))


def said_in(text: str) -> list[Said]:
    """Who speaks and what they say, of each turn in one text; the speaker is None where the text does not tell.

    Turns are lines that begin with a speaker (`User:`, `Bot:` ...), or texts with `__eou__` between. Any other text is
    one turn, also where one speaker alone is named again and again: the others go by names that nobody knows. What
    follows `System:` is none.
    """
    labels = list(_LABEL.finditer(text))
    names = [label[1].lower() for label in labels if label[1].lower() != "system"]
    if len(names) > 1 and len(set(names)) == 1:
        labels = []
    staff = staff_in(names)
    if labels and not text[: labels[0].start()].strip():
        ends = [*(label.start() for label in labels[1:]), len(text)]
        said: list[Said] = [
            ("user" if label[1].lower() in staff else role_of(label[1]), text[label.end() : end].strip())
            for label, end in zip(labels, ends, strict=True)
            if label[1].lower() != "system"
        ]
    else:
        said = [(None, turn) for turn in (_EOU.split(text) if "__eou__" in text else [text])]
    return [(role, turn) for role, turn in said if turn.strip()] if len(said) > 1 or labels else said


def turns_in(text: str) -> list[str]:
    """The turns in one text, as `said_in` tells them apart."""
    return [turn for _, turn in said_in(text)]


def as_said(value: Any, where: str) -> list[tuple[str | None, Any]]:
    """Speaker (`user` or `assistant`, None where nobody tells) and text of each turn of a context.

    A context is one text, texts, chat messages, or pairs of what was said and replied. Anything else in a list is left
    to the parser to refuse.
    """
    if isinstance(value, str):
        return list(said_in(value))
    if is_conversation(value):
        return list(spoken(value, where))
    if not isinstance(value, list):
        return [(None, value)]
    return [(None, turn) for part in value for turn in (part if isinstance(part, list) and len(part) == 2 else [part])]


def as_turns(value: Any, where: str) -> list[Any]:
    """The turns of a context, as `as_said` tells them apart."""
    return [turn for _, turn in as_said(value, where)]


def as_context(said: Sequence[tuple[str | None, Any]]) -> list[Any]:
    """Turns as chat messages where all their speakers are known, else as they are."""
    if said and all(role for role, _ in said):
        return [{"role": role, "content": turn} for role, turn in said]
    return [turn for _, turn in said]


def in_turn(count: int) -> list[str]:
    """Who speaks in `count` turns that alternate and end with the assistant."""
    return ["assistant" if (count - place) % 2 else "user" for place in range(count)]


def as_chat(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with `messages` in place of `context` and `response`.

    Messages that the record was read from go back unchanged. Without them the roles are its `speakers`, where these are
    roles; else they alternate and end with the assistant.
    A record with messages that say something else than its context and response keeps all three.
    """
    turns = [*record["context"], record["response"]]
    if "messages" not in record:
        messages = as_context(list(zip(_roles_in(record, len(turns)), turns, strict=True)))
        record = {"messages": messages, **record}
    elif not _say(record["messages"], turns):
        return dict(record)
    rest = {key: value for key, value in record.items() if key not in ("messages", "context", "response", FOLLOWED)}
    return {"messages": record["messages"], **rest}


def _roles_in(record: Mapping[str, Any], count: int) -> list[str]:
    """Who speaks in the `count` turns of a record without messages."""
    named = record.get(SPEAKERS)
    if isinstance(named, list) and len(named) == count and all(role in SIDES for role in named):
        return named if named[-1] == "assistant" else in_turn(count)
    return in_turn(count)


def _turn(message: Any, place: int, where: str) -> tuple[str, str] | None:
    """The role and the text of a message; None for one between an assistant and its tools."""
    if not isinstance(message, Mapping):
        raise _unreadable(f"is {kind_of(message)}", place, where)
    message = _unwrapped(message)
    role = _role(message)
    if role is None:
        if message.get("type", "message") != "message":  # reasoning, calls and their results among OpenAI's items
            return None
        raise _unreadable(f"has role {message.get('role', message.get('from'))!r}", place, where)
    content = next((message[key] for key in _CONTENTS if message.get(key) is not None), None)
    if role == "tool" or _only_results(content):
        return None
    text = content_of(content)
    if _calls(message):
        return (role, text) if text and text.strip() else None
    if text is None and isinstance(message.get("refusal"), str):
        text = message["refusal"]
    if text is None:
        raise _unreadable("has no text content", place, where)
    return role, text


def _unreadable(found: str, place: int, where: str) -> DataError:
    """The error of a message that is none."""
    return DataError(
        f"message {place} {found}",
        'Write {"role": "user", "content": "..."}; roles are user, assistant, system, developer, tool',
        where=where,
        field="messages",
    )


def _role(message: Mapping[str, Any]) -> str | None:
    """Who speaks: `user`, `assistant`, `system` or `tool`; None where that cannot be told."""
    return role_of(_named(message))


def _named(message: Mapping[str, Any]) -> str | None:
    """What a message calls who speaks."""
    typed = message.get("type") if message.get("type") in _TYPES_OF_MESSAGES else None
    named = message.get("role", message.get("from", typed))
    return named.lower() if isinstance(named, str) else None


def _unwrapped(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message out of the object in which LangChain saves it."""
    if message.get("type") in _TYPES_OF_MESSAGES and isinstance(message.get("data"), Mapping):
        return {**message["data"], "type": message["type"]}
    return message


def _calls(message: Mapping[str, Any]) -> bool:
    """Whether a message calls a tool."""
    if message.get("tool_calls") or message.get("function_call"):
        return True
    return any(_is_part(part, _CALLS) for key in _CONTENTS for part in _parts(message.get(key)))


def _only_results(content: Any) -> bool:
    """Whether a list of parts brings nothing but what tools gave back."""
    parts = _parts(content)
    return bool(parts) and all(_is_part(part, _RESULTS) for part in parts)


def _parts(content: Any) -> list[Mapping[str, Any]]:
    """The objects in a list of parts; none of anything else."""
    return [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []


def _is_part(part: Mapping[str, Any], kinds: Sequence[str]) -> bool:
    """Whether a part is of one of these kinds."""
    return part.get("type") in kinds or not part.keys().isdisjoint(kinds)


def content_of(content: Any) -> str | None:
    """The text of a message: a string, or the text parts of a list of parts; None where it has no text.

    The thoughts of a model (`<think> ... </think>`) are no part of it.
    """
    text = whole_content_of(content)
    return None if text is None else without_thoughts(text)


def whole_content_of(content: Any) -> str | None:
    """As `content_of`, with thoughts that stand in the text itself."""
    if isinstance(content, Mapping):
        content = [content]
    if isinstance(content, list):
        texts = [text for part in content if (text := _text_of(part)) is not None]
        content = "\n".join(texts) if texts else None
    return content if isinstance(content, str) else None


def _text_of(part: Any) -> str | None:
    """The text of one part of a message; thoughts, images and the like have none."""
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping) or part.get("thought") or part.get("type") in _KINDS_OF_THOUGHT:
        return None
    text = part.get("text", part.get("refusal"))
    return text if isinstance(text, str) else None


def _say(messages: Any, turns: list[str]) -> bool:
    """Whether `messages` come to just these turns."""
    try:
        context, response = turns_of(messages, "")
    except DataError:
        return False
    return [*context, response] == turns
