"""Tweets with hashtags from JSON lines, one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rejoinder.data.dialogues import texts
from rejoinder.data.files import OnError, rows
from rejoinder.data.read import raise_error
from rejoinder.errors import DataError

_REMEDY = 'Write {"text": "...", "hashtags": ["..."]} a line'


@dataclass(frozen=True, slots=True)
class Post:
    """A message.

    Attributes:
        text: as it was written, hashtags and all.
        hashtags: those of the file, lower case, without the sign; None if they are to be taken from the text.
    """

    text: str
    hashtags: tuple[str, ...] | None


def read_posts(*paths: str | Path, on_error: OnError = raise_error) -> Iterator[Post]:
    """Yield the messages of JSON lines, plain or gzip: `text`, or `turns` with one text; `hashtags` if known.

    Args:
        paths: files.
        on_error: receives the error of a line that cannot be used; raises it by default.

    Raises:
        DataError: a bad line: no JSON object, no text or several, `hashtags` that are no texts; see also `rows`.
        MissingAsset: a file does not exist.
    """
    for path in paths:
        for where, record, _ in rows(path, on_error, "jsonl"):
            try:
                yield _post(record, where)
            except DataError as error:
                on_error(error)


def _post(record: Any, where: str) -> Post:
    """Return the message of a decoded line."""
    if not isinstance(record, Mapping):
        raise DataError("not a JSON object", _REMEDY, where=where)
    field = "turns" if "turns" in record else "text"
    (text, *more) = texts(record["turns"], where) or ("", "") if field == "turns" else [record.get("text")]
    if more or not isinstance(text, str):
        raise DataError("not one text", _REMEDY, where=where, field=field)
    hashtags = record.get("hashtags")
    if hashtags is not None:
        hashtags = tuple(dict.fromkeys(name.lstrip("#").lower() for name in texts(hashtags, where, "hashtags")))
    return Post(text, hashtags)
