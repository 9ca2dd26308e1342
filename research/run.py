"""Run an experiment by its name, and write its page."""

from __future__ import annotations

import argparse
import difflib
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, Protocol, cast

from rejoinder.cli.common import OnError, progress, reporting, tell, width
from rejoinder.cli.inputs import say
from rejoinder.cli.places import in_named
from rejoinder.cli.terminal import escaped_streams
from rejoinder.data.files import OnError as ReportError
from rejoinder.data.joins import Note
from rejoinder.data.outputs import require_apart
from rejoinder.data.read import raise_error, silent
from rejoinder.errors import MissingExtra, RejoinderError, UsageError
from rejoinder.report.terminal import blocks_text
from research import EXPERIMENTS
from research.asked import FLAGS, Asked, Stage, Takes, module, quiet, typed
from research.page import Page, about

_INTERRUPTED = 130
_HELP = {
    "files": "rated examples. Default: the data sets below --data",
    "encoders": "an encoder and its name in the tables, NAME=FOLDER or NAME=FOLDER:STATE; the first is the main one",
    "responders": "a responder and its name in the tables, NAME=FOLDER, or NAME= and another responder",
    "vectors": "file of word vectors. Default: the bundled ones",
    "data": "folder that holds judgements/*.jsonl.gz. Default: data in $REJOINDER_SHARED",
    "seeds": "random splits (lowe2017: 5), or rounds of ten folds (deriu2019: 1)",
    "seed": "decides every random choice",
}


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
        return cast("Experiment", import_module(module(name)))
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
    on_error: ReportError = raise_error,
    note: Note = silent,
    stage: Stage = quiet,
) -> Page:
    """Run an experiment anew and write its page `NAME.md`, which comes back too, with figures into the folder `out`.

    Args:
        name: one of `EXPERIMENTS`; each takes only some of what follows (its `TAKES`).
        files: what it runs on: rated examples, for some experiments something else; none where `data` or the data
            folder in $REJOINDER_SHARED has the sets.
        out: a folder that is there.
        encoders: each as NAME=FOLDER or NAME=FOLDER:STATE; the first is the main one.
        responders: each as NAME=FOLDER, or NAME= and another responder.
        vectors: file of word vectors; None for those in the box.
        data: folder that holds judgements/*.jsonl.gz.
        seeds: how many splits or rounds, 1 or more; None for as many as the experiment has.
        seed: decides what is drawn.
        on_error: gets the error of each bad line; by default it is raised.
        note: gets what is to be said of how files are read.
        stage: opens a piece of work whose progress somebody watches.

    Raises:
        UsageError: there is no such experiment or folder; it was given what it does not take, or lacks what it needs;
            an output would replace an input.
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
        on_error=on_error,
        note=note,
        stage=stage,
    )
    takes.require(name, asked)
    require_apart([out / f"{name}.md", *out.glob(f"{name}-*.svg")], _read_by(asked))
    call = typed(name, asked, takes.may, out, skipping=on_error is not raise_error)
    found = experiment(name).find(asked)
    page = cast("Page", import_module(f"{module(name)}_page").page(found, about(call, start)))
    page.save(out / f"{name}.md")
    return page


def main(name: str, arguments: Sequence[str] | None = None) -> NoReturn:
    """Run an experiment from the command line, and exit with the codes of `rejoinder`.

    Args:
        name: of the experiment.
        arguments: what follows the module's name; None takes the process's own.
    """
    try:
        given = vars(_parser(name).parse_args(arguments))
        with escaped_streams(), reporting(OnError(given.pop("on_error"))) as on_error:
            files, out = given.pop("files", ()), given["out"]
            page = reproduce(name, *files, **given, on_error=on_error, note=say, stage=progress)
            tell(f"{blocks_text(page.brief, width())}\nsaved in {out / name}.md")
    except RejoinderError as error:
        tell(f"rejoinder: {' '.join(str(error).split())}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        tell("rejoinder: interrupted", err=True)
        sys.exit(_INTERRUPTED)
    sys.exit(0)


def _parser(name: str) -> argparse.ArgumentParser:
    """Return what reads the options; help hides those that the experiment does not take, which `Takes` refuses."""
    takes = experiment(name).TAKES.may
    parser = argparse.ArgumentParser(
        prog=f"python -m {module(name)}",
        description=f"Run the experiment {name} ({EXPERIMENTS[name]}) again; write {name}.md and its figures.",
        allow_abbrev=False,
    )
    forms: dict[str, dict[str, Any]] = {
        "files": {"nargs": "*", "metavar": "FILE"},
        "encoders": {"action": "append", "default": [], "metavar": "NAME=FOLDER"},
        "responders": {"action": "append", "default": [], "metavar": "NAME=FOLDER"},
        "vectors": {"type": Path, "metavar": "FILE"},
        "data": {"type": Path, "metavar": "FOLDER"},
        "seeds": {"type": _positive, "metavar": "N"},
        "seed": {"type": int, "default": 0, "metavar": "N"},
    }
    for key, form in forms.items():
        shown = _HELP[key] if key in takes else argparse.SUPPRESS
        flags = {"files": ["files"], "encoders": ["-e", "--encoder"], "responders": ["-r", "--responder"]}
        named: dict[str, Any] = {} if key == "files" else {"dest": key}
        parser.add_argument(*flags.get(key, [FLAGS[key]]), **named, **form, help=shown)
    parser.add_argument("--on-error", choices=[*OnError], default="stop", help="what to do with a bad line")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="FOLDER", help="where the page goes")
    return parser


def _positive(text: str) -> int:
    """Read a whole number of 1 or more."""
    if int(text) < 1:
        raise ValueError(text)
    return int(text)


def _read_by(asked: Asked) -> list[str | Path]:
    """Return the places that an experiment reads."""
    named = [place for text in (*asked.encoders, *asked.responders) for place in in_named(text)]
    return [*asked.files, *named, *(place for place in (asked.vectors, asked.data) if place is not None)]
