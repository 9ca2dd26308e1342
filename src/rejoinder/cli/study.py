"""`rejoinder study`: scorers against people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from rejoinder.records import Example


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
    for name, sets in _fitted(names, examples).items():
        if scorers:
            typer.echo(
                f"{name} was fitted on lines of {sets}: what it reaches there is not what it would elsewhere", err=True
            )
        else:
            typer.echo(f"left out: {name}, which was fitted on lines of {sets}. Ask for it with -s {name}", err=True)
            names.remove(name)
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


def _fitted(names: Sequence[str], examples: Sequence[Example]) -> dict[str, str]:
    """The judges among `names` that were fitted on a data set of `examples`, and on which."""
    from rejoinder.catalogue import DEFAULT, load_scorer

    given = {example.dataset for example in examples}
    judges = [name for name in names if name == DEFAULT or Path(name).is_dir()]
    seen = {name: given & getattr(load_scorer(name), "trained_on", frozenset()) for name in judges}
    return {name: ", ".join(sorted(filter(None, sets))) for name, sets in seen.items() if sets}
