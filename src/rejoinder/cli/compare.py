"""`rejoinder compare`: one system against another."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rejoinder.cli.common import (
    AsJson,
    JudgeNames,
    OnError,
    OnErrorFlag,
    Seed,
    Vectors,
    progress,
    reporting,
    tell,
    width,
)
from rejoinder.cli.inputs import Columns, InputFormat, Turns, TurnsFlag, how, typed
from rejoinder.cli.places import Reads, Writes

if TYPE_CHECKING:
    from rejoinder.documents.document import Document
    from rejoinder.meta.comparison import Comparison, Gate

GATE_CLOSED = 6


class Design(StrEnum):
    """How two systems are compared."""

    AUTO = "auto"
    PAIRED = "paired"
    UNPAIRED = "unpaired"


A = Annotated[str, typer.Argument(help="Responses of the first system, or of the old one.", metavar="A"), Reads()]
B = Annotated[str, typer.Argument(help="Responses of the second, or of the new one.", metavar="B"), Reads()]
Out = Annotated[
    list[Path] | None,
    typer.Option(
        "-o",
        "--out",
        help="Where to: the comparison as .html, .md, .tex, .csv or .json, every pair as .jsonl; repeat for more.",
        metavar="FILE",
    ),
    Writes(),
]
DesignFlag = Annotated[
    Design,
    typer.Option(help="Whether replies to the same contexts are compared, or those in talks with different users."),
]
By = Annotated[
    str | None,
    typer.Option(help="A key of the lines: also compare under each of its values, like with like.", metavar="KEY"),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        help="A gate: exit with 6 unless by every scorer B gains this much over A, by the unfavourable end of the "
        "interval. 0: no worse; -0.1: at most 0.1 worse.",
        metavar="GAIN",
    ),
]
MinScored = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="For the gate: the least share of pairs with scores on both sides. Default: 0.95.",
        metavar="SHARE",
        show_default=False,
    ),
]
Resamples = Annotated[
    int, typer.Option(min=100, help="Resamples of contexts: behind each interval, and exchanges behind each p.")
]


def command(
    a: A,
    b: B,
    scorers: JudgeNames = None,
    out: Out = None,
    design: DesignFlag = Design.AUTO,
    by: By = None,
    threshold: Threshold = None,
    min_scored: MinScored = None,
    as_json: AsJson = False,
    resamples: Resamples = 1000,
    vectors: Vectors = None,
    seed: Seed = 0,
    columns: Columns = None,
    input_format: InputFormat = None,
    turns: TurnsFlag = Turns.LAST,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Which of two systems is better, or that they cannot be told apart and how much more would tell.

    Replies are compared in pairs where nearly all lines of the smaller file have a partner by id, context or
    conversation; else as two independent samples, a conversation (dialogue_id, else the context) as a whole. An empty
    reply is the worst reply.
    """
    from rejoinder.data.read import read
    from rejoinder.documents.compare import comparison
    from rejoinder.documents.files import write_document
    from rejoinder.meta.compare import compare
    from rejoinder.meta.comparison import MIN_SCORED
    from rejoinder.scoring.catalog import DEFAULT

    _check(out, threshold, min_scored)
    with reporting(on_error) as report_error:
        one, other = (
            list(read(file, on_error=report_error, **how(columns, input_format, turns, scorers, labels=True)))
            for file in (a, b)
        )
    with progress("scoring", (len(one) + len(other)) * len(scorers or [DEFAULT])) as advance:
        found = compare(
            one,
            other,
            scorers or None,
            design=design.value,
            by=by,
            resamples=resamples,
            seed=seed,
            vectors=vectors,
            advance=advance,
        )
    # Before anything is written: a scorer without a direction has no gate.
    gate = None if threshold is None else found.gate(threshold, MIN_SCORED if min_scored is None else min_scored)
    for name, sets in found.fitted.items():
        tell(f"{name} was fitted on lines of {', '.join(sets)}, these or others", err=True)
    given = {"--design": design.value, "--by": by, "--vectors": vectors, "--resamples": resamples, "--seed": seed}
    reading = typed(columns, input_format, turns, on_error)
    for path in out or []:
        write_document(comparison(found, (a, b), _typed((a, b), scorers, given, reading, path)), path)
    if as_json:
        told = {} if gate is None else {"gate": asdict(gate)}
        typer.echo(json.dumps({**found.to_dict(), **told}, ensure_ascii=False))
    else:
        _say(comparison(found, (a, b)), gate, out)
    _leave(found, gate)


def _check(out: list[Path] | None, threshold: float | None, min_scored: float | None) -> None:
    """Refuse, before any work, a gate without a threshold and places that the results cannot be written to."""
    from rejoinder.documents.files import require_writable
    from rejoinder.errors import UsageError

    if threshold is None and min_scored is not None:
        raise UsageError("--min-scored belongs to the gate. Give --threshold too, or leave it out")
    for path in out or []:
        require_writable(path, lines=True)


def _leave(found: Comparison, gate: Gate | None) -> None:
    """End with the exit code of a gate that is not passed, or of a comparison of nothing; why was said before."""
    from rejoinder.errors import NothingScored

    if gate is not None and not gate.passed:
        raise typer.Exit(GATE_CLOSED)
    if gate is None and not any(one.known for one in found.contrasts):
        raise typer.Exit(NothingScored.exit_code)


def _say(document: Document, gate: Gate | None, out: list[Path] | None) -> None:
    """The comparison for people."""
    from rejoinder.documents.compare import gate_text
    from rejoinder.documents.terminal import terminal

    tell(terminal(document, width()))
    if gate is not None:
        tell(gate_text(gate))
    if out:
        tell(f"saved in {', '.join(map(str, out))}")


def _typed(
    files: tuple[str, str], scorers: list[str] | None, given: Mapping[str, object], reading: list[str], out: Path
) -> str:
    """The call, for the page."""
    named = [word for name in scorers or [] for word in ("-s", name)]
    options = [word for flag, value in given.items() if value is not None for word in (flag, str(value))]
    return shlex.join(["rejoinder", "compare", *files, *named, *reading, *options, "-o", str(out)])
