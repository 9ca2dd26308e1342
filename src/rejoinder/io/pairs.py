"""Preference pairs, in the forms that they are commonly released in, to `Pair`s.

A line is a pair where it has `chosen` and `rejected`; `responses`, a list of two; or two keys that differ in their mark
alone: `response_a` and `response_b`, `output_1` and `output_2`. A key with such a mark belongs to that reply: of
`model_a` and `score_a` the first reply gets `system` and `score`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from typing import Any

from rejoinder.errors import DataError
from rejoinder.example import Choice, Example, Pair, ReplySet
from rejoinder.io.chat import SPEAKERS, as_said, in_turn, is_conversation, spoken, turns_of
from rejoinder.io.names import plain
from rejoinder.io.parse import parse_record
from rejoinder.io.reply_sets import is_reply_set, parse_reply_set, refuse_reply_set
from rejoinder.io.values import is_number, kind_of, plain_json
from rejoinder.io.verdicts import (
    A_COLUMN_EACH,
    CHOSEN,
    LISTED,
    SYSTEMS,
    VERDICTS,
    Form,
    Record,
    from_text,
    preferred_of,
    verdict_key,
    votes_of,
)

Said = tuple[list[str], str]
"""The turns before a reply, and the reply."""

_PROMPTS = ("context", "prompt", "question", "instruction", "query", "history", "conversation", "messages", "input")
REPLIES = ("response", "output", "answer", "completion", "reply", "conversation", "text", "generation", "human_ref")
"""What replies are called that have a mark each."""
_MARKS = (("a", "b"), ("1", "2"), ("0", "1"))
_OTHERS = ("votes", "id", "dataset", "context_id", "references", "reference")
_TURN = re.compile(r"\n\n(?:Human|Assistant):")


_MARKED = [Form((f"{name}_{a}", f"{name}_{b}"), (a, b)) for name, (a, b) in product(REPLIES, _MARKS)]


def form_of(record: Any) -> Form | None:
    """How `record` holds a pair of replies, whatever the case of its keys, or None where it is none."""
    if not isinstance(record, Mapping):
        return None
    named = {plain(key): value for key, value in record.items() if isinstance(key, str)}
    if "chosen" in named and "rejected" in named:
        return CHOSEN
    if "response" in named:
        return None
    if (listed := from_text(named.get("responses"))) is not None:
        two = isinstance(listed, list) and len(listed) == 2
        return LISTED if two or not named.keys().isdisjoint((*VERDICTS, "votes")) else None
    return next((form for form in _MARKED if form.keys[0] in named and form.keys[1] in named), None)


def is_said(name: Any, form: Form) -> bool:
    """Whether what stands under a name is one of the two replies, or what both answer."""
    return plain(str(name)) in (*form.keys, *_PROMPTS)


def parse_pair(record: Record, form: Form, where: str) -> Pair:
    """The `Pair` that a JSON object describes.

    Args:
        record: a decoded line.
        form: what `form_of` says of it.
        where: `file:line`, for messages and as the id of a line that has none.

    Raises:
        DataError: there are not two replies, they answer different prompts, or nothing says which is preferred.
    """
    record = _renamed(record, form)
    votes = votes_of(record, form, where)
    preferred = preferred_of(record, form, votes, where)
    name = str(record["id"]) if record.get("id") not in (None, "") else where
    texts, own = _replies(record, form, where), _own(record, form)
    first, second = (_example(record, own[place], f"{name}/{place}", texts[place], where) for place in (0, 1))
    pair = Pair((first, second), preferred, votes, name, where)
    if first.context != second.context and not pair.shared_turns:
        raise DataError(
            "the two replies answer different prompts", "Give both the same prompt", where=where, field=form.keys[1]
        )
    return pair


def singly(pair: Pair) -> Iterator[Example]:
    """The two replies of a pair, one after the other; each says what pair it is of and whether people prefer it."""
    for place, reply in enumerate(pair.replies):
        preferred = None if pair.preferred is None else pair.preferred == place
        yield replace(reply, extra={**reply.extra, "pair": pair.id, "preferred": preferred})


def parse_either(record: Any, where: str) -> Example | Pair:
    """The `Example` or the `Pair` that a JSON value describes; errors as for `parse_record` and `parse_pair`."""
    refuse_reply_set(record, where)
    form = form_of(record)
    return parse_pair(record, form, where) if form else parse_record(record, where)


def parse_single(record: Any, where: str) -> Example:
    """The `Example` that a JSON value describes.

    Raises:
        DataError: it is a pair of replies, or a set of them; see also `parse_record`.
    """
    refuse_pair(record, where)
    refuse_reply_set(record, where)
    return parse_record(record, where)


def parse_audited(record: Any, where: str) -> Example | ReplySet:
    """The `Example` or the `ReplySet` that a JSON value describes; errors as for `parse_single`, `parse_reply_set`."""
    return parse_reply_set(record, where) if is_reply_set(record) else parse_single(record, where)


def refuse_pair(record: Any, where: str) -> None:
    """Raise `DataError` where a JSON value is a pair of replies."""
    if form := form_of(record):
        found = f"a pair of replies ({' and '.join(dict.fromkeys(form.keys))}), expected one reply"
        raise DataError(
            found, "Pairs go into the commands study and score, in Python into rejoinder.study_pairs", where=where
        )


def parse_only_pair(record: Any, where: str) -> Pair:
    """The `Pair` that a JSON value describes.

    Raises:
        DataError: it is none; see also `parse_pair`.
    """
    form = form_of(record)
    if form is None:
        keys = ", ".join(map(str, record)) if isinstance(record, Mapping) else kind_of(record)
        remedy = 'Write "chosen" and "rejected", or "responses": ["...", "..."] and "preferred"'
        raise DataError(f"no pair of replies (found: {keys})", remedy, where=where)
    return parse_pair(record, form, where)


def _renamed(record: Record, form: Form) -> Record:
    """The record with our names for keys that differ from them in case or in what stands between words."""
    ours = {*form.keys, *_PROMPTS, *VERDICTS, *A_COLUMN_EACH, *_OTHERS}
    return {(name if (name := plain(str(key))) in ours and name not in record else key): record[key] for key in record}


def _example(record: Record, own: Record, name: str, said: Said, where: str) -> Example:
    """One reply, by the rules for any line; what else is known of it stands among the extra keys."""
    context, response = said
    reference = record.get("reference")
    fields = {
        "id": name,
        "dataset": record.get("dataset"),
        "context": context,
        "response": response,
        "references": record.get("references", [reference] if isinstance(reference, str) else None),
        "system": next((own[key] for key in SYSTEMS if isinstance(own.get(key), str)), None),
        "context_id": record.get("context_id"),
    }
    extra = {key: value for key, value in own.items() if key not in fields and key not in SYSTEMS}
    found = parse_record(fields, where)
    speakers = _speakers(record, len(found.context), where)
    return replace(found, extra=plain_json({**({SPEAKERS: speakers} if speakers else {}), **extra}, where))


def _speakers(record: Record, count: int, where: str) -> list[str]:
    """Who says each of `count` turns of the prompt, and who replies; none where that alternates or nobody tells."""
    prompt = next((record[key] for key in _PROMPTS if isinstance(record.get(key), (str, list)) and record[key]), None)
    if not (isinstance(prompt, str) or is_conversation(prompt)):
        return []
    speakers = [*(role for role, _ in as_said(prompt, where)), "assistant"]
    known = [role for role in speakers if role]
    return known if len(known) == len(speakers) == count + 1 and known != in_turn(count + 1) else []


def _own(record: Record, form: Form) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the line says of each reply beside its text: what it says of both, and what bears the reply's mark."""
    verdicts = {verdict_key(record, form), *(key for key in VERDICTS if record.get(key) == "")}
    told = {*form.keys, *A_COLUMN_EACH, _prompt_key(record), *verdicts, "votes", "reference"}
    both: dict[str, Any] = {}
    own: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for key, value in record.items():
        stem, place = _marked(key, record, form)
        if key in told:
            continue
        if place is not None:
            own[place][stem] = value
        elif form is LISTED and _two_values(key, value):
            own[0][key], own[1][key] = value
        else:
            both["system_prompt" if key == "system" else key] = value
    return {**both, **own[0]}, {**both, **own[1]}


