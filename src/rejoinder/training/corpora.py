"""Which dialogues of a corpus are trained on and which are held out, and what tells one corpus from another."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from zlib import crc32

from rejoinder.errors import UsageError
from rejoinder.io.corpus import Dialogue, read_dialogues
from rejoinder.io.lines import STDIN, OnBad, open_bytes, raise_bad

_BUCKETS = 10_000
_BLOCK = 1 << 20


def part_of(
    files: Sequence[str | Path],
    share: float,
    *,
    held_out: bool,
    keep_judged: bool = False,
    on_bad: OnBad = raise_bad,
) -> Iterator[Dialogue]:
    """Yield the dialogues of one part of a corpus.

    Args:
        files: see `read_dialogues`.
        share: of the dialogues that is held out.
        held_out: whether that part is wanted, or the rest.
        keep_judged: also yield dialogues that occur in public sets of human judgements.
        on_bad: see `read_dialogues`.
    """
    for dialogue in read_dialogues(*files, on_bad=on_bad):
        if (keep_judged or not dialogue.judged) and is_held_out(dialogue, share) == held_out:
            yield dialogue


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
