"""Chats to context, response and sources, and back; turns in one text. Nothing here opens a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from rejoinder.data import limits
from rejoinder.data.content import ASSISTANT, USER, source_texts
from rejoinder.data.content import read_content as read_content
from rejoinder.data.messages import BOTS, PEOPLE, STAFF, USERS
from rejoinder.data.messages import ROLES as ROLES
from rejoinder.data.messages import Turn as Turn
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
    retrieved = source_texts(record["sources"]) if record.get("sources") else []
    due: Any = record.get(UNANSWERED) or None if record.get(UNANSWERED) is not False else False
    due = False if str(due).strip().lower() in ("no", "0", "0.0", "false") else due

    def reply(context: list[str], response: str, end: int, **more: Any) -> dict[str, Any]:
        results = (text for turn in known if turn.end <= end for text in turn.sources)
        sources = list(dict.fromkeys((*retrieved, *results)))
        return {"context": context, "response": response, **({"sources": sources} if sources else {}), **more}

    after = visible[places[-1] + 1 :]
    asks = bool(after) and bool(_QUESTION.search(after[-1].text or "")) and STAFF not in {turn.role for turn in after}
    open_end = bool(after) and due is not False and bool(due or asks)
    for place in places if every else [] if open_end else places[-1:]:
        last = place == places[-1] and not open_end
        more = {FOLLOWED_BY: texts[place + 1 :]} if last and after and due is not False else {}
        end = visible[place].end
        yield reply(texts[:place], texts[place], end, messages=messages if last else messages[:end], **more)
    if open_end:
        yield reply(texts, "", len(messages), messages=messages, **{UNANSWERED: due or NO_ANSWER})


def exchange(asked: Any, said: Any, where: str) -> dict[str, Any]:
    """Return what came in and what went out, of a trace or a call, in our own form.

    Both are messages if each holds messages or one text. An object with several texts stays as `context` or `response`;
    the reader refuses it and asks for the path (`--map context=input.question`).

    Raises:
        DataError: an answer with several choices.
    """
    before, after = _as_messages(asked, USER, where), _as_messages(said, ASSISTANT, where)
    if before is None or after is None:
        return {"context": asked, "response": said}
    if after and any(turn.role == USER and turn.text is not None for turn in turns(after, where)):
        return {"messages": after}  # the whole conversation
    return {"messages": [*before, *after]}


def is_call(messages: Sequence[Any], where: str) -> bool:
    """Return whether messages that went out only call tools: the reply follows in a later call."""
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
        turns_said = [
            (ROLES.get(name.lower()), _TEMPLATE_ENDS.sub("", said).strip())
            for name, said in zip(parts[::2], parts[1::2], strict=True)
        ]
        return [(role, said) for role, said in turns_said if role in (USER, ASSISTANT) and said]
    labels = list(_LABEL.finditer(text)) if ":" in text or "：" in text else []
    names = [label[1].lower() for label in labels]
    if names[:1] == ["system"] and "system" not in names[1:] and {*names} & {*BOTS, *PEOPLE}:  # instructions
        text, labels, names = text[labels[1].start() :], [], names[1:]
        labels = list(_LABEL.finditer(text))
    sides = [USER if name in USERS else ASSISTANT for name in names]
    if len(labels) < _LABELS or text[: labels[0].start()].strip():
        return []
    if len(set(names)) > len(set(sides)) or any(first == second for first, second in pairwise(sides)):
        return []
    ends = [*(label.start() for label in labels[1:]), len(text)]
    said = [(side, text[label.end() : end].strip()) for side, label, end in zip(sides, labels, ends, strict=True)]
    return [(side, turn) for side, turn in said if turn]


def _as_messages(value: Any, role: str, where: str) -> list[Any] | None:
    """Return the messages that a value is or holds, or its only text as one message; None if it has several texts."""
    if value is None:
        return [{"role": role, "content": None}] if role == ASSISTANT else []
    if (messages := messages_in(value, where)) is not None:
        return messages
    if isinstance(value, str):
        return [{"role": role, "content": value}]
    if not isinstance(value, Mapping):
        return [] if value == [] and role == USER else None
    texts = [text for text in value.values() if isinstance(text, str)]
    past: list[Any] = next((value[key] for key in ("chat_history", "history") if is_chat(value.get(key))), [])
    held = [messages for item in value.values() if item is not past and (messages := messages_in(item, where))]
    if len(texts) + len(held) != 1:
        return None
    return [*past, *(held[0] if held else [{"role": role, "content": texts[0]}])]


def _says(messages: Any, texts: list[str]) -> bool:
    """Return whether messages come to just these turns."""
    try:
        reply = next(replies(messages, ""))
    except DataError:
        return False
    return [*reply["context"], reply["response"]] == texts
