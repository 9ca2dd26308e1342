"""`rejoinder study`: scorers against people."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from rejoinder.cli.common import (
    AsJson,
    Files,
    OnError,
    OnErrorFlag,
    ScorerNames,
    Seed,
    Vectors,
    plain_names,
    progress,
    reporting,
    width,
)


def command(
    files: Files,
    scorers: ScorerNames = None,
    as_json: AsJson = False,
    dimension: Annotated[str, typer.Option(help="Which ratings.")] = "overall",
    drop_copies: Annotated[
        bool, typer.Option("--drop-copies", help="Leave out responses that equal a reference word for word.")
    ] = False,
    resamples: Annotated[int, typer.Option(min=100, help="Resamples of contexts behind each interval.")] = 1000,
    vectors: Vectors = None,
    seed: Seed = 0,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """How far scorers agree with people: Pearson, Spearman and Kendall with intervals, by data set, turn and system."""
    from rejoinder.io import read
    from rejoinder.meta import study
    from rejoinder.report.study import study_text

    with reporting(on_error) as on_bad:
        examples = list(read(*files, on_bad=on_bad))
    names = scorers or plain_names()
    with progress("scoring", len(examples) * len(names)) as advance:
        result = study(
            examples,
            names,
            dimension=dimension,
            resamples=resamples,
            seed=seed,
            vectors=vectors,
            drop_copies=drop_copies,
            advance=advance,
        )
    typer.echo(json.dumps(result.to_dict(), ensure_ascii=False) if as_json else study_text(result, width()), nl=as_json)
