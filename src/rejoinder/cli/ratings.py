"""`rejoinder ratings`: how far people agree, whose ratings count, and one rating a line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rejoinder.cli.common import AsJson, OnError, OnErrorFlag, Seed, Vectors, progress, reporting, tell, width
from rejoinder.cli.inputs import Columns, InputFormat, RatingScale, Turns, TurnsFlag, how, on_scale, say_scales, typed
from rejoinder.cli.places import Reads, Writes, in_scorer
from rejoinder.data.files import OnError as ReportError
from rejoinder.errors import UsageError
from rejoinder.example import OVERALL, Example

if TYPE_CHECKING:
    from rejoinder.data.read import How
    from rejoinder.humans.exclusion import Watched

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


Rated = Annotated[
    list[str],
    typer.Argument(
        help="Input files, or a rating project of `rejoinder annotate`; - for JSON lines on standard input; @NAME "
        "for a sample that comes along.",
        metavar="FILE|PROJECT...",
    ),
    Reads(),
]
Scorers = Annotated[
    list[str] | None,
    typer.Option(
        "-s",
        "--scorer",
        help="A scorer, the folder of a judge, column:KEY, command:PROGRAM or openai:URL#MODEL; repeat for more. "
        "Whether it may stand in for a rater.",
        metavar="NAME",
    ),
    Reads(in_scorer),
]
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
    float | None,
    typer.Option(
        max=1,
        help="Leave out raters whose kappa with the others is lower; the answer says what that does by chance alone. "
        "Default: nobody is left out for disagreeing.",
        metavar="KAPPA",
    ),
]
KappaFlag = Annotated[Kappa, typer.Option("--kappa", help="How that kappa weighs disagreements.")]
Epsilon = Annotated[
    float,
    typer.Option(
        min=0,
        max=1,
        help="What a rater is worth less than a scorer: 0.2 for experts, 0.15 for trained people, 0.1 for crowds.",
    ),
]
Resamples = Annotated[int, typer.Option(min=100, help="Resamples of contexts: behind each interval.")]


def command(
    files: Rated,
    scorers: Scorers = None,
    out: Out = None,
    aggregate: AggregateFlag = Aggregate.MEAN,
    surest: Surest = 1.0,
    min_kappa: MinKappa = None,
    kappa: KappaFlag = Kappa.QUADRATIC,
    epsilon: Epsilon = 0.1,
    as_json: AsJson = False,
    dimension: Dimension = OVERALL,
    resamples: Resamples = 1000,
    scale: RatingScale = None,
    vectors: Vectors = None,
    seed: Seed = 0,
    columns: Columns = None,
    input_format: InputFormat = None,
    turns: TurnsFlag = Turns.LAST,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """How far people agree who rated the same lines, whose ratings count, and one rating a line made of them.

    Raters who miss an attention check are left out and listed; their ratings stay in the file, aside. With -s: whether
    a scorer may stand in for a rater. With -o rated.jsonl the lines are written with what was made of their ratings,
    for study, train, fit and the others.
    """
    from rejoinder.documents.data import json_text
    from rejoinder.documents.files import require_writable, write_document
    from rejoinder.documents.ratings import rating_report
    from rejoinder.documents.terminal import terminal
    from rejoinder.meta.ratings import ratings

    for path in out or []:
        require_writable(path, lines=True)
    with reporting(on_error) as report_error:
        asked = how(columns, input_format, turns, scorers, scale=scale, dimension=dimension, labels=True)
        lines, known = _rated(files, asked, report_error)
        examples = list(on_scale(lines, scale, report_error, dimension))
    say_scales(examples, dimension)
    figures: dict[str, Any] = {"min_kappa": min_kappa, "kappa": kappa.value, "epsilon": epsilon, "dimension": dimension}
    figures |= {"resamples": resamples, "seed": seed, "vectors": vectors}
    made: dict[str, Any] = {"aggregation": aggregate.value, "share": surest, "known": known}
    with progress("scoring", len(examples) * len(scorers or [])) as advance:
        found = ratings(examples, scorers or [], **made, **figures, advance=advance)
    for name, sets in found.fitted.items():
        tell(f"{name} was fitted on lines of {', '.join(sets)}, these or others: on those it does better", err=True)
    given = {"aggregate": aggregate.value, "surest": surest, **figures, "scale": scale}
    reading = typed(columns, input_format, turns, on_error)
    for path in out or []:
        write_document(rating_report(found, _typed(files, scorers, given, reading, path)), path)
    document = rating_report(found, _typed(files, scorers, given, reading, None))
    if as_json:
        typer.echo(json_text(document), nl=False)
    else:
        tell(terminal(document, width()) + (f"saved in {', '.join(map(str, out))}" if out else _MORE))


def _rated(files: list[str], asked: How, report_error: ReportError) -> tuple[Iterator[Example], dict[str, Watched]]:
    """Return the lines of files, or those of a rating project with what it knows of its raters.

    Raises:
        UsageError: a project is not alone.
    """
    from rejoinder.data.formats.annotation import is_project
    from rejoinder.data.read import read
    from rejoinder.meta.ratings import project_ratings

    if not any(map(is_project, files)):
        return read(*files, on_error=report_error, **asked), {}
    if len(files) > 1:
        raise UsageError("a rating project and something else were given. Give it alone; its raters are its own")
    lines, known = project_ratings(files[0])
    return iter(lines), known


def _typed(
    files: list[str], scorers: list[str] | None, given: Mapping[str, object], reading: list[str], out: Path | None
) -> str:
    """The call, for the page."""
    named = [word for name in scorers or [] for word in ("-s", name)]
    options = [
        word
        for name, value in given.items()
        if value is not None
        for word in (f"--{name.replace('_', '-')}", str(value))
    ]
    place = [] if out is None else ["-o", str(out)]
    return shlex.join(["rejoinder", "ratings", *files, *named, *reading, *options, *place])
