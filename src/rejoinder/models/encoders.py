"""Texts to vectors, and the projection of vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rejoinder.assets import JUDGE
from rejoinder.data.folders import Parts, in_folder, read_folder
from rejoinder.data.read import examples_of
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Given
from rejoinder.models.average import AverageEncoder
from rejoinder.models.batching import encode_once
from rejoinder.models.projection import Projection, fit_projection
from rejoinder.registry import Entry, Registry
from rejoinder.scorer import Encoder

if TYPE_CHECKING:
    from rejoinder.models.recurrent_encoders import StateOf

__all__ = [
    "AverageEncoder",
    "Limited",
    "PortableEncoder",
    "Projection",
    "encode",
    "encode_once",
    "fit_projection",
    "from_parts",
    "load_encoder",
]

WORD_VECTORS = "word-vectors"
"""What a judge is trained over where no encoder is named."""
INSIDE = "encoder"
"""The name under which a judge's folder keeps its encoder."""


class PortableEncoder(Encoder, Protocol):
    """An encoder that a judge can take along in its folder."""

    @property
    def parts(self) -> Parts:
        """All that `from_parts` needs to make it again."""
        ...


@runtime_checkable
class Limited(Protocol):
    """An encoder that reads texts up to a limit, and says of which it leaves something out."""

    def cuts(self, texts: Sequence[str]) -> list[int]:
        """The positions of texts that it does not read to the end."""
        ...

    def cuts_contexts(self, contexts: Sequence[tuple[str, ...]]) -> list[int]:
        """The positions of contexts of which it leaves out turns, or the end of a turn."""
        ...


def _word_vectors(_name: str, vectors: str | Path | None = None) -> PortableEncoder:
    from rejoinder.models.average import encoder

    return encoder(vectors)


def _bundled(_name: str, _vectors: str | Path | None = None) -> PortableEncoder:
    return load_encoder(JUDGE)


def _sentence_model(name: str, _vectors: str | Path | None = None) -> PortableEncoder:
    from rejoinder.models.sentence import encoder

    return encoder(name.partition(":")[2])


def _average(parts: Parts) -> PortableEncoder:
    from rejoinder.models.average import from_parts

    return from_parts(parts)


def _sentence(parts: Parts) -> PortableEncoder:
    from rejoinder.models.sentence import from_parts

    return from_parts(parts)


def _recurrent(parts: Parts) -> PortableEncoder:
    from rejoinder.models.recurrent_encoders import from_parts

    return from_parts(parts)


def _dan(parts: Parts) -> PortableEncoder:
    from rejoinder.models.dan_encoder import from_parts

    return from_parts(parts)


def _student(parts: Parts) -> PortableEncoder:
    from rejoinder.models.student import from_parts

    return from_parts(parts)


def _tweet(parts: Parts) -> PortableEncoder:
    from rejoinder.models.tweet_encoder import from_parts

    return from_parts(parts)


ENCODERS: Registry[PortableEncoder] = Registry(
    "encoder",
    (
        Entry(WORD_VECTORS, "averaged word vectors", _word_vectors, "comes along"),
        Entry("rejoinder", "the sentence encoder of the judge in the box", _bundled, "comes along"),
        Entry(
            "sentence:MODEL_OR_FOLDER",
            "any model of sentence-transformers",
            _sentence_model,
            "is named so",
            "the model; the extra encoders",
        ),
    ),
)
"""Encoders that have a name; `load(name, vectors)` makes one."""
KINDS: Registry[PortableEncoder] = Registry(
    "kind of encoder",
    (
        Entry("average", "", _average),
        Entry("sentence", "", _sentence),
        Entry("hred", "a hierarchical recurrent encoder and a decoder", _recurrent),
        Entry("vhred", "an HRED with a latent variable", _recurrent),
        Entry("dan", "a dual encoder of averaged words", _dan),
        Entry("student", "a small encoder that was taught a large one's vectors", _student),
        Entry("tweet2vec", "the characters of a tweet, read both ways", _tweet),
    ),
)
"""Trained encoders by the kind that their folder names; `load(parts)` makes one."""
_RECURRENT = ("hred", "vhred")


