"""`rejoinder estimate`: mean human ratings of systems, from few ratings and the scores of all lines."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import (
    AsJson,
    Figures,
    Files,
    OnError,
    OnErrorFlag,
    Vectors,
    present,
    progress,
    reporting,
    require_places,
)
from rejoinder.cli.inputs import Columns, InputFormat, RatingScale, Turns, TurnsFlag, how, on_scale, say_scales
from rejoinder.cli.places import Reads, Writes, in_scorer
from rejoinder.errors import UsageError
from rejoinder.example import OVERALL

Rated = Annotated[
    list[str] | None,
    typer.Option(
        help="Rated lines: among those of FILE (by id or by text) or others of the same systems; repeat for more. "
        "Default: the ratings in FILE.",
        metavar="FILE",
    ),
    Reads(),
]
Judge = Annotated[
    str,
    typer.Option(
        "-s",
        "--scorer",
        help="A scorer, the folder of a judge, column:KEY, command:PROGRAM or openai:URL#MODEL; on any scale. "
        "Default: rejoinder, the bundled judge.",
        metavar="NAME",
        show_default=False,
    ),
    Reads(in_scorer),
]
Out = Annotated[
    list[Path] | None,
    typer.Option(
        "-o",
        "--out",
        help="Where to: the results as .html, .md, .tex, .csv or .json; repeat for more.",
        metavar="FILE",
    ),
    Writes(),
]
Half = Annotated[
    float | None,
    typer.Option(
        "--plan",
        help="Half the width of an interval that you want: also forecast how many ratings it needs.",
        metavar="WIDTH",
    ),
]
Dimension = Annotated[str, typer.Option(help="Which ratings.")]


def command(
    files: Files,
    rated: Rated = None,
    scorer: Judge = "rejoinder",
    plan: Half = None,
    out: Out = None,
    as_json: AsJson = False,
    figures: Figures = None,
    dimension: Dimension = OVERALL,
    scale: RatingScale = None,
    vectors: Vectors = None,
    columns: Columns = None,
    input_format: InputFormat = None,
    turns: TurnsFlag = Turns.LAST,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Estimate the mean human rating of each system, from few ratings and the scores of all lines.

    Next to it you see the mean by ratings only, the difference of any two systems, and how many ratings the scorer
    saved. Any scorer on any scale will do, but the rated lines must be a random sample.
    """
    from rejoinder.analysis.estimate import estimate
    from rejoinder.data.read import read

    require_places(out, figures)
    _refuse_project([*files, *(rated or [])])
    with reporting(on_error) as report_error:
        reading = how(columns, input_format, turns, [scorer], scale=scale, dimension=dimension, labels=True)
        lines, others = (
            list(on_scale(read(*side, on_error=report_error, **reading), scale, report_error, dimension))
            if side
            else []
            for side in (files, rated)
        )
    say_scales([*lines, *others], dimension)
    with progress("scoring", len(lines) + len(others)) as advance:
        results = estimate(
            lines,
            scorer,
            rated=others if rated else None,
            plan=plan,
            dimension=dimension,
            vectors=vectors,
            progress=advance,
        )
    present(results, out, as_json=as_json, figures=figures, files=[*files, *(rated or [])])


def _refuse_project(places: list[str]) -> None:
    """Refuse rating projects, because `rejoinder ratings` decides which of their ratings count.

    Raises:
        UsageError: a place is a rating project.
    """
    from rejoinder.data.formats.annotation import is_project

    for place in filter(is_project, places):
        file = "rated.jsonl"
        remedy = f"Write its ratings to a file first: rejoinder ratings {shlex.quote(place)} -o {file}"
        raise UsageError(f"{place}: is a rating project. {remedy}; then name {file}")
