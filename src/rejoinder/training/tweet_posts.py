"""Tweets with hashtags from JSON lines, one at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rejoinder.data.dialogues import of_fair_length
from rejoinder.errors import DataError
from rejoinder.io.lines import OnBad, name_of, raise_bad, text_lines
from rejoinder.io.values import kind_of, require_whole_characters

_REMEDY = 'Write {"text": "...", "hashtags": ["..."]} a line'


@dataclass(frozen=True, slots=True)
class Post:
    """One message.

    Attributes:
        text: as it was written, hashtags and all.
        hashtags: those the file states, lower case, without the sign; None where it states none, so that they are to be
            taken from the text.
    """

    text: str
    hashtags: tuple[str, ...] | None


def read_posts(*paths: str | Path, on_bad: OnBad = raise_bad) -> Iterator[Post]:
    """Yield the messages of JSON-lines files, plain or gzip: `text`, or `turns` with one text; `hashtags` if known.

    Other keys are not read; blank lines are passed over.

    Args:
        paths: files.
        on_bad: what to do with the error of a line that cannot be used; raises it unless told otherwise.

    Raises:
        DataError: a bad line, unless `on_bad` keeps it: not UTF-8, more than ten million characters, no JSON object, no
            text or more than one, `hashtags` that are no list of texts.
        MissingAsset: a file is not there.
    """
    for path in paths:
        for number, line in text_lines(path, on_bad):
            if not line.strip():
                continue
            where = f"{name_of(path)}:{number}"
            try:
                post = _post(of_fair_length(line, where, "tweet"), where)
            except DataError as error:
                on_bad(error)
            else:
                yield post


def _post(line: str, where: str) -> Post:
    """The message of a line."""
    try:
        # Without its end, because the place of an error would be told as one on a second line.
        record = json.loads(line.rstrip())
    except (ValueError, RecursionError) as error:
        raise DataError(f"broken JSON ({error})", _REMEDY, where=where) from error
    require_whole_characters(line, record, where)
    if not isinstance(record, Mapping):
        raise DataError(f"{kind_of(record)}, expected a JSON object", _REMEDY, where=where)
    return Post(_text(record, where), _hashtags(record, where))


def _text(record: Mapping[str, Any], where: str) -> str:
    """The one text of a record."""
    if "turns" in record:
        turns = record["turns"]
        if isinstance(turns, list) and len(turns) == 1 and isinstance(turns[0], str):
            return turns[0]
        raise DataError("is not a list of one text", _REMEDY, where=where, field="turns")
    if not isinstance(record.get("text"), str):
        raise DataError(f"is {kind_of(record.get('text'))}, expected text", _REMEDY, where=where, field="text")
    text: str = record["text"]
    return text


def _hashtags(record: Mapping[str, Any], where: str) -> tuple[str, ...] | None:
    """The value of `hashtags`, without signs and doubles."""
    stated = record.get("hashtags")
    if stated is None:
        return None
    if not isinstance(stated, list) or not all(isinstance(hashtag, str) for hashtag in stated):
        raise DataError("is not a list of texts", _REMEDY, where=where, field="hashtags")
    return tuple(dict.fromkeys(hashtag.lstrip("#").lower() for hashtag in stated))
