"""`rejoinder respond`: contexts to replies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import Files, OnError, OnErrorFlag, Seed, progress, reporting, tell
from rejoinder.cli.decoding import (
    MORE_TOKENS,
    Beam,
    Count,
    Longest,
    Method,
    MethodFlag,
    ResponderNames,
    Shortest,
    Temperature,
    TopP,
    Unseen,
    Withhold,
    decoding_of,
)
from rejoinder.cli.inputs import Columns, InputFormat, how
from rejoinder.cli.places import Writes

Out = Annotated[Path, typer.Option("-o", "--out", help="Where to: - is standard output.", metavar="FILE"), Writes()]


def command(
    files: Files,
    responders: ResponderNames,
    out: Out = Path("-"),
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
    """Answer every context in the files: examples, dialogues or conversations that wait for a reply.

    One line out for each line in and responder, ready for `rejoinder score`. References stay, of a dialogue the last
    turn becomes one; ratings and scores, which were for another response, go. A context without an answer keeps its
    line, with an empty response and the reason under "unanswered".
    """
    from rejoinder.data.write import format_of, open_writer
    from rejoinder.scoring.replies import contexts_of, require_answers, respond

    kind = format_of(out)
    decoding = decoding_of(method, beam, temperature, top_p, longest, shortest, count)
    with reporting(on_error) as report_error, progress("responding", streaming=str(out) == "-") as advance:
        examples = contexts_of(files, unseen, on_error=report_error, **how(columns, input_format))
        found = respond(
            examples, responders, decoding=decoding, count=count, seed=seed, withhold=withhold, advance=advance
        )
        with open_writer(out, kind) as put:
            for line in found:
                put(line)
    for name, tally in found.tallies.items():
        if tally.reasons:
            why = ", ".join(f"{reason}: {number:,}" for reason, number in tally.reasons.most_common())
            missed = tally.reasons.total()
            tell(f"{name}: no answer to {missed:,} of {missed + tally.answered:,} contexts ({why})", err=True)
        if tally.cut:
            tell(f"{name}: {tally.cut:,} of {tally.answered:,} replies were cut off. {MORE_TOKENS}", err=True)
    require_answers(list(found.tallies.values()))
    if str(out) != "-":
        said = ", ".join(f"{tally.answered:,} by {name}" for name, tally in found.tallies.items())
        tell(f"{said} in {out}; score them: rejoinder score {out}")
