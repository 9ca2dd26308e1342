"""The header of a GGUF file, read with bounds: a library that believes its numbers would never end."""

from __future__ import annotations

import struct
from math import prod
from typing import Any, BinaryIO, NamedTuple

MAX_TENSORS = 2**17
MAX_VALUES = 2**16
_MAX_ITEMS = 2**24  # of all lists
_MAX_KEY, _MAX_TEXT = 2**16, 2**24  # bytes
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9
_MAX_DIMENSIONS = 8


class GgufHeader(NamedTuple):
    """The settings that are numbers or texts by name, the numbers in all tensors, and the count of these."""

    values: dict[str, Any]
    parameters: int
    tensors: int


class _Reader:
    """Reader of the parts of a header that is no longer than its file."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self.stream, self.left, self.items = stream, size, _MAX_ITEMS

    def bytes(self, count: int) -> bytes:
        if count > self.left:
            raise ValueError("it ends within its header")
        self.left -= count
        return self.stream.read(count)

    def number(self, form: str) -> Any:
        return struct.unpack(f"<{form}", self.bytes(struct.calcsize(f"<{form}")))[0]

    def text(self, most: int) -> str:
        if (count := self.number("Q")) > most:
            raise ValueError(f"a text of {count:,} bytes")
        return self.bytes(count).decode("utf-8", errors="replace")

    def value(self, kind: int) -> Any:
        """Return the next value, None for a list."""
        if kind in _NUMBERS:
            return self.number(_NUMBERS[kind])
        if kind == _TEXT:
            return self.text(_MAX_TEXT)
        inside, count = (self.number("I"), self.number("Q")) if kind == _LIST else (kind, 0)
        self.items -= count
        if self.items < 0 or (inside not in _NUMBERS and inside != _TEXT):
            raise ValueError(f"a value of the kind {kind}, or lists that are too long")
        if inside in _NUMBERS:
            self.bytes(count * struct.calcsize(f"<{_NUMBERS[inside]}"))
        else:
            for _ in range(count):
                self.text(_MAX_TEXT)
        return None


def gguf_header(stream: BinaryIO, size: int) -> GgufHeader:
    """Return the header of a GGUF file of `size` bytes.

    Raises `ValueError` if it is none, or declares more than the file can hold.
    """
    reader = _Reader(stream, size)
    if reader.bytes(4) != b"GGUF" or reader.number("I") not in (2, 3):
        raise ValueError("no header of GGUF 2 or 3")
    tensors, count = reader.number("Q"), reader.number("Q")
    if tensors > MAX_TENSORS or count > MAX_VALUES:
        raise ValueError(f"it declares {tensors:,} tensors and {count:,} settings")
    values = {}
    for _ in range(count):
        key = reader.text(_MAX_KEY)
        if (value := reader.value(reader.number("I"))) is not None:
            values[key] = value
    parameters = 0
    for _ in range(tensors):
        reader.text(_MAX_KEY)
        if (dimensions := reader.number("I")) > _MAX_DIMENSIONS:
            raise ValueError(f"a tensor of {dimensions} dimensions")
        parameters += prod(reader.number("Q") for _ in range(dimensions))
        _, start = reader.number("I"), reader.number("Q")
        if start > size or parameters > 8 * size:  # no kind of weight takes less than a bit
            raise ValueError("its tensors are longer than the file")
    return GgufHeader(values, parameters, tensors)
