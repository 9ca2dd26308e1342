"""`rejoinder encode`: texts to vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import Files, OnError, OnErrorFlag, State, reporting, tell
from rejoinder.cli.inputs import Columns, InputFormat, Turns, TurnsFlag, how
from rejoinder.cli.places import Reads, Writes, in_encoder

Encoder = Annotated[
    str,
    typer.Option(
        "-e",
        "--encoder",
        help="What turns texts into vectors: rejoinder (the encoder of the judge in the box), word-vectors, "
        "sentence:MODEL (of sentence-transformers), or the folder of a pre-trained model or of a judge.",
        metavar="NAME",
    ),
    Reads(in_encoder),
]
Out = Annotated[Path, typer.Option("-o", "--out", help="Where to: an archive of arrays.", metavar="OUT.npz"), Writes()]
StateFlag = Annotated[
    State | None, typer.Option(help="Which state of an HRED or VHRED stands for a text. Default: context.")
]


def command(
    files: Files,
    encoder: Encoder,
    out: Out,
    state: StateFlag = None,
    columns: Columns = None,
    input_format: InputFormat = None,
    turns: TurnsFlag = Turns.LAST,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Encode contexts, responses and references: `ids` [N], `context` and `response` [N, D], `reference` [M, D].

    `reference_row` [M] says which line each reference belongs to. A text without a known word is a row of NaN.
    """
    from rejoinder.data.read import read
    from rejoinder.data.write import write_arrays
    from rejoinder.models import encode

    with reporting(on_error) as report_error:
        examples = list(read(*files, on_error=report_error, **how(columns, input_format, turns)))
        arrays = encode(examples, encoder, state=None if state is None else state.value)
    write_arrays(out, arrays)
    tell(f"{len(arrays['ids']):,} lines encoded in {out}")
