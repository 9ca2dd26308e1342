"""The header of a GGUF file, read with bounds: a library that believes what it declares would never end."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

MAX_TENSORS = 2**17
MAX_VALUES = 2**16
_MAX_ITEMS = 2**24  # of all lists
_MAX_KEY, _MAX_TEXT = 2**16, 2**24  # bytes
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9
_MAX_DIMENSIONS = 8


@dataclass(frozen=True)
class GgufHeader:
    """What the header of a GGUF file declares.

    Attributes:
        values: its settings that are numbers or texts, by name; of a list, how long it is.
        parameters: how many numbers its tensors have.
        tensors: how many tensors.
    """

    values: dict[str, Any]
    parameters: int
    tensors: int


class _Reader:
    """Reads parts of a header that is no longer than its file."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self.stream, self.left, self.items = stream, size, _MAX_ITEMS

    def bytes(self, count: int) -> bytes:
        """The next bytes."""
        if count > self.left:
            raise ValueError("it ends within its header")
        self.left -= count
        return self.stream.read(count)

    def number(self, form: str) -> Any:
        """The next number, of a form of `struct`."""
        (found,) = struct.unpack(f"<{form}", self.bytes(struct.calcsize(f"<{form}")))
        return found

    def text(self, most: int) -> str:
        """The next text."""
        count = self.number("Q")
        if count > most:
            raise ValueError(f"a text of {count:,} bytes")
        return self.bytes(count).decode("utf-8", errors="replace")

    def value(self, kind: int) -> Any:
        """The next value; of a list, how long it is."""
        if kind in _NUMBERS:
            return self.number(_NUMBERS[kind])
        if kind == _TEXT:
            return self.text(_MAX_TEXT)
        if kind != _LIST:
            raise ValueError(f"a value of the unknown kind {kind}")
        inside, count = self.number("I"), self.number("Q")
        self.items -= count
        if self.items < 0:
            raise ValueError("its lists are too long")
        if inside in _NUMBERS:
            self.bytes(count * struct.calcsize(f"<{_NUMBERS[inside]}"))
        elif inside == _TEXT:
            for _ in range(count):
                self.text(_MAX_TEXT)
        else:
            raise ValueError(f"a list of the kind {inside}")
        return [count]


def gguf_header(stream: BinaryIO, size: int) -> GgufHeader:
    """The header at the beginning of a GGUF file.

    Args:
        stream: the file.
        size: how many bytes it has.

    Raises:
        ValueError: it is no GGUF file, or its header declares what the file does not hold.
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
        value = reader.value(reader.number("I"))
        if not isinstance(value, list):
            values[key] = value
    parameters = 0
    for _ in range(tensors):
        reader.text(_MAX_KEY)
        dimensions = reader.number("I")
        if dimensions > _MAX_DIMENSIONS:
            raise ValueError(f"a tensor of {dimensions} dimensions")
        numbers = 1
        for _ in range(dimensions):
            numbers *= reader.number("Q")
        reader.number("I")
        if reader.number("Q") > size:
            raise ValueError("a tensor begins behind its end")
        # No kind of weight takes less than a bit.
        if numbers > 8 * size:
            raise ValueError("a tensor is longer than the file")
        parameters += numbers
    if parameters > 8 * size:
        raise ValueError("its tensors are longer than the file")
    return GgufHeader(values, parameters, tensors)
