"""What several subcommands share: the meaning of their common flags, progress, and the account of skipped lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rejoinder.errors import DataError
from rejoinder.io.lines import OnBad, raise_bad
from rejoinder.scorer import Advance, ignore

_LISTED = 20


class OnError(StrEnum):
    """What to do with a bad line."""

    STOP = "stop"
    SKIP = "skip"


Files = Annotated[
    list[str], typer.Argument(help="Input files, - for stdin, @NAME for a sample in the box.", metavar="FILE...")
]
ScorerNames = Annotated[
    list[str] | None,
    typer.Option(
        "-s",
        "--scorer",
        help="Scorer or folder of a judge; repeat for more. Default: every plain name.",
        metavar="NAME",
    ),
]
Vectors = Annotated[Path | None, typer.Option(help="Word vectors. Default: those in the box.", metavar="FILE")]
OnErrorFlag = Annotated[OnError, typer.Option("--on-error", help="What to do with a bad line.")]
Seed = Annotated[int, typer.Option(min=0, help="Decides every random choice.")]


def plain_names() -> list[str]:
    """Every scorer's name without its presets: what runs where no scorer is named."""
    from rejoinder.catalogue import SCORERS

    return list(SCORERS)


@contextmanager
def reporting(on_error: OnError) -> Iterator[OnBad]:
    """Yield what to do with a bad line; skipped lines are counted and listed on stderr when the block ends."""
    skipped: list[DataError] = []
    try:
        yield skipped.append if on_error is OnError.SKIP else raise_bad
    finally:
        if skipped:
            typer.echo(f"skipped {len(skipped)}:", err=True)
            for error in skipped[:_LISTED]:
                typer.echo(f"  {error}", err=True)
            if len(skipped) > _LISTED:
                typer.echo(f"  ... and {len(skipped) - _LISTED} more", err=True)


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Advance]:
    """Yield a function that moves a progress bar on stderr; on anything but a terminal it does nothing."""
    if not sys.stderr.isatty():
        yield ignore
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.advance(task, done)


def width() -> int:
    """How wide a table on standard output may be."""
    import shutil

    return shutil.get_terminal_size((120, 24)).columns if sys.stdout.isatty() else 120
