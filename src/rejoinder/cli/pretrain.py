"""`rejoinder pretrain`: dialogues to a trained encoder."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.common import OnError, OnErrorFlag, progress, reporting


def command(
    recipe: Annotated[Path, typer.Argument(help="What to train and how, TOML.", metavar="RECIPE.toml")],
    files: Annotated[
        list[Path], typer.Argument(help="Corpora: files of dialogues, or folders of them.", metavar="CORPUS...")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to save the model in.", metavar="FOLDER")],
    start: Annotated[
        Path | None, typer.Option("--start", help="Model whose weights to start from.", metavar="FOLDER")
    ] = None,
    keep_judged: Annotated[bool, typer.Option("--keep-judged", help="Also use dialogues marked as judged.")] = False,
    on_error: OnErrorFlag = OnError.STOP,
) -> None:
    """Train an HRED or VHRED on dialogues, or a tweet2vec on tweets.

    Interrupted, it goes on where it was when called again.

    FOLDER.run holds tokens, checkpoints and the curves (curves.svg) while it runs; remove it when you are done.
    """
    from rejoinder.errors import MissingExtra, UsageError
    from rejoinder.io.corpus import corpus_files

    try:
        from rejoinder.training.fit import is_first_process
        from rejoinder.training.pretrain import pretrain
        from rejoinder.training.pretrain_tweets import pretrain_tweets
        from rejoinder.training.recipe import TweetRecipe, read_recipe
    except ModuleNotFoundError as error:
        raise MissingExtra((error.name or "torch").partition(".")[0], "train", "Pre-training") from error
    if not is_first_process():  # it was started by the first for a further device, which tells all there is to tell
        sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    plan = read_recipe(recipe)
    with reporting(on_error) as on_bad, progress("training", plan.options.updates) as advance:
        say = partial(typer.echo, err=True)
        if isinstance(plan, TweetRecipe):
            if start is not None or keep_judged:
                raise UsageError(
                    "--start and --keep-judged are for dialogues, a tweet2vec knows neither. Leave them out"
                )
            done = pretrain_tweets(plan, corpus_files(files), out, on_bad=on_bad, say=say, advance=advance)
        else:
            done = pretrain(
                plan,
                corpus_files(files),
                out,
                start=start,
                keep_judged=keep_judged,
                on_bad=on_bad,
                say=say,
                advance=advance,
            )
    for name, value in done.best.items():
        typer.echo(f"{name.replace('_', ' ')}: {value:.4g}")
    typer.echo(f"saved in {out}; encode with it: rejoinder encode FILE -e {out} -o OUT.npz")
