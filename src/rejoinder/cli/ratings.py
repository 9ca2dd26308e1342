"""`rejoinder ratings`: how much raters agree, whose ratings count, and one rating for each line."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rejoinder.cli.common import (
    AsJson,
    Figures,
    OnError,
    OnErrorFlag,
    Seed,
    Vectors,
    present,
    progress,
    reporting,
    require_places,
    tell,
)
from rejoinder.cli.inputs import (
    Columns,
    InputFormat,
    Positive,
    RatedFiles,
    RatingScale,
    Turns,
    TurnsFlag,
    how,
    on_scale,
    say_scales,
    with_rated,
)
from rejoinder.cli.places import Reads, Writes, in_scorer
from rejoinder.data.files import OnError as ReportError
from rejoinder.errors import UsageError
from rejoinder.example import OVERALL, Example

if TYPE_CHECKING:
    from rejoinder.analysis.raters import Attention
    from rejoinder.data.read import How

_MORE = "More: -o report.html for a page with everything, -o rated.jsonl for the lines with one rating each"


class Aggregate(StrEnum):
    """How the ratings of a line become one."""

    MEAN = "mean"
    MEDIAN = "median"
    MAJORITY = "majority"
    Z_SCORE = "z-score"
    DAWID_SKENE = "dawid-skene"
    MACE = "mace"


class Kappa(StrEnum):
    """How kappa weights disagreements."""

    UNWEIGHTED = "unweighted"
    LINEAR = "linear"
    QUADRATIC = "quadratic"


Rated = Annotated[
    list[str],
    typer.Argument(
        help="Input files, or a rating project of `rejoinder annotate`; - for JSON lines on standard input; @NAME "
        "for a bundled sample.",
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
        "Tests whether it can replace a rater.",
        metavar="NAME",
    ),
    Reads(in_scorer),
]
Out = Annotated[
    list[Path] | None,
    typer.Option(
        "-o",
        "--out",
        help="Where to: a report as .html, .md, .tex, .csv or .json, the rated lines as .jsonl; repeat for more.",
        metavar="FILE",
    ),
    Writes(),
]
Dimension = Annotated[str, typer.Option(help="Which ratings.")]
AggregateFlag = Annotated[Aggregate, typer.Option("--aggregate", help="How the ratings of a line become one.")]
Surest = Annotated[
    float,
    typer.Option(min=0, max=1, help="Share of the lines, the most certain, that get a rating by --aggregate mace."),
]
MinKappa = Annotated[
    float | None,
    typer.Option(
        max=1,
        help="Leave out raters whose kappa with the others is lower; the answer shows the effect by chance alone. "
        "Default: no rater is left out for disagreeing.",
        metavar="KAPPA",
    ),
]
KappaFlag = Annotated[Kappa, typer.Option("--kappa", help="How that kappa weights disagreements.")]
Epsilon = Annotated[
    float,
    typer.Option(
        min=0,
        max=1,
        help="How much better than a scorer a rater must be: 0.2 for experts, 0.15 for trained raters, 0.1 for crowds.",
    ),
]
Resamples = Annotated[int, typer.Option(min=100, help="Resamples of contexts for each interval.")]


def command(
    files: Rated,
    scorers: Scorers = None,
    rated: RatedFiles = None,
    positive: Positive = None,
    out: Out = None,
    aggregate: AggregateFlag = Aggregate.MEAN,
    surest: Surest = 1.0,
    min_kappa: MinKappa = None,
    kappa: KappaFlag = Kappa.QUADRATIC,
    epsilon: Epsilon = 0.1,
    as_json: AsJson = False,
    figures: Figures = None,
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
    """Show how much raters of the same lines agree, whose ratings count, and make one rating for each line.

    Raters who miss an attention check are left out and listed; their ratings are kept aside in the lines. With -s: the
    test whether a scorer can replace a rater. With -o rated.jsonl: the lines with one rating each, for study, train,
    fit and the other commands.
    """
    from rejoinder.analysis.ratings import ratings

    require_places(out, figures, lines=True)
    with reporting(on_error) as report_error:
        more = {"scale": scale, "dimension": dimension, "labels": True, "positive": positive, "texts": False}
        wanted = how(columns, input_format, turns, scorers, **more)  # type: ignore[arg-type]
        examples, others, attention = _rated(files, rated, wanted, report_error, scale, dimension)
    say_scales([*examples, *others], dimension)
    with progress("scoring", len(examples) * len(scorers or [])) as advance:
        results = ratings(
            examples,
            scorers or [],
            rated=others if rated else None,
            dimension=dimension,
            aggregation=aggregate.value,
            share=surest,
            min_kappa=min_kappa,
            kappa=kappa.value,
            attention=attention,
            epsilon=epsilon,
            resamples=resamples,
            seed=seed,
            vectors=vectors,
            progress=advance,
        )
    for name, facts in results.about.scorers.items():
        if facts.get("fitted_on"):
            sets = ", ".join(facts["fitted_on"])
            tell(f"{name} was fitted on lines of {sets}, so it does better on these than on yours", err=True)
    present(results, out, as_json=as_json, figures=figures, more=_MORE)


def _rated(
    files: list[str],
    rated: list[str] | None,
    wanted: How,
    report_error: ReportError,
    scale: str | None,
    dimension: str,
) -> tuple[list[Example], list[Example], Mapping[str, Attention]]:
    """Return the lines of files and of `--rated`, or those of a rating project with the attention of its raters.

    Raises:
        UsageError: a project is not alone.
    """
    from rejoinder.analysis.raters import Attention, project_ratings, rated_replies
    from rejoinder.data.formats.annotation import is_project, keeps_answers_elsewhere

    if not any(map(is_project, files)):
        return *with_rated(files, rated, wanted, report_error, scale, dimension), {}
    if len(files) > 1 or rated:
        raise UsageError("a rating project was given with other files. Give it alone")
    if not keeps_answers_elsewhere(files[0]):
        lines, known = project_ratings(files[0])
    else:
        from rejoinder.annotation.collected import load_study

        replies, records = load_study(files[0])
        known = {rater.name: Attention(rater.failed, rater.passed + rater.failed, rater.seconds) for rater in records}
        lines = rated_replies(replies, files[0])
    return list(on_scale(lines, scale, report_error, dimension)), [], known
