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
from rejoinder.cli.places import Writes


def command(
    files: Files,
    scorers: ScorerNames = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="The whole study as .html, .md, .tex, .csv or .json.", metavar="FILE"),
        Writes(),
    ] = None,
    as_json: AsJson = False,
    dimension: Annotated[str, typer.Option(help="Which ratings.")] = "overall",
    drop_copies: Annotated[
        bool, typer.Option("--drop-copies", help="Leave out responses that equal a reference word for word.")
    ] = False,
    leave_one_out: Annotated[
        bool,
        typer.Option(
            "--leave-one-out",
            help="With -o or --json: also fit a judge on all data sets but one, for each, and test it on that one.",
        ),
    ] = False,
    resamples: Annotated[int, typer.Option(min=100, help="Resamples of contexts behind each interval.")] = 1000,
    vectors: Vectors = None,
    seed: Seed = 0,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """How far scorers agree with people: Pearson, Spearman and Kendall with intervals, by data set, turn and system.

    With -o or --json the whole study: beside these the ceiling that people's disagreement leaves, trivial baselines,
    correlations inside systems, tests between scorers, the effect of length, systems, and where scorers and people
    disagree.
    """
    from rejoinder.catalogue import fitted_on
    from rejoinder.errors import UsageError
    from rejoinder.io import read
    from rejoinder.meta import full_study, study
    from rejoinder.report.answer import answer
    from rejoinder.report.study import study_text
    from rejoinder.report.study_files import require_writable, write_study

    if leave_one_out and out is None and not as_json:
        raise UsageError("--leave-one-out is a part of the whole study. Ask for that with -o FILE or --json")
    if out is not None:
        require_writable(out)
    with reporting(on_error) as on_bad:
        examples = list(read(*files, on_bad=on_bad))
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
    }
    steps = len(examples) * len(names)
    if out is None and not as_json:
        with progress("scoring", steps) as advance:
            table = study(examples, names, **given, advance=advance)
        typer.echo(study_text(table, width()), nl=False)
        return
    given["leave_one_out"] = leave_one_out
    with progress("scoring", steps) as advance:
        found = full_study(examples, names, **given, advance=advance)
    if out is not None:
        write_study(found, out, _typed(files, scorers, out, given))
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        typer.echo("\n".join([*answer(found), f"saved in {out}"]))


def _typed(files: list[str], scorers: list[str] | None, out: Path, given: dict[str, Any]) -> str:
    """The call, for the page."""
    named = [word for name in scorers or [] for word in ("-s", name)]
    other = ["--vectors", str(given["vectors"])] if given["vectors"] else []
    other += [flag for flag in ("--drop-copies", "--leave-one-out") if given[flag.strip("-").replace("-", "_")]]
    options = ["--dimension", given["dimension"], *other]
    options += ["--resamples", str(given["resamples"]), "--seed", str(given["seed"])]
    return shlex.join(["rejoinder", "study", *files, *named, *options, "-o", str(out)])
