"""Chats to context, response and sources, and back; turns in one text. Nothing here opens a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from rejoinder.data import limits
from rejoinder.data.columns import plain
from rejoinder.data.content import ASSISTANT, USER, source_texts
from rejoinder.data.content import read_content as read_content
from rejoinder.data.messages import BOTS, PEOPLE, ROLES, STAFF, USERS
from rejoinder.data.messages import is_chat as is_chat
from rejoinder.data.messages import messages_in as messages_in
from rejoinder.data.messages import turns as turns
from rejoinder.data.thoughts import without_thoughts as without_thoughts
from rejoinder.errors import DataError

SPEAKERS, UNANSWERED, FOLLOWED_BY = "speakers", "unanswered", "followed_by"
NO_ANSWER = "the user's last question has no answer"
_QUESTION = re.compile(r"[?？؟][\W_]*\Z")
_NAMES = "|".join(sorted(map(re.escape, (*USERS, *BOTS, *PEOPLE, "system")), key=len, reverse=True))
_LABEL = re.compile(rf"^[ \t]*(?:\*\*)?({_NAMES})[ \t]*(?:\*\*)?[:：](?:\*\*)?[ \t]*", re.IGNORECASE | re.MULTILINE)
_LABELS = 3  # two labelled lines are more often the fields of a form
_ANY_LABEL = re.compile(
    r"^[ \t]*(?:[\[(]?[\d:.T -]{4,20}[\])]?\s+)?\W{0,3}([^\W\d_][\w -]{0,18}?)\W{0,3}[:：]", re.MULTILINE
)
_MAY_SEPARATE = re.compile(
    r"(?<=\S)\s*(?:</?\|?\w{1,20}\|?>|\[\w{2,12}\]|\b_{1,2}\w{2,5}_{1,2}\b|\s\|\s|\|\||[#*~%-]{3,}|[=-]+>|;;|\s//\s|\t)\s*(?=\S)"
)
_LOOKED_AT = 10_000  # characters
_TEMPLATE = re.compile(  # of models: ChatML, Llama 3, Gemma
    r"(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>)\s*(\w+)\s*?(?:<\|end_header_id\|>|\n)"
)
_TEMPLATE_ENDS = re.compile(r"<\|im_end\|>|<\|eot_id\|>|<end_of_turn>|<\|begin_of_text\|>|<bos>")
_MARKS = "eou|eot|eos|sep|turn|utt|end_of_turn|endoftext|im_end|eot_id"
_SEPARATOR = re.compile(  # somebody may write about a mark: the EOS token; EOS is a camera, too
    r"(?<!\bthe\s)(?<!\ban\s)"
    rf"(?:__(?i:{_MARKS})__|\|\|\||<\|?(?i:{_MARKS})\|?>|\[(?i:{_MARKS})\]|</s>"
    r"|(?<=[^\w\s]\s)EOS(?=\s|\Z)|(?<=\s)EOS(?=\s.*\bEOS\s*\Z|\s*\Z))(?!\s+tokens?\b)",
    re.DOTALL,
)


def spoken(messages: Any, where: str) -> list[tuple[str, str]]:
    """Return speaker (`user` or `assistant`) and text of each visible turn; a person who took over is no assistant.

    Raises:
        DataError: as `turns` does.
    """
    said = [(turn.role, turn.text) for turn in turns(messages, where) if turn.text is not None]
    return [(ASSISTANT if role == ASSISTANT else USER, text) for role, text in said]


def replies(
    messages: Any, where: str, *, every: bool = False, record: Mapping[str, Any] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield messages, context, response and sources of the assistant's last turn, or of each of its turns.

    A last question without an answer is one more, with an empty reply; a call of a tool is no answer. Other last words
    of the user are `followed_by`.

    Args:
        messages: the conversation.
        where: `file:line`, for messages.
        every: whether all turns of the assistant are read.
        record: the other keys of the line: `unanswered` (false: no answer was due), `sources`.

    Raises:
        DataError: as `turns` does; no turn of the assistant; all contexts together hold too many turns.
    """
    record = record or {}
    known = turns(messages, where)
    visible = [turn for turn in known if turn.text is not None]
    texts = [turn.text or "" for turn in visible]
    places = [place for place, turn in enumerate(visible) if turn.role == ASSISTANT]
    if not places:
        remedy = "End with an assistant message, an empty one where nothing was replied"
        raise DataError("no turn of the assistant to judge", remedy, where=where, field="messages")
    if every and sum(places) > limits.VALUES:
        problem = f"the contexts of {len(places):,} turns together hold more than {limits.VALUES:,} turns"
        remedy = "Split the conversation, or read its last turn alone"
        raise DataError(problem, remedy, where=where, field="messages")
    after = visible[places[-1] + 1 :]
    due = record.get(UNANSWERED)
    none_due = str(due).strip().lower() in ("no", "0", "0.0", "false")
    asks = _QUESTION.search(texts[-1]) and all(turn.role != STAFF for turn in after)
    open_end = after and not none_due and (due or asks)
    if open_end:
        places.append(len(texts))
    retrieved = source_texts(record.get("sources") or [])
    for place in places if every else places[-1:]:
        is_last = place == places[-1]
        end = visible[place].end if place < len(texts) else len(messages)
        results = [text for turn in known if turn.end <= end for text in turn.sources]
        reply: dict[str, Any] = {"context": texts[:place], "response": "".join(texts[place : place + 1])}
        if sources := list(dict.fromkeys((*retrieved, *results))):
            reply["sources"] = sources
        reply["messages"] = messages if is_last else messages[:end]
        if is_last and open_end:
            reply[UNANSWERED] = due or NO_ANSWER
        elif is_last and after and not none_due:
            reply[FOLLOWED_BY] = texts[place + 1 :]
        yield reply


