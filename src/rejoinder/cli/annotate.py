"""`rejoinder annotate`: a web page on which people rate replies."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rejoinder.cli.common import AsJson, OnError, OnErrorFlag, Seed, progress, reporting, tell
from rejoinder.cli.inputs import Columns, InputFormat, Turns, TurnsFlag, how
from rejoinder.cli.places import Given, Reads, Writes, in_scorer
from rejoinder.errors import UsageError
from rejoinder.example import Example, Pair
from rejoinder.listening import address
from rejoinder.pages.public_address import path_of

if TYPE_CHECKING:
    from rejoinder.annotation.study import Study
    from rejoinder.data.read import How

GivenFiles = Annotated[
    list[str] | None,
    typer.Argument(
        help="Input files; - for JSON lines on standard input; @NAME for a sample that comes along. "
        "None goes on with the study that is there.",
        metavar="[FILE...]",
        show_default=False,
    ),
    Reads(),
]


def _study_files(folder: Path, others: Given) -> list[Path]:
    """Return what a call writes of a study: its folder, or the files that it keeps, so that an export may lie there."""
    files = [folder / name for name in ("study.json", "study.sqlite")]
    return files if others.get("export") not in (None, folder) and files[0].exists() else [folder]


Out = Annotated[
    Path,
    typer.Option("-o", "--out", help="Where to: the folder of the study, kept and gone on with.", metavar="FOLDER"),
    Writes(_study_files),
]
Raters = Annotated[
    int | None,
    typer.Option(help="How many people rate. Default: 3 in a new study; more than there are adds some.", metavar="N"),
]
Next = Annotated[
    int | None,
    typer.Option(
        "--next",
        min=1,
        help="Have only so many rated, those that tell most: by chance, evenly over systems and scores.",
        metavar="N",
    ),
]
Judge = Annotated[
    str | None,
    typer.Option(
        "-s",
        "--scorer",
        help="A scorer, the folder of a judge, column:KEY, command:PROGRAM or openai:URL#MODEL; for --next. "
        "Default: rejoinder, the judge in the box.",
        metavar="NAME",
    ),
    Reads(in_scorer),
]
Rated = Annotated[
    list[str] | None,
    typer.Option(
        help="Rated lines: --next leaves out what an earlier round has rated; repeat for more.", metavar="FILE"
    ),
    Reads(),
]
DesignFile = Annotated[
    Path | None,
    typer.Option(
        "--questions",
        help="What is asked, scales, instructions, shares; TOML. Default: quality from 1 to 5, as in Lowe et al.",
        metavar="FILE.toml",
    ),
    Reads(),
]
Database = Annotated[
    str | None,
    typer.Option(help="Where answers are kept, as SQLAlchemy writes it. Default: SQLite in the folder.", metavar="URL"),
]
Host = Annotated[str, typer.Option(help="Address to listen on. Only this machine unless it says otherwise.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Where to listen; 0 takes a free one.", metavar="N")]
Public = Annotated[
    str | None,
    typer.Option(
        "--url", help="The address raters open, where it is another one; with its path, if any.", metavar="URL"
    ),
]
Export = Annotated[
    Path | None,
    typer.Option(
        help="Write every answer so far, a row each, and show no page: .jsonl, .csv, .tsv or .parquet.", metavar="FILE"
    ),
    Writes(),
]
Import = Annotated[
    Path | None,
    typer.Option(
        "--import",
        help="Add the answers of other raters, rows that --export has written, and show no page.",
        metavar="FILE",
    ),
    Reads(),
]
Prepare = Annotated[bool, typer.Option("--prepare", help="Make the study and its links, and show no page yet.")]


def command(
    out: Out,
    files: GivenFiles = None,
    raters: Raters = None,
    most: Next = None,
    scorer: Judge = None,
    rated: Rated = None,
    design: DesignFile = None,
    database: Database = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    url: Public = None,
    prepare: Prepare = False,
    export: Export = None,
    imported: Import = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    columns: Columns = None,
    input_format: InputFormat = None,
    turns: TurnsFlag = Turns.LAST,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Show a web page on which people rate replies, by phone or keyboard; each rater has a link.

    The folder keeps every answer as it is sent. Call again with the folder alone to go on.
    """
    from rejoinder.annotation.rows import export_rows, import_rows
    from rejoinder.annotation.study import annotate
    from rejoinder.pages.show import links, show

    if url is not None:
        path_of(url)
    asked = how(columns, input_format, turns, [scorer] if scorer else None)
    lines = _next(_answered(_read(files, on_error, asked)), _read(rated, on_error, asked), most, scorer, seed)
    with annotate(lines, out, raters=raters, design=design, database=database, seed=seed) as study:
        if imported:
            tell(f"{imported}: {import_rows(study, imported)} new answers", err=True)
        if export:
            tell(f"{export}: {export_rows(study, export)} rows", err=True)
        if imported or export:
            return

        def ready(base: str) -> None:
            """Say where to go."""
            base = base.rstrip("/")
            found = links(study, base)
            if as_json:
                typer.echo(json.dumps({"raters": found, "admin": f"{base}/admin", "password": study.password}))
            else:
                wide = max(map(len, found))
                lines = [f"{name:<{wide}}  {link}" for name, link in found.items()]
                typer.echo("\n".join([*lines, f"{'you':<{wide}}  {base}/admin  password: {study.password}"]))
            sys.stdout.flush()  # whoever reads it in a pipe waits for it

        _say_what_lacks_raters(study)
        if prepare:
            ready(url or address(host, port))
            return
        try:
            show(study, host=host, port=port, url=url, ready=ready)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"every answer is kept; to go on: rejoinder annotate -o {out}") from None


