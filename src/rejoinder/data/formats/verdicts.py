"""Verdicts of people on two replies: marks, numbers, words, names of systems, votes.

Sources: lm-sys/FastChat (winner, turn, judge), tatsu-lab/alpaca_eval (preference 1 to 2), stanfordnlp/SHP (labels: 1 is
the first), WeOpenML/PandaLM data/testset-v1.json (annotator1 ...: 1, 2, and 0 for a tie).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rejoinder.data.columns import plain
from rejoinder.data.formats import pair_forms as forms
from rejoinder.data.formats.pair_forms import CHOSEN, COLUMNS, LISTED, VERDICTS, Form
from rejoinder.data.formats.results import shown
from rejoinder.data.values import from_cell
from rejoinder.errors import ColumnError, DataError
from rejoinder.example import Choice, majority

_NUMBERS: Mapping[str, Mapping[float, Choice]] = {"0": {0: 0, 1: 1}, "1": {1: 0, 2: 1}, "chosen": {0: 0, 1: 1}}
_STANFORD: Mapping[float, Choice] = {1: 0, 0: 1}  # whether the first is preferred
_TOKEN = re.compile(r"[a-z]+|(?:(?<!\w)[+-])?\d+(?:[.,]\d+)?")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")


def votes_of(line: Mapping[str, Any], form: Form, where: str) -> list[Choice | None]:
    """Return the single votes of a line; None is a tie."""
    annotators = [key for key in line if forms.ANNOTATOR.fullmatch(plain(key)) and line[key] not in (None, "")]
    if annotators and form.marks[0].isdigit():
        # In PandaLM's files 0 is a tie; elsewhere it may be the first reply.
        ties = (0, "0", "0.0") if {"idx", "cmp_key"} & line.keys() else ()
        return [None if line[key] in ties else verdict(line[key], line, form, key, where) for key in annotators]
    votes = from_cell(line.get("votes"), where, "votes")
    if votes in (None, ""):
        return [verdict(line[key], line, form, key, where) for key in annotators]
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
    keys = [key for key in VERDICTS if key in line and not (isinstance(line[key], str) and not line[key].strip())]
    if keys and line[keys[0]] is None and form is LISTED:
        return None, keys[0]
    if keys:
        return verdict(line[keys[0]], line, form, keys[0], where), keys[0]
    if votes:
        return majority(votes), ""
    field = next((key for key in VERDICTS if key in line), "preferred")
    problem = "empty" if field in line else "missing, and there are no votes"
    remedy = f'Write "{field}": {form.choices}, or leave the line out'
    if any(plain(key) in (f"score_{form.marks[0]}", f"{form.marks[0]}_score") for key in line):
        remedy += f"; if the scores are ratings, call them rating_{form.marks[0]} and rating_{form.marks[1]}"
    raise DataError(f"{problem}, so nothing says which reply is preferred", remedy, where=where, field=field)


def verdict(value: Any, line: Mapping[str, Any], form: Form, field: str, where: str) -> Choice | None:
    """Return the reply that a value names by its system, number or mark, or in a word; None for a tie."""
    text = "" if isinstance(value, bool) else str(value).strip()
    found = float(text.replace(",", ".")) if _NUMBER.fullmatch(text) else None
    if systems := forms.systems_named(value, line, form):
        if len(systems) == 1 and not forms.names_other(value, systems[0], form):
            return systems[0]
        also = "both systems" if len(systems) == 2 else "a system, and can mean something else"
        raise DataError(f"{value!r} is the name of {also}", f"Write {form.choices}", where=where, field=field)
    choices = _numbered(found, form, field) if found is not None else _worded(str(value), form)
    if choices and isinstance(value, (str, int, float)):
        return choices[0]
    if found == 0 and form.marks[0] == "1":  # a 1 can be the second reply then, so no line of the column is clear
        remedy = "It can be the first of two counted from 0, or a tie: write 1 and 2, or tie"
        raise ColumnError(f"{value!r}, expected {form.choices}", remedy, where=where, field=field)
    raise DataError(
        f"{value!r}, expected {form.choices}", "Correct it, or leave the line out", where=where, field=field
    )


def _numbered(number: float, form: Form, field: str) -> tuple[Choice | None] | None:
    numbers = _STANFORD if "human_ref_a" in form.keys else _NUMBERS.get(form.marks[0], {})
    if number in numbers:
        return (numbers[number],)
    if field != "preference" or form.marks[0] != "1" or not (number == 0 or 1 < number < 2):
        return None
    return (None if number in (0, 1.5) else 0 if number < 1.5 else 1,)  # AlpacaEval


def _worded(text: str, form: Form) -> tuple[Choice | None] | None:
    tokens = set(_TOKEN.findall(text.lower()))
    if tokens & forms.TIES:
        return (None,)
    if form.marks[0].isdigit() and any(word[-1].isdigit() for word in tokens - {*form.marks}):
        return None  # 1:3, or a number of something else
    named = [place for place in forms.PLACES if tokens & {*forms.WORDS[place], form.marks[place]}]
    return (named[0],) if len(named) == 1 else None
