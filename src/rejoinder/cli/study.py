"""`rejoinder study`: scorers and human ratings."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import (
    AUTO,
    AsJson,
    Figures,
    Files,
    OnError,
    OnErrorFlag,
    OnRay,
    ScorerNames,
    Seed,
    Vectors,
    Workers,
    present,
    progress,
    reporting,
    require_places,
    workers,
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
    on_scale,
    say_scales,
    with_rated,
)
from rejoinder.cli.places import Writes
from rejoinder.errors import UsageError
from rejoinder.example import OVERALL, Example, Pair

_MORE = "More: {}-o report.html for a page with everything"
_ALL = "--all for every table, "


class ChosenBy(StrEnum):
    """How labelled lines were chosen."""

    CHANCE = "chance"
    VERDICT = "verdict"
    LABEL = "label"


Out = Annotated[
    list[Path] | None,
    typer.Option(
        "-o",
        "--out",
        help="Where to: the whole study as .html, .md, .tex, .csv or .json; relabel.csv for verdicts and labels that "
        "differ, to label again; repeat for more.",
        metavar="FILE",
    ),
    Writes(),
]
Every = Annotated[bool, typer.Option("--all", help="Every table, by data set, level and statistic.")]
Dimension = Annotated[str, typer.Option(help="Which ratings.")]
DropCopies = Annotated[bool, typer.Option("--drop-copies", help="Leave out responses that equal a reference.")]
LeaveOneOut = Annotated[
    bool,
    typer.Option(
        "--leave-one-out",
        help="Also fit a judge on all data sets but one, for each, and test it on that one.",
    ),
]
Bar = Annotated[
    float | None,
    typer.Option(
        help="A gate for verdicts against labels: exit with 6 unless the share of good replies passed and that of bad "
        "replies caught both reach it, by the lower ends of their intervals. Default: 0.8, without a gate.",
        metavar="SHARE",
        show_default=False,
    ),
]
Cost = Annotated[
    float, typer.Option(help="For the best cutoff: good replies failed that are as bad as one bad reply passed.")
]
Cutoff = Annotated[
    str | None,
    typer.Option(
        help="The lowest score that passes, for scorers of numbers; best: chosen on other contexts.", metavar="X|best"
    ),
]
ChosenFlag = Annotated[ChosenBy, typer.Option("--chosen", help="How the labelled lines were chosen among all lines.")]
Good = Annotated[
    float | None, typer.Option(help="Make labels of ratings: from this rating on a reply is good.", metavar="RATING")
]
By = Annotated[
    list[str] | None,
    typer.Option(
        help="A key of the lines: also judge verdicts for each of its values; repeat for more.", metavar="KEY"
    ),
]
Resamples = Annotated[int, typer.Option(min=100, help="Resamples of contexts for each interval.")]


def command(
    files: Files,
    scorers: ScorerNames = None,
    rated: RatedFiles = None,
    tie: TieFlag = None,
    positive: Positive = None,
    out: Out = None,
    every: Every = False,
    as_json: AsJson = False,
    figures: Figures = None,
    dimension: Dimension = OVERALL,
    drop_copies: DropCopies = False,
    leave_one_out: LeaveOneOut = False,
    resamples: Resamples = 1000,
    bar: Bar = None,
    cost: Cost = 1.0,
    cutoff: Cutoff = None,
    good: Good = None,
    chosen: ChosenFlag = ChosenBy.CHANCE,
    by: By = None,
    scale: RatingScale = None,
    vectors: Vectors = None,
    seed: Seed = 0,
    columns: Columns = None,
    input_format: InputFormat = None,
    turns: TurnsFlag = Turns.LAST,
    count: Workers = AUTO,
    ray: OnRay = None,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Show which scorers agree with human ratings: the answer in a few sentences, and one table.

    Files hold rated replies, or pairs of replies with the preferred one (docs/preferences.md).
    With -o, --json or --figures you get the whole study: also the noise ceiling, trivial baselines, correlations within
    systems, tests between scorers, the effect of length, the systems, and the lines on which scorers and raters differ
    most.
    """
    from rejoinder.analysis.study import study
    from rejoinder.data.read import read_lines

    require_places(out, figures)
    with reporting(on_error) as report_error:
        lines: Sequence[Example | Pair]
        others: list[Example] = []
        texts = not scorers or not all(name.startswith("column:") for name in scorers)
        more = {"scale": scale, "dimension": dimension, "labels": True, "positive": positive, "texts": texts}
        reading = how(columns, input_format, turns, scorers, **more)  # type: ignore[arg-type]
        if rated:
            lines, others = with_rated(files, rated, reading, report_error, scale, dimension)
        else:
            lines = list(on_scale(read_lines(*files, on_error=report_error, **reading), scale, report_error, dimension))
    _say_scales([*lines, *others], scale, dimension)
    with (
        workers(count, ray) as pool,
        progress("scoring", _total(scorers or None, [*lines, *others])) as advance,
    ):
        results = study(
            lines,
            scorers or None,
            rated=others if rated else None,
            tie=None if tie is None else tie.value,
            dimension=dimension,
            resamples=resamples,
            seed=seed,
            vectors=vectors,
            drop_copies=drop_copies,
            leave_one_out=leave_one_out,
            bar=bar,
            cost=cost,
            cutoff=_number(cutoff),
            good=good,
            chosen=chosen.value,
            by=by or [],
            workers=pool,
            progress=advance,
        )
    more_line = "" if results.layout.first and not every else _MORE.format("" if every else _ALL)
    present(results, out, as_json=as_json, every=every, figures=figures, more=more_line, files=[*files, *(rated or [])])


def _say_scales(lines: Sequence[Example | Pair], scale: str | None, dimension: str) -> None:
    """Say what to know of the scales of ratings; `UsageError` if pairs were given one."""
    pair = next((line for line in lines if isinstance(line, Pair)), None)
    if pair is not None and scale is not None:
        raise UsageError(f"--scale is for ratings, and {pair.where} is a pair. Omit it")
    if pair is None:
        say_scales([line for line in lines if isinstance(line, Example)], dimension)


def _number(cutoff: str | None) -> float | str | None:
    """Return the value of `--cutoff` as a number if it is one."""
    try:
        return None if cutoff is None else float(cutoff)
    except ValueError:
        return cutoff


def _total(names: list[str] | None, lines: Sequence[Example | Pair]) -> int:
    """Return the number of replies to score, each once for each scorer, for the progress bar."""
    from rejoinder.analysis.baselines import scorer_count

    pairs = sum(isinstance(line, Pair) for line in lines)
    return (len(lines) + pairs) * scorer_count(names, [line.dataset for line in lines], baselines=not pairs)
