"""`rejoinder pretrain`: dialogues to a trained encoder or responder."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rejoinder.cli.common import Force, OnError, OnErrorFlag, progress, reporting, resumable, tell
from rejoinder.cli.places import Given, Reads, Writes

if TYPE_CHECKING:
    from rejoinder.training.recipe import RetrievalRecipe


def _with_run(out: Path, _others: Given) -> list[Path]:
    """The model's folder, and the one beside it that a run works in."""
    from rejoinder.io.folders import run_folder

    return [out, run_folder(out)]


def command(
    recipe: Annotated[Path, typer.Argument(help="What to train and how, TOML.", metavar="RECIPE.toml"), Reads()],
    files: Annotated[
        list[Path],
        typer.Argument(help="Corpora: files of dialogues, or folders of them.", metavar="CORPUS..."),
        Reads(),
    ],
    out: Annotated[
        Path, typer.Option("-o", "--out", help="Folder to save the model in.", metavar="FOLDER"), Writes(_with_run)
    ],
    start: Annotated[
        Path | None, typer.Option("--start", help="Model whose weights to start from.", metavar="FOLDER"), Reads()
    ] = None,
    keep_judged: Annotated[bool, typer.Option("--keep-judged", help="Also use dialogues marked as judged.")] = False,
    force: Force = False,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Train encoders and responders on dialogues, or a tweet2vec on tweets.

    Interrupted, it goes on where it was when called again.

    FOLDER.run holds tokens, checkpoints and the curves (curves.svg) while it runs; remove it when you are done.
    """
    from rejoinder.errors import MissingExtra, UsageError
    from rejoinder.io.corpus import corpus_files
    from rejoinder.training.recipe import DUAL_ENCODER, Recipe, RetrievalRecipe, TweetRecipe, read_recipe

    say = partial(tell, err=True)
    try:
        plan = read_recipe(recipe)
        if isinstance(plan, RetrievalRecipe):
            _without_network(plan, files, out, start, keep_judged, force, on_error)
            return
        from rejoinder.training.fit import is_first_process
        from rejoinder.training.pretrain import pretrain
        from rejoinder.training.pretrain_tweets import pretrain_tweets
    except ModuleNotFoundError as error:
        raise MissingExtra((error.name or "torch").partition(".")[0], "train", "Pre-training") from error
    if not is_first_process():  # it was started by the first for a further device, which tells all there is to tell
        sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    corpora = corpus_files(files)
    with resumable(), reporting(on_error) as on_bad, progress("training", plan.options.updates) as advance:
        if isinstance(plan, TweetRecipe):
            if start is not None or keep_judged:
                raise UsageError(
                    "--start and --keep-judged are for dialogues, a tweet2vec knows neither. Leave them out"
                )
            done = pretrain_tweets(plan, corpora, out, force=force, on_bad=on_bad, say=say, advance=advance)
        else:
            done = pretrain(
                plan,
                corpora,
                out,
                start=start,
                keep_judged=keep_judged,
                force=force,
                on_bad=on_bad,
                say=say,
                advance=advance,
            )
    if isinstance(plan, Recipe) and plan.kind == DUAL_ENCODER and is_first_process():
        from rejoinder.responders.build import add_candidates

        add_candidates(out, plan, corpora, keep_judged=keep_judged, say=say)
    for name, value in done.best.items():
        tell(f"{name.replace('_', ' ')}: {value:.4g}")
    tell(f"saved in {out}; {_use(plan.kind, out)}")


def _without_network(
    recipe: RetrievalRecipe,
    files: list[Path],
    out: Path,
    start: Path | None,
    keep_judged: bool,
    force: bool,
    on_error: OnError,
) -> None:
    """Make a retrieval model that has no network to train."""
    from rejoinder.errors import UsageError
    from rejoinder.io.corpus import corpus_files
    from rejoinder.responders.build import build_retrieval

    if start is not None:
        raise UsageError(f"--start is for networks, a {recipe.kind} has none. Leave it out")
    with reporting(on_error) as on_bad:
        say = partial(tell, err=True)
        build_retrieval(recipe, corpus_files(files), out, keep_judged=keep_judged, force=force, on_bad=on_bad, say=say)
    tell(f"saved in {out}; {_use(recipe.kind, out)}")


def _use(kind: str, out: Path) -> str:
    """What to do with a trained model."""
    from rejoinder import encoders, responders

    uses = {
        f"answer with it: rejoinder respond FILE -r {out}": kind in responders.KINDS,
        f"encode with it: rejoinder encode FILE -e {out} -o OUT.npz": kind in encoders.KINDS,
    }
    return "; ".join(use for use, fits in uses.items() if fits)
