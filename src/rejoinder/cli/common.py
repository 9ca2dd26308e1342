"""What several subcommands share: the meaning of their common flags, progress, and the account of skipped lines."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rejoinder.cli.places import Reads, Writes, in_scorer
from rejoinder.cli.terminal import TYPED, escaped_streams, unescaped
from rejoinder.data.files import OnError as ReportError
from rejoinder.data.read import raise_error
from rejoinder.errors import DataError, UsageError
from rejoinder.scorer import Advance, ignore
from rejoinder.text.normalize import escape_controls

if TYPE_CHECKING:
    from rejoinder.report.results import Results
    from rejoinder.scoring import workers as scoring

AUTO = "auto"
_LISTED = 20


class OnError(StrEnum):
    """What to do with a bad line."""

    STOP = "stop"
    SKIP = "skip"


class State(StrEnum):
    """Which state of an HRED or VHRED stands for a text."""

    CONTEXT = "context"
    UTTERANCE = "utterance"


Files = Annotated[
    list[str],
    typer.Argument(
        help="Input files; - for JSON lines on standard input; @NAME for a sample that comes along.", metavar="FILE..."
    ),
    Reads(),
]
ScorerNames = Annotated[
    list[str] | None,
    typer.Option(
        "-s",
        "--scorer",
        help="A scorer, the folder of a judge, column:KEY, command:PROGRAM or openai:URL#MODEL; repeat for more. "
        "Default: all that `rejoinder list` shows.",
        metavar="NAME",
    ),
    Reads(in_scorer),
]
JudgeNames = Annotated[
    list[str] | None,
    typer.Option(
        "-s",
        "--scorer",
        help="A scorer, the folder of a judge, column:KEY, command:PROGRAM or openai:URL#MODEL; repeat for more. "
        "Default: rejoinder, the judge in the box.",
        metavar="NAME",
    ),
    Reads(in_scorer),
]
Vectors = Annotated[
    Path | None, typer.Option(help="Word vectors. Default: those that come along.", metavar="FILE"), Reads()
]
OnErrorFlag = Annotated[OnError, typer.Option("--on-error", help="What to do with a bad line.")]
AsJson = Annotated[bool, typer.Option("--json", help="Machine-readable.")]
Figures = Annotated[
    Path | None,
    typer.Option("--figures", help="Also draw every chart into this folder, as SVG, PNG and PDF.", metavar="DIR"),
    Writes(),
]
Force = Annotated[bool, typer.Option("--force", help="Replace a model that stands in FOLDER.")]
OnRay = Annotated[
    str | None,
    typer.Option(
        "--ray",
        help="Score in the processes of a Ray cluster: HOST:PORT, or auto for the one of this machine.",
        metavar="ADDRESS",
    ),
]
Workers = Annotated[
    str,
    typer.Option(
        "--workers",
        help="Processes that score: a number; or auto, one for each core where that pays.",
        metavar="N|auto",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Decides every random choice.")]


@contextmanager
def reporting(on_error: OnError) -> Iterator[ReportError]:
    """Yield what to do with a bad line; skipped lines are counted and listed on stderr when the block ends."""
    skipped: list[DataError] = []
    try:
        yield skipped.append if on_error is OnError.SKIP else raise_error
    finally:
        if skipped:
            more = [f"... and {len(skipped) - _LISTED} more"] if len(skipped) > _LISTED else []
            tell("\n  ".join([f"skipped {len(skipped)}:", *map(str, skipped[:_LISTED]), *more]), err=True)


def tell(text: str, *, err: bool = False) -> None:
    """Write lines for people, without their last line end.

    On a terminal, or where COLUMNS says how wide it is, lines that are too long are broken between words.
    """
    if (sys.stderr if err else sys.stdout).isatty() or "COLUMNS" in os.environ:
        from rejoinder.report.terminal import prose

        text = prose(text, width())
    typer.echo(text.removesuffix("\n"), err=err)


@contextmanager
def resumable() -> Iterator[None]:
    """An interruption of the block is answered with how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt("call again to go on") from None


