"""Contexts with replies that fit and replies that do not, in the form of DailyDialog++, to `ReplySet`s.

Such a line has `positive_responses`, and `random_negative_responses` or `adversarial_negative_responses`: lists of
texts. Source: Sai et al. (2020), Improving Dialog Evaluation with a Multi-reference Adversarial Dataset.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeGuard, Unpack

from rejoinder.data.columns import checked, plan
from rejoinder.data.dialogues import examples_of_rows, texts
from rejoinder.data.files import SUFFIXES, OnError, Row, rows
from rejoinder.data.read import How, raise_error
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example, Given, ReplySet

RELEVANT = "positive_responses"
RANDOM, MISLEADING = "random_negative_responses", "adversarial_negative_responses"


def read_audited(
    *paths: str | Path, on_error: OnError = raise_error, **how: Unpack[How]
) -> Iterator[Example | ReplySet]:
    """Yield the examples of files as `read` does, and then the sets of replies in them."""
    kind, sets = how.get("input_format"), list[ReplySet]()

    def others(path: str | Path) -> Iterator[Row]:
        for row in rows(path, on_error, kind if kind in SUFFIXES.values() else None):
            if not is_reply_set(row.data):
                yield row
                continue
            try:
                sets.append(reply_set_of(row.data, row.where, how))
            except DataError as error:
                on_error(error)

    yield from examples_of_rows(((path, others(path)) for path in paths), on_error, how)
    yield from sets


def reply_sets_of(data: Given, *, name: str = "reply sets", **how: Unpack[How]) -> list[ReplySet]:
    """Return the sets of replies in `data`: sets, dicts or the name of a file.

    Args:
        data: sets, dicts, one of these, or the name of a file.
        name: the name of `data` in messages, and in the ids of records without one.
        how: see `How`.

    Raises:
        DataError: a record cannot be used, or is a single reply.
        UsageError: `data` is something else.
    """
    if isinstance(data, (str, Path)):
        lines = list(read_audited(data, **how))
        if single := next((line for line in lines if isinstance(line, Example)), None):
            problem = "a single reply, expected replies that fit and replies that do not"
            raise DataError(problem, "Give single replies to rejoinder.audit", where=single.where)
        return [line for line in lines if isinstance(line, ReplySet)]
    items: Iterable[Any] = [data] if isinstance(data, (ReplySet, Mapping)) else data
    if not isinstance(items, Iterable) or hasattr(items, "columns"):
        kind = type(data).__name__
        raise UsageError(f"{name} are given as {kind}, expected a list of ReplySet or of dicts, or the name of a file")
    numbered = ((f"{name}:item {number}", item) for number, item in enumerate(items, start=1))
    return [item if isinstance(item, ReplySet) else reply_set_of(item, where, how) for where, item in numbered]


def is_reply_set(record: Any) -> TypeGuard[Mapping[str, Any]]:
    """Return whether a decoded line holds replies that fit and replies that do not, and no reply of its own."""
    is_set = isinstance(record, Mapping) and "response" not in record and RELEVANT in record
    return is_set and not record.keys().isdisjoint((RANDOM, MISLEADING))


def reply_set_of(record: Any, where: str, how: How) -> ReplySet:
    """Return the set of replies of a decoded line.

    Raises `DataError` if it is none, a list holds no texts, or one of the two sides is empty.
    """
    if not is_reply_set(record):
        held = ", ".join(map(str, record)) if isinstance(record, Mapping) else type(record).__name__
        remedy = f'Write "{RELEVANT}", and "{RANDOM}" or "{MISLEADING}", each a list of texts'
        raise DataError(f"no replies that fit and replies that do not (found: {held})", remedy, where=where)
    sources = plan(tuple(record), checked(how.get("map")), where).sources
    names = {ours: next(iter(sources.get(ours, (ours,))), "") for ours in ("context", "id")}
    keys = (names["context"], RELEVANT, RANDOM, MISLEADING)
    context, relevant, random, misleading = (texts(record.get(key, []), where, key) for key in keys)
    if not relevant or not (random or misleading):
        field = RANDOM if relevant else RELEVANT
        raise DataError("empty", "Give at least one reply, or delete the line", where=where, field=field)
    return ReplySet(context, relevant, random, misleading, str(record.get(names["id"], where)), where)
