"""Which of two replies people prefer, as a line says it: marks, numbers, words, votes, names of systems."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rejoinder.errors import DataError
from rejoinder.io.values import is_number, kind_of
from rejoinder.records import Choice, majority

Record = Mapping[str, Any]

VERDICTS = (
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
A_COLUMN_EACH: Mapping[str, Choice | None] = {"winner_model_a": 0, "winner_model_b": 1, "winner_tie": None}
SYSTEMS = ("system", "systems", "model", "generator")
_TIES = frozenset(("tie", "tied", "draw", "both", "bothbad", "neither", "equal", "same"))
_WORDS = (frozenset(("a", "first", "left")), frozenset(("b", "second", "right")))
# By the mark of the first reply. A half and 0 are the ties of AlpacaEval.
_NUMBERS: Mapping[str, Mapping[float, Choice | None]] = {
    "0": {0: 0, 1: 1},
    "1": {1: 0, 2: 1, 0: None, 1.5: None},
    "chosen": {0: 0, 1: 1},
}
_HUMAN_REF: Mapping[float, Choice | None] = {1: 0, 0: 1}  # Stanford Human Preferences: whether it is the first


class Form(NamedTuple):
    """How a line holds two replies.

    Attributes:
        keys: of the two replies; twice the same where one list holds both.
        marks: what tells a key of the first reply from that of the second.
    """

    keys: tuple[str, str]
    marks: tuple[str, str]


CHOSEN = Form(("chosen", "rejected"), ("chosen", "rejected"))
LISTED = Form(("responses", "responses"), ("0", "1"))


def votes_of(record: Record, form: Form, where: str) -> tuple[Choice | None, ...]:
    """The single votes; null is a tie."""
    votes = from_text(record.get("votes"))
    if votes is None:
        return ()
    if not isinstance(votes, list):
        found = f"is {kind_of(votes)}, expected a list of votes"
        raise DataError(found, 'Write "votes": [0, 1, 1]', where=where, field="votes")
    return tuple(None if vote is None else _verdict(vote, record, form, "votes", where) for vote in votes)


def preferred_of(record: Record, form: Form, votes: Sequence[Choice | None], where: str) -> Choice | None:
    """Which reply people prefer: as the line says, else as most votes do."""
    if form is CHOSEN:
        return 0
    for key, choice in A_COLUMN_EACH.items():
        if record.get(key) in (1, "1", "True", "true"):
            return choice
    key = verdict_key(record, form)
    if form is LISTED and key and record[key] is None:
        return None
    if key:
        return _verdict(record[key], record, form, key, where)
    if votes:
        return majority(votes)
    found = "missing, and there are no votes, so nothing says which reply is preferred"
    raise DataError(found, f"Write {_such_as(form)}", where=where, field="preferred")


def verdict_key(record: Record, form: Form) -> str:
    """The key that says which reply is preferred; "" where none does, or the replies' own keys do."""
    return "" if form is CHOSEN else next((key for key in VERDICTS if key in record), "")


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
        own = {f"{name}_{form.marks[place]}" for name in SYSTEMS}
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
    first, second = ("0", "1") if form is LISTED else form.marks
    return f'"preferred": "{first}", "{second}" or "tie"'


def from_text(value: Any, beginning: str = "[") -> Any:
    """A list that a table holds as the text of its JSON, told by its beginning; anything else as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(beginning):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
