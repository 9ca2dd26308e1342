"""`rejoinder score`: files to scores."""

from __future__ import annotations

import itertools
import shlex
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rejoinder.cli.common import (
    AUTO,
    Files,
    JudgeNames,
    OnError,
    OnErrorFlag,
    OnRay,
    Vectors,
    Workers,
    progress,
    reporting,
    resumable,
    tell,
    width,
    workers,
)
from rejoinder.cli.inputs import Columns, InputFormat, Turns, TurnsFlag, are_numbers, bounds_of, how
from rejoinder.cli.places import Writes
from rejoinder.errors import UsageError

if TYPE_CHECKING:
    from rejoinder.data.files import OnError as ReportError
    from rejoinder.data.part_folder import PartFolder
    from rejoinder.data.read import How
    from rejoinder.data.write import Put
    from rejoinder.example import Example
    from rejoinder.scorer import Scorer
    from rejoinder.scoring.scoring import ScoredLine, Summary
    from rejoinder.scoring.workers import Asked


class OutOfDomain(StrEnum):
    """Whether scores of replies that a judge cannot judge are written."""

    WITHHOLD = "withhold"
    KEEP = "keep"


class Format(StrEnum):
    """How scores are written."""

    TABLE = "table"
    JSONL = "jsonl"
    CSV = "csv"


Out = Annotated[
    list[Path] | None,
    typer.Option(
        "-o",
        "--out",
        help="Where to: a file, or a report that ends in .html; repeat for more. Of a folder of Parquet files also a "
        "folder. Default: standard output.",
        metavar="FILE",
    ),
    Writes(),
]
AsFormat = Annotated[
    Format | None, typer.Option("--format", help="Default: table on a terminal, else jsonl or what -o ends in.")
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by", help="A key of the lines: the report shows mean scores by it; repeat for more.", metavar="KEY"
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(
        help="The lowest and highest rating, or all words in order: a judge answers on the numbers. "
        "Default: the scale of its ratings.",
        metavar="SCALE",
    ),
]


class Level(StrEnum):
    """What a score measures."""

    TURN = "turn"
    DIALOGUE = "dialogue"


LevelFlag = Annotated[
    Level,
    typer.Option("--level", help="Score the reply, or the whole conversation, with its worst turns."),
]
Explain = Annotated[
    bool, typer.Option("--explain", help="Also explain each score by groups of features, for judges that can.")
]
OutOfDomainFlag = Annotated[
    OutOfDomain,
    typer.Option(
        "--out-of-domain",
        help="Scores of replies that a judge cannot judge: leave them out, or write them with the warning.",
    ),
]


