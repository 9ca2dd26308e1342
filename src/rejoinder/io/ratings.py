"""What people said of a reply, as a record holds it: ratings, means, who gave them and the scale they stand on.

Yes and no, true and false, thumbs up and down are the ratings 1 and 0 on a scale of these two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from rejoinder.errors import DataError
from rejoinder.example import OVERALL, Rating
from rejoinder.io.values import is_missing, is_number, kind_of, native, yes_or_no

Record = Mapping[str, Any]
Scale = tuple[float, float]
BINARY: Scale = (0, 1)


def scales_of(record: Record, where: str) -> dict[str, Scale]:
    """The scale of every dimension; `scale` is that of `overall`. One whose ratings say yes or no has those two."""
    raw = record.get("scales") or {}
    if not isinstance(raw, Mapping):
        raise DataError(
            f"is {kind_of(raw)}, expected an object", 'Write {"overall": [1, 5]}', where=where, field="scales"
        )
    if record.get("scale") is not None:
        raw = {OVERALL: record["scale"], **{key: value for key, value in raw.items() if key != OVERALL}}
    stated = {dimension: _scale(bounds, dimension, where) for dimension, bounds in raw.items() if bounds is not None}
    return {**dict.fromkeys(_binary(record), BINARY), **stated}


def _scale(bounds: Any, dimension: str, where: str) -> Scale:
    """The scale that a line states."""
    if isinstance(bounds, list) and len(bounds) == 2 and all(map(is_number, bounds)) and bounds[0] < bounds[1]:
        return (bounds[0], bounds[1])
    problem = f"{dimension} is {bounds!r}, expected [lowest, highest]"
    raise DataError(problem, 'Write "scale": [1, 5]', where=where, field="scale")


def _binary(record: Record) -> Iterator[str]:
    """The dimensions with a rating that says yes or no."""
    for field in ("quality", "ratings"):
        given = record.get(field)
        for dimension, values in given.items() if isinstance(given, Mapping) else ():
            if any(yes_or_no(value) is not None for value in (values if isinstance(values, list) else [values])):
                yield dimension


def quality_of(record: Record, scales: Mapping[str, Scale], where: str) -> dict[str, float]:
    """The mean rating of every dimension that has one."""
    raw = record.get("quality")
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        raise DataError(
            f"is {kind_of(raw)}, expected an object", 'Write "quality": {"overall": 3.5}', where=where, field="quality"
        )
    return {
        dimension: _rated(value, dimension, scales, where, "quality")
        for dimension, value in raw.items()
        if value is not None
    }


def ratings_of(record: Record, scales: Mapping[str, Scale], where: str) -> tuple[Rating, ...]:
    """The single ratings, with their raters where those are named."""
    raw = record.get("ratings")
    if raw is None:
        return ()
    if not isinstance(raw, Mapping):
        raise DataError(
            f"is {kind_of(raw)}, expected an object",
            'Write "ratings": {"overall": [3, 4]}',
            where=where,
            field="ratings",
        )
    ratings = []
    for dimension, values in raw.items():
        if values is None:
            continue
        if not isinstance(values, list):
            raise DataError(
                f"{dimension} is {kind_of(values)}, expected a list",
                'Write "ratings": {"overall": [3, 4]}',
                where=where,
                field="ratings",
            )
        raters = _raters(record, dimension, len(values), where)
        for value, rater in zip(values, raters, strict=True):
            ratings.append(Rating(_rated(value, dimension, scales, where, "ratings"), dimension, rater))
    return tuple(ratings)


def _raters(record: Record, dimension: str, count: int, where: str) -> list[str | None]:
    """The names of those who gave the `count` ratings of `dimension`; None for each where they are not named."""
    raters = record.get("raters")
    if isinstance(raters, Mapping):
        raters = raters.get(dimension)
    if raters is None:
        return [None] * count
    if not isinstance(raters, list) or len(raters) != count:
        found = f"{len(raters)} names" if isinstance(raters, list) else kind_of(raters)
        raise DataError(
            f"{dimension} has {count} ratings and {found}", "Name one rater a rating", where=where, field="raters"
        )
    # A name that is written as one stays: "3.0" is another than "3" here, where it was no column of numbers.
    return [rater if isinstance(rater, str) and rater else rater_named(rater, where, "raters") for rater in raters]


def rater_named(given: Any, where: str, field: str) -> str | None:
    """The name of a rater, None where there is none: null, an empty text or NaN.

    A column of numbers in which some are missing holds floats, and text once it was saved: 3.0 and "3.0" are rater 3.

    Raises:
        DataError: it is another float.
    """
    given = native(given)
    if is_missing(given):
        return None
    if isinstance(given, float) and not given.is_integer():
        raise DataError(f"is {given:g}, expected a name", "Write text or a whole number", where=where, field=field)
    name = str(given)
    return name[:-2] if name.endswith(".0") and name[:-2].isdecimal() else name


def _rated(value: Any, dimension: str, scales: Mapping[str, Scale], where: str, field: str) -> float:
    """A rating that is a finite number inside its scale, or says yes or no on the scale of these two."""
    scale, value = scales.get(dimension), native(value)
    if (said := yes_or_no(value)) is not None:
        if scale != BINARY:
            problem = f"{dimension} says {'yes' if said else 'no'}, but its scale is {list(scale or ())}"
            raise DataError(problem, 'Write a number, or "scale": [0, 1]', where=where, field=field)
        return int(said)
    if not is_number(value):
        found = "NaN or infinite" if kind_of(value) == "a number" else kind_of(value)
        problem = f"{dimension} is {found}, expected a number"
        raise DataError(problem, "Leave a missing rating out", where=where, field=field)
    require_inside(value, scale, dimension, where, field)
    return value  # type: ignore[no-any-return]


def require_inside(value: float, scale: Scale | None, dimension: str, where: str, field: str) -> None:
    """Raise where a rating lies outside its scale, if it has one."""
    low, high = scale or (-math.inf, math.inf)
    if not low <= value <= high:
        problem = f"{dimension} is {value:g}, outside its scale [{low:g}, {high:g}]"
        raise DataError(problem, "Correct the rating or the scale", where=where, field=field)


def grouped(ratings: tuple[Rating, ...]) -> tuple[dict[str, list[float]], dict[str, list[str | None]]]:
    """Values and raters by dimension; raters only for dimensions where one is named."""
    values: dict[str, list[float]] = {}
    raters: dict[str, list[str | None]] = {}
    for rating in ratings:
        values.setdefault(rating.dimension, []).append(rating.value)
        raters.setdefault(rating.dimension, []).append(rating.rater)
    return values, {dimension: names for dimension, names in raters.items() if any(names)}
