"""Which of two replies people prefer, as a line says it: marks, numbers, words, votes, names of systems."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rejoinder.errors import ColumnError, DataError
from rejoinder.example import Choice, majority
from rejoinder.io.names import plain
from rejoinder.io.values import is_number, kind_of, number_in

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
# By the mark of the first reply.
_NUMBERS: Mapping[str, Mapping[float, Choice]] = {"0": {0: 0, 1: 1}, "1": {1: 0, 2: 1}, "chosen": {0: 0, 1: 1}}
_HUMAN_REF: Mapping[float, Choice] = {1: 0, 0: 1}  # Stanford Human Preferences: whether it is the first
_WEIGHTED = "preference"  # of AlpacaEval: from 1, the first, to 2, the second; a half and 0 are its ties
_TOKEN = re.compile(r"[a-z]+|(?:(?<!\w)[+-])?\d+(?:[.,]\d+)?")


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
        raise DataError(found, f'Write "votes": [...], of {_choices(form)}', where=where, field="votes")
    return tuple(None if vote is None else _verdict(vote, record, form, "votes", where) for vote in votes)


def preferred_of(record: Record, form: Form, votes: Sequence[Choice | None], where: str) -> Choice | None:
    """Which reply people prefer: as the line says, else as most votes do."""
    if form is CHOSEN:
        return 0
    for key, choice in A_COLUMN_EACH.items():
        if number_in(record.get(key)) == 1 or str(record.get(key)).lower() == "true":
            return choice
    key = verdict_key(record, form)
    if form is LISTED and key and record[key] is None:
        return None
    if key:
        return _verdict(record[key], record, form, key, where)
    if votes:
        return majority(votes)
    if empty := next((key for key in VERDICTS if _is_empty(record.get(key))), ""):
        remedy = f"Write {_choices(form)}, or leave the line out"
        raise DataError("empty, so nothing says which reply is preferred", remedy, where=where, field=empty)
    found = "missing, and there are no votes, so nothing says which reply is preferred"
    raise DataError(found, f"Write {_such_as(form)}", where=where, field="preferred")


def verdict_key(record: Record, form: Form) -> str:
    """The key that says which reply is preferred; "" where none does, or the replies' own keys do."""
    known = (key for key in VERDICTS if key in record and not _is_empty(record[key]))
    return "" if form is CHOSEN else next(known, "")


def empty_verdicts(cells: Record) -> dict[str, str]:
    """The columns for a verdict whose cells in a row are empty, each with an empty text."""
    named = {str(key): cell for key, cell in cells.items() if plain(str(key)) in VERDICTS}
    return {key: "" for key, cell in named.items() if cell is None or _is_empty(cell)}


def _is_empty(value: Any) -> bool:
    """Whether a verdict is an empty text."""
    return isinstance(value, str) and not value.strip()


def _verdict(value: Any, record: Record, form: Form, field: str, where: str) -> Choice | None:
    """Which reply a verdict names, None for a tie: by its system's name, its number, its mark or in a word."""
    remedy = "Correct it, or leave the line out"
    number = number_in(value)
    if systems := _systems_called(value, record, form):
        if len(systems) == 1 and not _says_other(value, systems[0], form):
            return systems[0]
        also = "both systems" if len(systems) == 2 else "a system, and can say something else"
        raise DataError(f"{value!r} is the name of {also}", f"Write {_such_as(form)}", where=where, field=field)
    if number is not None:
        if said := _numbered(number, form, field):
            return said[0]
        if number == 0 and form.marks[0] == "1":
            remedy = "It can be the first of two counted from 0, or a tie: write 1 and 2, or tie"
            # Then a 1 can be the second reply, so no line of this column tells anything.
            raise ColumnError(f"{value!r}, expected {_such_as(form)}", remedy, where=where, field=field)
    elif isinstance(value, str) and (said := _worded(value, form)):
        return said[0]
    raise DataError(f"{value!r}, expected {_such_as(form)}", remedy, where=where, field=field)


def _systems_called(value: Any, record: Record, form: Form) -> list[Choice]:
    """The replies whose system has the name that a verdict is."""
    places: tuple[Choice, Choice] = (0, 1)
    names = [{f"{name}_{form.marks[place]}" for name in SYSTEMS} for place in places]
    name = _name(value)
    systems = [(plain(str(key)), _name(system)) for key, system in record.items()]
    return [place for place in places if name and any(key in names[place] and name == one for key, one in systems)]


def _name(value: Any) -> str:
    """A name of a system as names are compared; "" for what is none."""
    return str(value).strip().casefold() if isinstance(value, str) or is_number(value) else ""


def _says_other(value: Any, place: Choice, form: Form) -> bool:
    """Whether the name of the system at `place` is also the very word, mark or number for something else."""
    other = form.marks[1 - place]
    words = {*_TIES, *_WORDS[1 - place], other, form.keys[1 - place], *(f"{name}_{other}" for name in SYSTEMS)}
    return plain(str(value)) in words


def _numbered(number: float, form: Form, field: str) -> tuple[Choice | None] | None:
    """What a number says in a form of replies, under a key; None where that is not plain."""
    numbers = _HUMAN_REF if "human_ref_a" in form.keys else _NUMBERS.get(form.marks[0], {})
    if number in numbers:
        return (numbers[number],)
    if field != _WEIGHTED or form.marks[0] != "1" or not (number == 0 or 1 < number < 2):
        return None
    return (None if number in (0, 1.5) else 0 if number < 1.5 else 1,)


def _worded(text: str, form: Form) -> tuple[Choice | None] | None:
    """What a verdict in words says; None where that is not plain."""
    words = set(_TOKEN.findall(text.lower()))
    if words & _TIES:
        return (None,)
    if form.marks[0].isdigit() and any(word[-1].isdigit() for word in words - {*form.marks}):
        return None  # 1:3, or a number of something else
    places: tuple[Choice, Choice] = (0, 1)
    named = [place for place in places if words & {*_WORDS[place], form.marks[place]}]
    return (named[0],) if len(named) == 1 else None


def _such_as(form: Form) -> str:
    """A key with the verdicts that a form knows, for messages."""
    return f'"preferred": {_choices(form)}'


def _choices(form: Form) -> str:
    """The verdicts that a form knows, for messages."""
    first, second = ("0", "1") if form is LISTED else form.marks
    return f'"{first}", "{second}" or "tie"'


def from_text(value: Any, beginning: str = "[") -> Any:
    """A list that a table holds as the text of its JSON, told by its beginning; anything else as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(beginning):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
