"""`rejoinder train`: rated examples to a judge."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from rejoinder.cli.common import (
    AsJson,
    Figures,
    Files,
    Force,
    OnError,
    OnErrorFlag,
    Seed,
    present,
    progress,
    reporting,
    require_places,
)
from rejoinder.cli.inputs import Columns, InputFormat, Turns, TurnsFlag, bounds_of, how, on_scale, say_scales
from rejoinder.cli.places import Writes
from rejoinder.cli.train_options import (
    Batch,
    Components,
    Encoder,
    Epochs,
    Norm,
    Normalised,
    OverSample,
    OwnVectors,
    Recipe,
    Repeated,
    Several,
    StateOf,
    Step,
    Views,
    Weight,
)
from rejoinder.judges import LEARNERS, READS


def _one_of_the_table(kind: str) -> str:
    """The kind, where the table of kinds has it."""
    if kind not in LEARNERS:
        raise typer.BadParameter(f"{kind!r} is not one of {', '.join(map(repr, LEARNERS))}.")
    return kind


Kind = Annotated[
    str,
    typer.Argument(
        callback=_one_of_the_table,
        metavar="KIND",
        help="What the judge reads, together with the response. "
        + "; ".join(f"{name}: {entry.about.removeprefix(READS)}" for name, entry in LEARNERS.items())
        + ".",
    ),
]
Out = Annotated[
    Path, typer.Option("-o", "--out", help="Where to: a folder to save the judge in.", metavar="FOLDER"), Writes()
]
HeldOut = Annotated[
    Path | None, typer.Option(help="Also write the test part, for `rejoinder study`.", metavar="FILE"), Writes()
]
Scale = Annotated[
    str | None,
    typer.Option(
        help="The lowest and highest rating, or all words in order: for lines that state none; the judge "
        "answers on it. Default: the scale of the ratings; 1,5 if there are several.",
        metavar="SCALE",
    ),
]


def command(
    kind: Kind,
    files: Files,
    out: Out,
    encoder: Encoder = None,
    view: Views = None,
    state: StateOf = None,
    vectors: OwnVectors = None,
    references: Several = None,
    preset: Recipe = None,
    components: Components = None,
    normalise: Normalised = None,
    over_sample: Repeated = None,
    penalty: Norm = None,
    penalty_weight: Weight = None,
    step: Step = None,
    epochs: Epochs = None,
    batch: Batch = None,
    held_out: HeldOut = None,
    scale: Scale = None,
    force: Force = False,
    seed: Seed = 0,
    as_json: AsJson = False,
    figures: Figures = None,
    columns: Columns = None,
    input_format: InputFormat = None,
    turns: TurnsFlag = Turns.LAST,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Train a judge on rated examples and save it as one folder, with its encoder.

    Says first whether to use it: by cross-validation, compared with the bundled judge and the best metric.

    Conversations are split 70 / 15 / 15 into training, validation and test; the epoch with the lowest validation error
    is kept. The judge answers on the scale of the ratings.
    """
    from rejoinder.analysis.train import steps, train
    from rejoinder.data.read import read
    from rejoinder.data.scales import in_words
    from rejoinder.judges import load_learner
    from rejoinder.judges.protocol import LearnerOptions

    _check_places(out, held_out, force)
    require_places(None, figures)
    options: dict[str, Any] = {
        "components": components,
        "normalise": normalise,
        "oversample": over_sample,
        "penalty": penalty,
    }
    options |= {"penalty_weight": penalty_weight, "learning_rate": step, "epochs": epochs, "batch_size": batch}
    choices = LearnerOptions(
        encoder=encoder,
        views=tuple(view or ()),
        state=state and state.value,
        vectors=vectors,
        references=references and references.value,
        preset=preset and preset.value,
        options=_options(options),
    )
    learner = load_learner(kind, choices)
    with reporting(on_error) as report_error:
        lines = read(*files, on_error=report_error, **how(columns, input_format, turns, scale=scale))
        examples = list(on_scale(lines, scale, report_error))
    bounds = bounds_of(scale)
    with progress("training", steps(learner)) as advance:
        judge, results = train(
            examples, learner, scale=bounds, seed=seed, vectors=vectors, held_out=held_out, progress=advance
        )
    judge.save(out, force=force)
    say_scales(examples, more=f"; the judge answers from {in_words(judge.scale)}")
    present(
        results, as_json=as_json, figures=figures, more=f"saved in {out}; score with it: rejoinder score FILE -s {out}"
    )


def _options(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the fit that flags set."""
    from rejoinder.errors import UsageError

    given = {name: getattr(value, "value", value) for name, value in asked.items() if value is not None}
    components = given.get("components", "all")
    if components != "all" and not (components.isdecimal() and components.isascii()):
        raise UsageError(f"--components is {components!r}, expected a number or all")
    if "components" in given:
        given["components"] = None if components == "all" else int(components)
    if given.get("oversample") == OverSample.NONE.value:
        given["oversample"] = None
    return given


def _check_places(out: Path, held_out: Path | None, force: bool) -> None:
    """Refuse, before any work, places that the results cannot be written to."""
    from rejoinder.data.folders import require_free
    from rejoinder.data.outputs import require_place
    from rejoinder.data.write import format_of

    require_free(out, force=force)
    if held_out is not None:
        format_of(held_out)
        require_place(held_out)