def exchange(asked: Any, said: Any, where: str) -> dict[str, Any] | None:
    """Return what came in and what went out, of a trace or a call, in our own form; None if it only calls tools.

    Both are messages if each holds messages or one text. An object with several texts stays as `context` or `response`;
    the reader refuses it and asks for the path (`--map context=input.question`).

    Raises:
        DataError: an answer with several choices.
    """
    before, after = _as_messages(asked, USER, where), _as_messages(said, ASSISTANT, where)
    if before is None or after is None:
        return {"context": asked, "response": said}
    visible = [turn for turn in turns(after, where) if turn.text is not None]
    if not visible:
        return None
    if any(turn.role == USER for turn in visible):
        return {"messages": after}  # the whole conversation
    return {"messages": [*before, *after]}


def is_call(messages: Sequence[Any], where: str) -> bool:
    """Return whether messages only call tools: the reply follows in a later call."""
    return bool(messages) and not any(turn.text is not None for turn in turns(messages, where))


def in_turn(count: int) -> list[str]:
    """Return the speakers of `count` turns that alternate and end with the assistant."""
    return [ASSISTANT if (count - place) % 2 else USER for place in range(count)]


def as_chat(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record with `messages` in place of `context` and `response`.

    Messages from the input stay unchanged. Without them the roles are the record's `speakers` if these are roles; else
    they alternate. A record whose messages say something else than its context and response keeps all three.
    """
    texts = [*record["context"], record["response"]]
    if "messages" not in record:
        named = record.get(SPEAKERS)
        known = isinstance(named, list) and len(named) == len(texts) and {*named} <= {USER, ASSISTANT}
        roles = named if known and named[-1] == ASSISTANT else in_turn(len(texts))  # type: ignore[index]
        messages = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)]  # type: ignore[arg-type]
        record = {"messages": messages, **record}
    elif not _says(record["messages"], texts):
        return dict(record)
    rest = {key: value for key, value in record.items() if key not in ("messages", "context", "response", FOLLOWED_BY)}
    return {"messages": record["messages"], **rest}


def turns_in(text: str) -> list[str]:
    """Return the turns in one text: of a transcript, or between marks (`__eou__`, `|||`, ` EOS `); else the text."""
    if said := transcript(text):
        return [turn for _, turn in said]
    if not any(mark in text for mark in ("EOS", "__", "|||", "[", "<")) or ("<s>" in text and "</s>" in text):
        return [text]  # most texts have no mark; between <s> and </s> it may be crossed out
    parts = _SEPARATOR.split(text)
    return [part.strip() for part in parts if part.strip()] if len(parts) > 1 else [text]


def without_label(turn: str, *, anyone: bool = False) -> str:
    """Return a turn without the name of the bot, or of anyone, at its beginning, `System: `."""
    label = _LABEL.match(turn)
    return turn[label.end() :] if label and (anyone or label[1].lower() not in USERS) else turn


def unsplit_mark(text: str) -> str:
    """Return what may separate turns in a text that was read as one turn: a mark or a name; "" without any."""
    names = _ANY_LABEL.findall(text[:_LOOKED_AT])
    if (names and names[0].lower() in ROLES) or len({*names}) < len(names):
        return f"{names[0]}:"
    mark = _MAY_SEPARATE.search(text[:_LOOKED_AT])
    return (mark[0].strip() or "a tab") if mark else ""


def transcript(text: str) -> list[tuple[str, str]]:
    """Return speaker (`user` or `assistant`) and text of each turn of a transcript; nothing of any other text.

    A transcript begins with a speaker, has three labelled turns or more, and two speakers take turns: a user, and a
    bot or an agent. `System:` is the bot. A prompt in the template of a model is one, too.
    """
    if "<|im_start|>" in text or "<|start_header_id|>" in text or "<start_of_turn>" in text:
        _, *parts = _TEMPLATE.split(text)
        roles = [ROLES.get(name.lower()) for name in parts[::2]]
        turns_said = zip(roles, (_TEMPLATE_ENDS.sub("", part).strip() for part in parts[1::2]), strict=True)
        return [(role, turn) for role, turn in turns_said if role in (USER, ASSISTANT) and turn]
    labels = list(_LABEL.finditer(text)) if ":" in text or "：" in text else []
    if not labels or text[: labels[0].start()].strip():
        return []
    names = [label[1].lower() for label in labels]
    if names[0] == "system" and "system" not in names[1:] and {*names} & {*BOTS, *PEOPLE}:  # instructions
        labels, names = labels[1:], names[1:]
    sides = [USER if name in USERS else ASSISTANT for name in names]
    take_turns = len(set(names)) <= len(set(sides)) and all(first != second for first, second in pairwise(sides))
    if len(labels) < _LABELS or not take_turns:
        return []
    ends = [*(label.start() for label in labels[1:]), len(text)]
    said = [(side, text[label.end() : end].strip()) for side, label, end in zip(sides, labels, ends, strict=True)]
    return [(side, turn) for side, turn in said if turn]


def _as_messages(value: Any, role: str, where: str) -> list[Any] | None:
    """Return the messages that a value is or holds, or its only text as one message; None if it has several texts."""
    if value is None or value == []:
        return [{"role": role, "content": None}] if role == ASSISTANT else []
    if (messages := messages_in(value, where)) is not None:
        return messages
    if isinstance(value, str):
        return [{"role": role, "content": value}]
    if not isinstance(value, Mapping):
        return None
    past: list[Any] = next((value[key] for key in ("chat_history", "history") if is_chat(value.get(key))), [])
    held = [messages for item in value.values() if item is not past and (messages := messages_in(item, where))]
    held += [[{"role": role, "content": text}] for text in value.values() if isinstance(text, str)]
    return [*past, *held[0]] if len(held) == 1 else None


def _says(messages: Any, texts: list[str]) -> bool:
    """Return whether messages come to just these turns."""
    try:
        reply = next(replies(messages, ""))
    except DataError:
        return False
    return [*reply["context"], reply["response"]] == texts


def is_texts(value: Any, where: str) -> bool:
    """Return whether a decoded cell holds texts, pairs of texts, or chat messages."""
    if isinstance(value, list) and all(isinstance(one, (str, list)) for one in value):
        return True
    return messages_in(value, where) is not None or (
        isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)
    )


def _split(value: Any) -> Any:
    """Return the messages of a transcript or the turns of a text; any other value as it is."""
    if not isinstance(value, str):
        return value
    return [{"role": speaker, "content": text} for speaker, text in transcript(value)] or turns_in(value)


def together(ours: str, names: Sequence[str], values: Sequence[Any]) -> Any:
    """Return the value of a field that several columns fill."""
    present = [value for value in values if value not in (None, "", [])]
    if ours != "context":
        return [one for value in present for one in (value if isinstance(value, list) else [value])]
    if plain(names[0]) == "instruction" and plain(names[-1]) == "input":
        return ["\n\n".join(str(value) for value in present)]
    if len(present) == 1:
        return present[0]
    present = [*map(_split, present[:-1]), *present[-1:]]
    if all(messages_in(value) is not None for value in present[:-1]) and present and isinstance(present[-1], str):
        before = [message for value in present[:-1] for message in messages_in(value) or ()]
        return [*before, {"role": "user", "content": present[-1]}]
    return [turn for value in present for turn in (value if isinstance(value, list) else [value])]
