"""Summaries of files for `rejoinder inspect`: counts, what was understood, the first examples, and next commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from rejoinder.data.files import OnError
from rejoinder.data.read import How, raise_error, read_lines
from rejoinder.data.scales import BINARY
from rejoinder.errors import DataError
from rejoinder.example import Example, Pair

_FORMAT = re.compile(r": [\d,]+ records?, (.*)\Z")
_FIRST = 3
_CALLS = 3


@dataclass(frozen=True)
class FileSummary:
    """What files hold.

    Attributes:
        format: what the records are, `Langfuse traces`; "" for our own form or a plain table.
        examples: single replies.
        pairs: pairs of replies.
        rated: examples with a rating by people.
        labelled: the rated ones, if all their ratings are 0 or 1; else 0.
        systems: names of systems, in order of appearance.
        with_references: examples with a reference.
        with_sources: examples with a retrieved document or a tool result.
        notes: what was understood, a line each.
        first: the first three examples or pairs.
        calls: at most three commands to go on with.
        skipped: lines that cannot be used.
    """

    format: str
    examples: int
    pairs: int
    rated: int
    labelled: int
    systems: tuple[str, ...]
    with_references: int
    with_sources: int
    notes: tuple[str, ...]
    first: tuple[Example | Pair, ...]
    calls: tuple[str, ...]
    skipped: int


def describe(
    paths: Sequence[str | Path],
    *,
    each: Callable[[Example | Pair], None] | None = None,
    on_error: OnError = raise_error,
    **how: Unpack[How],
) -> FileSummary:
    """Return what files hold, after one pass over them.

    Args:
        paths: files; `-` is standard input, `@NAME` a bundled sample.
        each: takes every line as it is read, to write it somewhere.
        on_error: takes the error of a bad line, and reading goes on; raises it by default.
        how: see `How`.

    Raises:
        DataError, MissingAsset, MissingExtra, UsageError: see `read`.
    """
    notes: list[str] = []
    skipped: list[DataError] = []
    first: list[Example | Pair] = []
    systems: dict[str, None] = {}
    examples = pairs = rated = single = with_references = with_sources = 0
    binary = True

    def skip(error: DataError) -> None:
        on_error(error)
        skipped.append(error)

    reading: How = {**how, "note": notes.append}
    for line in read_lines(*paths, on_error=skip, **reading):
        if each is not None:
            each(line)
        if len(first) < _FIRST:
            first.append(line)
        replies = line.replies if isinstance(line, Pair) else (line,)
        systems.update((reply.system, None) for reply in replies if reply.system and len(systems) < 1000)
        if isinstance(line, Pair):
            pairs += 1
            continue
        values = [rating.value for rating in line.ratings] + list(line.quality.values())
        examples += 1
        rated += bool(values)
        single += bool(line.ratings)
        binary = binary and all(value in BINARY for value in values) and all(map(BINARY.__eq__, line.scales.values()))
        with_references += bool(line.references)
        with_sources += bool(line.sources)
    formats = dict.fromkeys(found[1] for note in notes if (found := _FORMAT.search(note)))
    return FileSummary(
        format=", ".join(formats),
        examples=examples,
        pairs=pairs,
        rated=rated,
        labelled=rated if binary else 0,
        systems=tuple(systems),
        with_references=with_references,
        with_sources=with_sources,
        notes=tuple(notes),
        first=tuple(first),
        calls=_calls(
            " ".join(shlex.quote(str(path)) for path in paths), len(paths), rated=rated, single=single, pairs=pairs
        ),
        skipped=len(skipped),
    )


def _calls(names: str, files: int, *, rated: int, single: int, pairs: int) -> tuple[str, ...]:
    """Commands that take such files, the most useful first; `single` ratings are no means."""
    calls = [f"rejoinder study {names}"] if rated or pairs else []
    calls += [f"rejoinder ratings {names}"] if single else []
    calls += [f"rejoinder compare {names}"] if files == 2 and not pairs else []
    return tuple([*calls, f"rejoinder score {names}", f"rejoinder annotate {names} -o study --raters 2"][:_CALLS])
