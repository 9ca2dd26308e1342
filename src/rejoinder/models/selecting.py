"""The trained selector in numpy: the arithmetic of `nn/selector.py` without torch.

Each context and each reply goes through by itself, so its vector depends on nothing else, to the last bit.
Shapes: D width of an encoder's vectors, H hidden units, O width of the selector's own vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rejoinder.models.sizes import SelectorSizes

SIDES = ("contexts", "replies")
_SHORTEST = np.float32(1e-12)

Floats = NDArray[np.float32]


def shapes(sizes: SelectorSizes) -> dict[str, tuple[int, ...]]:
    """The shape of each tensor that inference needs, by the names that `SelectorModel` has for them."""
    found: dict[str, tuple[int, ...]] = {}
    for side, inputs in zip(SIDES, (sizes.turns * sizes.width, sizes.width), strict=True):
        found |= {f"{side}.up.weight": (sizes.hidden, inputs), f"{side}.up.bias": (sizes.hidden,)}
        found |= {f"{side}.down.weight": (sizes.output, sizes.hidden), f"{side}.down.bias": (sizes.output,)}
    return found


class _Side(NamedTuple):
    """The weights of one network as they are multiplied with: matrices are [inputs, outputs]."""

    up: Floats
    up_bias: Floats
    down: Floats
    down_bias: Floats


@dataclass(frozen=True)
class SelectorNetwork:
    """Two networks over an encoder's vectors, whose own vectors are near where a reply answers a context.

    Attributes:
        tensors: weights by the names that `SelectorModel` has for them, in any precision.
    """

    tensors: Mapping[str, NDArray[Any]]

    def context(self, turns: Sequence[Floats]) -> Floats:
        """[O] the unit vector of a context: the vectors [D] of its last turn, the one before and so on, of any length.

        There may be fewer than the network reads; zeros stand for a turn that has no vector.
        """
        return self.contexts(turns)[1]

    def contexts(self, turns: Sequence[Floats]) -> tuple[Floats, Floats]:
        """[O] the vectors of the last turn as the whole context, and of the context; arguments as for `context`."""
        side = self._contexts
        first, *others = side.up.reshape(-1, len(turns[0]), side.up.shape[1])
        total = unit(turns[0]) @ first + side.up_bias
        last = _finished(total, side)
        if len(turns) == 1:
            return last, last
        for turn, part in zip(turns[1:], others, strict=False):
            total += unit(turn) @ part
        return last, _finished(total, side)

    def reply(self, vector: Floats) -> Floats:
        """[O] the unit vector of a reply whose vector [D] may be of any length."""
        return _finished(unit(vector) @ self._replies.up + self._replies.up_bias, self._replies)

    @cached_property
    def _contexts(self) -> _Side:
        return self._side("contexts")

    @cached_property
    def _replies(self) -> _Side:
        return self._side("replies")

    def _side(self, name: str) -> _Side:
        """One network in single precision."""
        names = ("up.weight", "up.bias", "down.weight", "down.bias")
        return _Side(*(np.ascontiguousarray(self.tensors[f"{name}.{one}"].T, dtype=np.float32) for one in names))


def unit(vector: NDArray[Any]) -> Floats:
    """A vector in single precision and of length 1; zeros stay zeros."""
    found: Floats = vector.astype(np.float32)
    found /= max(np.sqrt(found @ found), _SHORTEST)
    return found


def _finished(hidden: Floats, side: _Side) -> Floats:
    """[O] what a network makes of its hidden units [H] before they are cut at zero."""
    return unit(np.maximum(hidden, 0) @ side.down + side.down_bias)
