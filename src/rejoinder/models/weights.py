"""Sizes, tensors and lists of words out of a model's folder, which a stranger may have written: each is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from annotated_types import Interval, MinLen
from numpy.typing import NDArray

from rejoinder.data.folders import require_finite
from rejoinder.data.strict import AGAIN, json_value, require
from rejoinder.errors import DataError

LARGEST = 10_000_000
"""The largest size of a network, and the largest limit of a text."""
Size, Count = Annotated[int, Interval(ge=0, le=LARGEST)], Annotated[int, Interval(ge=1, le=LARGEST)]
Share = Annotated[float, Interval(ge=0, le=1.001)]  # rounding may lift a sum over 1
Object = dict[str, Any]
Tensors = Mapping[str, NDArray[Any]]


def text_of(files: Mapping[str, str], name: str) -> str:
    """Return the text of a file. Raises `DataError` if it is missing."""
    if name not in files:
        raise DataError(f"no {name} in it", AGAIN)
    return files[name]


def words_of(files: Mapping[str, str], name: str) -> list[str]:
    """Return the texts, one or more, of the JSON list in a file. Raises `DataError`."""
    words: list[str] = require(Annotated[list[str], MinLen(1)], json_value(text_of(files, name), name), name)
    return words


def tensor(
    tensors: Tensors, name: str, shape: Sequence[int | None], kind: type[np.floating] | None = None
) -> NDArray[Any]:
    """Return the floats of a shape, None for any length but 0, as another kind of float if one is given.

    Raises `DataError` if they are missing, of another type or shape, or too large for that kind.
    """
    if (values := tensors.get(name)) is None:
        raise DataError(f"no tensor {name} in it", AGAIN)
    fits = values.ndim == len(shape) and all(
        length == wanted or (wanted is None and length) for length, wanted in zip(values.shape, shape, strict=True)
    )
    if not fits or values.dtype.kind != "f":
        expected = f"floats of shape ({', '.join('any' if wanted is None else str(wanted) for wanted in shape)})"
        raise DataError(f"the tensor {name} is {values.dtype} of shape {values.shape}, expected {expected}", AGAIN)
    if kind is not None:
        with np.errstate(over="ignore"):
            values = values.astype(kind)
        require_finite({name: values})
    return values
