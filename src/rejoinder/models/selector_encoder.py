"""A selector: which reply answers which context, by vectors of its own over those of one encoder; numpy, no torch.

It works on the vectors of the encoder that it was trained over and refuses every other; it does not carry it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.folders import Parts, value_in
from rejoinder.errors import DataError
from rejoinder.models.selecting import Floats, SelectorNetwork, shapes, unit
from rejoinder.models.weights import Object, sizes, tensor
from rejoinder.scorer import Encoder

COMMON = "common"
"""The tensor of replies that are often given."""


@dataclass(frozen=True)
class Selector:
    """Two networks over an encoder's vectors. Shapes: D width of these, O of the selector's own, C common replies.

    Attributes:
        parts: all that `from_parts` needs to make it again.
    """

    parts: Parts

    @property
    def width(self) -> int:
        """D."""
        return int(self.parts.config["sizes"]["width"])

    @property
    def turns(self) -> int:
        """How many turns of a context it reads, the last ones."""
        return int(self.parts.config["sizes"]["turns"])

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """What decides its vectors, those of the encoder given."""
        return {"selector": self.parts.digest}

    def require(self, encoder: Encoder) -> None:
        """Raise where an encoder is not the one that the selector was trained over.

        Raises:
            DataError: it is another, or one with other weights.
        """
        own, other = (shown(options) for options in (self.parts.config["encoder"], encoder.options))
        if own == other and self.width != encoder.width:
            own, other = (f"{own} of width {width}" for width in (self.width, encoder.width))
        if own != other:
            remedy = "Give that encoder, or train a selector over this one"
            raise DataError(f"a selector over the encoder {own}, not {other}", remedy)

    def context(self, turns: Sequence[NDArray[Any]]) -> Floats:
        """[O] the unit vector of a context.

        Args:
            turns: the encoder's vectors [D] of its last turn, of the one before and so on, one or more; those beyond
                `self.turns` are not read. A row of NaN or zeros is a turn that has no vector.
        """
        return self.contexts(turns)[1]

    def contexts(self, turns: Sequence[NDArray[Any]]) -> tuple[Floats, Floats]:
        """[O] the unit vectors of the last turn as the whole context, and of the context; see `context`."""
        return self._network.contexts([np.where(np.isnan(turn), 0, turn) for turn in turns[: self.turns]])

    def reply(self, vector: NDArray[Any]) -> Floats:
        """[O] the unit vector of a reply, of the encoder's vector [D]."""
        return self._network.reply(vector)

    @cached_property
    def common(self) -> Floats:
        """[C, O] unit vectors of replies that are often given, whatever the context."""
        return np.stack([unit(row) for row in self.parts.tensors[COMMON]])

    @cached_property
    def _network(self) -> SelectorNetwork:
        return SelectorNetwork(self.parts.tensors)


def from_parts(parts: Parts) -> Selector:
    """The selector in a folder.

    Raises:
        DataError: a part is missing, or does not fit the others.
    """
    from rejoinder.models.sizes import SelectorSizes

    shape = sizes(SelectorSizes, parts.config)
    wanted = {**shapes(shape), COMMON: (None, shape.output)}
    tensors = {name: tensor(parts.tensors, name, own, np.float16) for name, own in wanted.items()}
    encoder = value_in(parts.config, "encoder", Object)
    return Selector(Parts({"kind": "selector", "sizes": parts.config["sizes"], "encoder": encoder}, tensors))


def shown(options: Mapping[str, Any]) -> str:
    """What an encoder is called by the options that decide its vectors."""
    return ", ".join(f"{name} {options[name]}" for name in sorted(options))
