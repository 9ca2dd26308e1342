"""Forms of a line with two replies, and the names of what else it says: shared by `votes` and `rated_pairs`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

from rejoinder.data.columns import plain
from rejoinder.data.formats.results import words
from rejoinder.example import Choice

NAMES = words("response output answer completion reply conversation text generation human_ref")
MARKS = (("a", "b"), ("1", "2"), ("0", "1"))
PROMPTS = words("context prompt question instruction query history conversation messages input")
VERDICTS = words("preferred winner preference choice label labels better better_response_id verdict")
COLUMNS: Mapping[str, Choice | None] = {"winner_model_a": 0, "winner_model_b": 1, "winner_tie": None}
SYSTEMS = ("system", "systems", "model", "generator")
ANNOTATOR = re.compile(r"annotator_?\d+")


class Form(NamedTuple):
    """How a line holds two replies: their keys, twice the same for one list, and the marks that tell them apart."""

    keys: tuple[str, str]
    marks: tuple[str, str]


CHOSEN = Form(("chosen", "rejected"), ("chosen", "rejected"))
LISTED = Form(("responses", "responses"), ("0", "1"))
MARKED = tuple(
    Form((f"{name}{mark}{a}", f"{name}{mark}{b}"), (a, b)) for name, mark, (a, b) in product(NAMES, ("_", ""), MARKS)
)


def form_of(row: Mapping[str, Any]) -> Form | None:
    """Return how a row holds two replies, whatever the case of its keys; None where it does not."""
    names = {plain(str(key)) for key in row}
    if names >= {*CHOSEN.keys}:
        return CHOSEN
    if "response" in names:
        return None
    if "responses" in names:
        return LISTED
    return next((form for form in MARKED if names >= {*form.keys}), None)
