"""The mood of a turn, and the mood that a reply takes it for: two linear probes over an encoder's vectors.

They are fitted without ratings (`pretraining/statistics.py`). Shapes: D width of the encoder's vectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.folders import Parts, value_in
from rejoinder.errors import DataError
from rejoinder.models.weights import Object, tensor
from rejoinder.scorer import Encoder, FloatArray

KIND = "mood"
TURN, REACTION = "turn", "reaction"


@dataclass(frozen=True)
class Mood:
    """Two linear probes.

    Attributes:
        parts: all that `from_parts` needs to make it again: the D weights of each probe, and its bias.
    """

    parts: Parts

    @property
    def width(self) -> int:
        """D."""
        return len(self.parts.tensors[TURN]) - 1

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """The options that its numbers follow from, apart from those of the encoder."""
        return {"mood": self.parts.digest}

    def require(self, encoder: Encoder) -> None:
        """Raise `DataError` where an encoder is not the one that it was fitted over."""
        if self.parts.config["encoder"] != dict(encoder.options) or self.width != encoder.width:
            raise DataError("its moods were fitted over another encoder", "Fit them over this one", field=KIND)

    def of_turn(self, vectors: NDArray[Any]) -> FloatArray:
        """Return [...] of turns [..., D], from -1, which people answer with joy, to 1, with sympathy; NaN of NaN."""
        return self._probe(TURN, vectors)

    def of_reaction(self, vectors: NDArray[Any]) -> FloatArray:
        """Return [...] of replies [..., D], from -1, which is joy, to 1, which is sympathy; near 0 where neither."""
        return self._probe(REACTION, vectors)

    def _probe(self, name: str, vectors: NDArray[Any]) -> FloatArray:
        """Return twice the probability that a probe gives, minus 1."""
        probe = self.parts.tensors[name].astype(np.float64)
        moods: FloatArray = np.tanh((vectors @ probe[:-1] + probe[-1]) / 2)
        return moods


def from_parts(parts: Parts) -> Mood:
    """Return the moods whose `parts` these are.

    Raises:
        DataError: a part is missing, or does not fit the others.
    """
    tensors = {name: tensor(parts.tensors, name, (None,), np.float32) for name in (TURN, REACTION)}
    lengths = {len(probe) for probe in tensors.values()}
    if len(lengths) > 1 or min(lengths) < 2:
        raise DataError("the weights of its moods do not fit each other", "Fit them again", field=KIND)
    return Mood(Parts({"kind": KIND, "encoder": value_in(parts.config, "encoder", Object)}, tensors))
