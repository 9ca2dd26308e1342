"""A pool of replies: each reply of a corpus once, whatever it answered."""

from __future__ import annotations

from pathlib import Path

from rejoinder.data.dialogues import read_dialogues, text_lines
from rejoinder.data.files import OnError
from rejoinder.data.read import raise_error
from rejoinder.errors import DataError


def read_replies(path: str | Path, on_error: OnError = raise_error) -> tuple[str, ...]:
    """Return the distinct replies of a file, in the order of their first use.

    A `.txt` has a reply a line; in the other formats of `read_dialogues`, each turn but the first is a reply.

    Raises:
        DataError: there is none; a bad line, unless `on_error` keeps it.
        MissingAsset, UsageError: the file does not exist, or its suffix is unknown.
    """
    if str(path).lower().removesuffix(".gz").endswith(".txt"):
        replies = [line.strip() for _, line in text_lines(path, on_error)]
    else:
        replies = [turn.strip() for one in read_dialogues(path, on_error=on_error) for turn in one.turns[1:]]
    distinct = tuple(dict.fromkeys(filter(None, replies)))
    if not distinct:
        raise DataError("no reply is in it", "Give a text file with a reply a line, or a corpus", where=str(path))
    return distinct
