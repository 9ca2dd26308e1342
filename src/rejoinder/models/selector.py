"""A selector: which reply answers which context, by vectors of its own over those of one encoder; numpy, no torch.

It works on the vectors of the encoder that it was trained over and refuses every other. Its vectors depend on the rest
of a batch in their last bits only.

Shapes: N contexts or replies, T turns, D width of the encoder's vectors, H hidden units, O width of the selector's own
vectors, C common replies. `networks/selector.py` is the same network in torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.folders import Parts, value_in
from rejoinder.errors import DataError
from rejoinder.models.student import Affine, Floats, product, units
from rejoinder.models.weights import Object, tensor
from rejoinder.scorer import Encoder

if TYPE_CHECKING:
    from rejoinder.models.sizes import SelectorSizes

KIND = "selector"
COMMON = "common"
"""The tensor of replies that are often given."""
SIDES = ("contexts", "replies")


def tensor_shapes(sizes: SelectorSizes) -> dict[str, tuple[int, ...]]:
    """Return the shape of each tensor that inference needs, by the names that `SelectorModel` has for them."""
    shapes: dict[str, tuple[int, ...]] = {}
    for side, inputs in zip(SIDES, (sizes.turns * sizes.width, sizes.width), strict=True):
        shapes |= {f"{side}.up.weight": (sizes.hidden, inputs), f"{side}.up.bias": (sizes.hidden,)}
        shapes |= {f"{side}.down.weight": (sizes.output, sizes.hidden), f"{side}.down.bias": (sizes.output,)}
    return shapes


class _Side(NamedTuple):
    """The two layers of one network."""

    up: Affine
    down: Affine

    @classmethod
    def read(cls, tensors: Mapping[str, NDArray[Any]], side: str) -> _Side:
        """Return the network of a side in single precision."""
        up, down = (
            Affine(
                np.ascontiguousarray(tensors[f"{side}.{layer}.weight"].T, np.float32),
                tensors[f"{side}.{layer}.bias"].astype(np.float32),
            )
            for layer in ("up", "down")
        )
        return cls(up, down)

    def finish(self, hidden: Floats) -> Floats:
        """Return unit vectors [N, O] from hidden units [N, H] before they are cut at zero."""
        return units(self.down(np.maximum(hidden, 0)))


@dataclass(frozen=True)
class Selector:
    """Two networks whose vectors are near each other where a reply answers a context.

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
        """The digest of the weights; the encoder's vectors follow from its own options."""
        return {KIND: self.parts.digest}

    def require(self, encoder: Encoder) -> None:
        """Raise `DataError` where an encoder is not the one that the selector was trained over."""
        own, other = (
            ", ".join(f"{name} {options[name]}" for name in sorted(options))
            for options in (self.parts.config["encoder"], encoder.options)
        )
        if own == other and self.width != encoder.width:
            own, other = (f"{own} of width {width}" for width in (self.width, encoder.width))
        if own != other:
            remedy = "Give that encoder, or train a selector over this one"
            raise DataError(f"a selector over the encoder {own}, not {other}", remedy)

    def contexts(self, turns: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return the unit vectors [N, O] of last turns as whole contexts, and [N, O] of contexts.

        Args:
            turns: [N, T, D] the encoder's vectors, of any length, of each context's last turn, the one before and so
                on; T is from 1 to `self.turns`. Zeros or NaN stand for a turn that has no vector.
        """
        side, (count, depth, width) = self._contexts, turns.shape
        vectors = units(np.where(np.isnan(turns), 0, turns).reshape(-1, width)).reshape(turns.shape)
        # Turns that no context has are left out: most of the matrix need not be read for one short context.
        depth = max((turn + 1 for turn in range(depth) if vectors[:, turn].any()), default=1)
        matrix = side.up.matrix
        last = product(vectors[:, 0], matrix[:width]) + side.up.bias
        whole = last
        if depth > 1:
            whole = last + product(vectors[:, 1:depth].reshape(count, -1), matrix[width : depth * width])
        finished = side.finish(np.vstack((last, whole)))
        return finished[:count], finished[count:]

    def replies(self, vectors: NDArray[Any]) -> Floats:
        """Return the unit vectors [N, O] of replies, from the encoder's vectors [N, D] of any length."""
        return self._replies.finish(self._replies.up(units(vectors)))

    @cached_property
    def common(self) -> Floats:
        """[C, O] unit vectors of replies that are often given, whatever the context."""
        return units(self.parts.tensors[COMMON])

    @cached_property
    def _contexts(self) -> _Side:
        return _Side.read(self.parts.tensors, "contexts")

    @cached_property
    def _replies(self) -> _Side:
        return _Side.read(self.parts.tensors, "replies")


def from_parts(parts: Parts) -> Selector:
    """Return the selector in a folder.

    Raises:
        DataError: a part is missing, or does not fit the others.
    """
    from rejoinder.models.sizes import SelectorSizes

    shape: SelectorSizes = value_in(parts.config, "sizes", SelectorSizes)
    shapes = {**tensor_shapes(shape), COMMON: (None, shape.output)}
    tensors = {name: tensor(parts.tensors, name, expected, np.float16) for name, expected in shapes.items()}
    encoder = value_in(parts.config, "encoder", Object)
    return Selector(Parts({"kind": KIND, "sizes": parts.config["sizes"], "encoder": encoder}, tensors))
