"""Contexts with replies that fit and replies that do not, in the form of DailyDialog++, to `ReplySet`s.

A line is one where it has `positive_responses`, and `random_negative_responses` or `adversarial_negative_responses`:
lists of texts. Source: Sai et al. (2020), Improving Dialog Evaluation with a Multi-reference Adversarial Dataset.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from rejoinder.errors import DataError
from rejoinder.example import ReplySet
from rejoinder.io.parse import name_in, texts_in
from rejoinder.io.values import kind_of

RELEVANT = "positive_responses"
RANDOM, MISLEADING = "random_negative_responses", "adversarial_negative_responses"


def is_reply_set(record: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether a decoded line holds replies that fit and replies that do not."""
    return (
        isinstance(record, Mapping)
        and "response" not in record
        and RELEVANT in record
        and not record.keys().isdisjoint((RANDOM, MISLEADING))
    )


def parse_reply_set(record: Any, where: str) -> ReplySet:
    """The `ReplySet` that a JSON value describes.

    Args:
        record: a decoded line.
        where: `file:line`, for messages and as the id of a line that has none.

    Raises:
        DataError: it is none; a list holds something else than texts, or there is no reply that fits or none that
            does not.
    """
    if not is_reply_set(record):
        keys = ", ".join(map(str, record)) if isinstance(record, Mapping) else kind_of(record)
        remedy = f'Write "{RELEVANT}", and "{RANDOM}" or "{MISLEADING}", each a list of texts'
        raise DataError(f"no replies that fit and replies that do not (found: {keys})", remedy, where=where)
    found = ReplySet(
        context=texts_in(record, "context", where),
        relevant=texts_in(record, RELEVANT, where),
        random=texts_in(record, RANDOM, where),
        misleading=texts_in(record, MISLEADING, where),
        id=name_in(record, "id", where) or where,
        where=where,
    )
    if not found.relevant or not (found.random or found.misleading):
        field = RANDOM if found.relevant else RELEVANT
        raise DataError("empty", "Give at least one reply, or leave the line out", where=where, field=field)
    return found


def refuse_reply_set(record: Any, where: str) -> None:
    """Raise `DataError` where a JSON value holds replies that fit and replies that do not."""
    if is_reply_set(record):
        found = f"replies that fit ({RELEVANT}) and replies that do not, expected one reply"
        raise DataError(found, "Such lines go into rejoinder audit, rejoinder.relevance in Python", where=where)