def _marked(key: str, record: Record, form: Form) -> tuple[str, Choice | None]:
    """The key without the mark of a reply, and which reply that is; a mark is one only beside its partner."""
    places: tuple[Choice, Choice] = (0, 1)
    names = {plain(str(other)) for other in record}
    for place in places:
        mark, other = form.marks[place], form.marks[1 - place]
        size = len(mark) + 1
        before, after = key[:-size], key[size:]
        if plain(key) == f"{plain(before)}_{mark}" and f"{plain(before)}_{other}" in names:
            return before, place
        if plain(key) == f"{mark}_{plain(after)}" and f"{other}_{plain(after)}" in names:
            return after, place
    return key, None


def _two_values(key: str, value: Any) -> bool:
    """Whether `value` is a number for each reply, or the two systems."""
    two = isinstance(value, list) and len(value) == 2
    return two and (key == "systems" or all(map(is_number, value)))


def _replies(record: Record, form: Form, where: str) -> list[Said]:
    """Context and text of each reply."""
    given = [record[key] for key in form.keys]
    if form is LISTED:
        given = from_text(record["responses"])
        if not isinstance(given, list) or len(given) != 2:
            found = f"a list of {len(given)}" if isinstance(given, list) else kind_of(given)
            remedy = 'Write "responses": ["...", "..."]'
            raise DataError(f"{found}, expected a list of two replies", remedy, where=where, field="responses")
    prompt = _prompt(record, where)
    return [_reply(value, prompt, key, where) for value, key in zip(given, form.keys, strict=True)]


