"""What a student is taught: texts of corpora and a teacher's vectors of them, in a folder.

The folder holds `texts.json`, a list of texts in any order, and `v000.npy`, `v001.npy` ...: arrays [n, O] of half
precision, whose rows are the vectors of the first n texts, of the next, and so on. There may be more texts than
vectors: those without are not used. A row that holds NaN is a text that the teacher has no vector for.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.dialogues import Dialogue
from rejoinder.data.outputs import atomic_file
from rejoinder.errors import DataError, UsageError
from rejoinder.pretraining.recipe import StudentText
from rejoinder.scorer import FloatArray

TEXTS = "texts.json"
_AT_ONCE = 20_000
_FILE = re.compile(r"v(\d+)\.npy")
_LEAST_TURNS = 3
_MANY_TURNS = 8
_REMEDY = "Make the folder again"

Teach = Callable[[Sequence[str]], FloatArray]
Halves = NDArray[np.float16]


@dataclass(frozen=True)
class Taught:
    """Texts and their teacher's vectors.

    Attributes:
        texts: N texts.
        chunks: the vectors, one array of rows after the other, on disk.
    """

    texts: Sequence[str]
    chunks: Sequence[Halves]

    @property
    def width(self) -> int:
        """O."""
        return int(self.chunks[0].shape[1])

    def usable(self) -> NDArray[np.int64]:
        """The places of texts that have a vector, in their order."""
        there = np.concatenate([np.isfinite(chunk).all(axis=1) & (chunk != 0).any(axis=1) for chunk in self.chunks])
        return np.flatnonzero(there)

    def vectors(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """[n, O] the unit vectors of the texts at n places."""
        chunks = np.searchsorted(self._starts, places, side="right") - 1
        found = np.empty((len(places), self.width), dtype=np.float32)
        for chunk in np.unique(chunks):
            rows = np.flatnonzero(chunks == chunk)
            found[rows] = self.chunks[chunk][places[rows] - self._starts[chunk]]
        unit: NDArray[np.float32] = found / np.linalg.norm(found, axis=1, keepdims=True)
        return unit

    def digest(self) -> str:
        """16 digits that tell these texts and vectors from others."""
        total = hashlib.sha256("\n".join(self.texts).encode("utf-8", "surrogatepass"))
        for chunk in self.chunks:
            total.update(np.ascontiguousarray(chunk).tobytes())
        return total.hexdigest()[:16]

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """The place of the first text of each chunk."""
        return np.array([0, *accumulate(len(chunk) for chunk in self.chunks)][:-1])


def is_taught(folder: str | Path) -> bool:
    """Whether a folder holds texts and vectors."""
    return (Path(folder) / TEXTS).is_file()


def read_taught(folder: str | Path, most: int | None = None) -> Taught:
    """The texts in a folder that have vectors, and these.

    Args:
        folder: see the module.
        most: of the texts, the first so many alone; None takes all.

    Raises:
        DataError: the folder holds something else, or no vectors.
    """
    place = Path(folder)
    texts = _texts(place / TEXTS)
    chunks: list[Halves] = []
    for file in _files(place):
        left = (len(texts) if most is None else most) - sum(map(len, chunks))
        if left <= 0:
            break
        chunks.append(_rows(file)[:left])
    count = sum(map(len, chunks))
    if not count or len({chunk.shape[1] for chunk in chunks}) > 1:
        found = "no vectors" if not count else "vectors of several widths"
        raise DataError(found, _REMEDY, where=str(folder))
    return Taught(texts[:count], chunks)


def write_texts(folder: Path, texts: Sequence[str]) -> None:
    """Write the texts of a folder, whole."""
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_file(folder / TEXTS) as partial:
        partial.write_text(json.dumps(texts, ensure_ascii=False), encoding="utf-8", errors="surrogatepass")


def write_vectors(folder: Path, teach: Teach, say: Callable[[str], None]) -> None:
    """Ask a teacher for the vectors of the texts in a folder that have none yet, chunk by chunk.

    Args:
        folder: has its texts.
        teach: N texts to vectors [N, O], NaN where there is none.
        say: takes one line about each chunk.
    """
    texts = _texts(folder / TEXTS)
    for number, start in enumerate(range(0, len(texts), _AT_ONCE)):
        file = folder / f"v{number:03}.npy"
        if file.is_file():
            continue
        vectors = teach(texts[start : start + _AT_ONCE])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        with atomic_file(file) as partial, partial.open("wb") as stream:
            np.save(stream, (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float16))
        say(f"the teacher has read {min(start + _AT_ONCE, len(texts)):,} of {len(texts):,} texts")


def texts_of(dialogues: Iterable[Dialogue], how: StudentText) -> list[str]:
    """The texts that a student is taught: different turns and some contexts, shuffled.

    A context is three turns, or the first two, joined by spaces: one of a dialogue of three turns or more, two of one
    of more than eight.
    """
    generator = np.random.default_rng(how.seed)
    turns: dict[str, str] = {}
    contexts: list[str] = []
    for dialogue in dialogues:
        said = [" ".join(turn.split()) for turn in dialogue.turns]
        for turn in said:
            if how.fewest_words <= len(turn.split()) <= how.most_words:
                turns.setdefault(turn.casefold(), turn)
        contexts += _contexts(said, generator)
    kept = generator.permutation(len(contexts))[: int(how.contexts * len(turns))]
    texts = [*turns.values(), *(contexts[place] for place in kept)]
    return [texts[place] for place in generator.permutation(len(texts))]


def _contexts(turns: Sequence[str], generator: np.random.Generator) -> Iterator[str]:
    """Contexts out of one dialogue."""
    if len(turns) < _LEAST_TURNS:
        return
    for end in generator.integers(2, len(turns) + 1, size=1 + (len(turns) > _MANY_TURNS)):
        yield " ".join(turns[max(end - _LEAST_TURNS, 0) : end])


def _texts(file: Path) -> list[str]:
    """The texts in a file."""
    try:
        found = json.loads(file.read_text(encoding="utf-8", errors="surrogatepass"))
    except FileNotFoundError as error:
        raise UsageError(f"{file}: there is no such file") from error
    except ValueError as error:
        raise DataError(f"broken JSON ({error!s:.60})", _REMEDY, where=str(file)) from error
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise DataError("not a list of texts", _REMEDY, where=str(file))
    return found


def _files(folder: Path) -> Iterator[Path]:
    """The files of vectors from the first on, up to where one is missing."""
    numbered = {int(match[1]): file for file in folder.iterdir() if (match := _FILE.fullmatch(file.name))}
    for number in range(len(numbered)):
        if number not in numbered:
            return
        yield numbered[number]


def _rows(file: Path) -> Halves:
    """The array in a file, left on disk."""
    try:
        found: Halves = np.load(file, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise DataError(f"no array ({error!s:.60})", _REMEDY, where=str(file)) from error
    if found.ndim != 2 or found.dtype.kind != "f" or not all(found.shape):
        problem = f"{found.dtype} of shape {found.shape}, expected floats of two dimensions"
        raise DataError(problem, _REMEDY, where=str(file))
    return found
