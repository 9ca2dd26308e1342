"""`rejoinder fit`: a judge adapted to a user's own ratings, or choices between replies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import AsJson, Files, Force, OnError, OnErrorFlag, Seed, progress, reporting, tell, width
from rejoinder.cli.inputs import (
    Columns,
    InputFormat,
    RatingScale,
    Turns,
    TurnsFlag,
    bounds_of,
    how,
    on_scale,
    say_scales,
)
from rejoinder.cli.places import Reads, Writes, in_scorer

Judge = Annotated[
    str,
    typer.Option(
        "-s",
        "--scorer",
        help="A scorer, the folder of a judge, column:KEY, command:PROGRAM or openai:URL#MODEL; here a judge over "
        "views. Default: rejoinder, the judge in the box.",
        metavar="NAME",
        show_default=False,
    ),
    Reads(in_scorer),
]
Out = Annotated[
    Path,
    typer.Option("-o", "--out", help="Where to: a folder to save the adapted judge in.", metavar="FOLDER"),
    Writes(),
]


def command(
    files: Files,
    out: Out,
    scorer: Judge = "rejoinder",
    scale: RatingScale = None,
    force: Force = False,
    seed: Seed = 0,
    as_json: AsJson = False,
    columns: Columns = None,
    input_format: InputFormat = None,
    turns: TurnsFlag = Turns.LAST,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Adapt a judge to 50 to 500 of your own ratings, or choices between two replies, and say what that bought.

    What it bought comes from cross-validation over conversations. Where that is shown to be a loss, the folder holds
    the judge as it was, brought to the scale of the ratings.
    """
    from rejoinder.data.folders import require_free
    from rejoinder.data.read import read_lines
    from rejoinder.example import Example
    from rejoinder.meta.fitting import STEPS, fit
    from rejoinder.documents.fitting import fitting
    from rejoinder.documents.terminal import terminal

    require_free(out, force=force)
    with reporting(on_error) as report_error:
        lines = read_lines(*files, on_error=report_error, **how(columns, input_format, turns, scale=scale))
        given = list(on_scale(lines, scale, report_error))
    bounds = bounds_of(scale)
    with progress("fitting", STEPS) as advance:
        found = fit(given, scorer, scale=bounds, seed=seed, advance=advance)
    found.judge.save(out, force=force)
    say_scales([one for one in given if isinstance(one, Example)])
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        tell(terminal(fitting(found), width()))
        tell(f"saved in {out}; score with it: rejoinder score FILE -s {out}")
