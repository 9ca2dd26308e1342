"""`rejoinder fit`: a judge adapted to a user's own ratings, or choices between replies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import (
    AsJson,
    Figures,
    Files,
    Force,
    OnError,
    OnErrorFlag,
    Seed,
    present,
    progress,
    reporting,
    require_places,
)
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
        help="A scorer, the folder of a judge, column:KEY, command:PROGRAM or openai:URL#MODEL; here rejoinder, "
        "plus:smollm2 or a judge of the kind judge. Default: rejoinder, the bundled judge.",
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
    figures: Figures = None,
    columns: Columns = None,
    input_format: InputFormat = None,
    turns: TurnsFlag = Turns.LAST,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Adapt a judge to 50 to 500 of your own ratings, or choices between two replies, and show how much better it is.

    The gain comes from cross-validation over conversations. If it is a significant loss, the folder holds the judge as
    it was, with its scores on the scale of the ratings.
    """
    from rejoinder.analysis.fit import STEPS, fit
    from rejoinder.data.folders import require_free
    from rejoinder.data.read import read_lines
    from rejoinder.example import Example

    require_free(out, force=force)
    require_places(None, figures)
    with reporting(on_error) as report_error:
        lines = read_lines(*files, on_error=report_error, **how(columns, input_format, turns, scale=scale))
        data = list(on_scale(lines, scale, report_error))
    bounds = bounds_of(scale)
    with progress("fitting", STEPS) as advance:
        judge, results = fit(data, scorer, scale=bounds, seed=seed, progress=advance)
    judge.save(out, force=force)
    say_scales([line for line in data if isinstance(line, Example)])
    present(
        results, as_json=as_json, figures=figures, more=f"saved in {out}; score with it: rejoinder score FILE -s {out}"
    )
