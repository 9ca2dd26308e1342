"""`rejoinder ratings`: how far people agree, whose ratings count, and one rating a line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import AsJson, Files, OnError, OnErrorFlag, Seed, reporting, tell, width
from rejoinder.cli.inputs import Columns, InputFormat, RatingScale, Turns, TurnsFlag, how, on_scale, typed
from rejoinder.cli.places import Writes
from rejoinder.records import OVERALL

_MORE = "More: -o report.html for a page with everything, -o rated.jsonl for the lines with one rating each"


class Aggregate(StrEnum):
    """How several ratings become one."""

    MEAN = "mean"
    MEDIAN = "median"
    MAJORITY = "majority"
    Z_SCORE = "z-score"
    DAWID_SKENE = "dawid-skene"
    MACE = "mace"


class Kappa(StrEnum):
    """How kappa weighs disagreements."""

    UNWEIGHTED = "unweighted"
    LINEAR = "linear"
    QUADRATIC = "quadratic"


Out = Annotated[
    list[Path] | None,
    typer.Option(
        "-o",
        "--out",
        help="Where to: the report as .html, .md, .tex, .csv or .json, the rated lines as .jsonl; repeat for more.",
        metavar="FILE",
    ),
    Writes(),
]
Dimension = Annotated[str, typer.Option(help="Which ratings.")]
AggregateFlag = Annotated[Aggregate, typer.Option("--aggregate", help="How several ratings of a line become one.")]
Surest = Annotated[
    float,
    typer.Option(min=0, max=1, help="Of the lines the share that gets a rating, the surest: with --aggregate mace."),
]
MinKappa = Annotated[
    float,
    typer.Option(max=1, help="Raters whose kappa with the others is lower do not count; -1: all do.", metavar="KAPPA"),
]
KappaFlag = Annotated[Kappa, typer.Option("--kappa", help="How that kappa weighs disagreements.")]
Resamples = Annotated[int, typer.Option(min=100, help="Resamples of contexts: behind each interval.")]


def command(
    files: Files,
    out: Out = None,
    aggregate: AggregateFlag = Aggregate.MEAN,
    surest: Surest = 1.0,
    min_kappa: MinKappa = 0.2,
    kappa: KappaFlag = Kappa.QUADRATIC,
    as_json: AsJson = False,
    dimension: Dimension = OVERALL,
    resamples: Resamples = 1000,
    scale: RatingScale = None,
    seed: Seed = 0,
    columns: Columns = None,
    input_format: InputFormat = None,
    turns: TurnsFlag = Turns.LAST,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """How far people agree who rated the same lines, whose ratings count, and one rating a line made of them.

    Raters who miss an attention check, or hardly agree with the others, are left out by rule and listed; their ratings
    stay in the file, aside. With -o rated.jsonl the lines are written with what was made of their ratings, for study,
    train, fit and the others.
    """
    from rejoinder.io import read
    from rejoinder.meta.ratings import ratings
    from rejoinder.report.data import json_text
    from rejoinder.report.files import require_writable, write_document
    from rejoinder.report.ratings import rating_report
    from rejoinder.report.terminal import terminal

    for path in out or []:
        require_writable(path, lines=True)
    with reporting(on_error) as on_bad:
        lines = read(*files, on_bad=on_bad, **how(columns, input_format, turns))
        examples = list(on_scale(lines, scale, on_bad, dimension))
    found = ratings(
        examples,
        dimension=dimension,
        aggregation=aggregate.value,
        share=surest,
        min_kappa=min_kappa,
        kappa=kappa.value,
        resamples=resamples,
        seed=seed,
    )
    given: dict[str, object] = {"--aggregate": aggregate.value, "--surest": surest, "--min-kappa": min_kappa}
    given |= {"--kappa": kappa.value, "--dimension": dimension, "--scale": scale}
    given |= {"--resamples": resamples, "--seed": seed}
    reading = typed(columns, input_format, turns, on_error)
    for path in out or []:
        write_document(rating_report(found, _typed(files, given, reading, path)), path)
    document = rating_report(found, _typed(files, given, reading, None))
    if as_json:
        typer.echo(json_text(document), nl=False)
    else:
        tell(terminal(document, width()) + (f"saved in {', '.join(map(str, out))}" if out else _MORE))


def _typed(files: list[str], given: Mapping[str, object], reading: list[str], out: Path | None) -> str:
    """The call, for the page."""
    options = [word for flag, value in given.items() if value is not None for word in (flag, str(value))]
    return shlex.join(["rejoinder", "ratings", *files, *reading, *options, *([] if out is None else ["-o", str(out)])])
