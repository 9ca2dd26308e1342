"""`rejoinder reproduce`: the experiments of a paper, run anew on rated examples."""

from __future__ import annotations

import datetime
import os
import shlex
import time
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import OnError, OnErrorFlag, progress, reporting


def command(
    name: Annotated[str, typer.Argument(help="Which paper: lowe2017 (ADEM) or deriu2019 (AutoJudge).", metavar="NAME")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for NAME.md and its figures.", metavar="FOLDER")],
    files: Annotated[
        list[str] | None,
        typer.Argument(help="Rated examples. Default: what --data has of the paper's kind.", metavar="FILE"),
    ] = None,
    encoder: Annotated[
        list[str] | None,
        typer.Option(
            "-e",
            "--encoder",
            help="A pre-trained encoder and its name in the tables; the first is the main one. Without a state, HRED "
            "and VHRED are tried with both. Averaged word vectors always come last.",
            metavar="NAME=FOLDER[:STATE]",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder that holds judgements/*.jsonl.gz. Default: data in $REJOINDER_SHARED.", metavar="FOLDER"
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Random splits (lowe2017: 5), or rounds of ten folds (deriu2019: 1).")
    ] = None,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Run the experiments of a paper anew: a page with our figures beside the published ones, with intervals."""
    from rejoinder.errors import UsageError
    from rejoinder.io import read
    from rejoinder.meta.reproduce import experiment, files_of, source
    from rejoinder.meta.reproduce.encodings import prepare
    from rejoinder.report.reproduce import About, require_figures, write_page

    start = time.perf_counter()
    paper, sources = experiment(name), [source(text) for text in encoder or []]
    if not out.is_dir():
        raise UsageError(f"{out}: no such folder. Make it first: mkdir -p {out}")
    if files and data is not None:
        raise UsageError("FILES and --data were both given. Give one of them")
    require_figures()
    with reporting(on_error) as on_bad:
        examples = list(read(*(files or files_of(paper.SETS, data)), on_bad=on_bad))
    rounds = seeds or paper.SEEDS
    with progress("encoding"):
        prepared = prepare(examples, sources, paper.NEEDS)
    with progress("fitting", paper.steps(prepared, rounds)) as advance:
        found = paper.compute(prepared, rounds, advance)
    about = About(
        _typed(name, out, files, encoder, seeds),
        datetime.date.today().isoformat(),
        rounds,
        time.perf_counter() - start,
        os.cpu_count() or 1,
    )
    page = import_module(f"rejoinder.report.{name}").page(found, about)
    write_page(page, out, name)
    typer.echo(f"{page.summary}\nsaved in {out / name}.md")


def _typed(name: str, out: Path, files: list[str] | None, encoders: list[str] | None, seeds: int | None) -> str:
    """The call for the page, without the places on this machine."""
    parts = ["rejoinder", "reproduce", name, *(Path(file).name for file in files or [])]
    for encoder in encoders or []:
        called, _, folder = encoder.partition("=")
        parts += ["-e", f"{called}={Path(folder).name}"]
    parts += ["--seeds", str(seeds)] if seeds else []
    return shlex.join([*parts, "-o", out.name if out.is_absolute() else str(out)])
