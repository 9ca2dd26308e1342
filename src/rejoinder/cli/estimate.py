"""`rejoinder estimate`: mean human ratings of systems, from few ratings and the scores of all lines."""

from __future__ import annotations

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
from rejoinder.cli.inputs import (
    Columns,
    InputFormat,
    Positive,
    RatedFiles,
    RatingScale,
    TieFlag,
    Turns,
    TurnsFlag,
    how,
    refuse_projects,
    say_scales,
    with_rated,
)
from rejoinder.cli.places import Reads, Writes, in_scorer
from rejoinder.example import OVERALL

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
    list[str] | None,
    typer.Option(
        "--plan",
        help="Half the width of an interval that you want: also forecast how many ratings it needs. caught=WIDTH: for "
        "the share of bad replies that a judge catches; difference=SIZE: to show such a difference of two systems. "
        "Repeat for more.",
        metavar="WIDTH",
    ),
]
Dimension = Annotated[str, typer.Option(help="Which ratings.")]


def targets(words: list[str] | None) -> float | dict[str, float] | None:
    """Return the numbers of `--plan` by target; UsageError for a word that is no number."""
    from rejoinder.errors import UsageError

    numbers = dict[str, float]()
    for word in words or []:
        target, _, number = word.rpartition("=")
        try:
            numbers[target or "rate"] = float(number)
        except ValueError:
            raise UsageError(f"--plan is {word!r}, expected a number, or rate, caught or difference=NUMBER") from None
    return numbers["rate"] if list(numbers) == ["rate"] else numbers or None


def command(
    files: Files,
    rated: RatedFiles = None,
    tie: TieFlag = None,
    positive: Positive = None,
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

    require_places(out, figures)
    refuse_projects(files)
    with reporting(on_error) as report_error:
        reading = how(
            columns, input_format, turns, [scorer], scale=scale, dimension=dimension, labels=True, positive=positive
        )
        lines, others = with_rated(files, rated, reading, report_error, scale, dimension)
    say_scales([*lines, *others], dimension)
    with progress("scoring", len(lines) + len(others)) as advance:
        results = estimate(
            lines,
            scorer,
            rated=others if rated else None,
            tie=None if tie is None else tie.value,
            plan=targets(plan),
            dimension=dimension,
            vectors=vectors,
            progress=advance,
        )
    present(results, out, as_json=as_json, figures=figures, files=[*files, *(rated or [])])
