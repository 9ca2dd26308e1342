"""A pool of replies: every reply of a corpus once, whatever it answered."""

from __future__ import annotations

from pathlib import Path

from rejoinder.data.dialogues import read_dialogues
from rejoinder.errors import DataError
from rejoinder.io.lines import OnBad, raise_bad, text_lines


def read_replies(path: str | Path, on_bad: OnBad = raise_bad) -> tuple[str, ...]:
    """The distinct replies of a file, in the order in which they first come.

    Formats, by suffix, each also with `.gz`: `.txt` has a reply a line; of the others that `read_dialogues` takes every
    turn but the first of a dialogue is a reply.

    Raises:
        DataError: there is none; a bad line, unless `on_bad` keeps it.
        MissingAsset: the file is not there.
        UsageError: the suffix is of no known format.
    """
    if str(path).lower().removesuffix(".gz").endswith(".txt"):
        said = (line.strip() for _, line in text_lines(path, on_bad))
    else:
        said = (turn.strip() for dialogue in read_dialogues(path, on_bad=on_bad) for turn in dialogue.turns[1:])
    found = tuple(dict.fromkeys(filter(None, said)))
    if not found:
        raise DataError("no reply is in it", "Give a text file with a reply a line, or a corpus", where=str(path))
    return found
