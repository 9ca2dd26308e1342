"""Texts of two replies and the turns that both answer, for `votes`.

MT-bench's `turn` says which reply of the conversations was judged; Arena's 55k lists the replies to a list of prompts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rejoinder.data.chat import is_chat, messages_in, turns, turns_in
from rejoinder.data.formats.objects import peek, shown
from rejoinder.data.formats.pair_forms import LISTED, Form
from rejoinder.data.formats.results import prompt_turns
from rejoinder.data.values import from_cell
from rejoinder.errors import DataError

_LOST_CHAT = re.compile(  # a list of numpy's has no commas
    r"""\s*(?:(?:array|list)\()?\[?\{['"](?:role|content|from|value)['"]\s*:|\s*array\(\["""
)
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
    prompts = (
        prompt if isinstance(prompt, list) and prompt_key in ("prompt", "question") and _all_texts(prompt) else None
    )
    if prompt_key == "instruction" and line.get("input"):  # Alpaca
        prompt = f"{prompt}\n\n{line['input']}"
    turn = line.get("turn") if form.keys == ("conversation_a", "conversation_b") else None
    if prompts and all(isinstance(peek(value), list) and not is_chat(peek(value)) for value in values):
        return [_last_of(peek(value), prompts, where, key) for value, key in zip(values, form.keys, strict=True)]
    before = _context(prompt, prompt_key or "", where)
    alone = prompt is None
    return [_reply(value, before, turn, alone, where, key) for value, key in zip(values, form.keys, strict=True)]


def _last_of(replies: list[Any], prompts: list[str], where: str, key: str) -> dict[str, Any]:
    """Return the last of several replies to several prompts, as Arena lists them; null is an empty reply."""
    if len(replies) != len(prompts) or not _all_texts(replies):
        problem = f"{len(replies)} replies to {len(prompts)} prompts"
        raise DataError(problem, "Give one reply a prompt, or leave the line out", where=where, field=key)
    said = [text or "" for both in zip(prompts, replies, strict=True) for text in both]
    return {"context": said[:-1], "response": said[-1]}


def _reply(value: Any, before: list[str], turn: Any, alone: bool, where: str, key: str) -> dict[str, Any]:
    """Return context and reply: chat messages, or a text; where no prompt is given (`alone`) perhaps a transcript."""
    held = peek(value)
    if isinstance(held, list) and len(held) == 1 and isinstance(held[0], str):  # a list of one reply
        held = value = held[0]
    if (messages := messages_in(held)) is not None:
        return _judged_turn(messages, before, turn, where, key)
    if not isinstance(value, str) or _LOST_CHAT.match(value):
        problem = f"is {shown(value)}, expected text or chat messages"
        raise DataError(problem, "Give both replies as texts or as JSON", where=where, field=key)
    said = _transcript(value) if alone else []
    return {"context": said[:-1], "response": said[-1]} if said else {"context": before, "response": value}


def _judged_turn(messages: Any, before: list[str], turn: Any, where: str, key: str) -> dict[str, Any]:
    """Return the reply of a conversation that was judged, the last without a `turn`, and what comes before it."""
    said = [said for said in turns(messages, where) if said.text is not None and said.role != "tool"]
    places = [place for place, one in enumerate(said) if one.role == "assistant"]
    asked = re.fullmatch(r"\s*(\d+)(?:\.0)?\s*", str(turn))
    number = len(places) if turn in (None, "") else int(asked[1]) if asked else 0
    if not places or not 0 < number <= len(places):
        problem = f"{len(places)} replies, expected reply {turn}" if places else "no turn of the assistant"
        raise DataError(problem, "Give the whole conversation, or leave the line out", where=where, field=key)
    judged = said[: places[number - 1] + 1]
    roles = [one.role for one in judged]
    begins = any(one.role == "user" for one in said)
    reply = {"context": [*([] if begins else before), *(one.text for one in judged[:-1])], "response": judged[-1].text}
    alternate = roles == ["user", "assistant"] * (len(roles) // 2)
    return reply if alternate or not begins else {**reply, "speakers": roles}


def _context(prompt: Any, key: str, where: str) -> list[str]:
    """Return the turns that both replies answer."""
    if isinstance(prompt, str):
        return [turn for turn in _transcript(prompt) if turn] or turns_in(prompt)
    if prompt is None or (isinstance(prompt, list) and _all_texts(prompt)):
        return [text for text in prompt or () if text]
    if (messages := messages_in(prompt)) is None:
        remedy = "Write a text, a list of texts, or chat messages"
        raise DataError(f"is {shown(prompt)}, expected the turns before the replies", remedy, where=where, field=key)
    return prompt_turns(messages, where)


def _transcript(text: str) -> list[str]:
    """Return the turns of a transcript of hh-rlhf; an empty list for other texts."""
    before, *said = _HH_TURN.split(text)
    return [] if before.strip() else [turn.strip() for turn in said]


def _all_texts(values: list[Any]) -> bool:
    return all(text is None or isinstance(text, str) for text in values)
