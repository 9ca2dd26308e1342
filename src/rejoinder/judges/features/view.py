"""Columns of an example that was read once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from rejoinder.judges.features.table import Features, Group

Read = TypeVar("Read")


class Column(NamedTuple, Generic[Read]):
    """A feature: its name, what it tells, and how it is computed."""

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
