"""Forms of a line with two replies, and verdicts of people on them: marks, numbers, words, names of systems, votes.

Sources: lm-sys/FastChat (winner, turn, judge), tatsu-lab/alpaca_eval (preference 1 to 2), stanfordnlp/SHP (labels: 1 is
the first), WeOpenML/PandaLM data/testset-v1.json (annotator1 ...: 1, 2, and 0 for a tie).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

from rejoinder.data.columns import plain, words
from rejoinder.data.formats.results import shown
from rejoinder.data.values import from_cell
from rejoinder.errors import ColumnError, DataError
from rejoinder.example import Choice, majority

NAMES = words("response output answer completion reply conversation text generation human_ref")
MARKS = (("a", "b"), ("1", "2"), ("0", "1"))
VERDICTS = words("preferred winner preference choice label labels better better_response_id verdict")
COLUMNS: Mapping[str, Choice | None] = {"winner_model_a": 0, "winner_model_b": 1, "winner_tie": None}
SYSTEMS = ("system", "systems", "model", "generator")
ANNOTATOR = re.compile(r"annotator_?\d+")
_PLACES: tuple[Choice, Choice] = (0, 1)
_TIES = frozenset(words("tie tied draw both bothbad neither equal same"))
_WORDS = (frozenset(("a", "first", "left")), frozenset(("b", "second", "right")))
_NUMBERS: Mapping[str, Mapping[float, Choice]] = {"0": {0: 0, 1: 1}, "1": {1: 0, 2: 1}, "chosen": {0: 0, 1: 1}}
_STANFORD: Mapping[float, Choice] = {1: 0, 0: 1}  # whether the first is preferred
_TOKEN = re.compile(r"[a-z]+|(?:(?<!\w)[+-])?\d+(?:[.,]\d+)?")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")


class Form(NamedTuple):
    """A form of a line with two replies: their keys (one list has its key twice), and the marks that differ."""

    keys: tuple[str, str]
    marks: tuple[str, str]

    @property
    def choices(self) -> str:
        """The verdicts that can be written, for messages."""
        return f'"{self.marks[0]}", "{self.marks[1]}" or "tie"'


CHOSEN = Form(("chosen", "rejected"), ("chosen", "rejected"))
LISTED = Form(("responses", "responses"), ("0", "1"))
MARKED = tuple(
    Form((f"{name}{mark}{a}", f"{name}{mark}{b}"), (a, b)) for name, mark, (a, b) in product(NAMES, ("_", ""), MARKS)
)


def form_of(row: Mapping[str, Any]) -> Form | None:
    """Return the form of a row with two replies, in any case of its keys; None for other rows."""
    names = {plain(str(key)) for key in row}
    if names >= {*CHOSEN.keys}:
        return CHOSEN
    if "response" in names:
        return None
    if "responses" in names:
        return LISTED
    return next((form for form in MARKED if names >= {*form.keys}), None)


def votes_of(line: Mapping[str, Any], form: Form, where: str) -> list[Choice | None]:
    """Return the single votes of a line; None is a tie."""
    votes = from_cell(line.get("votes"), where, "votes")
    if votes in (None, ""):
        # In PandaLM's files 0 is a tie; elsewhere it may be the first reply.
        ties = (0, "0", "0.0") if {"idx", "cmp_key"} & line.keys() else ()
        given = {key: vote for key, vote in line.items() if ANNOTATOR.fullmatch(plain(key)) and vote not in (None, "")}
        return [None if vote in ties else verdict(vote, line, form, key, where) for key, vote in given.items()]
    if not isinstance(votes, list):
        remedy = f'Write "votes": [...], each {form.choices}'
        raise DataError(f"{shown(votes)}, expected a list of votes", remedy, where=where, field="votes")
    return [None if vote is None else verdict(vote, line, form, "votes", where) for vote in votes]


def preferred_of(
    line: Mapping[str, Any], form: Form, votes: list[Choice | None], where: str
) -> tuple[Choice | None, str]:
    """Return the preferred reply, None for a tie, and the key of the verdict; without a verdict most votes decide."""
    if form is CHOSEN:
        return 0, ""
    for column, choice in COLUMNS.items():
        if str(line.get(column)).lower() in ("1", "1.0", "true"):
            return choice, column
    for key in VERDICTS:
        if key in line and line[key] is None and form is LISTED:  # as our own files write a tie
            return None, key
        if key in line and str(line[key]).strip():
            return verdict(line[key], line, form, key, where), key
    if votes:
        return majority(votes), ""
    field = next((key for key in VERDICTS if key in line), "preferred")
    problem = "empty" if field in line else "missing, and there are no votes"
    a, b = form.marks
    scored = any(plain(key) in (f"score_{a}", f"{a}_score") for key in line)
    hint = f"; if the scores are ratings, call them rating_{a} and rating_{b}" if scored else ""
    remedy = f'Write "{field}": {form.choices}, or leave the line out{hint}'
    raise DataError(f"{problem}, so nothing says which reply is preferred", remedy, where=where, field=field)


def verdict(value: Any, line: Mapping[str, Any], form: Form, field: str, where: str) -> Choice | None:
    """Return the reply that a value names by its system, number or mark, or in a word; None for a tie."""
    text = str(value).strip() if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""
    problem, remedy = f"{value!r}, expected {form.choices}", "Correct it, or leave the line out"
    if systems := _systems_named(text, line, form):
        if len(systems) == 1 and not _names_other(text, systems[0], form):
            return systems[0]
        also = "both systems" if len(systems) == 2 else "a system, and can mean something else"
        problem, remedy = f"{value!r} is the name of {also}", f"Write {form.choices}"
    elif _NUMBER.fullmatch(text):
        number = float(text.replace(",", "."))
        numbers = _STANFORD if "human_ref_a" in form.keys else _NUMBERS.get(form.marks[0], {})
        if number in numbers:
            return numbers[number]
        if field == "preference" and form.marks[0] == "1" and (number == 0 or 1 < number < 2):  # AlpacaEval
            return None if number in (0, 1.5) else 0 if number < 1.5 else 1
        if number == 0 and form.marks[0] == "1":  # a 1 can be the second then, so no line of the column is clear
            remedy = "It can be the first of two counted from 0, or a tie: write 1 and 2, or tie"
            raise ColumnError(problem, remedy, where=where, field=field)
    else:
        tokens = set(_TOKEN.findall(text.lower()))
        other_number = form.marks[0].isdigit() and any(word[-1].isdigit() for word in tokens - {*form.marks})  # 1:3
        named = [place for place in _PLACES if tokens & {*_WORDS[place], form.marks[place]}]
        if tokens & _TIES:
            return None
        if len(named) == 1 and not other_number:
            return named[0]
    raise DataError(problem, remedy, where=where, field=field)


def _systems_named(text: str, line: Mapping[str, Any], form: Form) -> list[Choice]:
    """Return the replies whose system has this name."""
    named = {plain(key): str(held).strip().casefold() for key, held in line.items()}
    names = [{named.get(f"{system}_{mark}") for system in SYSTEMS} for mark in form.marks]
    return [place for place in _PLACES if text and text.casefold() in names[place]]


def _names_other(text: str, place: Choice, form: Form) -> bool:
    """Return whether the name of a system is also the word, mark or key of the other reply or of a tie."""
    mark = form.marks[1 - place]
    systems = {f"{name}_{mark}" for name in SYSTEMS}
    return plain(text) in {*_TIES, *_WORDS[1 - place], mark, form.keys[1 - place], *systems}
