"""Several replies to one context in a line, each with a rating: `response_a`, `rating_a`, `response_b`, `rating_b`.

They are rated lines, not votes: people did not compare the replies. A line with a verdict is of format `votes`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from rejoinder.data.columns import plain, words
from rejoinder.data.format import Format, bare, each
from rejoinder.data.formats.verdicts import ANNOTATOR, COLUMNS, MARKS, NAMES, VERDICTS
from rejoinder.data.formats.votes import PROMPTS

_RATINGS = ("rating", "stars", "human_rating", "user_rating")
_OF_EACH = words("model system generator model_name rater annotator")
_MARKED = re.compile(r"(.*?)[\s_-]*([a-hA-H]|\d)(\s*[(\[].*)?")  # Rating A (1-5)
_CHOICE = re.compile(r"(.*_)?(best|better|prefer\w*|choices?|chosen|picks?|picked|selected|favou?rite|win\w*)(_.*)?")
_VERDICTS = {"response", "responses", "chosen", "rejected", "votes", *VERDICTS, *COLUMNS}


def confirm(row: Mapping[str, Any]) -> bool:
    """Return whether a row has no verdict, so that its ratings were given by people."""
    names = map(bare, map(str, row))
    return not any(name in _VERDICTS or _CHOICE.fullmatch(name) or ANNOTATOR.fullmatch(name) for name in names)


def record(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """Yield a record for each reply."""
    columns: dict[str, dict[str, tuple[str, str]]] = {}  # by stem and mark: the key, and the key without its mark
    for key in row:
        match = _MARKED.fullmatch(key)
        if match and bare(key).endswith(f"_{match[2].lower()}"):
            columns.setdefault(plain(match[1]), {})[match[2].lower()] = (key, f"{match[1].rstrip()}{match[3] or ''}")
    marks = columns.pop(next(name for name in NAMES if len(columns.get(name, ())) > 1))
    own = [
        held
        for stem, held in columns.items()
        if (stem.startswith((*_RATINGS, "rating_")) or stem in _OF_EACH)
        and len(held) > 1
        and held.keys() <= marks.keys()
    ]
    taken = {key for held in (marks, *own) for key, _ in held.values()}
    shared = {key: value for key, value in row.items() if key not in taken}
    name = where if row.get("id") in (None, "") else row["id"]
    if not any(value and plain(key) in (*PROMPTS, "context_id", "dialogue_id") for key, value in row.items()):
        shared["context_id"] = str(name)
    for mark, (key, _) in marks.items():
        values = {unmarked: row[marked] for held in own if mark in held for marked, unmarked in [held[mark]]}
        yield {**shared, **values, "id": f"{name}/{mark}", "response": row[key]}


FORMAT = Format(
    "rated-pairs",
    "Replies side by side, each with a rating",
    tuple(
        frozenset(f"{name}_{mark}" for name, mark in product((reply, rating), marks))
        for reply, marks, rating in product(NAMES, MARKS, _RATINGS)
    ),
    each(record),
    confirm,
    columns=True,
)
