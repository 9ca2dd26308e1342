"""`rejoinder train`: rated examples to a judge."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import AsJson, Files, OnError, OnErrorFlag, Seed, Vectors, progress, reporting


class Kind(StrEnum):
    """The judges that can be trained."""

    ADEM = "adem"
    C_ADEM = "c-adem"
    R_ADEM = "r-adem"


def command(
    kind: Annotated[Kind, typer.Argument(help="adem: context and reference; c-adem: context; r-adem: reference.")],
    files: Files,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to save the judge in.", metavar="FOLDER")],
    held_out: Annotated[
        Path | None, typer.Option(help="Also write the test part, for `rejoinder study`.", metavar="FILE")
    ] = None,
    vectors: Vectors = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Train a judge on rated examples and save it as one folder.

    Contexts are split 70 / 15 / 15 into training, validation and test; the epoch with the lowest validation error is
    kept. Ratings are brought from their scale to 1 to 5, and so are the judge's scores.
    """
    from rejoinder.errors import UsageError
    from rejoinder.io import read, write
    from rejoinder.io.atomic import require_place
    from rejoinder.io.folders import require_free
    from rejoinder.io.write import format_of
    from rejoinder.judges.fit import FitOptions
    from rejoinder.judges.train import train_adem
    from rejoinder.report.training import training_table

    require_free(out)
    if held_out is not None:
        if out.resolve() in held_out.resolve().parents:
            raise UsageError(f"{held_out}: lies in the judge's own folder. Choose another place")
        format_of(held_out)
        require_place(held_out)
    with reporting(on_error) as on_bad:
        examples = list(read(*files, on_bad=on_bad))
    options = FitOptions()
    with progress("training", options.epochs) as advance:
        trained = train_adem(examples, kind=kind.value, vectors=vectors, options=options, seed=seed, advance=advance)
    trained.judge.save(out)
    if held_out is not None:
        write(trained.test, held_out)
    if as_json:
        typer.echo(json.dumps({"version": 1, "results": [trained.judge.training]}))
    else:
        typer.echo(training_table(trained.judge.training), nl=False)
        typer.echo(f"saved in {out}; score with it: rejoinder score FILE -s {out}")