def command(
    files: Files,
    scorers: JudgeNames = None,
    out: Out = None,
    as_format: AsFormat = None,
    by: By = None,
    scale: Scale = None,
    explain: Explain = False,
    level: LevelFlag = Level.TURN,
    out_of_domain: OutOfDomainFlag = OutOfDomain.WITHHOLD,
    vectors: Vectors = None,
    columns: Columns = None,
    input_format: InputFormat = None,
    turns: TurnsFlag = Turns.LAST,
    count: Workers = AUTO,
    ray: OnRay = None,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Score every response in the files.

    Each line of the input gives a line (a pair of replies two), in the same order, with all keys of the input. A reply
    that cannot be scored has a reason instead of a score; each line has the signatures of the scorers, and `file` if
    there are several files. Scores of replies that a judge cannot judge (out of domain) are left out unless you use
    --out-of-domain keep. With -o, a summary of each scorer goes to standard output; -o report.html is a page with the
    lowest replies. You can repeat -o.
    """
    from rejoinder.scoring.catalog import load_scorers
    from rejoinder.scoring.report import ScoreReport
    from rejoinder.scoring.scoring import Summary, score_lines
    from rejoinder.scoring.terminal import lines_table

    outs = out or []
    to_stdout = not outs or Path("-") in outs
    _require_outputs(files, outs, as_format, by)
    if level is Level.DIALOGUE:
        _require_whole(turns, explain=explain)
    asked = _asked(scorers, vectors, scale, level, explain=explain)
    loaded = load_scorers(asked.names, vectors=vectors)
    summaries = {name: Summary(scorer) for name, scorer in asked.of(loaded).items()}
    _report_unaffected(loaded, asked)
    on_terminal = to_stdout and (as_format or (Format.TABLE if sys.stdout.isatty() else None)) is Format.TABLE
    table, streaming = "", to_stdout and not on_terminal
    report = ScoreReport(summaries, by or []) if any(map(_is_report, outs)) else None
    # The names too: no signature has the path of a folder.
    names = [name for name, summary in summaries.items() if name != summary.scorer.card.name]
    signatures = (str(summary.signature) for summary in summaries.values())
    made_by = (*signatures, *names, explain, out_of_domain, columns, input_format, turns, on_error)
    with (
        _parted(files, outs, as_format, made_by) as parts,
        reporting(on_error) as report_error,
        progress("scoring", streaming=streaming) as advance,
        workers(count, ray) as pool,
    ):
        reading = how(columns, input_format, turns, scorers, scale=scale)
        reading["rows"] = any(_is_table(path, as_format) for path in outs or [Path("-")])
        lines = score_lines(
            _read(files, parts, level, report_error, reading),
            summaries,
            out_of_domain=out_of_domain.value,
            workers=pool,
            asked=asked,
            begun=bool(parts and parts.done),
            advance=advance,
        )
        places = [path for path in outs or [Path("-")] if not (on_terminal and str(path) == "-")]
        with _written(lines, parts, places, as_format, list(summaries.values())) as stream:
            if report is not None:
                stream = map(report.added, stream)
            if on_terminal:
                table = lines_table((line.record(table=False) for line in stream), list(summaries), width())
            else:
                deque(stream, maxlen=0)
            if report is not None and any(summary.scored for summary in summaries.values()):
                command_line = shlex.join(["rejoinder", *sys.argv[1:]])
                report.save(*filter(_is_report, outs), command_line=command_line, files=files)
    _tell_summary(summaries, table, streaming=streaming)


def _is_report(path: Path) -> bool:
    """Return whether a page is written there."""
    return path.suffix.lower() == ".html"


def _require_outputs(files: list[str], outs: list[Path], as_format: Format | None, by: list[str] | None) -> None:
    """Raise `UsageError`, before a model is loaded, if an option does not fit the outputs or a suffix is unknown."""
    from rejoinder.data.outputs import require_place
    from rejoinder.data.write import format_of

    if by and not any(map(_is_report, outs)):
        raise UsageError("--by is for a report. Add -o report.html")
    if as_format is Format.TABLE and any(str(path) != "-" for path in outs):
        raise UsageError("--format table is for reading on a terminal. Omit it, or omit -o")
    if len(outs) > 1 and any(_in_parts(files, path, as_format) for path in outs):
        raise UsageError("a folder of parts is the only output of its call. Give one -o")
    for path in outs:
        if _is_report(path):
            require_place(path)
        elif as_format is None and not _in_parts(files, path, None):
            try:
                format_of(path)
            except UsageError as error:
                raise UsageError(f"{error}, .html") from error


def _tell_summary(summaries: Mapping[str, Summary], table: str, *, streaming: bool) -> None:
    """Write the summary; if scores went to standard output, only how many were withheld, on standard error.

    Raises:
        NothingScored: not a single line has a score.
    """
    from rejoinder.scoring.scoring import require_some
    from rejoinder.scoring.terminal import domain_lines, summary_table

    if not streaming:
        tell(table + summary_table(summaries, width()))
    require_some(list(summaries.values()))
    if streaming and any(summary.withheld for summary in summaries.values()):
        tell("\n".join(domain_lines(summaries)), err=True)


def _in_parts(files: list[str], out: Path, as_format: Format | None) -> bool:
    """Return whether the scores of a folder go to another, part by part."""
    from rejoinder.assets import asset

    if out.suffix or "-" in (str(out), files[0]) or as_format is not None or len(files) != 1:
        return False
    return Path(asset(files[0])).is_dir()


@contextmanager
def _parted(
    files: list[str], outs: list[Path], as_format: Format | None, made_by: tuple[Any, ...]
) -> Iterator[PartFolder | None]:
    """Yield the folder of parts that the scores of a folder go to, or None; exit if every part is there."""
    from rejoinder.data.part_folder import open_parts

    if not outs or not _in_parts(files, outs[0], as_format):
        yield None
        return
    out = outs[0]
    with resumable(), open_parts(out, Path(files[0]), {"made by": made_by}) as parts:
        if parts.done:
            tell(f"{len(parts.done):,} of {parts.count:,} parts are there already and are left as they are", err=True)
        if orphans := parts.orphans():
            names = ", ".join(orphans[:3])
            tell(f"{out} has scores of parts that are not in {files[0]} any more ({names}): remove them", err=True)
        if len(parts.done) == parts.count:
            raise typer.Exit
        yield parts


@contextmanager
def _written(
    lines: Iterator[ScoredLine],
    parts: PartFolder | None,
    places: list[Path],
    as_format: Format | None,
    summaries: list[Summary],
) -> Iterator[Iterator[ScoredLine]]:
    """Yield the lines, which are written as they are read; files appear when the block has ended well.

    Raises:
        NothingScored: there is no score among them, and an older file at an output, which stays.
    """
    from rejoinder.data.write import format_of, open_writer
    from rejoinder.errors import NothingScored
    from rejoinder.scoring.scoring import require_some

    with ExitStack() as stack:
        sinks: list[tuple[Put, bool]] = [(parts.put, False)] if parts else []
        for path in [] if parts else itertools.filterfalse(_is_report, places):
            kind = "csv" if as_format is Format.CSV else "jsonl" if as_format else format_of(path)
            sinks.append((stack.enter_context(open_writer(path, kind)), _is_table(path, as_format)))

        def written() -> Iterator[ScoredLine]:
            for line in lines:
                for put, table in sinks:
                    put(line.record(table=table))
                yield line

        yield written()
        older = [path for path in places if str(path) != "-" and path.is_file()]
        if older and not parts:
            try:
                require_some(summaries)
            except NothingScored:
                are = "is left as it was" if len(older) == 1 else "are left as they were"
                tell(f"{', '.join(map(str, older))} {are}", err=True)
                raise


def _asked(scorers: list[str] | None, vectors: Path | None, scale: str | None, level: Level, *, explain: bool) -> Asked:
    """Return which scorers to run and how, as other processes need it too."""
    from rejoinder.scoring.catalog import DEFAULT
    from rejoinder.scoring.workers import Asked

    names, file = tuple(scorers or [DEFAULT]), None if vectors is None else str(vectors)
    words = scale is not None and not are_numbers(scale)  # only the reader uses them
    return Asked(names, file, None if words else bounds_of(scale), level.value, explain)


def _read(
    files: list[str], parts: PartFolder | None, level: Level, report_error: ReportError, reading: How
) -> Iterable[Example]:
    """Return the examples of the files, without the parts that are scored already."""
    from rejoinder.data.examples import both_replies
    from rejoinder.data.read import read_lines
    from rejoinder.example import Pair

    paths = [part for part in parts.parts if part.name not in parts.done] if parts else files
    lines = read_lines(*paths, on_error=report_error, **reading)
    examples: Iterable[Example] = (
        example for line in lines for example in (both_replies(line) if isinstance(line, Pair) else [line])
    )
    if len(files) > 1:  # a key `file` of the line itself stays
        examples = (replace(e, extra={"file": e.where.rpartition(":")[0], **e.extra}) for e in examples)
    if level is Level.TURN:
        examples = _counting_dialogues(examples)
    return parts.noting(examples) if parts else examples


def _is_table(out: Path, as_format: Format | None) -> bool:
    """Return whether scores are written as CSV, TSV or XLSX: rows of tables then keep their columns."""
    tables = (".csv", ".tsv", ".xlsx")
    return as_format is Format.CSV or (as_format is None and any(suffix in tables for suffix in out.suffixes))


def _require_whole(turns: Turns, *, explain: bool) -> None:
    """Raise `UsageError` for options that do not fit scores of whole conversations."""
    if turns is Turns.ALL:
        raise UsageError("--turns all makes a line of each turn, --level dialogue a score of all. Choose one")
    if explain:
        raise UsageError("--explain explains the score of a reply. Omit --level, or read the worst turns")


def _counting_dialogues(examples: Iterable[Example]) -> Iterator[Example]:
    """Yield the examples, then report how many of them are whole conversations, as only their last turns are scored."""
    count = 0
    for example in examples:
        count += example.is_dialogue
        yield example
    if count:
        problem = f"{count:,} lines are rated as whole conversations, but only their last turns were scored"
        typer.echo(f"{problem}: --level dialogue scores them whole", err=True)


def _report_unaffected(scorers: Mapping[str, Scorer], asked: Asked) -> None:
    """Report which scorers do not change with a scale or with explanations.

    Raises:
        UsageError: no scorer explains its scores.
    """
    from rejoinder.judges.protocol import is_judge
    from rejoinder.scoring.explained import require_explained

    if asked.scale is not None and (others := [name for name, scorer in scorers.items() if not is_judge(scorer)]):
        typer.echo(f"--scale does not change {', '.join(others)}: its scores are no ratings", err=True)
    explained = require_explained(scorers) if asked.explain else scorers
    if others := [name for name in scorers if name not in explained]:
        typer.echo(f"--explain does not change {', '.join(others)}: it does not explain scores", err=True)
