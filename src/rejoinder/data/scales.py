"""The scales of ratings: given by a line, a header or the user. Nothing is inferred; what looks unlike is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from rejoinder.data.files import OnError
from rejoinder.errors import DataError, UsageError, shown
from rejoinder.example import OVERALL, Example, Pair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Scale = tuple[float, float]
"""The lowest and the highest possible rating."""
BINARY: Scale = (0, 1)
UNLIKE = 1.4
"""Ratio of the highest ratings from which on two data sets are not on one scale: 5 and 7, 1 and 5, 5 and 100."""
UNLIKE_RATERS = 6
"""The same ratio of two raters or systems; one of them may never leave the low end: 5 and 100, 1 and 10."""
_MANY, _SEVERAL = 20, 3  # ratings, and distinct ones, that show which scale a rater or system is on
_POINTS = 10  # the end of scales of points; beyond are percents, of which a bad system may have few
Line = TypeVar("Line", bound=Example | Pair)
Number = TypeVar("Number", float, "NDArray[np.float64]")


class Span(NamedTuple):
    """The lowest and the highest rating of one data set, file, rater or system."""

    name: str
    low: float
    high: float

    def __str__(self) -> str:
        """Return it as a sentence has it."""
        return f"{self.name} ({in_words((self.low, self.high))})"


def scale_of(text: str) -> Scale | tuple[str, ...]:
    """Return the scale that `--scale` states: the lowest and highest rating, or words, the lowest first, worth 1 to n.

    Raises:
        UsageError: it is neither.
    """
    parts = tuple(part.strip() for part in text.split(","))
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        if len({part.casefold() for part in parts if part}) == len(parts) > 1:
            return parts
        remedy = "Write --scale 'bad,fair,good'"
        raise UsageError(f"--scale {text!r}: expected 1,5 or words, lowest first. {remedy}") from None
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
        stated = text or (list(scale) if isinstance(scale, (list, tuple)) else shown(scale))
        remedy = f"Write {'1,5' if text else '(1, 5)'}"
        raise UsageError(f"the scale {stated}: expected the lowest rating and the highest. {remedy}")
    return low, high


def require_inside(value: float, scale: Scale | None, dimension: str, where: str, field: str) -> None:
    """Raise `DataError` where a rating lies outside its scale, if it has one."""
    if scale and not scale[0] <= value <= scale[1]:
        problem = f"{dimension} is {value:g}, outside its scale [{scale[0]:g}, {scale[1]:g}]"
        raise DataError(problem, "Correct the rating or the scale", where=where, field=field)


def with_scale(
    lines: Iterable[Line], scale: Scale | None, on_error: OnError | None = None, *, dimension: str = OVERALL
) -> Iterator[Line]:
    """Yield lines with `scale` as that of their ratings in `dimension`, where they are rated and state none.

    Pairs, and all lines if `scale` is None, come as they are. A rating outside is an error, raised without `on_error`.
    """
    scale = None if scale is None else required(scale)
    for line in lines:
        if scale is None or isinstance(line, Pair) or dimension in line.scales:
            yield line
            continue
        try:
            values = values_of(line, dimension)
            for value in values:
                require_inside(value, scale, dimension, line.where, "rating")
        except DataError as error:
            if on_error is None:
                raise
            on_error(error)
        else:
            yield replace(line, scales={**line.scales, dimension: scale}) if values else line


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
    single = [rating for example in unstated for rating in example.ratings if rating.dimension == dimension]
    by_rater = _spans(((rating.rater, rating.value) for rating in single), _MANY, _SEVERAL)
    by_system = ((example.system, value) for example in unstated for value in values_of(example, dimension))
    for what, spans, ratio in (
        ("raters", by_rater, UNLIKE_RATERS),
        ("systems", _spans(by_system, _MANY, _SEVERAL), UNLIKE_RATERS),
        ("data sets", spans_of(unstated, dimension), UNLIKE),
    ):
        small, large = min(spans, key=_top, default=None), max(spans, key=_top, default=None)
        # One goes from -2 to 2, the other on to 5 with nothing under 1: that is 1 to 5, no part of -5 to 5.
        centred = next((span for span in spans if span.low == -span.high < 0), None)
        if not small or not large or large.high <= 0 or (what == "systems" and small.high > _POINTS):
            continue
        if centred and large.low >= 1 and large.high >= UNLIKE * centred.high:
            small, ratio = centred, UNLIKE
        if large.high >= ratio * small.high:
            problem = f"the ratings of the {what} {small} and {large} look as if they were on different scales"
            remedy = f'Add "scale": [lowest, highest] to each line; or, if all are on one, --scale {likely([large])}'
            raise DataError(problem, remedy)


def _top(span: Span) -> float:
    return span.high


def _spans(named: Iterable[tuple[str | None, float]], many: int = 1, several: int = 1) -> list[Span]:
    """Return the span of each name with `many` ratings and `several` distinct ones, in order of appearance."""
    ratings: dict[str, list[float]] = {}
    for name, value in named:
        if name:
            ratings.setdefault(name, []).append(value)
    rated = {name: values for name, values in ratings.items() if len(values) >= many and len({*values}) >= several}
    return [Span(name, min(values), max(values)) for name, values in rated.items()]


def spans_of(examples: Iterable[Example], dimension: str = OVERALL) -> list[Span]:
    """Return the lowest and the highest rating of each data set and file, in order of appearance."""
    return _spans((_set_of(line, " in "), value) for line in examples for value in values_of(line, dimension))


def scales_in(examples: Iterable[Example], dimension: str = OVERALL) -> Mapping[Scale | None, list[str]]:
    """Return the scales of the rated lines, each with its data sets or files."""
    scales: dict[Scale | None, list[str]] = {}
    for example in examples:
        if example.rating(dimension) is not None:
            names = scales.setdefault(example.scale(dimension), [])
            names += [name for name in [_set_of(example)] if name not in names]
    return scales


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
    taken = f"the ratings of {names} are taken to be on one (--scale {likely(spans)} states it)"
    return f"no line states its scale; {taken}"


def likely(spans: Sequence[Span]) -> str:
    """Return the scale that ratings of these spans may be on, as `--scale` takes it; for a remedy only."""
    low, high = min(span.low for span in spans), max(span.high for span in spans)
    far = max(high, -low)
    top = next((usual for usual in (1, 2, 3, 5, 7, 10, 100) if far <= usual), far)
    return f"{-top:g},{top:g}" if low < 0 else f"{0 if low < 1 or top > _POINTS else 1:g},{top:g}"


def on_unit(value: float, scale: Scale | None) -> float:
    """Return a rating on `scale` mapped to [0, 1]; NaN where the scale is not known."""
    return math.nan if scale is None else rescaled(value, scale, BINARY)


def rescaled(value: Number, scale: Scale, other: Scale) -> Number:
    """Return a number, or an array of numbers, on `scale` mapped linearly to the scale `other`."""
    if scale == other:
        return value
    return other[0] + (other[1] - other[0]) * (value - scale[0]) / (scale[1] - scale[0])


def in_words(scale: Scale) -> str:
    """Return a scale in words, `1 to 5`."""
    return f"{scale[0]:g} to {scale[1]:g}"


_PLACE = re.compile(r"(:(?:samples/[^:/]+|(?:row |item )?\d+)(?:#\d+)?)+\Z")  # `:3`, `:row 3`, `:item 3:1`, `:3#1`


def _set_of(example: Example, both: str = "") -> str:
    """Return the name of the data set of a line, or of its file; `both` joins the two."""
    names = [name for name in (example.dataset, _PLACE.sub("", example.where)) if name] or ["unnamed lines"]
    return both.join(names if both else names[:1])


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
