"""Preference pairs, in the forms that they are commonly released in, to `Pair`s.

A line is a pair where it has `chosen` and `rejected`; `responses`, a list of two; or two keys that differ in their mark
alone: `response_a` and `response_b`, `output_1` and `output_2`. A key with such a mark belongs to that reply: of
`model_a` and `score_a` the first reply gets `system` and `score`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

from rejoinder.errors import DataError
from rejoinder.io.chat import spoken, turns_of
from rejoinder.io.names import plain
from rejoinder.io.parse import parse_record
from rejoinder.io.values import is_number, kind_of, plain_json
from rejoinder.records import Choice, Example, Pair, majority

Record = Mapping[str, Any]
Said = tuple[list[str], str]
"""The turns before a reply, and the reply."""

_PROMPTS = ("context", "prompt", "question", "instruction", "query", "history", "conversation", "messages", "input")
_REPLIES = ("response", "output", "answer", "completion", "reply", "conversation", "text", "generation", "human_ref")
_MARKS = (("a", "b"), ("1", "2"), ("0", "1"))
_VERDICTS = (
    "preferred",
    "winner",
    "preference",
    "choice",
    "label",
    "labels",
    "better",
    "better_response_id",
    "verdict",
)
_A_COLUMN_EACH: Mapping[str, Choice | None] = {"winner_model_a": 0, "winner_model_b": 1, "winner_tie": None}
_OTHERS = ("votes", "id", "dataset", "context_id", "references", "reference")
_SYSTEMS = ("system", "systems", "model", "generator")
_TIES = frozenset(("tie", "tied", "draw", "both", "bothbad", "neither", "equal", "same"))
_WORDS = (frozenset(("a", "first", "left")), frozenset(("b", "second", "right")))
# By the mark of the first reply. A half and 0 are the ties of AlpacaEval.
_NUMBERS: Mapping[str, Mapping[float, Choice | None]] = {
    "0": {0: 0, 1: 1},
    "1": {1: 0, 2: 1, 0: None, 1.5: None},
    "chosen": {0: 0, 1: 1},
}
_HUMAN_REF: Mapping[float, Choice | None] = {1: 0, 0: 1}  # Stanford Human Preferences: whether it is the first
_TURN = re.compile(r"\n\n(?:Human|Assistant):")


class Form(NamedTuple):
    """How a line holds two replies.

    Attributes:
        keys: of the two replies; twice the same where one list holds both.
        marks: what tells a key of the first reply from that of the second.
    """

    keys: tuple[str, str]
    marks: tuple[str, str]


_CHOSEN = Form(("chosen", "rejected"), ("chosen", "rejected"))
_LISTED = Form(("responses", "responses"), ("0", "1"))
_MARKED = [Form((f"{name}_{a}", f"{name}_{b}"), (a, b)) for name, (a, b) in product(_REPLIES, _MARKS)]


def form_of(record: Any) -> Form | None:
    """How `record` holds a pair of replies, whatever the case of its keys, or None where it is none."""
    if not isinstance(record, Mapping):
        return None
    named = {plain(key): value for key, value in record.items() if isinstance(key, str)}
    if "chosen" in named and "rejected" in named:
        return _CHOSEN
    if "response" in named:
        return None
    if (listed := _decoded(named.get("responses"))) is not None:
        two = isinstance(listed, list) and len(listed) == 2
        return _LISTED if two or not named.keys().isdisjoint((*_VERDICTS, "votes")) else None
    return next((form for form in _MARKED if form.keys[0] in named and form.keys[1] in named), None)


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
    votes = _votes(record, form, where)
    preferred = _preferred(record, form, votes, where)
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
    form = form_of(record)
    return parse_pair(record, form, where) if form else parse_record(record, where)


def parse_single(record: Any, where: str) -> Example:
    """The `Example` that a JSON value describes.

    Raises:
        DataError: it is a pair of replies; see also `parse_record`.
    """
    refuse_pair(record, where)
    return parse_record(record, where)


def refuse_pair(record: Any, where: str) -> None:
    """Raise `DataError` where a JSON value is a pair of replies."""
    if form := form_of(record):
        found = f"a pair of replies ({' and '.join(dict.fromkeys(form.keys))}), expected one reply"
        raise DataError(found, "Pairs go into rejoinder study or score", where=where)


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
    ours = {*form.keys, *_PROMPTS, *_VERDICTS, *_A_COLUMN_EACH, *_OTHERS}
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
        "system": next((own[key] for key in _SYSTEMS if isinstance(own.get(key), str)), None),
        "context_id": record.get("context_id"),
    }
    extra = {key: value for key, value in own.items() if key not in fields and key not in _SYSTEMS}
    return replace(parse_record(fields, where), extra=plain_json(extra, where))


def _own(record: Record, form: Form) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the line says of each reply beside its text: what it says of both, and what bears the reply's mark."""
    told = {*form.keys, *_A_COLUMN_EACH, _prompt_key(record), _verdict_key(record, form), "votes", "reference"}
    both: dict[str, Any] = {}
    own: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for key, value in record.items():
        stem, place = _marked(key, record, form)
        if key in told:
            continue
        if place is not None:
            own[place][stem] = value
        elif form is _LISTED and _two_values(key, value):
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
    if form is _LISTED:
        given = _decoded(record["responses"])
        if not isinstance(given, list) or len(given) != 2:
            found = f"a list of {len(given)}" if isinstance(given, list) else kind_of(given)
            remedy = 'Write "responses": ["...", "..."]'
            raise DataError(f"{found}, expected a list of two replies", remedy, where=where, field="responses")
    prompt = _prompt(record, where)
    return [_reply(value, prompt, key, where) for value, key in zip(given, form.keys, strict=True)]