def _say_what_lacks_raters(study: Study) -> None:
    """Say how much of what is to be rated is given to nobody."""
    from rejoinder.annotation.study import unassigned

    if left := unassigned(study):
        what = "pairs" if study.design.pairwise else "replies"
        more = "More --raters, or more contexts in --questions, reach them; --next has those rated that tell most"
        tell(f"{left:,} of {len(study.plan.rated):,} {what} are given to no rater. {more}", err=True)


def _read(files: list[str] | None, on_error: OnError, asked: How) -> list[Example | Pair] | None:
    """The lines of the files; None where none is named."""
    from rejoinder.data.read import read_lines

    with reporting(on_error) as report_error:
        return list(read_lines(*files, on_error=report_error, **asked)) if files else None


def _answered(lines: list[Example | Pair] | None) -> list[Example | Pair] | None:
    """The lines that have a reply, and how many have none is said; all where none has one, which the study tells."""
    from rejoinder.annotation.items import answered

    found = answered(lines or ())
    if not lines or not found or len(found) == len(lines):
        return lines
    left = len(lines) - len(found)
    lines_have = "line has" if left == 1 else "lines have"
    tell(f"{left:,} of {len(lines):,} {lines_have} no reply, or of two only one: nobody is asked about them", err=True)
    return found


def _next(
    lines: list[Example | Pair] | None,
    rated: list[Example | Pair] | None,
    count: int | None,
    scorer: str | None,
    seed: int,
) -> Sequence[Example | Pair] | None:
    """The lines to be rated next; as they are where no number is given.

    Raises:
        UsageError: there are none to choose from, they are pairs of replies, or there is nothing to choose.
    """
    from rejoinder.analysis.sample import next_lines
    from rejoinder.scoring.catalog import DEFAULT

    if count is None:
        if scorer:
            raise UsageError("-s is for --next, which chooses by a scorer. Say how many, or leave it out")
        if rated:
            raise UsageError("--rated is for --next, which leaves out what is rated. Say how many, or leave it out")
        return lines
    single = [line for line in lines or () if isinstance(line, Example)]
    if not lines or len(single) < len(lines):
        found = "holds pairs of replies" if lines else "was not given"
        raise UsageError(f"--next chooses among single replies, and FILE {found}. Name others, or leave it out")
    with progress("scoring", len(single)) as advance:
        return next_lines(single, count, scorer or DEFAULT, rated=rated, seed=seed, progress=advance)
