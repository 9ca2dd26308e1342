"""`rejoinder annotate`: a web page on which people rate replies."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import AsJson, OnError, OnErrorFlag, Seed, reporting, tell
from rejoinder.cli.inputs import Columns, InputFormat, Turns, TurnsFlag, how
from rejoinder.cli.places import Reads, Writes

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
Out = Annotated[
    Path,
    typer.Option("-o", "--out", help="Where to: the folder of the study, kept and gone on with.", metavar="FOLDER"),
    Writes(),
]
Raters = Annotated[
    int | None,
    typer.Option(help="How many people rate. Default: 3 in a new study; more than there are adds some.", metavar="N"),
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
    str | None, typer.Option("--url", help="The address raters open, where it is another one.", metavar="URL")
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
    from rejoinder.io import read_either
    from rejoinder.pages.show import address, links, show

    with reporting(on_error) as on_bad:
        lines = None if not files else list(read_either(*files, on_bad=on_bad, **how(columns, input_format, turns)))
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

        if prepare:
            ready(url or address(host, port))
            return
        try:
            show(study, host=host, port=port, url=url, ready=ready)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"every answer is kept; to go on: rejoinder annotate -o {out}") from None
