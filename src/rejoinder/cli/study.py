"""`rejoinder study`: scorers against people."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rejoinder.cli.common import (
    AUTO,
    AsJson,
    Files,
    OnError,
    OnErrorFlag,
    OnRay,
    ScorerNames,
    Seed,
    Vectors,
    Workers,
    progress,
    reporting,
    tell,
    width,
    workers,
)
from rejoinder.cli.inputs import Columns, InputFormat, RatingScale, Turns, TurnsFlag, how, on_scale, say_scales, typed
from rejoinder.cli.places import Writes
from rejoinder.errors import UsageError
from rejoinder.example import OVERALL, Example, Pair

if TYPE_CHECKING:
    from rejoinder.meta import FullStudy, PairStudy
    from rejoinder.documents.document import Document

_MORE = "More: {}-o report.html for a page with everything"


Out = Annotated[
    list[Path] | None,
    typer.Option(
        "-o",
        "--out",
        help="Where to: the whole study as .html, .md, .tex, .csv or .json; repeat for more.",
        metavar="FILE",
    ),
    Writes(),
]
Every = Annotated[bool, typer.Option("--all", help="Every table, by data set, level and statistic.")]
Dimension = Annotated[str, typer.Option(help="Which ratings.")]
DropCopies = Annotated[
    bool, typer.Option("--drop-copies", help="Leave out responses that equal a reference word for word.")
]
LeaveOneOut = Annotated[
    bool,
    typer.Option(
        "--leave-one-out",
        help="Also fit a judge on all data sets but one, for each, and test it on that one.",
    ),
]
Resamples = Annotated[int, typer.Option(min=100, help="Resamples of contexts: behind each interval.")]


def command(
    files: Files,
    scorers: ScorerNames = None,
    out: Out = None,
    every: Every = False,
    as_json: AsJson = False,
    dimension: Dimension = OVERALL,
    drop_copies: DropCopies = False,
    leave_one_out: LeaveOneOut = False,
    resamples: Resamples = 1000,
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
    """Which scorers agree with people, and how far: the answer in words, and one table.

    Files hold rated replies; or pairs of replies and which of the two people prefer (docs/preferences.md).
    With -o or --json the whole study: beside these the ceiling that people's disagreement leaves, trivial baselines,
    correlations inside systems, tests between scorers, the effect of length, systems, and where scorers and people
    disagree.
    """
    from rejoinder.data.read import read_lines
    from rejoinder.meta.preferences import apart
    from rejoinder.documents.data import json_text
    from rejoinder.documents.files import require_writable, write_document
    from rejoinder.documents.terminal import terminal

    for path in out or []:
        require_writable(path)
    with reporting(on_error) as report_error:
        asked = how(columns, input_format, turns, scorers, scale=scale, dimension=dimension, labels=True)
        lines = read_lines(*files, on_error=report_error, **asked)
        examples, pairs = apart(on_scale(lines, scale, report_error, dimension))
    given: dict[str, Any] = {
        "dimension": dimension,
        "resamples": resamples,
        "seed": seed,
        "vectors": vectors,
        "drop_copies": drop_copies,
        "leave_one_out": leave_one_out,
        "scale": scale,
    }
    with workers(count, ray) as given["workers"]:
        found = _of_pairs(pairs, scorers or None, given) if pairs else _of_ratings(examples, scorers or None, given)
    reading = typed(columns, input_format, turns, on_error)
    for path in out or []:
        write_document(_document(found, _typed(files, scorers, path, given, reading)), path)
    document = _document(found, _typed(files, scorers, None, given, reading))
    if as_json:
        typer.echo(json_text(document), nl=False)
    else:
        more = _MORE.format("" if every else "--all for every table, ")
        saved = f"saved in {', '.join(map(str, out))}" if out else more
        tell(terminal(document, width(), every=every) + saved)
    _say_fitted(found)


def _say_fitted(found: FullStudy | PairStudy) -> None:
    """Which judges were fitted on lines of these data sets, and what was done about it."""
    for name, sets in found.fitted.items():
        tell(f"{name} was fitted on lines of {', '.join(sets)}, these or others: on those it does better", err=True)
    for name, sets in found.withheld.items():
        tell(f"left out: {name}, which was fitted on lines of {', '.join(sets)}. Ask for it with -s {name}", err=True)


def _of_ratings(examples: Sequence[Example], names: list[str] | None, given: dict[str, Any]) -> FullStudy:
    """The study of rated replies."""
    from rejoinder.meta import full_study

    say_scales(examples, given["dimension"])
    asked = {name: value for name, value in given.items() if name != "scale"}
    with progress("scoring", len(examples) * _count(names, examples)) as advance:
        return full_study(examples, names, **asked, advance=advance)


def _of_pairs(pairs: Sequence[Pair], names: list[str] | None, given: dict[str, Any]) -> PairStudy:
    """The study of preference pairs; options that mean nothing for them are refused."""
    from rejoinder.meta import study_pairs

    for name, usual in (("dimension", OVERALL), ("drop_copies", False), ("leave_one_out", False), ("scale", None)):
        if given.pop(name) != usual:
            raise UsageError(f"--{name.replace('_', '-')} is for ratings, and {pairs[0].where} is a pair. Leave it out")
    with progress("scoring", 2 * len(pairs) * _count(names, pairs)) as advance:
        return study_pairs(pairs, names, **given, advance=advance)


def _document(found: FullStudy | PairStudy, command: str) -> Document:
    """The report of a study."""
    from rejoinder.meta import FullStudy
    from rejoinder.documents.preferences import preferences
    from rejoinder.documents.study import study

    return study(found, command) if isinstance(found, FullStudy) else preferences(found, command)


def _count(names: list[str] | None, lines: Sequence[Example | Pair]) -> int:
    """How many scorers there will be, for the progress bar."""
    from rejoinder.scoring.catalog import choose_scorers

    return len(names or choose_scorers(None, [line.dataset for line in lines]).scorers)


def _typed(
    files: list[str], scorers: list[str] | None, out: Path | None, given: dict[str, Any], reading: list[str]
) -> str:
    """The call, for the page."""
    named = [word for name in scorers or [] for word in ("-s", name)]
    other = [word for flag in ("vectors", "scale") if given.get(flag) for word in (f"--{flag}", str(given[flag]))]
    other += [flag for flag in ("--drop-copies", "--leave-one-out") if given.get(flag.strip("-").replace("-", "_"))]
    other += ["--dimension", given["dimension"]] if given.get("dimension", OVERALL) != OVERALL else []
    options = [*other, *reading, "--resamples", str(given["resamples"]), "--seed", str(given["seed"])]
    place = [] if out is None else ["-o", str(out)]
    return shlex.join(["rejoinder", "study", *files, *named, *options, *place])
