"""Which dialogues of a corpus are trained on and which are held out, and what tells one corpus from another."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from zlib import crc32

from rejoinder.data.dialogues import Dialogue, read_dialogues
from rejoinder.data.files import STDIN, OnError, open_bytes
from rejoinder.data.joins import Note
from rejoinder.data.read import raise_error, silent
from rejoinder.errors import UsageError

_BUCKETS = 10_000
_BLOCK = 1 << 20


def part_of(
    files: Sequence[str | Path],
    share: float,
    *,
    held_out: bool,
    keep_judged: bool = False,
    on_error: OnError = raise_error,
    say: Note = silent,
) -> Iterator[Dialogue]:
    """Yield the dialogues of one part of a corpus.

    Args:
        files: see `read_dialogues`.
        share: of the dialogues that is held out.
        held_out: whether that part is wanted, or the rest.
        keep_judged: also yield dialogues that people rated.
        on_error: see `read_dialogues`.
        say: see `unjudged`.
    """
    for dialogue in unjudged(read_dialogues(*files, on_error=on_error), keep_judged=keep_judged, say=say):
        if is_held_out(dialogue, share) == held_out:
            yield dialogue


def unjudged(dialogues: Iterable[Dialogue], *, keep_judged: bool, say: Note = silent) -> Iterator[Dialogue]:
    """Yield the dialogues that nobody rated, or all of them.

    Args:
        dialogues: one after the other.
        keep_judged: also yield those that people rated.
        say: is told in the end how many were left out, where any were.
    """
    left_out = 0
    for dialogue in dialogues:
        if keep_judged or not dialogue.judged:
            yield dialogue
        else:
            left_out += 1
    if left_out:
        say(f"left out because people rated them: {left_out:,} dialogues; --keep-judged takes them too")


def is_held_out(dialogue: Dialogue, share: float) -> bool:
    """Whether a dialogue is for validation: a hash of its opening decides.

    The opening is its first two turns, of two turns the first, lower case and without regard to white space. So copies,
    and dialogues that go on differently after one opening, fall on one side; a dialogue of two turns and a longer one
    that begins with it may not.
    """
    opening = dialogue.turns[:-1][:2]
    text = "\n".join(" ".join(turn.casefold().split()) for turn in opening)
    return crc32(text.encode()) % _BUCKETS < share * _BUCKETS


def digests(files: Sequence[str | Path]) -> list[dict[str, str]]:
    """The `name` of each file of a corpus and the `sha256` of what it holds, its gzip undone (16 digits).

    Raises:
        UsageError: one of them is standard input, which can be read only once.
        MissingAsset: one cannot be read.
    """
    if STDIN in map(str, files):
        raise UsageError("-: a corpus is read several times, standard input only once. Save it as a file")
    found = []
    for file in files:
        total = hashlib.sha256()
        with open_bytes(file) as stream:
            for block in iter(partial(stream.read, _BLOCK), b""):
                total.update(block)
        found.append({"name": Path(file).name, "sha256": total.hexdigest()[:16]})
    return found
