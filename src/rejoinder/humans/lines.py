"""What rated lines are called and told apart by, replies and pairs of them alike."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import DataError
from rejoinder.records import Example, Pair

UNNAMED = "all"
LEAVE_IDS_OUT = "where ids only number the lines of a file, leave them out of account: --map id="
_MOST_FILES = 3


def title_of(name: str, lines: Sequence[Example | Pair]) -> str:
    """How to call a data set in front of people: where nobody named it, after the files its lines come from."""
    files = dict.fromkeys(PurePath(line.where.rpartition(":")[0]).name for line in lines)
    return ", ".join(files) if name == UNNAMED and 0 < len(files) <= _MOST_FILES and "" not in files else name


def numbered(keys: Sequence[tuple[str, ...]]) -> NDArray[np.int64]:
    """[N] number of each key among the distinct ones in sorted order, so that the order of lines changes no number."""
    numbers = {key: number for number, key in enumerate(sorted(set(keys)))}
    return np.array([numbers[key] for key in keys], dtype=np.int64)


def refuse_duplicates(lines: Sequence[Example | Pair]) -> None:
    """Raise `DataError` where two lines of a data set have one id: a line given twice would count twice."""
    seen: dict[tuple[Hashable, Any], int] = {}
    for place, line in enumerate(lines):
        if not line.id:
            continue
        first = seen.setdefault((line.dataset, line.id), place)
        if first != place:
            raise given_twice(lines, first, place)


def given_twice(lines: Sequence[Example | Pair], first: int, again: int) -> DataError:
    """The error for two lines, by their places, that have one id."""
    line = lines[again]
    return DataError(
        f"id {line.id!r} of data set {line.dataset or UNNAMED!r} was already given at "
        f"{lines[first].where or f'example {first + 1}'}",
        f"Give each line an id of its own, or each file once; {LEAVE_IDS_OUT}",
        where=line.where or f"example {again + 1}",
        field="id",
    )
