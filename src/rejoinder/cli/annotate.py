"""`rejoinder annotate`: a web page on which people rate replies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import AsJson, OnError, OnErrorFlag, Seed, reporting
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
    from rejoinder.annotation.study import annotate
    from rejoinder.io import read_either
    from rejoinder.pages.show import address, links, show

    with reporting(on_error) as on_bad:
        lines = None if not files else list(read_either(*files, on_bad=on_bad, **how(columns, input_format, turns)))
    study = annotate(lines, out, raters=raters, design=design, database=database, seed=seed)

    def ready(base: str) -> None:
        """Say where to go."""
        found = links(study, base)
        if as_json:
            typer.echo(json.dumps({"raters": found, "admin": f"{base}/admin", "password": study.password}))
            return
        for name, link in found.items():
            typer.echo(f"{name}  {link}")
        typer.echo(f"you  {base}/admin  password: {study.password}")

    if prepare:
        ready(url or address(host, port))
        return
    try:
        show(study, host=host, port=port, url=url, ready=ready)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"every answer is kept; call again to go on: rejoinder annotate -o {out}") from None
