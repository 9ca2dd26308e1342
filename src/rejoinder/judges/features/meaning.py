"""How near a reply's sentence vector comes to those of the turns before it. Shapes: N examples, D width."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.judges.features.table import Features, Group
from rejoinder.judges.protocol import Side
from rejoinder.models.encoders import PortableEncoder
from rejoinder.scorer import FloatArray

_TURNS = 6  # turns that are read one by one
_COLUMNS: tuple[tuple[str, Group], ...] = (
    ("last", "context fit"),
    ("before_last", "context fit"),
    ("two_before_last", "context overlap"),
    ("context", "context fit"),
    ("nearest", "context overlap"),
    ("mean", "context fit"),
    ("drift", "context fit"),
)


@dataclass(frozen=True)
class MeaningView:
    """Cosines of the reply with the last turn, the two before it, the last turns as one text, and the nearest of all.

    `drift` is the cosine of the last turn with the one before, which the reply has no part in.

    Attributes:
        encoder: texts to vectors.
        name: what the view is called.
    """

    encoder: PortableEncoder
    name: str = "meaning"
    needs: tuple[Side, ...] = ("context",)
    columns: tuple[str, ...] = tuple(name for name, _ in _COLUMNS)
    groups: tuple[Group, ...] = tuple(group for _, group in _COLUMNS)

    @property
    def options(self) -> Mapping[str, Any]:
        """The encoder's."""
        return {f"{self.name}_{key}": value for key, value in self.encoder.options.items()}

    def compute(self, examples: Sequence[Example]) -> Features:
        """[N, F]; NaN where a text has no vector."""
        vectors = self._vectors(examples)
        found = np.full((len(examples), len(_COLUMNS)), np.nan, np.float32)
        for row, example in enumerate(examples):
            turns = [turn for turn in example.context if turn.strip()]
            if turns and example.response.strip():
                found[row] = _cosines(
                    [vectors[turn] for turn in turns[-_TURNS:]], vectors[joined(turns)], vectors[example.response]
                )
        return found

    def _vectors(self, examples: Sequence[Example]) -> dict[str, FloatArray]:
        """The unit vector of every text that counts."""
        return unit_vectors(
            self.encoder,
            (
                text
                for example in examples
                if (turns := [turn for turn in example.context if turn.strip()])
                for text in (*turns[-_TURNS:], joined(turns), example.response)
            ),
        )


@dataclass(frozen=True)
class ReferenceMeaningView:
    """Cosines of the reply with its references.

    Attributes:
        encoder: texts to vectors.
        name: what the view is called.
    """

    encoder: PortableEncoder
    name: str = "reference_meaning"
    columns: tuple[str, ...] = ("best", "mean")
    groups: tuple[Group, ...] = ("reference fit", "reference fit")
    needs: tuple[Side, ...] = ("reference",)

    @property
    def options(self) -> Mapping[str, Any]:
        """The encoder's."""
        return {f"{self.name}_{key}": value for key, value in self.encoder.options.items()}

    def compute(self, examples: Sequence[Example]) -> Features:
        """[N, 2]; NaN without a reference, or where a text has no vector."""
        there = [one for one in examples if one.references]
        vectors = unit_vectors(self.encoder, (text for one in there for text in (one.response, *one.references)))
        found = np.full((len(examples), 2), np.nan, np.float32)
        for row, example in enumerate(examples):
            cosines = [_cosine(vectors[text], vectors[example.response]) for text in example.references if text.strip()]
            known = [cosine for cosine in cosines if not np.isnan(cosine)]
            if known:
                found[row] = max(known), fsum(known) / len(known)
        return found


def unit_vectors(encoder: PortableEncoder, texts: Iterable[str]) -> dict[str, FloatArray]:
    """The vector of each text at length 1, each worked out once; NaN where there is none."""
    distinct = list(dict.fromkeys(texts))
    if not distinct:
        return {}
    encoded = encoder.encode(distinct)
    norms = np.sqrt((encoded * encoded).sum(axis=1, keepdims=True))
    return dict(zip(distinct, encoded / np.where(norms > 0, norms, np.nan), strict=True))


def _cosine(one: FloatArray, other: FloatArray) -> float:
    """Return the cosine of two unit vectors, from -1 to 1; NaN where one of them is NaN."""
    return float(np.clip((one * other).sum(), -1.0, 1.0))


def joined(turns: Sequence[str]) -> str:
    """The last three turns as one text."""
    return " ".join(turns[-3:])


def _cosines(turns: Sequence[FloatArray], context: FloatArray, reply: FloatArray) -> NDArray[np.float32]:
    """The features of one reply, in the order of `_COLUMNS`."""
    cosines = np.clip((np.array([*turns, context]) * reply).sum(axis=1), -1.0, 1.0)
    each = cosines[:-1]
    padded = [np.nan, np.nan, *each.tolist()]
    drift = _cosine(turns[-1], turns[-2]) if len(turns) > 1 else np.nan
    mean = each.sum() / len(each)
    return np.array([padded[-1], padded[-2], padded[-3], cosines[-1], each.max(), mean, drift], np.float32)
