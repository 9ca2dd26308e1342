"""`rejoinder study`: scorers against people."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from rejoinder.cli.common import (
    AsJson,
    Files,
    OnError,
    OnErrorFlag,
    ScorerNames,
    Seed,
    Vectors,
    plain_names,
    progress,
    reporting,
    width,
)
from rejoinder.cli.inputs import Columns, InputFormat, Turns, TurnsFlag, how
from rejoinder.cli.places import Writes

_MORE = "More: --all for every table, -o report.html for a page with everything"


def command(
    files: Files,
    scorers: ScorerNames = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="The whole study as .html, .md, .tex, .csv or .json.", metavar="FILE"),
        Writes(),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every table, by data set, level and statistic.")] = False,
    as_json: AsJson = False,
    dimension: Annotated[str, typer.Option(help="Which ratings.")] = "overall",
    drop_copies: Annotated[
        bool, typer.Option("--drop-copies", help="Leave out responses that equal a reference word for word.")
    ] = False,
    leave_one_out: Annotated[
        bool,
        typer.Option(
            "--leave-one-out",
            help="Also fit a judge on all data sets but one, for each, and test it on that one.",
        ),
    ] = False,
    resamples: Annotated[int, typer.Option(min=100, help="Resamples of contexts behind each interval.")] = 1000,
    vectors: Vectors = None,
    seed: Seed = 0,
    columns: Columns = None,
    input_format: InputFormat = None,
    turns: TurnsFlag = Turns.LAST,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Which scorers agree with people, and how far: the answer in words, and one table.

    With -o or --json the whole study: beside these the ceiling that people's disagreement leaves, trivial baselines,
    correlations inside systems, tests between scorers, the effect of length, systems, and where scorers and people
    disagree.
    """
    from rejoinder.catalogue import fitted_on
    from rejoinder.io import read
    from rejoinder.meta import full_study
    from rejoinder.report.study import answer_text, study_text
    from rejoinder.report.study_files import require_writable, write_study

    if out is not None:
        require_writable(out)
    with reporting(on_error) as on_bad:
        examples = list(read(*files, on_bad=on_bad, **how(columns, input_format, turns)))
    names = scorers or plain_names()
    for name, sets in fitted_on(names, [example.dataset for example in examples]).items():
        if scorers:
            typer.echo(
                f"{name} was fitted on lines of {', '.join(sets)}, these or others: on those it does better", err=True
            )
        else:
            typer.echo(
                f"left out: {name}, which was fitted on lines of {', '.join(sets)}. Ask for it with -s {name}", err=True
            )
            names.remove(name)
    given: dict[str, Any] = {
        "dimension": dimension,
        "resamples": resamples,
        "seed": seed,
        "vectors": vectors,
        "drop_copies": drop_copies,
        "leave_one_out": leave_one_out,
    }
    with progress("scoring", len(examples) * len(names)) as advance:
        found = full_study(examples, names, **given, advance=advance)
    if out is not None:
        write_study(found, out, _typed(files, scorers, out, given))
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
        return
    typer.echo(answer_text(found, width()), nl=False)
    if every:
        typer.echo(f"\n{study_text(found.study, width())}", nl=False)
    typer.echo(f"saved in {out}" if out else _MORE)


def _typed(files: list[str], scorers: list[str] | None, out: Path, given: dict[str, Any]) -> str:
    """The call, for the page."""
    named = [word for name in scorers or [] for word in ("-s", name)]
    other = ["--vectors", str(given["vectors"])] if given["vectors"] else []
    other += [flag for flag in ("--drop-copies", "--leave-one-out") if given[flag.strip("-").replace("-", "_")]]
    options = ["--dimension", given["dimension"], *other]
    options += ["--resamples", str(given["resamples"]), "--seed", str(given["seed"])]
    return shlex.join(["rejoinder", "study", *files, *named, *options, "-o", str(out)])
