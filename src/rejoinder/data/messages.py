"""Chat messages of all providers to turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from rejoinder.data.content import ASSISTANT, CONTENTS, SYSTEM, TOOL, USER, part_results, read_content
from rejoinder.errors import DataError

STAFF = "staff"
BOTS = frozenset(("assistant", "gpt", "chatgpt", "model", "bot", "chatbot", "ai"))
BOTS |= {"virtual assistant", "virtual agent", "ai assistant", "ai agent"}
PEOPLE = frozenset(("agent", "support", "operator", "representative", "advisor", "admin", "teammate"))
PEOPLE |= {"human agent", "live agent", "support agent"}
"""People who answer; with a bot in the conversation they took over from it."""
USERS = frozenset(("user", "human", "prompter", "customer", "client", "visitor", "caller", "end user", "end-user"))
USERS |= {"guest", "lead", "contact", "shopper", "patient"}
_CALLS = ("function_call", "tool_call")
_TOOLS = ("tool", "function", "function_response", "tool_response", "observation", *_CALLS)
ROLES = {
    **dict.fromkeys(USERS, USER),
    **dict.fromkeys(BOTS | PEOPLE, ASSISTANT),
    **dict.fromkeys(("system", "developer"), SYSTEM),
    **dict.fromkeys(_TOOLS, TOOL),
}
"""The role of each name."""
_TYPES = {  # LangChain's names in place of a role: in `type`, or of the class
    "human": USER,
    "HumanMessage": USER,
    "ai": ASSISTANT,
    "AIMessage": ASSISTANT,
    "AIMessageChunk": ASSISTANT,
    "system": SYSTEM,
    "SystemMessage": SYSTEM,
    "tool": TOOL,
    "ToolMessage": TOOL,
    "FunctionMessage": TOOL,
}
_SPOKEN = frozenset((*CONTENTS, "tool_calls", "function_call", "refusal", "audio"))
_CHOICES = ("choices", "candidates")
_MARKS = frozenset(("finish_reason", "finishReason", "logprobs", "index", "delta"))


class Turn(NamedTuple):
    """The turn in one message.

    Attributes:
        role: user, assistant, staff (a person who took over from a bot) or tool.
        text: the visible text; None for a message of tools.
        sources: the results of tools.
        end: the number of messages up to and with this one.
    """

    role: str
    text: str | None
    sources: tuple[str, ...] = ()
    end: int = 0


def is_chat(value: Any) -> bool:
    """Return whether a value is a list of chat messages."""
    return isinstance(value, list) and all(map(_may_be_message, value)) and any(map(_is_message, value))


def messages_in(value: Any, where: str = "") -> list[Any] | None:
    """Return the messages that a value is or holds, also those in the answer of an interface; None without any.

    Raises:
        DataError: an answer with several choices.
    """
    if isinstance(value, list):
        return value if is_chat(value) else None
    if not isinstance(value, Mapping):
        return None
    if isinstance(value.get("body"), Mapping):  # OpenAI's batches
        value = value["body"]
    for key in _CHOICES:
        if isinstance(choices := value.get(key), list) and choices and all(map(is_choice, choices)):
            if len(choices) > 1:
                problem = f"{len(choices)} {key}, expected one"
                raise DataError(problem, "Write a line for each", where=where, field=key)
            return [_chosen(choices[0])]
    held = value.get("messages")
    if isinstance(held, list) and len(held) == 1 and isinstance(held[0], list):  # LangChain: a batch of one
        held = held[0]
    for messages in (held, value.get("output"), value.get("input")):
        if is_chat(messages):
            return messages  # type: ignore[no-any-return]
    if isinstance(held := value.get("generations"), list) and held:  # LangChain's answer
        first = held[0][0] if isinstance(held[0], list) and held[0] else held[0]
        if isinstance(first, Mapping) and not first.keys().isdisjoint(("message", "text")):
            return [_chosen(first)]
    return [value] if _is_message(value) else None


def turns(messages: Any, where: str) -> list[Turn]:
    """Return the turns of a conversation, results of tools among them; instructions and bare calls are no turns.

    Raises:
        DataError: no list of messages, or a message with an unknown role.
    """
    if not isinstance(messages, list) or not messages:
        remedy = 'Write [{"role": "user", "content": "..."}]'
        raise DataError("expected a list of messages", remedy, where=where, field="messages")
    plain = [_unwrapped(message) for message in messages]
    names = {_name(message) for message in plain if isinstance(message, Mapping)}
    staff = PEOPLE & names if BOTS & names else frozenset()
    found = list[Turn]()
    for place, message in enumerate(plain, start=1):
        if (turn := _turn(message, place, where)) is not None:
            role = STAFF if turn.role == ASSISTANT and _name(message) in staff else turn.role
            found.append(turn._replace(role=role, end=place))
    return found


def _may_be_message(value: Any) -> bool:
    """Return whether a value can be part of a chat: it has a role of any name, or a type as OpenAI's items have."""
    return isinstance(value, Mapping) and not {"role", "from", "type"}.isdisjoint(value)


