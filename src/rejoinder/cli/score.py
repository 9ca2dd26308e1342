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
    """What happens to scores of replies that a judge cannot judge."""

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
        "Default: what it was fitted on.",
        metavar="SCALE",
    ),
]


class Level(StrEnum):
    """What one score is of."""

    TURN = "turn"
    DIALOGUE = "dialogue"


LevelFlag = Annotated[
    Level,
    typer.Option("--level", help="What a score is of: the reply, or the whole conversation, with its worst turns."),
]
Explain = Annotated[
    bool, typer.Option("--explain", help="Also say what moved each score, and by how much: of judges over views.")
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

    One line out for each line in (two for a pair of replies), in the same order, with the input's own keys kept. What
    cannot be scored has no score and a reason; each line carries the signatures; of several files, `file` says which a
    line is from. Scores of replies that a judge cannot judge (out of domain) are left out unless --out-of-domain keep
    asks for them. With -o, a summary of each scorer goes to standard output; -o report.html is a page with the lowest
    replies. -o may be given several times.
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
    scoring = asked.of(loaded)
    _say_left(loaded, asked)
    summaries = {name: Summary(scorer) for name, scorer in scoring.items()}
    on_terminal = to_stdout and (as_format or (Format.TABLE if sys.stdout.isatty() else None)) is Format.TABLE
    table, streaming = "", to_stdout and not on_terminal
    report = ScoreReport(summaries, by or []) if any(map(_is_report, outs)) else None
    made_by = (*_made_by(summaries), explain, out_of_domain, columns, input_format, turns, on_error)
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
            scoring=pool.scoring(scoring, asked),
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
    """Raise, before a model is loaded, where scores cannot be written.

    Raises:
        UsageError: an option does not fit the outputs, or a suffix is of no known format.
    """
    from rejoinder.data.outputs import require_place
    from rejoinder.data.write import format_of

    if by and not any(map(_is_report, outs)):
        raise UsageError("--by is for a report. Add -o report.html")
    if as_format is Format.TABLE and any(str(path) != "-" for path in outs):
        raise UsageError("--format table is for reading on a terminal. Leave it out, or leave -o out")
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
    """Write the summary; where scores went to standard output, only what was withheld, on standard error.

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


def _made_by(summaries: Mapping[str, Summary]) -> list[str]:
    """What decides scores, and the names that they have: a folder's path stands in no signature."""
    names = [name for name, one in summaries.items() if name != one.scorer.card.name]
    return [*(str(one.signature) for one in summaries.values()), *names]


def _in_parts(files: list[str], out: Path | None, chosen: Format | None) -> bool:
    """Whether the scores of a folder go to another, part by part."""
    from rejoinder.assets import asset

    if out is None or out.suffix or str(out) == "-" or chosen is not None or len(files) != 1:
        return False
    return files[0] != "-" and Path(asset(files[0])).is_dir()


@contextmanager
def _parted(
    files: list[str], outs: list[Path], chosen: Format | None, made_by: tuple[Any, ...]
) -> Iterator[PartFolder | None]:
    """Yield the folder of parts that the scores of a folder go to, where a name without a suffix asks for one.

    A call that finds every part there is done.
    """
    from rejoinder.data.part_folder import open_parts

    out = outs[0] if outs else None
    if out is None or not _in_parts(files, out, chosen):
        yield None
        return
    with resumable(), open_parts(out, Path(files[0]), {"made by": made_by}) as parts:
        if parts.done:
            tell(f"{len(parts.done):,} of {parts.count:,} parts are there already and are left as they are", err=True)
        if orphans := parts.orphans():
            names = ", ".join(orphans[:3])
            tell(f"{out} still has the scores of parts that {files[0]} has no more ({names}): remove them", err=True)
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
            _require_better(older, summaries)


def _require_better(older: list[Path], summaries: list[Summary]) -> None:
    """Raise if lines without a single score would replace older files."""
    from rejoinder.errors import NothingScored
    from rejoinder.scoring.scoring import require_some

    try:
        require_some(summaries)
    except NothingScored:
        are = "is left as it was" if len(older) == 1 else "are left as they were"
        tell(f"{', '.join(map(str, older))} {are}", err=True)
        raise


def _asked(scorers: list[str] | None, vectors: Path | None, scale: str | None, level: Level, *, explain: bool) -> Asked:
    """What is asked for, in words that other processes understand too."""
    from rejoinder.scoring.catalog import DEFAULT
    from rejoinder.scoring.workers import Asked

    names, file = tuple(scorers or [DEFAULT]), None if vectors is None else str(vectors)
    words = scale is not None and not are_numbers(scale)  # for the reader alone
    return Asked(names, file, None if words else bounds_of(scale), level.value, explain)


def _read(
    files: list[str], parts: PartFolder | None, level: Level, report_error: ReportError, reading: How
) -> Iterable[Example]:
    """The examples of the files, without the parts that are scored already."""
    from rejoinder.data.examples import both_replies
    from rejoinder.data.read import read_lines
    from rejoinder.example import Pair

    paths = [part for part in parts.parts if part.name not in parts.done] if parts else files
    lines = read_lines(*paths, on_error=report_error, **reading)
    examples: Iterable[Example] = (
        example for line in lines for example in (both_replies(line) if isinstance(line, Pair) else [line])
    )
    if len(files) > 1:
        examples = map(_with_file, examples)
    if level is Level.TURN:
        examples = _saying_level(examples)
    return parts.noting(examples) if parts else examples


def _with_file(example: Example) -> Example:
    """Return the example with the file that it was read from, unless its line has a key `file`."""
    return replace(example, extra={"file": example.where.rpartition(":")[0], **example.extra})


def _is_table(out: Path, as_format: Format | None) -> bool:
    """Check whether scores are written as CSV, TSV or XLSX: rows of tables then keep their columns."""
    tables = (".csv", ".tsv", ".xlsx")
    return as_format is Format.CSV or (as_format is None and any(suffix in tables for suffix in out.suffixes))


def _require_whole(turns: Turns, *, explain: bool) -> None:
    """Raise `UsageError` where whole conversations are to be scored, and lines are single turns, or explained."""
    if turns is Turns.ALL:
        raise UsageError("--turns all makes a line of each turn, --level dialogue a score of all. Choose one")
    if explain:
        raise UsageError("--explain says what moved the score of a reply. Leave --level out, or take the worst turns")


def _saying_level(examples: Iterable[Example]) -> Iterator[Example]:
    """The examples; in the end, that some say they are conversations, where the last turn alone was scored."""
    found = 0
    for example in examples:
        found += example.is_dialogue
        yield example
    if found:
        say = f"{found:,} lines are rated as whole conversations, and their last turns alone were scored"
        typer.echo(f"{say}: --level dialogue scores them whole", err=True)


def _say_left(scorers: Mapping[str, Scorer], asked: Asked) -> None:
    """That some of the scorers have nothing to do with a scale or with explanations that were asked for.

    Raises:
        UsageError: none of them says what moved its scores.
    """
    from rejoinder.judges.answers import is_judge
    from rejoinder.scoring.explained import require_explained

    if asked.scale is not None and (others := [name for name, one in scorers.items() if not is_judge(one)]):
        typer.echo(f"--scale leaves {', '.join(others)} as it is: what it gives is no rating", err=True)
    if asked.explain and (others := sorted(set(scorers) - set(require_explained(scorers)), key=list(scorers).index)):
        typer.echo(f"--explain leaves {', '.join(others)} as it is: it does not explain scores", err=True)
