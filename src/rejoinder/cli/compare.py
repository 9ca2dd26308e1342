"""`rejoinder compare`: one system against another."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import (
    AUTO,
    AsJson,
    Figures,
    JudgeNames,
    OnError,
    OnErrorFlag,
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
    TieFlag,
    Turns,
    TurnsFlag,
    how,
    refuse_projects,
)
from rejoinder.cli.places import Reads, Writes


class PairBy(StrEnum):
    """Which replies belong together."""

    ID = "id"
    CONTEXT = "context"
    NONE = "none"


A = Annotated[str, typer.Argument(help="Replies of the first system, or of the old one.", metavar="A"), Reads()]
B = Annotated[str, typer.Argument(help="Replies of the second, or of the new one.", metavar="B"), Reads()]
Out = Annotated[
    list[Path] | None,
    typer.Option(
        "-o",
        "--out",
        help="Where to: a report (.html, .md, .tex), the results (.csv, .json) or every pair (.jsonl); repeat "
        "for more.",
        metavar="FILE",
    ),
    Writes(),
]
PairByFlag = Annotated[
    PairBy | None,
    typer.Option(
        help="Which replies belong together: those with the same id, with the same context, or none. "
        "Default: decided by the files; the first line says how.",
        show_default=False,
    ),
]
By = Annotated[
    str | None,
    typer.Option(help="A key of the lines: also compare A and B for each of its values.", metavar="KEY"),
]
FailUnder = Annotated[
    float | None,
    typer.Option(
        help="A gate: exit with 6 if by some scorer the difference B - A may be lower, by the unfavourable end of the "
        "interval. 0: no worse; -0.1: at most 0.1 worse. With labels, by the corrected difference.",
        metavar="DIFFERENCE",
    ),
]
MinScored = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="For the gate: the lowest accepted share of pairs with scores on both sides. Default: 0.95.",
        metavar="SHARE",
        show_default=False,
    ),
]
Resamples = Annotated[
    int, typer.Option(min=100, help="Resamples of contexts for each interval; permutations for each p.")
]


def command(
    a: A,
    b: B,
    scorers: JudgeNames = None,
    rated: RatedFiles = None,
    tie: TieFlag = None,
    positive: Positive = None,
    out: Out = None,
    figures: Figures = None,
    pair_by: PairByFlag = None,
    by: By = None,
    fail_under: FailUnder = None,
    min_scored: MinScored = None,
    as_json: AsJson = False,
    resamples: Resamples = 1000,
    vectors: Vectors = None,
    seed: Seed = 0,
    columns: Columns = None,
    input_format: InputFormat = None,
    turns: TurnsFlag = Turns.LAST,
    count: Workers = AUTO,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Compare two systems: which is better by each scorer, or how much more data would show it.

    An empty reply counts as the worst reply.
    """
    from rejoinder.analysis.compare import MIN_SCORED, compare
    from rejoinder.data.read import read_sides
    from rejoinder.errors import UsageError
    from rejoinder.scoring.catalog import DEFAULT

    if fail_under is None and min_scored is not None:
        raise UsageError("--min-scored belongs to the gate. Give --fail-under too, or omit it")
    require_places(out, figures, lines=True)
    with reporting(on_error) as report_error:
        refuse_projects(rated or [])
        reading = how(columns, input_format, turns, scorers, labels=True, positive=positive)
        (first, second), others = read_sides([a], [b], rated=rated, on_error=report_error, **reading)
    total = (len(first) + len(second)) * len(scorers or [DEFAULT])
    with progress("scoring", total) as advance, workers(count) as pool:
        results = compare(
            first,
            second,
            scorers or None,
            rated=others,
            tie=None if tie is None else tie.value,
            pair_by=None if pair_by is None else pair_by.value,
            by=by,
            fail_under=fail_under,
            min_scored=MIN_SCORED if min_scored is None else min_scored,
            resamples=resamples,
            seed=seed,
            vectors=vectors,
            workers=pool,
            progress=advance,
        )
    present(results, out, as_json=as_json, figures=figures)
