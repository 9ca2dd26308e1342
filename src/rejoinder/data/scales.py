"""The scales of ratings: given by a line, a header or the user. Nothing is inferred; what looks unlike is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rejoinder.data.files import OnError
from rejoinder.errors import DataError, UsageError, shown
from rejoinder.example import OVERALL, Example, Pair

Scale = tuple[float, float]
"""The lowest and the highest possible rating."""
BINARY: Scale = (0, 1)
UNLIKE = 1.4
"""Ratio of the highest ratings from which on two data sets are not on one scale: 5 and 7, 1 and 5, 5 and 100."""
UNLIKE_RATERS = 6
"""The same ratio of two raters or systems; one of them may never leave the low end: 5 and 100, 1 and 10."""
_MANY, _SEVERAL = 20, 3  # ratings, and distinct ones, that show which scale a rater uses
_POINTS = 10  # the end of scales of points; beyond are percents, of which a bad system may have few
Line = TypeVar("Line", bound=Example | Pair)
Number = TypeVar("Number", float, NDArray[np.float64])


class Span(NamedTuple):
    """The lowest and the highest rating of one data set, file, rater or system."""

    name: str
    low: float
    high: float

    def __str__(self) -> str:
        """Return it as a sentence has it."""
        return f"{self.name} ({self.low:g} to {self.high:g})"


def scale_of(text: str) -> Scale | tuple[str, ...]:
    """Return the scale that `--scale` states: the lowest and highest rating, or words, the lowest first, worth 1 to n.

    Raises:
        UsageError: it is neither.
    """
    parts = [part.strip() for part in text.split(",")]
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        if len({part.casefold() for part in parts if part}) == len(parts) > 1:
            return tuple(parts)
        raise UsageError(
            f"--scale {text!r}: expected 1,5 or words, lowest first. Write --scale 'bad,fair,good'"
        ) from None
    return required(numbers, text)


def required(scale: Sequence[float], text: str = "") -> Scale:
    """Return a scale, whole numbers without a point.

    Raises:
        UsageError: it is not two finite numbers, the lower one first.
    """
    try:
        low, high = (int(end) if end == int(end) else float(end) for end in scale)
        in_order = -1e12 < low < high < 1e12
    except (TypeError, ValueError, OverflowError):
        in_order = False
    if not in_order:
        found = text or (list(scale) if isinstance(scale, (list, tuple)) else shown(scale))
        raise UsageError(
            f"the scale {found}: expected the lowest rating and the highest. Write {'1,5' if text else '(1, 5)'}"
        )
    return low, high


def require_inside(value: float, scale: Scale | None, dimension: str, where: str, field: str) -> None:
    """Raise `DataError` where a rating lies outside its scale, if it has one."""
    low, high = scale or (-math.inf, math.inf)
    if not low <= value <= high:
        problem = f"{dimension} is {value:g}, outside its scale [{low:g}, {high:g}]"
        raise DataError(problem, "Correct the rating or the scale", where=where, field=field)


def with_scale(
    lines: Iterable[Line], scale: Scale | None, on_error: OnError | None = None, *, dimension: str = OVERALL
) -> Iterator[Line]:
    """Yield lines with `scale` as that of their ratings in `dimension`, where they are rated and state none.

    Args:
        lines: examples; pairs come as they are.
        scale: lowest and highest possible rating; None yields everything as it is.
        on_error: takes the error of a line with a rating outside of `scale`; without it, it is raised.
        dimension: which ratings.

    Raises:
        UsageError: `scale` is none.
    """
    scale = None if scale is None else required(scale)
    for line in lines:
        values = values_of(line, dimension) if scale and isinstance(line, Example) else []
        if scale is None or not isinstance(line, Example) or not values or dimension in line.scales:
            yield line
            continue
        try:
            for value in values:
                require_inside(value, scale, dimension, line.where, "rating")
        except DataError as error:
            if on_error is None:
                raise
            on_error(error)
        else:
            yield replace(line, scales={**line.scales, dimension: scale})


def values_of(example: Example, dimension: str = OVERALL) -> list[float]:
    """Return all single ratings and the stated mean of an example in a dimension."""
    single = [rating.value for rating in example.ratings if rating.dimension == dimension]
    return [*single, *([example.quality[dimension]] if dimension in example.quality else [])]


def require_alike(examples: Sequence[Example], dimension: str = OVERALL) -> None:
    """Raise if ratings that state no scale look as if they were on several.

    Raises:
        DataError: the highest ratings of two raters, systems, data sets or files are too far apart; it names both.
    """
    unstated = [example for example in examples if example.scale(dimension) is None]
    ratings = [one for example in unstated for one in example.ratings if one.dimension == dimension and one.rater]
    if unlike := _unlike((one.rater or "", one.value) for one in ratings):
        raise _unlike_scales("raters", unlike, "Bring all raters to one scale, or leave one out")
    by_system = ((one.system, value) for one in unstated if one.system for value in values_of(one, dimension))
    if (unlike := _unlike(by_system)) and unlike[0].high <= _POINTS:
        remedy = f'Add "scale": [lowest, highest] to each line; or, if all are on one, --scale {likely(unlike)}'
        raise _unlike_scales("systems", unlike, remedy)
    spans = spans_of(unstated, dimension)
    if len(spans) > 1:
        small, large = min(spans, key=lambda span: span.high), max(spans, key=lambda span: span.high)
        if large.high > 0 and large.high >= UNLIKE * small.high:
            remedy = (
                f'Add "scale": [lowest, highest] to the lines of each; or, if all are on one, --scale {likely([large])}'
            )
            raise _unlike_scales("data sets", (small, large), remedy)


def _unlike_scales(what: str, spans: Sequence[Span], remedy: str) -> DataError:
    problem = f"the ratings of the {what} {spans[0]} and {spans[1]} look as if they were on different scales"
    return DataError(problem, remedy)


def _unlike(named: Iterable[tuple[str, float]]) -> tuple[Span, Span] | None:
    """Return two whose highest ratings are far apart, if each has many ratings, several of them distinct."""
    values: dict[str, list[float]] = {}
    for name, value in named:
        values.setdefault(name, []).append(value)
    spans = [
        Span(name, min(own), max(own)) for name, own in values.items() if len(own) >= _MANY and len({*own}) >= _SEVERAL
    ]
    if not spans:
        return None
    small, large = min(spans, key=lambda span: span.high), max(spans, key=lambda span: span.high)
    if large.high > 0 and large.high >= UNLIKE_RATERS * small.high:
        return small, large
    # One goes from -2 to 2, the other on to 5 with nothing under 1: that is 1 to 5, no part of -5 to 5.
    centred = next((span for span in spans if span.low == -span.high < 0), None)
    return (centred, large) if centred and large.low >= 1 and large.high >= UNLIKE * centred.high else None


def spans_of(examples: Iterable[Example], dimension: str = OVERALL) -> list[Span]:
    """Return the lowest and the highest rating of each data set and file, in order of appearance."""
    spans: dict[str, Span] = {}
    for example in examples:
        for value in values_of(example, dimension):
            name = " in ".join(filter(None, (example.dataset, _file(example)))) or "unnamed lines"
            span = spans.get(name, Span(name, value, value))
            spans[name] = Span(name, min(span.low, value), max(span.high, value))
    return list(spans.values())


def scales_in(examples: Iterable[Example], dimension: str = OVERALL) -> Mapping[Scale | None, list[str]]:
    """Return the scales of the rated lines, each with its data sets or files."""
    scales: dict[Scale | None, dict[str, None]] = {}
    for example in examples:
        if example.rating(dimension) is not None:
            name = example.dataset or _file(example) or "unnamed lines"
            scales.setdefault(example.scale(dimension), {})[name] = None
    return {scale: list(names) for scale, names in scales.items()}


def scale_note(examples: Sequence[Example], dimension: str = OVERALL) -> str:
    """Return what to know of the scales of rated lines, as a sentence; "" where they are on one and stated.

    Raises:
        DataError: no line states one, and they look unlike.
    """
    stated = sorted((scale, names) for scale, names in scales_in(examples, dimension).items() if scale is not None)
    if len(stated) > 1:
        each = "; ".join(f"{in_words(scale)} ({_listed(names)})" for scale, names in stated)
        return f"ratings on {len(stated)} scales are brought together: {each}"
    if stated:
        return ""
    require_alike(examples, dimension)
    spans = spans_of(examples, dimension)
    if len(spans) < 2:
        return ""
    names = _listed(list(map(str, spans)))
    return (
        f"no line states its scale; the ratings of {names} are taken to be on one (--scale {likely(spans)} states it)"
    )


def likely(spans: Sequence[Span]) -> str:
    """Return the scale that ratings of these spans may be on, as `--scale` takes it; for a remedy only."""
    low, high = min(span.low for span in spans), max(span.high for span in spans)
    far = max(high, -low)
    top = next((usual for usual in (1, 2, 3, 5, 7, 10, 100) if far <= usual), far)
    return f"{-top:g},{top:g}" if low < 0 else f"{0 if low < 1 or top > _POINTS else 1:g},{top:g}"


def on_unit(value: float, scale: Scale | None) -> float:
    """Return a rating on `scale` mapped to [0, 1]; NaN where the scale is not known."""
    return math.nan if scale is None else (value - scale[0]) / (scale[1] - scale[0])


def rescaled(value: Number, scale: Scale, other: Scale) -> Number:
    """Return a number, or an array of numbers, on `scale` mapped linearly to the scale `other`."""
    if scale == other:
        return value
    return other[0] + (other[1] - other[0]) * (value - scale[0]) / (scale[1] - scale[0])


def in_words(scale: Scale) -> str:
    """Return a scale in words, `1 to 5`."""
    return f"{scale[0]:g} to {scale[1]:g}"


_PLACE = re.compile(r"(:(?:samples/[^:/]+|(?:row |item )?\d+)(?:#\d+)?)+\Z")  # `:3`, `:row 3`, `:item 3:1`, `:3#1`


def _file(example: Example) -> str:
    return _PLACE.sub("", example.where)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
