"""`rejoinder estimate`: what people would say of systems, from few ratings and a scorer's word on all lines."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import AsJson, Files, OnError, OnErrorFlag, Vectors, progress, reporting, tell, width
from rejoinder.cli.inputs import Columns, InputFormat, RatingScale, Turns, TurnsFlag, how, on_scale, say_scales, typed
from rejoinder.cli.places import Reads, Writes, in_scorer
from rejoinder.errors import UsageError
from rejoinder.example import OVERALL

Rated = Annotated[
    list[str] | None,
    typer.Option(
        help="Rated lines: among those of FILE by id or by text, or others of the same systems; repeat for more. "
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
        "Default: rejoinder, the judge in the box.",
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
        help="Where to: the estimates as .html, .md, .tex, .csv or .json; repeat for more.",
        metavar="FILE",
    ),
    Writes(),
]
Half = Annotated[
    float | None,
    typer.Option(
        "--plan",
        help="Also say how many ratings it takes until an interval reaches no further than this to either side.",
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
    dimension: Dimension = OVERALL,
    scale: RatingScale = None,
    vectors: Vectors = None,
    columns: Columns = None,
    input_format: InputFormat = None,
    turns: TurnsFlag = Turns.LAST,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """The mean rating that people would give each system, from few ratings and a scorer's word on all lines.

    Beside it what the ratings alone say, the difference of any two systems, and how many ratings the scorer was worth.
    The scorer may be on any scale and as poor as it likes; but chance must have chosen which lines were rated.
    """
    from rejoinder.data.read import read
    from rejoinder.documents.estimate import estimates
    from rejoinder.documents.files import require_writable, write_document
    from rejoinder.documents.terminal import terminal
    from rejoinder.meta.estimate import estimate

    for path in out or []:
        require_writable(path)
    _refuse_study([*files, *(rated or [])])
    with reporting(on_error) as report_error:
        asked = how(columns, input_format, turns, [scorer], scale=scale, dimension=dimension, labels=True)
        lines, others = (
            list(on_scale(read(*side, on_error=report_error, **asked), scale, report_error, dimension)) if side else []
            for side in (files, rated)
        )
    say_scales([*lines, *others], dimension)
    with progress("scoring", len(lines) + len(others)) as advance:
        found = estimate(
            lines,
            scorer,
            rated=others if rated else None,
            plan=plan,
            dimension=dimension,
            vectors=vectors,
            advance=advance,
        )
    sides = [*files, *(rated or [])]
    given = {"-s": scorer, "--plan": plan, "--dimension": dimension, "--scale": scale, "--vectors": vectors}
    options = [word for flag, value in given.items() if value is not None for word in (flag, str(value))]
    call = ["rejoinder", "estimate", *files, *(word for file in rated or [] for word in ("--rated", file)), *options]
    call += typed(columns, input_format, turns, on_error)
    for path in out or []:
        write_document(estimates(found, sides, shlex.join([*call, "-o", str(path)])), path)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        tell(terminal(estimates(found, sides, shlex.join(call)), width()))
        if out:
            tell(f"saved in {', '.join(map(str, out))}")


def _refuse_study(places: list[str]) -> None:
    """Raise where one is a rating project: `rejoinder ratings` says whose ratings in it count.

    Raises:
        UsageError: one is.
    """
    from rejoinder.data.formats.annotation import is_project

    for place in filter(is_project, places):
        file = "rated.jsonl"
        remedy = f"Write its ratings to a file first: rejoinder ratings {shlex.quote(place)} -o {file}"
        raise UsageError(f"{place}: is a rating project. {remedy}; then name {file}")