def _reply(value: Any, prompt: list[str] | None, key: str, where: str) -> Said:
    """Context and text of one reply: a text, a transcript, or chat messages with or without the prompt."""
    value = _decoded(value, "[{")
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
    value = _decoded(record[key], "[{")
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


def _votes(record: Record, form: Form, where: str) -> tuple[Choice | None, ...]:
    """The single votes; null is a tie."""
    votes = _decoded(record.get("votes"))
    if votes is None:
        return ()
    if not isinstance(votes, list):
        found = f"is {kind_of(votes)}, expected a list of votes"
        raise DataError(found, 'Write "votes": [0, 1, 1]', where=where, field="votes")
    return tuple(None if vote is None else _verdict(vote, record, form, "votes", where) for vote in votes)


def _preferred(record: Record, form: Form, votes: Sequence[Choice | None], where: str) -> Choice | None:
    """Which reply people prefer: as the line says, else as most votes do."""
    if form is _CHOSEN:
        return 0
    for key, choice in _A_COLUMN_EACH.items():
        if record.get(key) in (1, "1", "True", "true"):
            return choice
    key = _verdict_key(record, form)
    if form is _LISTED and key and record[key] is None:
        return None
    if key:
        return _verdict(record[key], record, form, key, where)
    if votes:
        return majority(votes)
    found = "missing, and there are no votes, so nothing says which reply is preferred"
    raise DataError(found, f"Write {_such_as(form)}", where=where, field="preferred")


def _verdict_key(record: Record, form: Form) -> str:
    """The key that says which reply is preferred; "" where none does, or the replies' own keys do."""
    return "" if form is _CHOSEN else next((key for key in _VERDICTS if key in record), "")


def _verdict(value: Any, record: Record, form: Form, field: str, where: str) -> Choice | None:
    """Which reply a verdict names, None for a tie: by its mark, its number, in a word, or by its system's name."""
    number = _number(value)
    numbers = _HUMAN_REF if "human_ref_a" in form.keys else _NUMBERS.get(form.marks[0], {})
    if number is not None and number in numbers:
        return numbers[number]
    text = str(value).strip().lower()
    words = set(re.findall(r"[a-z]+|\d+", text)) if isinstance(value, str) else set()
    if words & _TIES:
        return None
    places: tuple[Choice, Choice] = (0, 1)
    for place in places:
        own = {f"{name}_{form.marks[place]}" for name in _SYSTEMS}
        if any(record.get(key) == value for key in own & record.keys()):
            return place
    named = [place for place in places if words & {*_WORDS[place], form.marks[place]}]
    if len(named) == 1:
        return named[0]
    raise DataError(
        f"{value!r}, expected {_such_as(form)}", "Correct it, or leave the line out", where=where, field=field
    )


def _number(value: Any) -> float | None:
    """A number, also one that a table holds as text; None for anything else."""
    try:
        return float(value) if is_number(value) or isinstance(value, str) else None
    except ValueError:
        return None


def _such_as(form: Form) -> str:
    """The verdicts that a form knows, for messages."""
    first, second = ("0", "1") if form is _LISTED else form.marks
    return f'"preferred": "{first}", "{second}" or "tie"'


def _decoded(value: Any, beginning: str = "[") -> Any:
    """A list that a table holds as the text of its JSON, told by its beginning; anything else as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(beginning):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
