"""Names and ids of rated lines, replies and pairs."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import DataError
from rejoinder.example import Example, Pair

UNNAMED = "all"
LEAVE_IDS_OUT = "where ids only number the lines of a file, leave them out of account: --map id="
_MOST_FILES = 3
_MOST_NAMES = 5  # in a message
_LONGEST_NAME = 60  # characters of what may name a rater
# Columns of a judge's verdict: to map one as the rater would drop the labels.
_JUDGED = re.compile(r"judge|verdict|label|pass|score|reason|critique|llm|gpt|model", re.IGNORECASE)
TRAIN, DEV, TEST = "train", "dev", "test"
_SPLITS = {
    **dict.fromkeys(("train", "training"), TRAIN),
    **dict.fromkeys(("dev", "development", "validation", "valid", "val"), DEV),
    **dict.fromkeys(("test", "testing"), TEST),
}


def split_of(extra: Mapping[str, Any]) -> str:
    """Return the split that the key `split` names: train, dev or test; "" for none or another word."""
    return _SPLITS.get(str(extra.get("split")).strip().casefold(), "")


def title_of(name: str, lines: Sequence[Example | Pair]) -> str:
    """Return what people call a data set: if it has no name, the files that its lines come from."""
    return title_of_places(name, [line.where for line in lines])


def title_of_places(name: str, places: Sequence[str]) -> str:
    """Return what people call a data set with lines at these places; see `title_of`."""
    files = dict.fromkeys(PurePath(place.rpartition(":")[0]).name for place in places)
    return ", ".join(files) if name == UNNAMED and 0 < len(files) <= _MOST_FILES and "" not in files else name


def numbered(keys: Sequence[tuple[str, ...]]) -> NDArray[np.int64]:
    """[N] number of each key among the distinct ones in sorted order, so that the order of lines changes no number."""
    numbers = {key: number for number, key in enumerate(sorted(set(keys)))}
    return np.array([numbers[key] for key in keys], dtype=np.int64)


def refuse_duplicates(lines: Sequence[Example | Pair]) -> None:
    """Raise `DataError` if two lines of a data set have one id: a repeated line would count twice."""
    seen: dict[tuple[Hashable, Any], int] = {}
    for place, line in enumerate(lines):
        if not line.id:
            continue
        first = seen.setdefault((line.dataset, line.id), place)
        if first != place:
            raise given_twice(lines, first, place)


def given_twice(lines: Sequence[Example | Pair], first: int, again: int) -> DataError:
    """Return the error for two lines, by their places, that have one id."""
    line = lines[again]
    return DataError(
        f"id {line.id!r} of data set {line.dataset or UNNAMED!r} was already given at "
        f"{lines[first].where or f'example {first + 1}'}",
        _told_apart(lines[first], line),
        where=line.where or f"example {again + 1}",
        field="id",
    )


def _told_apart(first: Example | Pair, line: Example | Pair) -> str:
    """Return the remedy for two lines with one id; with one reply, they may be ratings of it by two people."""
    if not isinstance(first, Example) or not isinstance(line, Example):
        return f"Give each line an id of its own, or each file once; {LEAVE_IDS_OUT}"
    if (first.context, first.response) != (line.context, line.response):
        systems = "name the systems in a column system; " if None in (first.system, line.system) else ""
        return f"Give each line an id of its own, or each file once; {systems}{LEAVE_IDS_OUT}"
    if not line.ratings or first.where.rpartition(":")[0] != line.where.rpartition(":")[0]:
        return "Give each line once; put the rows of several raters into one file with a column rater"
    return f"Give each line once; where several people rated it, {_name_raters(first, line)}"


def may_be_the_rating(lines: Sequence[Example]) -> str:
    """Return the end of the remedy for lines without a rating, if they have columns that may hold it."""
    unknown = list(dict.fromkeys(key for line in lines[:100] for key in line.extra))
    return f"; or say where it stands, --map rating=NAME, with one of {', '.join(unknown[:8])}" if unknown else ""


def unnamed_raters_said(lines: Sequence[Example]) -> str:
    """Return the note on replies that have ratings without a rater on two lines or more each, or ""."""
    rated = [line for line in lines if line.ratings and all(one.rater is None for one in line.ratings)]
    rated = [line for line in rated if line.context or line.response]  # labels may have ids alone
    replies: dict[tuple[Hashable, ...], Example] = {}
    again: list[tuple[Example, Example]] = []
    for line in rated:
        first = replies.setdefault((line.dataset, line.context, line.response, line.system), line)
        again += [(first, line)] if first is not line else []
    if not again or len(rated) < 2 * len(replies):
        return ""
    told = f"{len(rated):,} rated lines hold {len(replies):,} replies, and each counts by itself"
    return f"{told}. Where several people rated each, {_name_raters(*again[0])}"


def _name_raters(first: Example, line: Example) -> str:
    """Return how to name the raters of two lines with one reply."""
    names = [name for name in line.extra if not _JUDGED.search(name)]
    differing = [name for name in names if _tells_apart(line.extra[name], first.extra.get(name))]
    if not differing:
        return "name them in a column rater"
    if len(differing) == 1:
        return f"say which column names them: --map rater={differing[0]}"
    return f"say which column names them: --map rater=COLUMN, one of {', '.join(differing[:_MOST_NAMES])}"


def _tells_apart(value: object, other: object) -> bool:
    """Return whether two values under one key may be the names of two raters."""
    names = all(isinstance(one, (str, int)) and len(str(one)) <= _LONGEST_NAME for one in (value, other))
    return names and value != other