def _is_message(value: Any) -> bool:
    """Return whether a value is one chat message: a known role and something that it says."""
    if not isinstance(value, Mapping):
        return False
    if isinstance(value.get("kwargs"), Mapping) and value.get("lc"):
        return True
    if str(value.get("type")) in _TYPES and not value.keys().isdisjoint(("content", "data")):
        return True
    return _role(value) is not None and not value.keys().isdisjoint(_SPOKEN)


def is_choice(choice: Any) -> bool:
    """Return whether an answer's choice is one of an interface, and none of a multiple-choice question."""
    if not isinstance(choice, Mapping):
        return False
    held = choice.get("message", choice.get("content"))
    return isinstance(held, Mapping) or bool(_MARKS & choice.keys())


def _chosen(choice: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message of a choice; Gemini's may lack a role, or its content where it was withheld."""
    message = choice.get("message", choice.get("content"))
    if not isinstance(message, Mapping):
        message = {"content": choice.get("text") if message is None else message}
    return {**message} if _is_message(message) else {"role": ASSISTANT, "content": None, **message}


def _unwrapped(message: Any) -> Any:
    """Return a message out of the object in which LangChain saves or serialises it."""
    if not isinstance(message, Mapping):
        return message
    if str(message.get("type")) in _TYPES and isinstance(message.get("data"), Mapping):
        return {**message["data"], "type": message["type"]}
    if message.get("lc") and isinstance(message.get("kwargs"), Mapping):
        path = message.get("id")
        return {"type": path[-1] if isinstance(path, list) and path else None, **message["kwargs"]}
    return message


def _name(message: Any) -> str:
    """Return the name of who speaks, in small letters; "" if a message has none."""
    named = message.get("role", message.get("from"))
    return named.strip().lower() if isinstance(named, str) else ""


def _role(message: Mapping[str, Any]) -> str | None:
    """Return the role of a message; None if it has none, or an unknown one."""
    named = _name(message)
    return ROLES.get(named) if named else _TYPES.get(str(message.get("type")))


def _turn(message: Any, place: int, where: str) -> Turn | None:
    """Return the turn in one message; None for an instruction or a bare call."""
    if not isinstance(message, Mapping):
        raise _unreadable(f"is no object: {str(message)[:40]!r}", place, where)
    role = _role(message)
    if role is None:
        if _name(message) or message.get("type", "message") == "message":
            raise _unreadable(f"has role {message.get('role', message.get('from'))!r}", place, where)
        results = part_results(message)  # an item of OpenAI's responses: reasoning, a call, its result
        return Turn(TOOL, None, tuple(results)) if results else None
    values = [message[key] for key in CONTENTS if message.get(key) is not None]
    content = read_content(next(filter(None, values), values[0] if values else None), role)
    sources = content.sources
    if isinstance(parts := message.get("parts"), list) and not sources:  # AI SDK: the text is in `content` too
        sources = read_content(parts, role).sources
    text, audio = content.text, message.get("audio")
    if role == SYSTEM or (role == ASSISTANT and message.get("channel") in ("analysis", "commentary")):  # gpt-oss thinks
        return None
    if role == TOOL:
        if _name(message) in _CALLS:
            return None
        return Turn(TOOL, None, (*sources, *([text] if text and not sources else [])))
    if text is None:
        text = message.get("refusal") or (audio.get("transcript") if isinstance(audio, Mapping) else None)
    called = content.called or message.get("tool_calls") or message.get("function_call")
    if not (text and text.strip()) and (called or sources):
        return Turn(TOOL, None, sources) if sources else None
    return Turn(role, text or "", sources)


def _unreadable(found: str, place: int, where: str) -> DataError:
    """Return the error of a message that cannot be read."""
    remedy = 'Write {"role": "user", "content": "..."}; roles are user, assistant, system, developer, tool'
    return DataError(f"message {place} {found}", remedy, where=where, field="messages")
