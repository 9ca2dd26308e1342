"""Texts of two replies and the turns that both answer, for `votes`.

MT-bench's `turn` says which reply of the conversations was judged; Arena's 55k lists the replies to a list of prompts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rejoinder.data.chat import in_turn, is_chat, messages_in, spoken, turns, turns_in
from rejoinder.data.formats.results import peek, prompt_turns, shown
from rejoinder.data.formats.verdicts import LISTED, Form
from rejoinder.data.values import from_cell
from rejoinder.errors import DataError

_LOST_CHAT = re.compile(  # a list of numpy's has no commas
    r"""\s*(?:(?:array|list)\()?\[?\{['"](?:role|content|from|value)['"]\s*:|\s*array\(\["""
)
_TURN = re.compile(r"\s*(\d+)(?:\.0)?\s*")
_HH_TURN = re.compile(r"\n\n(?:Human|Assistant):")  # hh-rlhf


def replies_of(line: Mapping[str, Any], form: Form, prompt_key: str | None, where: str) -> list[dict[str, Any]]:
    """Return context and reply of both."""
    values: list[Any] = [line.get(key) for key in form.keys]
    if form is LISTED:
        values = from_cell(line["responses"], where, "responses")
        if not isinstance(values, list) or len(values) != 2:
            problem = f"{shown(values)}, expected a list of two replies"
            raise DataError(problem, 'Write "responses": ["...", "..."]', where=where, field="responses")
    prompt = None if prompt_key is None else from_cell(line[prompt_key], where, prompt_key)
    if prompt_key == "instruction" and line.get("input"):  # Alpaca
        prompt = f"{prompt}\n\n{line['input']}"
    both: list[tuple[Any, Any, str]] = [(value, peek(value), key) for value, key in zip(values, form.keys, strict=True)]
    lists = all(isinstance(held, list) and not is_chat(held) for _, held, _ in both)
    if lists and prompt_key in ("prompt", "question") and _are_texts(prompt):
        return [_last_of(held, prompt, where, key) for _, held, key in both]
    before = _context(prompt, prompt_key or "", where)
    turn = line.get("turn") if form.keys == ("conversation_a", "conversation_b") else None
    roles = [role for role, _ in spoken(messages, where)] if (messages := messages_in(prompt)) else []
    more = {"speakers": [*roles, "assistant"]} if roles and roles != in_turn(len(roles) + 1)[:-1] else {}
    replies = []
    for value, held, key in both:
        if isinstance(held, list) and len(held) == 1 and isinstance(held[0], str):  # a list of one reply
            held = value = held[0]
        if (messages := messages_in(held)) is not None:
            replies.append(_judged_turn(messages, before, turn, where, key))
        elif isinstance(value, str) and not _LOST_CHAT.match(value):
            *context, response = (_transcript(value) if prompt is None else []) or [*before, value]
            replies.append({"context": context, "response": response, **(more if context == before else {})})
        else:
            problem = f"is {shown(value)}, expected text or chat messages"
            raise DataError(problem, "Give both replies as texts or as JSON", where=where, field=key)
    return replies


def _last_of(replies: list[Any], prompts: Any, where: str, key: str) -> dict[str, Any]:
    """Return the last of several replies to several prompts, as Arena lists them; null is an empty reply."""
    if len(replies) != len(prompts) or not _are_texts(replies):
        problem = f"{len(replies)} replies to {len(prompts)} prompts"
        raise DataError(problem, "Give one reply a prompt, or leave the line out", where=where, field=key)
    *context, response = [text or "" for both in zip(prompts, replies, strict=True) for text in both]
    return {"context": context, "response": response}


def _judged_turn(messages: Any, before: list[str], turn: Any, where: str, key: str) -> dict[str, Any]:
    """Return the reply of a conversation that was judged, the last without a `turn`, and what comes before it."""
    said = [said for said in turns(messages, where) if said.text is not None]
    places = [place for place, turn in enumerate(said) if turn.role == "assistant"]
    asked = _TURN.fullmatch(str(turn))
    number = len(places) if turn in (None, "") else int(asked[1]) if asked else 0
    if not 0 < number <= len(places):
        problem = f"{len(places)} replies, expected reply {turn}" if places else "no turn of the assistant"
        raise DataError(problem, "Give the whole conversation, or leave the line out", where=where, field=key)
    *context, judged = said[: places[number - 1] + 1]
    if not any(turn.role == "user" for turn in said):
        return {"context": [*before, *(turn.text for turn in context)], "response": judged.text}
    speakers = [turn.role for turn in (*context, judged)]
    alternate = speakers == ["user", "assistant"] * (len(speakers) // 2)
    more = {} if alternate else {"speakers": speakers}
    return {"context": [turn.text for turn in context], "response": judged.text, **more}


def _context(prompt: Any, key: str, where: str) -> list[str]:
    """Return the turns that both replies answer."""
    if isinstance(prompt, str):
        return list(filter(None, _transcript(prompt))) or turns_in(prompt)
    if prompt is None or _are_texts(prompt):
        return [text for text in prompt or () if text]
    if (messages := messages_in(prompt)) is None:
        remedy = "Write a text, a list of texts, or chat messages"
        raise DataError(f"is {shown(prompt)}, expected the turns before the replies", remedy, where=where, field=key)
    return prompt_turns(messages, where)


def _transcript(text: str) -> list[str]:
    """Return the turns of a transcript of hh-rlhf; an empty list for other texts."""
    before, *said = _HH_TURN.split(text)
    return [] if before.strip() else [turn.strip() for turn in said]


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(text is None or isinstance(text, str) for text in values)
