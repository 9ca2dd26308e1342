"""The lines of an experiment as vectors, encoded once for all the judges that are fitted on them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.judges.adem.head import Terms, Vectors
from rejoinder.judges.adem.learner import Lines, encode_lines
from rejoinder.judges.adem.optimizer import AdemFit
from rejoinder.judges.protocol import Rows
from rejoinder.models import load_encoder
from rejoinder.models.encoders import AverageEncoder, PortableEncoder
from rejoinder.scorer import FloatArray
from rejoinder.text.vectors import read_vectors
from research.asked import Asked
from research.material import Material, collect

State = Literal["context", "utterance"]
STATES: tuple[State, ...] = ("context", "utterance")
WORD_VECTORS = "word vectors"


class Source(NamedTuple):
    """An encoder that a user named.

    Attributes:
        name: what it is called in the tables.
        folder: of the pre-trained model.
        state: the one state to take; None takes all it has.
    """

    name: str
    folder: Path
    state: State | None = None


def source(text: str) -> Source:
    """The encoder that NAME=FOLDER or NAME=FOLDER:STATE names.

    Raises:
        UsageError: it has another form.
    """
    name, equals, place = text.partition("=")
    folder, colon, state = place.rpartition(":")
    if not colon or "/" in state:  # a colon may also stand in the folder's name
        folder, state = place, ""
    if not (name and equals and folder) or state not in ("", *STATES):
        raise UsageError(f"-e {text}: expected NAME=FOLDER, NAME=FOLDER:context or NAME=FOLDER:utterance")
    return Source(name, Path(folder), state if state in STATES else None)


@dataclass(frozen=True)
class Encoding:
    """N lines in the vectors of one encoder.

    Attributes:
        name: what the encoder is called.
        state: which of its states, or "" where it has one only.
        encoder: texts to vectors.
        lines: as bilinear judges read them.
        seconds: how long encoding them took.
    """

    name: str
    state: str
    encoder: PortableEncoder
    lines: Lines
    seconds: float

    @property
    def kind(self) -> str:
        """average, hred, vhred, tweet2vec, ..."""
        return str(self.encoder.parts.config["kind"])

    @property
    def raw(self) -> Vectors:
        """[N, D] vectors to fit on, references averaged."""
        return self.lines.encoded.means

    def usable(self, rows: Rows) -> Rows:
        """The rows that have a vector on every side."""
        whole = np.all([np.isfinite(side[rows]).all(axis=1) for side in self.raw], axis=0)
        return rows[np.flatnonzero(whole)]

    def predict(self, fitted: AdemFit) -> FloatArray:
        """[N] predicted ratings, of several references the mean of the scores; NaN where a side has no vector."""
        return self.lines.encoded.combine(fitted.predict(self.lines.encoded.pairs()), "mean")


class Prepared(NamedTuple):
    """What an experiment starts from: its lines, and their encodings by the name of the encoder, one a state."""

    material: Material
    encoders: dict[str, list[Encoding]]

    @property
    def main(self) -> list[Encoding]:
        """The encodings of the encoder that was named first."""
        return next(iter(self.encoders.values()))


def prepare(examples: Sequence[Example], sources: Sequence[Source], terms: Terms) -> Prepared:
    """The lines that judges with `terms` can be fitted on, and their encodings.

    Raises:
        DataError, MissingAsset, MissingExtra, UsageError: see `collect` and `encode_all`.
    """
    material = collect(examples, terms)
    return Prepared(material, encode_all(material.examples, sources, terms))


def prepared_for(asked: Asked, sets: Sequence[str], terms: Terms) -> Prepared:
    """What an experiment starts from that runs on the rated sets `sets`, where it was given no files."""
    sources = [source(text) for text in asked.encoders]
    examples = asked.examples(sets)
    with asked.stage("encoding", None):
        return prepare(examples, sources, terms)


def encode_all(examples: Sequence[Example], sources: Sequence[Source], terms: Terms) -> dict[str, list[Encoding]]:
    """The encodings of `examples` by the name of the encoder, in order, one a state; the word vectors come last.

    Raises:
        UsageError: two have one name, or a state was asked of an encoder that has one only.
        MissingAsset: there is no model.
        MissingExtra: a library that it needs is not installed.
        DataError: a folder holds something else, or is damaged.
    """
    names = [source.name for source in sources] + [WORD_VECTORS]
    if double := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"two encoders are called {double!r}. Give each a name of its own: -e NAME=FOLDER")
    loaded = {source.name: _load(source) for source in sources}  # all of them before the first long encoding
    loaded[WORD_VECTORS] = {"": AverageEncoder(read_vectors())}
    return {
        name: [_encode(name, state, encoder, examples, terms) for state, encoder in states.items()]
        for name, states in loaded.items()
    }


def _load(source: Source) -> dict[str, PortableEncoder]:
    """The encoder of a source, by state."""
    encoder = load_encoder(source.folder, source.state)
    if "state" not in encoder.options:
        return {"": encoder}
    if source.state is not None:
        return {source.state: encoder}
    return {state: load_encoder(source.folder, state) for state in STATES}


def _encode(name: str, state: str, encoder: PortableEncoder, examples: Sequence[Example], terms: Terms) -> Encoding:
    """The lines in one encoder's vectors, and how long that took."""
    start = time.perf_counter()
    lines = encode_lines(encoder, examples, terms)
    return Encoding(name, state, encoder, lines, time.perf_counter() - start)
