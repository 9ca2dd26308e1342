"""Forms of a line with two replies, and the names of what else it says: shared by `votes` and `rated_pairs`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

from rejoinder.data.columns import plain
from rejoinder.data.formats.objects import words
from rejoinder.example import Choice

NAMES = words("response output answer completion reply conversation text generation human_ref")
MARKS = (("a", "b"), ("1", "2"), ("0", "1"))
PROMPTS = words("context prompt question instruction query history conversation conversations messages input")
VERDICTS = words("preferred winner preference choice label labels better better_response_id verdict")
COLUMNS: Mapping[str, Choice | None] = {"winner_model_a": 0, "winner_model_b": 1, "winner_tie": None}
SYSTEMS = ("system", "systems", "model", "generator")
PLACES: tuple[Choice, Choice] = (0, 1)
TIES = frozenset(words("tie tied draw both bothbad neither equal same"))
WORDS = (frozenset(("a", "first", "left")), frozenset(("b", "second", "right")))
ANNOTATOR = re.compile(r"annotator_?\d+")


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


def systems_named(value: Any, line: Mapping[str, Any], form: Form) -> list[Choice]:
    """Return the replies whose system has the name that a value is."""
    name = str(value).strip().casefold() if isinstance(value, (str, int, float)) else ""
    keys = [{f"{system}_{mark}" for system in SYSTEMS} for mark in form.marks]
    named = {plain(key): str(held).strip().casefold() for key, held in line.items() if held not in (None, "")}
    return [place for place in PLACES if name and name in {named.get(key) for key in keys[place]}]


def names_other(value: Any, place: Choice, form: Form) -> bool:
    """Return whether the name of a system is also the word, mark or number of the other reply or of a tie."""
    mark = form.marks[1 - place]
    systems = {f"{name}_{mark}" for name in SYSTEMS}
    return plain(str(value)) in {*TIES, *WORDS[1 - place], mark, form.keys[1 - place], *systems}