def from_parts(parts: Parts, where: str = "") -> PortableEncoder:
    """The encoder whose `parts` these are.

    Args:
        parts: with a `kind` of encoder in their config.
        where: where they come from, for messages.

    Raises:
        DataError: they are those of something else.
        MissingExtra: a library that it needs is not installed.
    """
    kind = str(parts.config.get("kind"))
    if kind not in KINDS:
        found = f"a model of kind {kind!r}, expected one of {', '.join(KINDS)}"
        raise DataError(found, "Name the folder of a pre-trained model", where=where)
    with in_folder(where):
        return KINDS[kind].load(parts)


def load_encoder(
    name: str | Path, state: StateOf | None = None, *, vectors: str | Path | None = None
) -> PortableEncoder:
    """The encoder called `name`.

    Args:
        name: one of `ENCODERS`, `sentence:` and a model of sentence-transformers, or the folder of a
            pre-trained model or of a judge, whose own it is.
        state: which state of an HRED or VHRED stands for a text; None takes `context`, or the judge's.
        vectors: file of word vectors for `word-vectors`; None takes those in the box.

    Raises:
        MissingAsset: there is no model.
        MissingExtra: a library that it needs is not installed.
        UnusableModel: it is a model of another library that is refused or damaged.
        DataError: the folder holds something else, or is damaged.
        UsageError: there is no such state, or one was asked of an encoder that has one only; or `vectors` of an
            encoder that reads none.
    """
    if vectors is not None and str(name) != WORD_VECTORS:
        raise UsageError(f"the encoder {name} takes the place of word vectors. Leave {vectors} out, or the encoder")
    if entry := ENCODERS.entry(str(name)):
        if state is not None:
            raise UsageError(f"the encoder {name} has one state only. Leave the state {state} out")
        return entry.load(str(name), vectors)
    parts = read_folder(name)
    if str(parts.config.get("kind")) not in KINDS and INSIDE in parts.config:
        with in_folder(name):
            parts = parts.inner(INSIDE)
    kind = str(parts.config.get("kind"))
    if kind in KINDS:
        parts = replace(parts, config=_with_state(parts.config, _states(kind), state, name))
    return from_parts(parts, str(name))


def _states(kind: str) -> Sequence[str]:
    """Return the states of a kind of encoder that has several."""
    if kind not in _RECURRENT:
        return ()
    from rejoinder.models.recurrent_encoders import STATES

    return STATES


def _with_state(
    config: Mapping[str, Any], states: Sequence[str], state: str | None, name: str | Path
) -> Mapping[str, Any]:
    """The config with the state that was asked for, else its own, else the first of those that its kind has."""
    if state is not None and not states:
        found = f"{name}: a model of kind {config['kind']} has one state only"
        raise UsageError(f"{found}. Leave the state {state} out")
    if state is not None and state not in states:
        raise UsageError(f"no state is called {state!r}. There are: {', '.join(states)}")
    return {"state": states[0], **config, **({"state": state} if state else {})} if states else config


def encode(
    examples: Given,
    encoder: Encoder | str | Path = WORD_VECTORS,
    *,
    state: StateOf | None = None,
    vectors: str | Path | None = None,
) -> dict[str, NDArray[Any]]:
    """Vectors of everything in N examples with R references together, by name.

    Args:
        examples: in any form that `examples_of` takes.
        encoder: texts to vectors, or what `load_encoder` makes it from.
        state: see `load_encoder`.
        vectors: see `load_encoder`.

    Returns:
        `ids` [N]; `context` and `response` [N, D]; `reference` [R, D], and `reference_row` [R], whose each is. A text
        without a known word is a row of NaN.

    Raises:
        DataError: what was given cannot be read as examples; see also `load_encoder`.
        MissingAsset, MissingExtra, UsageError: see `load_encoder`.
    """
    given = examples_of(examples)
    if isinstance(encoder, (str, Path)):
        encoder = load_encoder(encoder, state, vectors=vectors)
    pairs = [(row, text) for row, example in enumerate(given) for text in example.references]
    return {
        "ids": np.array([example.id for example in given], dtype=np.str_),
        "context": encode_once(encoder.encode_contexts, [example.context for example in given]),
        "response": encode_once(encoder.encode, [example.response for example in given]),
        "reference": encode_once(encoder.encode, [text for _, text in pairs]),
        "reference_row": np.array([row for row, _ in pairs], dtype=np.int64),
    }
