"""What an experiment has finished, in a folder beside its page until that is written: an interrupted call goes on.

A piece is kept whole or not at all, under what decides it. The folder says what it was made from, files, seed and
version, and is refused where that differs, so that no page mixes two of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from rejoinder.io.atomic import atomic_file
from rejoinder.learner import Encoded, Fitted, Learner, Rows
from rejoinder.papers.asked import Asked
from rejoinder.scorer import Advance, FloatArray
from rejoinder.training.corpora import digests
from rejoinder.training.processes import claim_run
from rejoinder.version import __version__

Arrays = Mapping[str, NDArray[Any]]
_NAMES = "names"  # of the arrays in a file, which may be damaged as well


@dataclass(frozen=True)
class Kept:
    """Pieces of an experiment.

    Attributes:
        folder: where they lie; None keeps none.
    """

    folder: Path | None

    def piece(self, name: str, make: Callable[[], Arrays]) -> Arrays:
        """The arrays called `name`: those of an earlier call, or those that are made now."""
        file = self._file(name)
        if found := None if file is None else _read(file):
            return found
        made = make()
        if file is not None:
            with atomic_file(file) as partial, partial.open("wb") as stream:
                np.savez(stream, allow_pickle=False, **{_NAMES: np.array(sorted(made)), **made})
        return made

    def has(self, name: str) -> bool:
        """Whether there is such a piece."""
        file = self._file(name)
        return file is not None and file.is_file()

    def _file(self, name: str) -> Path | None:
        """Where a piece lies."""
        return None if self.folder is None else self.folder / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.npz"


def kept(asked: Asked, files: Sequence[str | Path]) -> Kept:
    """The pieces of an experiment that reads these files.

    Raises:
        UsageError: the folder holds those of another call, or another call is at work there.
    """
    if asked.run is None:
        return Kept(None)
    made_of = {"files": digests(files), "seed": asked.seed, "version": __version__, "code": _code()}
    claim_run(asked.run, made_of, "other files, another seed or another version")
    return Kept(asked.run)


def has_pieces(run: Path | None) -> bool:
    """Whether an earlier call has left some."""
    return run is not None and any(run.glob("*.npz"))


@dataclass(frozen=True)
class KeptLearner:
    """A learner like another, whose fits are pieces: what one has said of lines it need not be fitted for again.

    Attributes:
        learner: the other.
        pieces: what it has said.
    """

    learner: Learner
    pieces: Kept

    def __getattr__(self, name: str) -> Any:
        """Whatever else the other has."""
        if name.startswith("__") or name == "learner":  # which whoever copies it asks for before there is a learner
            raise AttributeError(name)
        return getattr(self.learner, name)

    def fit(
        self,
        encoded: Encoded,
        ratings: FloatArray,
        train: Rows,
        validation: Rows,
        rng: np.random.Generator,
        advance: Advance,
    ) -> Any:
        """See `Learner.fit`; what was fitted in an earlier call is fitted again only if it is asked something else."""
        rows = b"|".join(part.tobytes() for part in (train, validation))
        name = f"{self.learner.name} {hashlib.sha256(rows).hexdigest()} {rng.bit_generator.state}"

        @cache
        def fitted() -> Fitted:
            return self.learner.fit(encoded, ratings, train, validation, rng, advance)

        if not self.pieces.has(name):
            fitted()  # here, where whoever calls expects that it may fail
        return _Said(name, fitted, self.pieces)


@dataclass(frozen=True)
class _Said:
    """What came of one fit."""

    name: str
    fitted: Callable[[], Fitted]
    pieces: Kept

    def predict(self, encoded: Encoded, rows: Rows) -> FloatArray:
        """See `Fitted.predict`."""
        found = self.pieces.piece(self.name, lambda: {"rows": rows, "values": self.fitted().predict(encoded, rows)})
        same = np.array_equal(found["rows"], rows)
        return found["values"] if same else self.fitted().predict(encoded, rows)


def _read(file: Path) -> Arrays | None:
    """The arrays in a file; None where there is none, or a damaged one."""
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as found:
            arrays = dict(found)
            names = arrays.pop(_NAMES, np.array([])).tolist()
            return arrays if names == sorted(arrays) else None
    except (OSError, ValueError, EOFError, BadZipFile, KeyError, NotImplementedError, RuntimeError):
        return None


def _code() -> str:
    """What tells this program, and the models in its box, from others of the same version."""
    total, package = hashlib.sha256(), Path(__file__).parents[1]
    for file in sorted(package.rglob("*")):
        if file.is_file() and file.suffix != ".pyc":
            total.update(f"{file.relative_to(package).as_posix()}\n".encode() + file.read_bytes())
    return total.hexdigest()[:16]
