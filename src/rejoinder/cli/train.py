"""`rejoinder train`: rated examples to a judge."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from rejoinder.cli.common import AsJson, Files, Force, OnError, OnErrorFlag, Seed, State, Vectors, progress, reporting
from rejoinder.cli.places import Reads, Writes

if TYPE_CHECKING:
    from rejoinder.encoders import PortableEncoder
    from rejoinder.judges.bilinear import BilinearJudge
    from rejoinder.judges.bilinear import Kind as BilinearKind


class Kind(StrEnum):
    """The judges that can be trained."""

    ADEM = "adem"
    C_ADEM = "c-adem"
    R_ADEM = "r-adem"
    AUTOJUDGE = "autojudge"
    PANEL = "panel"


class References(StrEnum):
    """How to score against several references."""

    MEAN = "mean"
    BEST = "best"


class Penalty(StrEnum):
    """Norms of the matrices."""

    FROBENIUS = "frobenius"
    L2_SQUARED = "l2_squared"
    L1 = "l1"


class OverSample(StrEnum):
    """Ways to repeat training lines."""

    WORDS = "words"
    RELEASE = "release"


def command(
    kind: Annotated[
        Kind,
        typer.Argument(
            help="adem: context and reference; c-adem and autojudge: context; r-adem: reference; panel: the three "
            "ADEMs, of which each example gets the one that fits."
        ),
    ],
    files: Files,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to save the judge in.", metavar="FOLDER"), Writes()],
    encoder: Annotated[
        Path | None,
        typer.Option(
            "-e", "--encoder", help="Folder of a pre-trained model. Default: averaged word vectors.", metavar="FOLDER"
        ),
        Reads(),
    ] = None,
    state: Annotated[State | None, typer.Option(help="Which state of an HRED or VHRED. Default: context.")] = None,
    vectors: Vectors = None,
    references: Annotated[
        References,
        typer.Option(
            help="Several references: the mean of the scores against each, or the best, which rises with each more."
        ),
    ] = References.MEAN,
    components: Annotated[
        int | None, typer.Option(min=1, help="Principal components. Default: 50; autojudge takes the vectors whole.")
    ] = None,
    penalty: Annotated[
        Penalty | None,
        typer.Option(help="Norm held against the matrices: of the release, the paper, or earlier."),
    ] = None,
    over_sample: Annotated[
        OverSample | None, typer.Option(help="Make length tell nothing: by words, or as the release does.")
    ] = None,
    held_out: Annotated[
        Path | None, typer.Option(help="Also write the test part, for `rejoinder study`.", metavar="FILE"), Writes()
    ] = None,
    force: Force = False,
    seed: Seed = 0,
    as_json: AsJson = False,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Train a judge on rated examples and save it as one folder, its encoder inside.

    Conversations are split 70 / 15 / 15 into training, validation and test; the epoch of the lowest validation error
    is kept. Ratings are brought from their scale to 1 to 5, and so are the judge's scores.
    """
    from rejoinder.io import read, write
    from rejoinder.judges.panel import MEMBERS, Panel, train_panel
    from rejoinder.judges.train import options_of, train_judge
    from rejoinder.report.training import training_table

    _check_places(out, held_out, force)
    chosen = _encoder(encoder, state, vectors)
    with reporting(on_error) as on_bad:
        examples = list(read(*files, on_bad=on_bad))
    alone = cast("BilinearKind", MEMBERS[0] if kind is Kind.PANEL else kind.value)
    asked = {"components": components, "penalty": penalty, "oversample": over_sample}
    changed: dict[str, Any] = {
        name: getattr(value, "value", value) for name, value in asked.items() if value is not None
    }
    options = replace(options_of(alone), **changed)
    given: dict[str, Any] = {"options": options, "references": references.value, "seed": seed}
    judge: BilinearJudge | Panel
    if kind is Kind.PANEL:
        with progress("training", len(MEMBERS) * options.epochs) as advance:
            judge, members = train_panel(examples, chosen, **given, advance=advance)
    else:
        with progress("training", options.epochs) as advance:
            members = [train_judge(examples, alone, chosen, **given, advance=advance)]
        judge = members[0].judge
    judge.save(out, force=force)
    if held_out is not None:
        tested = {example.where: example for trained in members for example in trained.test}
        write(tested.values(), held_out)
    if as_json:
        results = [{"kind": trained.judge.kind, **trained.judge.training} for trained in members]
        typer.echo(json.dumps({"version": 1, "results": results}))
        return
    if isinstance(judge, Panel):
        for absent, why in judge.absent.items():
            typer.echo(f"no {absent}: {why}")
    for trained in members:
        if kind is Kind.PANEL:
            typer.echo(trained.judge.kind.upper())
        typer.echo(training_table(trained.judge.training), nl=False)
    typer.echo(f"saved in {out}; score with it: rejoinder score FILE -s {out}")


def _check_places(out: Path, held_out: Path | None, force: bool) -> None:
    """Refuse, before any work, places that the results cannot be written to."""
    from rejoinder.io.atomic import require_place
    from rejoinder.io.folders import require_free
    from rejoinder.io.write import format_of

    require_free(out, force=force)
    if held_out is not None:
        format_of(held_out)
        require_place(held_out)


def _encoder(folder: Path | None, state: State | None, vectors: Path | None) -> PortableEncoder:
    """The encoder that the flags ask for."""
    from rejoinder.encoders import AverageEncoder, load_encoder
    from rejoinder.errors import UsageError
    from rejoinder.io.vectors import read_vectors

    if folder is None:
        if state is not None:
            raise UsageError("--state says which state of a pre-trained encoder. Name one with -e, or leave it out")
        return AverageEncoder(read_vectors(vectors))
    if vectors is not None:
        raise UsageError(f"-e {folder} takes the place of word vectors. Leave --vectors out, or -e")
    return load_encoder(folder, (state or State.CONTEXT).value)
