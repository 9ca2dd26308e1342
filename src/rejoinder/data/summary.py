"""A description of files: format, counts, the first examples as understood, and calls that are ready."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Unpack

from rejoinder.errors import DataError
from rejoinder.example import Example, Pair
from rejoinder.io.lines import OnBad, raise_bad
from rejoinder.io.read import How, read_either
from rejoinder.io.scales import scale_of, with_scale

FIRST, CALLS = 3, 3


@dataclass(frozen=True)
class FileSummary:
    """What files hold, and what can be done with it.

    Attributes:
        format: the form of the records.
        examples: how many single replies there are.
        pairs: how many pairs of replies there are.
        rated: how many examples have ratings.
        labelled: how many of these are rated 0 or 1 only.
        systems: the names of the systems, in order of first appearance.
        with_references: how many replies have references.
        with_sources: how many replies have sources.
        notes: what was understood and what was not read, a line each.
        first: the first lines as understood.
        calls: commands that fit these files, ready to run.
        skipped: how many bad lines were left out.
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
    scale: str | None = None,
    on_error: OnBad = raise_bad,
    **how: Unpack[How],
) -> FileSummary:
    """Return what files hold, after one pass over them.

    Args:
        paths: files; `-` is standard input, `@NAME` a bundled sample.
        each: takes every line as it is read, to write it somewhere.
        scale: the lowest and highest possible rating, where lines state none: `"1,5"`.
        on_error: takes the error of a bad line, and reading goes on; raises it by default.
        how: further arguments of `rejoinder.read`.

    Raises:
        DataError: a bad line.
        MissingAsset: a file is not there.
    """
    notes: list[str] = []
    skipped: list[DataError] = []

    def skip(error: DataError) -> None:
        on_error(error)
        skipped.append(error)

    how["note"] = notes.append
    lines = read_either(*paths, on_bad=skip, **how)
    counted = _Counts()
    for line in with_scale(lines, None if scale is None else scale_of(scale), skip):
        counted.add(line)
        if each is not None:
            each(line)
    return counted.summary(paths, notes, len(skipped))


class _Counts:
    """Counts of the lines so far."""

    def __init__(self) -> None:
        self.examples = self.pairs = self.rated = self.labelled = self.references = 0
        self.systems: dict[str, None] = {}
        self.first: list[Example | Pair] = []

    def add(self, line: Example | Pair) -> None:
        """Count a line."""
        if len(self.first) < FIRST:
            self.first.append(line)
        replies = line.replies if isinstance(line, Pair) else (line,)
        self.pairs += isinstance(line, Pair)
        self.examples += isinstance(line, Example)
        for reply in replies:
            if reply.system is not None:
                self.systems[reply.system] = None
            self.references += bool(reply.references)
            values = [*(rating.value for rating in reply.ratings), *reply.quality.values()]
            self.rated += bool(values)
            self.labelled += bool(values) and set(values) <= {0, 1}

    def summary(self, paths: Sequence[str | Path], notes: list[str], skipped: int) -> FileSummary:
        """Return the summary of what was counted."""
        files = shlex.join(map(str, paths))
        calls = [*chain(self._study(files), [f"rejoinder score {files}"])][:CALLS]
        return FileSummary(
            format="",
            examples=self.examples,
            pairs=self.pairs,
            rated=self.rated,
            labelled=self.labelled,
            systems=tuple(self.systems),
            with_references=self.references,
            with_sources=0,
            notes=tuple(notes),
            first=tuple(self.first),
            calls=tuple(calls) if self.examples or self.pairs else (),
            skipped=skipped,
        )

    def _study(self, files: str) -> Iterator[str]:
        """Yield the calls that need human ratings or preferences."""
        if self.pairs or self.rated:
            yield f"rejoinder study {files} -s length -s rejoinder"
        if self.rated and not self.pairs:
            yield f"rejoinder ratings {files}"
