"""The weights of a network whose tables are kept in few bits, out of a folder: each of the shape that it must have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from rejoinder.errors import DataError
from rejoinder.io.checks import AGAIN, Tensors, tensor
from rejoinder.nn.packing import packed, packed_shapes


def packed_tensors(given: Tensors, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, NDArray[Any]]:
    """The weights of a network, packed, each of the shape that its sizes ask for.

    Raises:
        DataError: one is missing, or has another shape.
    """
    found: dict[str, NDArray[Any]] = {}
    for name, shape in shapes.items():
        one = given.get(name)
        if one is not None and one.dtype.kind in "iu":
            scale = name.replace(".weight", ".scale")
            found[name], found[scale] = _table(name, one, shape), tensor(given, scale, shape[:1])
        else:
            found[name] = tensor(given, name, shape)
    return packed(found)


def _table(name: str, found: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """A table in few bits, of the shape that this takes."""
    known = packed_shapes(name, shape)
    if known.get(found.dtype) != found.shape:
        expected = " or ".join(f"{kind} of shape {kept}" for kind, kept in known.items()) or "floats"
        raise DataError(f"the tensor {name} is {found.dtype} of shape {found.shape}, expected {expected}", AGAIN)
    return found
