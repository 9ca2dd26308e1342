"""Rated examples to arrays: one part a data set, and one that pools them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import DataError
from rejoinder.io.scales import require_alike
from rejoinder.records import OVERALL, Example, Pair

UNNAMED = "all"
POOLED = "pooled"
NO_SYSTEM = -1
PEOPLE = "people"  # who gave the ratings, where they stand in a row with scorers
_MOST_FILES = 3


@dataclass(frozen=True, slots=True)
class Part:
    """The rated lines of a data set (or of all of them) as arrays of one length, N lines.

    Attributes:
        name: the data set.
        places: [N] positions of the lines among the examples of the study.
        ratings: [N] mean ratings, on one scale.
        contexts: [N] number of the line's context; equal numbers, equal contexts.
        systems: [N] number of the line's system, `NO_SYSTEM` where it is not known.
    """

    name: str
    places: NDArray[np.int64]
    ratings: NDArray[np.float64]
    contexts: NDArray[np.int64]
    systems: NDArray[np.int64]


def title_of(name: str, lines: Sequence[Example | Pair]) -> str:
    """How to call a data set in front of people: where nobody named it, after the files its lines come from."""
    files = dict.fromkeys(PurePath(line.where.rpartition(":")[0]).name for line in lines)
    return ", ".join(files) if name == UNNAMED and 0 < len(files) <= _MOST_FILES and "" not in files else name


def ratings_of(examples: Sequence[Example], dimension: str) -> NDArray[np.float64]:
    """[N] mean ratings in `dimension`, NaN where nobody rated.

    Means are rounded to nine decimals, so that raters summed in another order do not break a tie.
    """
    means = [example.rating(dimension) for example in examples]
    ratings: NDArray[np.float64] = np.array([np.nan if mean is None else mean for mean in means], dtype=np.float64)
    return ratings.round(9)


def rated_parts(examples: Sequence[Example], ratings: NDArray[np.float64], dimension: str) -> list[Part]:
    """One part for each data set in order of appearance, then, where several have rated lines, the pooled one.

    Args:
        examples: N examples.
        ratings: [N] their mean ratings in `dimension`; NaN leaves a line out.
        dimension: names the scale that ratings are brought to [0, 1] by where scales differ.

    Raises:
        DataError: scales differ or data sets are pooled, and some rated lines have no scale, or all have none and look
            unlike; a data set has the name of the pool.
    """
    names = [example.dataset or UNNAMED for example in examples]
    parts, filled = [], 0
    for name in dict.fromkeys(names):
        places = np.array([place for place, other in enumerate(names) if other == name and np.isfinite(ratings[place])])
        parts.append(_part(name, places.astype(np.int64), examples, ratings, dimension))
        filled += len(places) > 0
    if filled > 1:
        _refuse_pool_name(examples)
        parts.append(_part(POOLED, np.flatnonzero(np.isfinite(ratings)), examples, ratings, dimension))
    return parts


def _part(
    name: str, places: NDArray[np.int64], examples: Sequence[Example], ratings: NDArray[np.float64], dimension: str
) -> Part:
    """The part called `name` of the lines at `places`."""
    chosen = [examples[place] for place in places]
    known = np.array([example.system is not None for example in chosen], dtype=bool)
    systems = numbered([(example.dataset or "", example.system or "") for example in chosen])
    return Part(
        name,
        places,
        _on_one_scale(chosen, ratings[places], dimension, pooled=name == POOLED),
        numbered([example.context_key for example in chosen]),
        np.where(known, systems, NO_SYSTEM),
    )


def numbered(keys: Sequence[tuple[str, ...]]) -> NDArray[np.int64]:
    """[N] number of each key among the distinct ones in sorted order, so that the order of lines changes no number."""
    numbers = {key: number for number, key in enumerate(sorted(set(keys)))}
    return np.array([numbers[key] for key in keys], dtype=np.int64)


def _on_one_scale(
    examples: Sequence[Example], ratings: NDArray[np.float64], dimension: str, *, pooled: bool
) -> NDArray[np.float64]:
    """[N] ratings that may stand beside each other.

    Those of one data set stay as they are, unless its lines name different scales; then each is brought to [0, 1] by
    its own. Pooled ratings are always brought there, where there are scales. Where no line names one, the ratings must
    look as if they were on one; where some lines of a data set do, the others must lie inside it.
    """
    scales = [example.scale(dimension) for example in examples]
    named = set(scales) - {None}
    if not named:
        require_alike(examples, dimension)
        return ratings
    if len(named) == 1 and not pooled:
        low, high = next(iter(named)) or (0.0, 0.0)
        if None not in scales or ((low <= ratings) & (ratings <= high)).all():
            return ratings
    for example, scale in zip(examples, scales, strict=True):
        if scale is None or not scale[0] < scale[1]:
            raise _no_scale(example, scale, dimension)
    lows, highs = np.array(scales, dtype=np.float64).T
    mapped: NDArray[np.float64] = (ratings - lows) / (highs - lows)
    return mapped.round(9)  # 0.65 of one scale then ties with 0.65 of another


def _no_scale(example: Example, scale: tuple[float, float] | None, dimension: str) -> DataError:
    """The error for a rated line whose rating cannot be put beside those of other scales."""
    found = "no scale" if scale is None else f"the scale {list(scale)}, whose ends are not in order"
    key = '"scale": [1, 5]' if dimension == OVERALL else f'"scales": {{"{dimension}": [1, 5]}}'
    return DataError(
        f"a rated line of data set {example.dataset or UNNAMED!r} has {found}, "
        "and without one its rating cannot stand beside those of other scales",
        f"Add {key} (lowest, highest) to its lines, or say --scale 1,5 for all that state none",
        where=example.where,
        field="scale" if dimension == OVERALL else "scales",
    )


def _refuse_pool_name(examples: Sequence[Example]) -> None:
    """Raise `DataError` where a data set has the name that stands for all of them."""
    for example in examples:
        if example.dataset == POOLED:
            raise DataError(
                f"a data set is called {POOLED!r}, the name of all data sets together",
                "Give it another name",
                where=example.where,
                field="dataset",
            )


def refuse_duplicates(examples: Sequence[Example | Pair]) -> None:
    """Raise `DataError` where two lines of a data set have one id: a line given twice would count twice."""
    seen: dict[tuple[Hashable, Any], int] = {}
    for place, example in enumerate(examples):
        if not example.id:
            continue
        first = seen.setdefault((example.dataset, example.id), place)
        if first != place:
            raise DataError(
                f"id {example.id!r} of data set {example.dataset or UNNAMED!r} was already given at "
                f"{examples[first].where or f'example {first + 1}'}",
                "Give each line an id of its own, or each file once",
                where=example.where or f"example {place + 1}",
                field="id",
            )


def set_numbers(part: Part, parts: Sequence[Part]) -> NDArray[np.int64]:
    """[N] data set of each line of `part`, by its place among `parts`."""
    sets = np.zeros(len(part.places), dtype=np.int64)
    for number, one in enumerate(parts):
        if one.name != POOLED:
            sets[np.isin(part.places, one.places)] = number
    return sets
