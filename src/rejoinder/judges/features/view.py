"""What a view is: a named group of features of an example, and what it needs of the example to give them.

A view that lacks what it needs gives NaN, never an error and never a guess. Shapes: N examples, F features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.judges.learner import Side

Features = NDArray[np.float32]
Read = TypeVar("Read")
Group = Literal[
    "fluency",
    "specificity",
    "repetition",
    "context overlap",
    "form",
    "context fit",
    "reference fit",
    "other",
    "language model",
]
"""What a feature tells about a reply, in the words of explanations."""
WIDE: Group = "language model"
"""Features that are the numbers of one long vector: none of them tells anything alone, and no tree asks for it."""


class View(Protocol):
    """Turns examples into features."""

    @property
    def name(self) -> str:
        """What it is called: `lexical`."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """[F] the names of its features."""
        ...

    @property
    def groups(self) -> tuple[Group, ...]:
        """[F] what each feature tells."""
        ...

    @property
    def needs(self) -> tuple[Side, ...]:
        """The sides of an example besides the response without which it gives NaN."""
        ...

    @property
    def options(self) -> Mapping[str, Any]:
        """What decides the features, for signatures."""
        ...

    def features(self, examples: Sequence[Example]) -> Features:
        """[N, F] the features, each row decided by its example alone, bit for bit; NaN where one is not to be had."""
        ...


class Column(NamedTuple, Generic[Read]):
    """A feature of an example that was read once for all of them.

    Attributes:
        name: what it is called.
        group: what it tells.
        of: the feature.
    """

    name: str
    group: Group
    of: Callable[[Read], float]


def table(columns: Sequence[Column[Read]], reads: Iterable[Read]) -> Features:
    """[N, F] the features of N examples as they were read."""
    rows = [[column.of(read) for column in columns] for read in reads]
    return np.array(rows, dtype=np.float32).reshape(len(rows), len(columns))


def names_of(columns: Sequence[Column[Any]]) -> tuple[str, ...]:
    """[F] what each is called."""
    return tuple(column.name for column in columns)


def groups_of(columns: Sequence[Column[Any]]) -> tuple[Group, ...]:
    """[F] what each tells."""
    return tuple(column.group for column in columns)
