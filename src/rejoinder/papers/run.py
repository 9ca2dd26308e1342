"""Run an experiment by its name, and write its page."""

from __future__ import annotations

import difflib
import shutil
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from rejoinder.errors import MissingExtra, UsageError
from rejoinder.io.lines import STDIN, Note, OnBad, raise_bad, silent
from rejoinder.papers import EXPERIMENTS
from rejoinder.papers.asked import Asked, Stage, Takes, quiet, typed
from rejoinder.papers.kept import has_pieces
from rejoinder.papers.page import about, require_figures
from rejoinder.report.document import Document
from rejoinder.report.files import write_document


class Experiment(Protocol):
    """What the module of an experiment has.

    Attributes:
        TAKES: what it can be given.
    """

    TAKES: Takes

    def find(self, asked: Asked) -> Any:
        """All that was found, for the module that writes the page."""
        ...


def experiment(name: str) -> Experiment:
    """The experiment that is called `name`.

    Raises:
        UsageError: there is none; the message holds the nearest names.
        MissingExtra: a library that it needs is not installed.
    """
    if name not in EXPERIMENTS:
        near = difflib.get_close_matches(name.lower(), EXPERIMENTS, n=2, cutoff=0.6)
        hint = f" Nearest: {', '.join(near)}." if near else ""
        raise UsageError(f"no experiment is called {name!r}.{hint} All of them: {', '.join(EXPERIMENTS)}")
    try:
        return cast("Experiment", import_module(_module(name)))
    except ModuleNotFoundError as error:
        raise MissingExtra((error.name or "torch").partition(".")[0], "train", f"The experiment {name}") from error


def reproduce(
    name: str,
    *files: str | Path,
    out: str | Path,
    encoders: Sequence[str] = (),
    responders: Sequence[str] = (),
    vectors: str | Path | None = None,
    data: str | Path | None = None,
    seeds: int | None = None,
    seed: int = 0,
    on_bad: OnBad = raise_bad,
    note: Note = silent,
    stage: Stage = quiet,
) -> Document:
    """Run an experiment anew and write its page `NAME.md`, which comes back too, with figures into the folder `out`.

    Args:
        name: one of `EXPERIMENTS`; each takes only some of what follows (its `TAKES`).
        files: what it runs on: rated examples, for some experiments something else; none where `data` or the data
            folder in $REJOINDER_SHARED has the sets.
        out: a folder that is there; `nested` and `study` keep in `NAME.run` there what is done, until they have ended.
        encoders: each as NAME=FOLDER or NAME=FOLDER:STATE; the first is the main one.
        responders: each as NAME=FOLDER, or NAME= and another responder.
        vectors: file of word vectors; None for those in the box.
        data: folder that holds judgements/*.jsonl.gz.
        seeds: how many splits or rounds, 1 or more; None for as many as the experiment has.
        seed: decides what is drawn.
        on_bad: gets the error of each bad line; by default it is raised.
        note: gets what is to be said of how files are read.
        stage: opens a piece of work whose progress somebody watches.

    Raises:
        UsageError: there is no such experiment or folder; it was given what it does not take, or lacks what it needs.
        MissingAsset, MissingExtra: there is nothing to run on, or a model or a library is not there.
        DataError: files or models are damaged, or do not suffice.
    """
    start, out = time.perf_counter(), Path(out)
    takes = experiment(name).TAKES  # that there is one comes before all else that can be wrong
    if not out.is_dir():
        raise UsageError(f"{out}: no such folder. Make it first: mkdir -p {out}")
    asked = Asked(
        files=files,
        encoders=encoders,
        responders=responders,
        vectors=vectors,
        data=data,
        seeds=seeds,
        seed=seed,
        on_bad=on_bad,
        note=note,
        stage=stage,
        run=_run_of(out, name, files) if takes.keeps else None,
    )
    takes.require(name, asked)
    require_figures()
    call = typed(name, asked, takes.may, out, skipping=on_bad is not raise_bad)
    document = _page(name, asked, call, start)
    write_document(document, out / f"{name}.md")
    _forget(asked.run)
    return document


def _run_of(out: Path, name: str, files: Sequence[str | Path]) -> Path | None:
    """Where what is done is kept; nowhere what came of standard input, which cannot be read twice."""
    return None if STDIN in map(str, files) else out / f"{name}.run"


def _forget(run: Path | None) -> None:
    """Remove what was kept meanwhile."""
    if run is not None:
        shutil.rmtree(run, ignore_errors=True)


def _page(name: str, asked: Asked, call: str, start: float) -> Document:
    """The page of what is found; an interruption of one that keeps what is done says how to go on."""
    resumed = has_pieces(asked.run)
    try:
        found = experiment(name).find(asked)
    except KeyboardInterrupt:
        if asked.run is None:
            raise
        raise KeyboardInterrupt("call again to go on") from None
    return cast("Document", import_module(f"{_module(name)}_page").page(found, about(call, start, resumed=resumed)))


def _module(name: str) -> str:
    """The module of an experiment."""
    return f"rejoinder.papers.{name.replace('-', '_')}"