@contextmanager
def workers(count: str = AUTO, ray: str | None = None) -> Iterator[scoring.Workers]:
    """Yield what scores in parts, for `rejoinder.study(..., workers=...)`: processes of this machine or of a cluster.

    Args:
        count: the value of `--workers`.
        ray: address of a Ray cluster.

    Raises:
        UsageError: `count` is no number from 1 on; or both were given.
    """
    from rejoinder.scoring.workers import Workers as Pool

    def note(text: str) -> None:
        tell(text, err=True)

    if ray is None:
        if count != AUTO and not (count.isdecimal() and int(count)):
            raise UsageError(f"--workers {count}. Write a number from 1 on, or auto")
        with Pool("auto" if count == AUTO else int(count), note=note) as pool:
            yield pool
        return
    if count != AUTO:
        raise UsageError("--ray uses the cores of the cluster. Leave --workers out")
    from rejoinder.scoring.engines import ray_cluster

    with ray_cluster(ray, note) as cluster, Pool(engine=cluster, note=note) as pool:
        yield pool


class Bar:
    """Moves a progress bar, where there is one.

    Args:
        advance: moves it by so many steps.
        expect: lets it know of so many steps more.
    """

    def __init__(self, advance: Advance = ignore, expect: Advance = ignore) -> None:
        self._advance, self.expect = advance, expect

    def __call__(self, done: int) -> None:
        """So many steps are done."""
        self._advance(done)


@contextmanager
def progress(label: str, total: int | None = None, *, streaming: bool = False) -> Iterator[Bar]:
    """Yield a function that moves a progress bar on stderr, which is gone when the block ends.

    It does nothing where stderr is no terminal that can take a line back. What is told to stderr meanwhile stands above
    the bar.

    Args:
        label: what is going on.
        total: steps that will be moved in all, where that is known.
        streaming: results go to standard output meanwhile; where that is a terminal too, there is no bar among them.
    """
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb" or (streaming and sys.stdout.isatty()):
        yield Bar()
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
    # Left alone, rich would send what is written to standard output through its own stream, onto the terminal.
    bar = Progress(*columns, console=Console(file=unescaped(sys.stderr)), transient=True, redirect_stdout=False)
    with bar, escaped_streams():  # messages pass through the bar from here on
        task = bar.add_task(escape_controls(label), total=total)

        def expect(more: int) -> None:
            bar.update(task, total=bar.tasks[0].completed + more)

        yield Bar(lambda done: bar.advance(task, done), expect)


def width() -> int:
    """How wide a table on standard output should be: the terminal's columns, or what COLUMNS says, or 100."""
    import shutil

    return shutil.get_terminal_size((100, 24)).columns


def command_line() -> str:
    """Return the command that is running, as it was typed."""
    return shlex.join(["rejoinder", *TYPED.get()])


def require_places(out: list[Path] | None, figures: Path | None = None, *, lines: bool = False) -> None:
    """Raise, before any work, where results cannot be written.

    Raises:
        UsageError: the suffix is of no known format, or a folder does not exist.
    """
    from rejoinder.data.outputs import require_place
    from rejoinder.report.files import require_writable

    for path in out or []:
        require_writable(path, lines=lines)
    if figures is not None and not figures.is_dir():
        require_place(figures)
        if figures.exists():
            raise UsageError(f"{figures}: is a file. Name a folder for the charts")


def present(
    results: Results,
    out: list[Path] | None = None,
    *,
    as_json: bool = False,
    every: bool = False,
    figures: Path | None = None,
    more: str = "",
    files: Sequence[str | Path] = (),
) -> None:
    """Write results where the user wants them, and print them. A gate that is not passed exits with 6.

    Args:
        results: of a command.
        out: files to write.
        as_json: print JSON.
        every: print every table.
        figures: folder for the charts.
        more: a last line for people, such as how to see more.
        files: input files, named in reports. Omit them if `about.options` has their names.
    """
    layout = results.layout
    names = [f"Files: {', '.join(Path(file).name for file in files)}."] if files else []
    report = replace(results, layout=replace(layout, made=[*layout.made, *names]))
    report.save(*(out or []), command_line=command_line())
    if figures is not None:
        results.save_figures(figures)
    if as_json:
        typer.echo(results.to_json(), nl=False)
    else:
        from rejoinder.report.terminal import terminal

        saved = f"saved in {', '.join(map(str, out))}" if out else more
        tell(terminal(results, width(), every=every) + saved)
    if results.gate is not None:
        tell(results.gate.text, err=True)
        if not results.gate.passed:
            raise typer.Exit(6)
