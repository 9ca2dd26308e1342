"""`rejoinder reproduce`: the experiments of papers, and the results that the documents show, run anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import OnError, OnErrorFlag, Seed, Vectors, progress, reporting, tell, width
from rejoinder.cli.inputs import say
from rejoinder.cli.places import Given, Reads, Writes, in_named
from rejoinder.papers import EXPERIMENTS


def _pages(out: Path, given: Given) -> list[Path]:
    """The page in the folder, and figures of earlier runs, which are replaced too; and what is kept meanwhile."""
    return [out / f"{given['name']}.md", out / f"{given['name']}.run", *out.glob(f"{given['name']}-*.svg")]


Name = Annotated[
    str,
    typer.Argument(
        help=f"One of {', '.join(f'{name} ({about})' for name, about in EXPERIMENTS.items())}.",
        metavar="NAME",
    ),
]
Out = Annotated[
    Path,
    typer.Option("-o", "--out", help="Where to: a folder for NAME.md and its figures.", metavar="FOLDER"),
    Writes(_pages),
]
Files = Annotated[
    list[str] | None,
    typer.Argument(
        help="Rated examples; preference pairs for preferences, turns.jsonl of selftalk, corpora for "
        "liu2016-table2 and tweet2vec. Default: what --data has of the kind.",
        metavar="FILE",
    ),
    Reads(),
]
Encoder = Annotated[
    list[str] | None,
    typer.Option(
        "-e",
        "--encoder",
        help="What turns texts into vectors: a pre-trained model and its name in the tables; the first is the main "
        "one. Without a state, HRED and VHRED are tried with both. Averaged word vectors always come last.",
        metavar="NAME=FOLDER[:STATE]",
    ),
    Reads(in_named),
]
Responder = Annotated[
    list[str] | None,
    typer.Option(
        "-r",
        "--responder",
        help="Who replies: for liu2016-table2 and pretraining, a responder and its name in the table.",
        metavar="NAME=FOLDER",
    ),
    Reads(in_named),
]
Data = Annotated[
    Path | None,
    typer.Option(help="Folder that holds judgements/*.jsonl.gz. Default: data in $REJOINDER_SHARED.", metavar="FOLDER"),
    Reads(),
]
Seeds = Annotated[
    int | None, typer.Option(min=1, help="Random splits (lowe2017: 5), or rounds of ten folds (deriu2019: 1).")
]


def command(
    name: Name,
    out: Out,
    files: Files = None,
    encoder: Encoder = None,
    responder: Responder = None,
    vectors: Vectors = None,
    data: Data = None,
    seeds: Seeds = None,
    seed: Seed = 0,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Run an experiment anew: a page with our figures, beside the published ones where there are any.

    nested and study keep what is done in FOLDER/NAME.run until the page is written: interrupted, call again to go on.
    """
    from rejoinder.papers.run import reproduce
    from rejoinder.report.terminal import terminal

    with reporting(on_error) as on_bad:
        document = reproduce(
            name,
            *(files or []),
            out=out,
            encoders=encoder or [],
            responders=responder or [],
            vectors=vectors,
            data=data,
            seeds=seeds,
            seed=seed,
            on_bad=on_bad,
            note=say,
            stage=progress,
        )
    tell(f"{terminal(document, width())}\nsaved in {out / name}.md")
