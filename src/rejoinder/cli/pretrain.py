"""`rejoinder pretrain`: dialogues to a trained encoder or responder."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import Force, OnError, OnErrorFlag, progress, reporting, resumable, tell
from rejoinder.cli.places import Given, Reads, Writes, in_encoder


def _with_run(out: Path, _others: Given) -> list[Path]:
    """The model's folder, and the one beside it that a run works in."""
    from rejoinder.data.folders import run_folder

    return [out, run_folder(out)]


Recipe = Annotated[Path, typer.Argument(help="What to train and how, TOML.", metavar="RECIPE.toml"), Reads()]
Files = Annotated[
    list[Path],
    typer.Argument(help="Corpora: files of dialogues, or folders of them.", metavar="CORPUS..."),
    Reads(),
]
Out = Annotated[
    Path,
    typer.Option("-o", "--out", help="Where to: a folder to save the model in.", metavar="FOLDER"),
    Writes(_with_run),
]
Start = Annotated[
    Path | None, typer.Option("--start", help="Model whose weights to start from.", metavar="FOLDER"), Reads()
]
Teacher = Annotated[
    str | None,
    typer.Option("--teacher", help="Encoder that a student learns from, or a selector reads.", metavar="NAME|FOLDER"),
    Reads(in_encoder),
]
KeepJudged = Annotated[bool, typer.Option("--keep-judged", help="Also use dialogues marked as judged.")]


def command(
    recipe: Recipe,
    files: Files,
    out: Out,
    start: Start = None,
    teacher: Teacher = None,
    keep_judged: KeepJudged = False,
    force: Force = False,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Train encoders and responders on dialogues, or a tweet2vec on tweets; or count the phrases of a corpus.

    A student learns the vectors of another encoder (--teacher); CORPUS may be a folder of such vectors instead. A
    selector learns over the vectors of an encoder which reply answers which context.

    Interrupted, it goes on where it was when called again.

    FOLDER.run holds tokens, checkpoints and the figures so far (curves.csv); remove it when you are done.
    """
    from rejoinder.pretraining.pretrain import pretrain
    from rejoinder.pretraining.recipe import read_recipe

    plan = read_recipe(recipe)
    if os.environ.get("RANK", "0") != "0":  # of the processes that torchrun starts, the first alone reports
        sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    updates = plan.run.updates if hasattr(plan, "run") else None
    with resumable(), reporting(on_error) as report_error, progress("training", updates) as advance:
        done = pretrain(
            plan,
            files,
            out,
            start=start,
            teacher=teacher,
            keep_judged=keep_judged,
            force=force,
            on_error=report_error,
            log=partial(tell, err=True),
            progress=advance,
        )
    for name, value in done.best.items():
        tell(f"{name.replace('_', ' ')}: {value:.4g}")
    tell("; ".join(filter(None, (f"saved in {out}", _use(done.kind, out)))))


def _use(kind: str, out: Path) -> str:
    """What to do with a trained model."""
    from rejoinder.models import MODELS

    uses = {
        f"answer with it: rejoinder respond FILE -r {out}": MODELS[kind].responder,
        f"encode with it: rejoinder encode FILE -e {out} -o OUT.npz": MODELS[kind].encoder,
    }
    return "; ".join(use for use, fits in uses.items() if fits)
