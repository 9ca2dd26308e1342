"""What an experiment is asked to run on, and how that is typed."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rejoinder.data.files import OnError
from rejoinder.data.joins import Note
from rejoinder.data.read import raise_error, read, silent
from rejoinder.errors import MissingAsset, UsageError
from rejoinder.example import Example
from rejoinder.scorer import Advance, ignore

SHARED = "REJOINDER_SHARED"
JUDGEMENTS, PREFERENCES, CORPORA = "judgements", "preferences", "corpora"
RELEVANCE = "relevance"
# What lies in each folder of data.
_KINDS = {
    JUDGEMENTS: "rated examples",
    PREFERENCES: "preference pairs",
    CORPORA: "dialogues",
    RELEVANCE: "replies that fit or do not",
}
# A piece of work, from what it is called and how many steps it has where that is known: its block gets what to call
# with the steps that are done.
Stage = Callable[[str, int | None], AbstractContextManager[Advance]]
# How the command calls what an experiment may be given, by the name of the argument; all but `files` are options.
FLAGS = {
    "files": "FILES",
    "encoders": "-e",
    "responders": "-r",
    "vectors": "--vectors",
    "data": "--data",
    "seeds": "--seeds",
    "seed": "--seed",
}


@contextmanager
def quiet(_label: str, _total: int | None = None) -> Iterator[Advance]:
    """A stage that nobody watches."""
    yield ignore


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What an experiment is asked to run on; each takes only some of it (see `Takes`).

    Attributes:
        files: of rated examples, or whatever else the experiment reads.
        encoders: each as NAME=FOLDER or NAME=FOLDER:STATE; the first is the main one.
        responders: each as NAME=FOLDER, or NAME= and another responder.
        vectors: file of word vectors; None for those in the box.
        data: folder that holds judgements/*.jsonl.gz; None for data in $REJOINDER_SHARED.
        seeds: how many splits or rounds, 1 or more; None for as many as the experiment has.
        seed: decides what is drawn.
        on_error: gets the error of each bad line.
        note: gets what is to be said of how files are read.
        stage: opens a piece of work.
    """

    files: Sequence[str | Path] = ()
    encoders: Sequence[str] = ()
    responders: Sequence[str] = ()
    vectors: str | Path | None = None
    data: str | Path | None = None
    seeds: int | None = None
    seed: int = 0
    on_error: OnError = raise_error
    note: Note = silent
    stage: Stage = quiet

    def examples(self, sets: Sequence[str]) -> list[Example]:
        """The rated examples of the files, or else of the data sets whose names match the patterns `sets`.

        Raises:
            MissingAsset: no files were given, and none of the sets is there.
            DataError: a line is bad, and nobody takes it.
        """
        return list(read(*self.files_or(sets), on_error=self.on_error, note=self.note))

    def files_or(self, sets: Sequence[str], kind: str = JUDGEMENTS) -> list[str | Path]:
        """The files that were given, or else those of the data sets `sets`; see `files_of`."""
        return list(self.files) or list(files_of(sets, self.data, kind))


class Takes(NamedTuple):
    """What an experiment can be given, by names of `Asked`.

    Attributes:
        may: all of it.
        must: without what it cannot run.
        why: what to say where that is missing.
    """

    may: tuple[str, ...]
    must: tuple[str, ...] = ()
    why: str = ""

    def require(self, name: str, asked: Asked) -> None:
        """Raise where the experiment `name` was given what it does not take, or lacks what it must have.

        Raises:
            UsageError: so it is; or files and `data` were both given.
        """
        given = {key for key in FLAGS if getattr(asked, key)}  # seed 0 and no seed are one
        if given - set(self.may):
            takes, other = (
                [flag for key, flag in FLAGS.items() if key in keys] for keys in (self.may, given - set(self.may))
            )
            raise UsageError(f"{name} takes {', '.join(takes)}, not {', '.join(other)}. Leave out what does not fit")
        if set(self.must) - given:
            raise UsageError(f"{name} {self.why}")
        if {"files", "data"} <= given:
            raise UsageError("FILES and --data were both given. Give one of them")


def files_of(sets: Sequence[str], data: str | Path | None, kind: str = JUDGEMENTS) -> list[Path]:
    """The files of data sets below the folder `data`, or else below the data folder in $REJOINDER_SHARED.

    Args:
        sets: patterns of their names.
        data: the folder; None for the shared one.
        kind: the folder inside it.

    Raises:
        MissingAsset: there is no such folder, or none of the sets in it.
    """
    wanted = f"Give FILES of {_KINDS[kind]}, or --data with a folder that holds {kind}/*.jsonl.gz"
    if data is None:
        if not os.environ.get(SHARED):
            raise MissingAsset(f"no {_KINDS[kind]} to run on. {wanted}, or set {SHARED}")
        data = Path(os.environ[SHARED]) / "data"
    folder = Path(data) / kind
    found = [file for pattern in sets for file in sorted(folder.glob(f"{pattern}.jsonl.gz"))]
    if not found:
        raise MissingAsset(f"{folder}: none of {', '.join(sets)} is here. {wanted}")
    return found


def named(text: str, flag: str) -> tuple[str, str]:
    """Name and place of NAME=PLACE.

    Raises:
        UsageError: it has another form.
    """
    name, equals, place = text.partition("=")
    if not (name and equals and place):
        other = ", or NAME= and another responder" if flag == "-r" else ""
        raise UsageError(f"{flag} {text}: expected NAME=FOLDER{other}")
    return name, place


def typed(name: str, asked: Asked, takes: Collection[str], out: Path, *, skipping: bool) -> str:
    """The call for the page, without the places on this machine.

    Args:
        name: of the experiment.
        asked: what it ran on.
        takes: what it can be given.
        out: where the page goes.
        skipping: whether bad lines were passed over, so that the call does not stop at one.
    """
    parts = ["python", "-m", module(name), *(Path(file).name for file in asked.files)]
    for flag, texts in (("-e", asked.encoders), ("-r", asked.responders)):
        for text in texts:
            called, _, place = text.partition("=")
            # A command and an address are no places on this machine.
            parts += [flag, text if place.startswith(("command:", "openai:")) else f"{called}={_bare(place)}"]
    parts += [] if asked.vectors is None else ["--vectors", Path(asked.vectors).name]
    parts += [] if asked.seeds is None else ["--seeds", str(asked.seeds)]
    parts += ["--seed", str(asked.seed)] if "seed" in takes else []
    parts += ["--on-error", "skip"] if skipping else []
    return shlex.join([*parts, "-o", out.name if out.is_absolute() else str(out)])


def module(name: str) -> str:
    """Return the module of an experiment."""
    return f"research.{name.replace('-', '_')}"


def _bare(place: str) -> str:
    """The name of a file or folder without the folders around it; `human:` before it stays."""
    return f"{'human:' * place.startswith('human:')}{Path(place.removeprefix('human:')).name}"
