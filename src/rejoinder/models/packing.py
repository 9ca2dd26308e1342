"""Tables of vectors in few bits: whole numbers with a scale for each row, which a sum of rows hardly feels.

A table of pieces is kept in a byte a number. That of pairs, which is five times as long and adds less, is kept in half
a byte: the first half of a row's numbers in the lower halves of its bytes, the second in the upper.
Shapes: R rows, E width of a row, n places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

BITS = {"pieces": 8, "pairs": 4}
"""How many each table takes."""
_MIDDLE = 8  # half a byte has no sign

Floats = NDArray[np.float32]
Tensors = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Table:
    """Rows of a table as they are kept, read as single precision.

    Attributes:
        numbers: [R, E] floats or signed bytes, or [R, E/2] bytes of two numbers each.
        scale: [R] what the numbers of each row are multiplied with; None of floats.
        width: E.
    """

    numbers: NDArray[Any]
    scale: Floats | None
    width: int

    @classmethod
    def of(cls, tensors: Tensors, name: str, width: int) -> Table:
        """The table called `name` in the weights of a network."""
        scale = tensors.get(f"{name}.scale")
        return cls(tensors[f"{name}.weight"], None if scale is None else scale.astype(np.float32), width)

    def __len__(self) -> int:
        return len(self.numbers)

    def whole(self) -> Floats:
        """[R, E] all rows."""
        found = self._rows(slice(None))
        return found if self.scale is None else found * self.scale[:, None]

    def rows(self, places: NDArray[np.int64]) -> Table:
        """The rows at n places, unpacked."""
        return Table(self._rows(places), None if self.scale is None else self.scale[places], self.width)

    def total(self, places: NDArray[np.int64] | slice) -> Floats:
        """[E] the sum of the rows at n places."""
        rows = self._rows(places)
        total: Floats = rows.sum(axis=0) if self.scale is None else self.scale[places] @ rows
        return total

    def _rows(self, places: NDArray[np.int64] | slice) -> Floats:
        """[n, E] rows without their scale."""
        found = self.numbers[places]
        if found.dtype != np.uint8:
            plain: Floats = found.astype(np.float32, copy=False)
            return plain
        halves = np.concatenate((found & 15, found >> 4), axis=1)[:, : self.width].astype(np.float32)
        halves -= _MIDDLE
        return halves


def packed(tensors: Tensors) -> dict[str, NDArray[Any]]:
    """The weights of a network as they are kept: the tables in few bits, the rest in half precision.

    What is packed already stays as it is.
    """
    found: dict[str, NDArray[Any]] = {}
    for name, tensor in tensors.items():
        table = name.removesuffix(".weight")
        if tensor.dtype.kind != "f":
            found[name] = tensor
        elif table in BITS:
            found[name], found[f"{table}.scale"] = _numbers(tensor.astype(np.float32), BITS[table])
        else:
            found[name] = tensor.astype(np.float16)
    return found


def unpacked(tensors: Tensors, width: int) -> dict[str, Floats]:
    """The weights of a network that were packed, in single precision; `width` is that of its tables."""
    return {
        name: Table.of(tensors, table, width).whole()
        if (table := name.removesuffix(".weight")) in BITS
        else tensor.astype(np.float32)
        for name, tensor in tensors.items()
        if not name.endswith(".scale")
    }


def packed_shapes(name: str, shape: tuple[int, ...]) -> dict[Any, tuple[int, ...]]:
    """The kinds of numbers that a tensor may be packed in, each with its shape; none of what is no table."""
    if name.removesuffix(".weight") not in BITS:
        return {}
    rows, width = shape
    return {np.dtype(np.int8): shape, np.dtype(np.uint8): (rows, -(-width // 2))}


def _numbers(rows: Floats, bits: int) -> tuple[NDArray[Any], NDArray[np.float16]]:
    """The rows as whole numbers of so many bits, and the scale of each."""
    most = 2 ** (bits - 1) - 1
    scale = (np.abs(rows).max(axis=1) / most).astype(np.float16)
    # A row that half precision cannot tell from zeros is zeros.
    by = np.where(scale > 0, scale, 1).astype(np.float32)[:, None]
    numbers = np.clip(np.rint(rows / by), -most, most).astype(np.int8)
    if bits > 4:
        return numbers, scale
    width = rows.shape[1]
    halves = np.pad(numbers, ((0, 0), (0, width % 2))).astype(np.int16) + _MIDDLE
    lower, upper = np.split(halves, 2, axis=1)
    return (lower | upper << 4).astype(np.uint8), scale