def _reply(value: Any, prompt: list[str] | None, key: str, where: str) -> Said:
    """Context and text of one reply: a text, a transcript, or chat messages with or without the prompt."""
    value = from_text(value, "[{")
    if isinstance(value, Mapping):
        value = [value]
    if isinstance(value, list):
        with _about(key):
            context, text = turns_of(value, where)
            begins = any(role == "user" for role, _ in spoken(value, where))
        return (context if begins or prompt is None else [*prompt, *context]), text
    if not isinstance(value, str):
        found = f"is {kind_of(value)}, expected text or chat messages"
        raise DataError(found, "Give both replies, or leave the line out", where=where, field=key)
    turns = _transcript(value) if prompt is None else []
    return (turns[:-1], turns[-1]) if turns else (prompt or [], value)


def _prompt_key(record: Record) -> str | None:
    """The key of what both replies answer, or None where the line has no such key of its own."""
    return next((key for key in _PROMPTS if record.get(key) not in (None, "")), None)


def _prompt(record: Record, where: str) -> list[str] | None:
    """The turns that both replies answer; None where they are only told with the replies."""
    key = _prompt_key(record)
    if key is None:
        return None
    value = from_text(record[key], "[{")
    if key == "instruction" and record.get("input"):  # the form of Alpaca
        return [f"{value}\n\n{record['input']}"]
    if isinstance(value, str):
        return [turn for turn in _transcript(value) if turn] or [value]
    if isinstance(value, list) and all(isinstance(turn, str) for turn in value):
        return value
    with _about(key):
        return [text for _, text in spoken(value, where)]


@contextmanager
def _about(key: str) -> Iterator[None]:
    """Let the error of chat messages name the key that they stand under."""
    try:
        yield
    except DataError as error:
        raise DataError(error.problem, error.remedy, where=error.where, field=key) from error


def _transcript(text: str) -> list[str]:
    """The turns of a transcript as in hh-rlhf, "Human: ... Assistant: ..."; none where `text` is no such."""
    before, *turns = _TURN.split(text)
    return [] if before.strip() else [turn.strip() for turn in turns]
