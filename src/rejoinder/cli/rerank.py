"""`rejoinder rerank`: the best of several replies to each context."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import AsJson, Files, OnError, OnErrorFlag, Seed, present, progress, reporting, tell, width
from rejoinder.cli.decoding import (
    MORE_TOKENS,
    Beam,
    Count,
    Longest,
    MaybeResponders,
    Method,
    MethodFlag,
    Shortest,
    Temperature,
    TopP,
    Unseen,
    Withhold,
    decoding_of,
)
from rejoinder.cli.inputs import Columns, InputFormat, how
from rejoinder.cli.places import Reads, Writes, in_scorer
from rejoinder.errors import UsageError

Chooser = Annotated[
    str,
    typer.Option(
        "-s",
        "--scorer",
        help="A scorer, the folder of a judge, column:KEY, command:PROGRAM or openai:URL#MODEL; it chooses. "
        "Default: rejoinder, the bundled judge.",
        metavar="NAME",
        show_default=False,
    ),
    Reads(in_scorer),
]
MeasureBy = Annotated[
    str | None,
    typer.Option(
        "--measure-by",
        help="A scorer that did not choose, to measure whether the chosen replies are better.",
        metavar="NAME",
    ),
    Reads(in_scorer),
]
AtLeast = Annotated[
    float | None,
    typer.Option("--at-least", help="Leave a context unanswered if no candidate has a score this good.", metavar="X"),
]
Every = Annotated[
    bool, typer.Option("--candidates", help="Also write all candidates of each context, with their scores.")
]
Out = Annotated[Path, typer.Option("-o", "--out", help="Where to: - is standard output.", metavar="FILE"), Writes()]


def command(
    files: Files,
    responders: MaybeResponders = None,
    scorer: Chooser = "rejoinder",
    measure_by: MeasureBy = None,
    at_least: AtLeast = None,
    every: Every = False,
    out: Out = Path("-"),
    as_json: AsJson = False,
    count: Count = 1,
    withhold: Withhold = False,
    unseen: Unseen = None,
    method: MethodFlag = Method.BEAM,
    beam: Beam = None,
    temperature: Temperature = 1.0,
    top_p: TopP = 1.0,
    longest: Longest = None,
    shortest: Shortest = 1,
    seed: Seed = 0,
    columns: Columns = None,
    input_format: InputFormat = None,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Choose the best of several replies to each context, and measure whether the chosen replies are better.

    The candidates are replies of responders (-r), a list under "candidates" or "replies" in each line, or the lines of
    several systems with the same context. You get one line for each context, which `rejoinder score` reads. References
    are hidden from the scorer that chooses, unless it reads only references.
    """
    from rejoinder.data.write import format_of, open_writer
    from rejoinder.improve.reranking import rerank
    from rejoinder.scoring.replies import contexts_of

    if as_json and str(out) == "-":
        raise UsageError("--json and the lines would both go to standard output. Name a file for the lines: -o FILE")
    kind = format_of(out)
    decoding = decoding_of(method, beam, temperature, top_p, longest, shortest, count)
    with reporting(on_error) as report_error, progress("re-ranking", streaming=str(out) == "-") as advance:
        asked = how(columns, input_format, scorers=[scorer, *([measure_by] if measure_by else [])])
        lines = rerank(
            contexts_of(files, unseen, on_error=report_error, **asked),
            responders or [],
            scorer,
            measure_by=measure_by,
            at_least=at_least,
            every=every,
            count=count,
            decoding=decoding,
            withhold=withhold,
            seed=seed,
            on_error=report_error,
            advance=advance,
        )
        with open_writer(out, kind) as put:
            for line in lines:
                put(line)
    for name, tally in lines.tallies.items():
        if tally.cut:
            tell(f"{name}: the first reply to {tally.cut:,} contexts was cut off. {MORE_TOKENS}", err=True)
    results = lines.results
    if str(out) == "-":  # the lines are on standard output
        from rejoinder.report.terminal import terminal

        tell(terminal(results, width()), err=True)
        return
    answered = results.about.counts["answered"]
    present(results, as_json=as_json, more=f"{answered:,} replies in {out}; score them: rejoinder score {out}")
