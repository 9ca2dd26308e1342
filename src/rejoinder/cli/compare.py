"""`rejoinder compare`: one system against another."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from rejoinder.cli.common import AsJson, JudgeNames, OnError, OnErrorFlag, Seed, Vectors, progress, reporting, width
from rejoinder.cli.places import Reads

GATE_CLOSED = 6


def command(
    a: Annotated[str, typer.Argument(help="Responses of the first system, or of the old one.", metavar="A"), Reads()],
    b: Annotated[str, typer.Argument(help="Responses of the second, or of the new one.", metavar="B"), Reads()],
    scorers: JudgeNames = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="A gate: exit with 6 unless by every scorer B gains this much over A, by the unfavourable end of the "
            "interval. 0: no worse; -0.1: at most 0.1 worse.",
            metavar="GAIN",
        ),
    ] = None,
    as_json: AsJson = False,
    resamples: Annotated[int, typer.Option(min=100, help="Resamples and exchanges of contexts.")] = 1000,
    vectors: Vectors = None,
    seed: Seed = 0,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Which of two systems is better, or that they cannot be told apart and how much more would tell.

    Responses are paired by id where the files share any, else by context.
    """
    from rejoinder.catalogue import DEFAULT, fitted_on
    from rejoinder.io import read
    from rejoinder.meta.compare import compare
    from rejoinder.report.compare import compare_text

    with reporting(on_error) as on_bad:
        one, other = (list(read(file, on_bad=on_bad)) for file in (a, b))
    names = scorers or [DEFAULT]
    for name, sets in fitted_on(names, [example.dataset for example in (*one, *other)]).items():
        typer.echo(f"{name} was fitted on lines of {', '.join(sets)}, these or others", err=True)
    with progress("scoring", (len(one) + len(other)) * len(names)) as advance:
        found = compare(one, other, names, resamples=resamples, seed=seed, vectors=vectors, advance=advance)
    passed = None if threshold is None else found.clears(threshold)
    if as_json:
        gate = {} if passed is None else {"gate": {"threshold": threshold, "passed": passed}}
        typer.echo(json.dumps({**found.to_dict(), **gate}, ensure_ascii=False))
    else:
        typer.echo(compare_text(found, (a, b), width()), nl=False)
        if passed is not None:
            typer.echo(f"gate {threshold:+g}: {'passed' if passed else 'not passed, exit code 6'}")
    if passed is False:
        raise typer.Exit(GATE_CLOSED)
