"""The scales that ratings stand on: given where the data is silent, told from each other, and said.

A scale is the lowest and the highest possible rating. Ratings of several scales are put beside each other only where
each line's scale is known; where lines state none, they are taken to be on one only if they look alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import DataError, UsageError, shown
from rejoinder.example import OVERALL, Example, Pair
from rejoinder.io.lines import OnBad, raise_bad
from rejoinder.io.no_answers import code_among
from rejoinder.io.ratings import Scale, require_inside

UNLIKE = 1.4
"""Sets whose highest ratings are so many times apart are not on one scale: 5 and 7, 5 and 10, 1 and 5, 5 and 100."""

UNLIKE_RATER = 6
"""The same of two raters, one of whom may find all bad: 5 and 100, 10 and 100, 1 and 10."""

_SHOWN = 4
_MANY, _SEVERAL = 20, 3  # ratings, and different ones, from which on it can be told what scale a rater uses
_SMALL = 10  # the end of scales of points; beyond are percents, of which bad systems may have few
_FEW = 50  # of as many ratings one may be a slip
_SOME, _SURELY = 5, 5  # of fewer, where as many others have a span that it is so often as far away
_UNNAMED = "unnamed lines"
Line = TypeVar("Line", bound=Example | Pair)
Number = TypeVar("Number", float, NDArray[np.float64])


@dataclass(frozen=True, slots=True)
class Span:
    """The ratings of one set or file: the lowest and highest that occur."""

    name: str
    low: float
    high: float

    def __str__(self) -> str:
        """As a sentence has it."""
        return f"{self.name} ({self.low:g} to {self.high:g})"


def scale_of(text: str) -> Scale:
    """The scale that a user writes as `LOW,HIGH`.

    Raises:
        UsageError: it is none.
    """
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        low = high = 0.0
    return required((low, high), text)


def required(scale: Scale, text: str | None = None) -> Scale:
    """`scale`, whole numbers without a point.

    Raises:
        UsageError: its ends are not finite, or not in order.
    """
    try:
        low, high = scale
        in_order = -1e12 < low < high < 1e12
    except (TypeError, ValueError):
        in_order = False
    if not in_order:
        given: Any = scale
        found = text or (list(given) if isinstance(given, (list, tuple)) else shown(given))
        example = "(1, 5)" if text is None else "1,5"
        raise UsageError(f"the scale {found}: expected the lowest rating and the highest, such as {example}")
    return (_plain(low), _plain(high))


def with_scale(
    lines: Iterable[Line], scale: Scale | None, on_bad: OnBad = raise_bad, *, dimension: str = OVERALL
) -> Iterator[Line]:
    """Yield lines with `scale` as the scale of ratings in `dimension`, where they are rated and state none.

    Args:
        lines: examples; anything else among them comes as it is.
        scale: lowest and highest possible rating; None yields everything as it is.
        on_bad: is given the error of a line with a rating outside of `scale`; raises it unless told otherwise.
        dimension: which ratings.

    Raises:
        UsageError: `scale` is none.
    """
    if scale is not None:
        scale = required(scale)
    for line in lines:
        if scale is None or not isinstance(line, Example) or dimension in line.scales or line.rating(dimension) is None:
            yield line
            continue
        try:
            _require_inside(line, scale, dimension)
        except DataError as error:
            on_bad(error)
        else:
            yield replace(line, scales={**line.scales, dimension: scale})


def require_alike(examples: Sequence[Example], dimension: str = OVERALL) -> None:
    """Raise where ratings that state no scale look as if they were on several.

    Raises:
        DataError: the highest ratings of two data sets, files, systems or raters are too far apart, and it names both;
            or a rating is a code for no answer.
    """
    unstated = [example for example in examples if example.scale(dimension) is None]
    _require_raters_alike(unstated, dimension)
    _require_systems_alike(unstated, dimension)
    _require_no_code(unstated, dimension)
    spans = spans_of(unstated, dimension)
    if len(spans) < 2:
        return
    small, large = min(spans, key=lambda span: span.high), max(spans, key=lambda span: span.high)
    if large.high > 0 and large.high >= UNLIKE * small.high:
        raise DataError(
            f"the ratings of {small} and {large} look as if they were on different scales, and no line states one",
            f'Add "scale": [lowest, highest] to the lines of each; or, if all are on one, --scale {hint([large])}',
        )


def _require_raters_alike(examples: Sequence[Example], dimension: str) -> None:
    """Raise where one rater's highest rating is many times another's."""
    values: dict[str, list[float]] = {}
    for example in examples:
        for one in example.ratings:
            if one.dimension == dimension and one.rater is not None:
                values.setdefault(one.rater, []).append(one.value)
    if unlike := _unlike(values):
        small, large = unlike
        raise DataError(
            f"the ratings of the raters {small} and {large} look as if they were on different scales",
            "Bring all raters to one scale, or leave one out",
        )


def _require_systems_alike(examples: Sequence[Example], dimension: str) -> None:
    """Raise where one system's highest rating is many times another's, which does not leave the low end of a scale."""
    values: dict[str, list[float]] = {}
    for example in examples:
        if example.system is not None:
            values.setdefault(example.system, []).extend(_values(example, dimension))
    unlike = _unlike(values)
    if unlike and unlike[0].high <= _SMALL:
        small, large = unlike
        raise DataError(
            f"the ratings of the systems {small} and {large} look as if they were on different scales",
            f'Add "scale": [lowest, highest] to each line; or, if all are on one, --scale {hint([small, large])}',
        )


def _unlike(values: Mapping[str, Sequence[float]]) -> tuple[Span, Span] | None:
    """The two of whom one has a highest rating many times the other's, if any, by name.

    One who finds all bad may never leave the low end of a scale, so it takes several values and many ratings.
    """
    known = {name: own for name, own in values.items() if len(own) >= _MANY and len(set(own)) >= _SEVERAL}
    spans = [Span(name, min(own), max(own)) for name, own in known.items()]
    if not spans:
        return None
    small, large = min(spans, key=lambda span: span.high), max(spans, key=lambda span: span.high)
    if large.high > 0 and large.high >= UNLIKE_RATER * small.high:
        return small, large
    # One goes from -2 to 2; of the other, which goes on to 5, nothing is under 1. That is 1 to 5, no part of -5 to 5.
    centred = next((span for span in spans if span.low == -span.high < 0), None)
    return (centred, large) if centred and large.low >= 1 and large.high >= UNLIKE * centred.high else None


def _require_no_code(examples: Sequence[Example], dimension: str) -> None:
    """Raise where a rating stands for no answer."""
    code = code_among(value for example in examples for value in _values(example, dimension))
    if code and code.sure:
        scale = f"{min(code.low, code.value):g},{max(code.high, code.value):g}"
        raise DataError(
            f"{code}: {code.value:g} looks like a code for no answer",
            f"Leave these cells empty; if it is a rating, say the scale, --scale {scale}",
        )


def spans_of(examples: Iterable[Example], dimension: str = OVERALL) -> list[Span]:
    """The lowest and highest rating of each data set and file, in order of appearance."""
    found: dict[str, Span] = {}
    for example in examples:
        for value in _values(example, dimension):
            name = " in ".join(filter(None, (example.dataset, _file(example)))) or _UNNAMED
            span = found.get(name, Span(name, value, value))
            found[name] = replace(span, low=min(span.low, value), high=max(span.high, value))
    return list(found.values())


def scales_in(examples: Iterable[Example], dimension: str = OVERALL) -> Mapping[Scale | None, list[str]]:
    """The scales of the rated lines, and the data sets or files on each."""
    found: dict[Scale | None, dict[str, None]] = {}
    for example in examples:
        if example.rating(dimension) is not None:
            name = example.dataset or _file(example) or _UNNAMED
            found.setdefault(example.scale(dimension), {})[name] = None
    return {scale: list(names) for scale, names in found.items()}


def scales_said(examples: Sequence[Example], dimension: str = OVERALL) -> str:
    """What to know of the scales of rated lines, in a sentence; "" where they stand on one and there is no doubt.

    Raises:
        DataError: no line states one, and they look unlike.
    """
    found = scales_in(examples, dimension)
    stated = sorted((scale, names) for scale, names in found.items() if scale is not None)
    if len(stated) > 1:
        each = "; ".join(f"{said(scale)} ({_listed(names)})" for scale, names in stated)
        return f"ratings on {len(stated)} scales are brought together: {each}"
    spans = spans_of(examples, dimension)
    if stated:
        return ""
    require_alike(examples, dimension)
    if slip := _slip(examples, dimension) or doubtful_code(examples, dimension):
        return slip
    if len(spans) < 2:
        return ""
    return (
        f"no line states its scale; the ratings of {_listed(list(map(str, spans)))} are taken to be on one "
        f"(--scale {hint(spans)} says so)"
    )


def _slip(examples: Sequence[Example], dimension: str) -> str:
    """What to know of one rating, or a few, so far from all others that it looks mistyped; "" where there is none.

    That is a value at either end, on one line of fifty at most, further from the next than all others lie apart; among
    few lines a single one, several times further.
    """
    values = sorted(value for one in examples if (value := one.rating(dimension)) is not None)
    for far in (values[-1], values[0]) if values else ():
        others = [value for value in values if value != far]
        count = len(values) - len(others)
        many = count * _FEW <= len(values)
        if len(set(others)) < 2 or not (many or (count == 1 and len(others) >= _SOME)):
            continue
        low, high = others[0], others[-1]
        if min(abs(far - low), abs(far - high)) > (high - low) * (1 if many else _SURELY):
            lines = f"{count} of {len(values):,} ratings {'is' if count == 1 else 'are'} {far:g}"
            return (
                f"{lines}, all others lie between {low:g} and {high:g}: if that is a slip, say the scale "
                f"(--scale {low:g},{high:g}) and the line is named"
            )
    return ""


def doubtful_code(examples: Iterable[Example], dimension: str = OVERALL) -> str:
    """What to know of a rating that may stand for no answer; "" where there is none."""
    unstated = (example for example in examples if example.scale(dimension) is None)
    code = code_among(value for example in unstated for value in _values(example, dimension))
    if code is None:
        return ""
    low, high = min(code.low, code.value), max(code.high, code.value)
    return (
        f"{code}: if {code.value:g} stands for no answer, leave these cells empty (--scale {code.low:g},{code.high:g} "
        f"names them); if it is a rating, --scale {low:g},{high:g} says so"
    )


def on_unit(value: float, scale: Scale | None) -> float:
    """A rating on `scale` brought to [0, 1]; NaN where the scale is not known."""
    return math.nan if scale is None else (value - scale[0]) / (scale[1] - scale[0])


def rescaled(value: Number, scale: Scale, other: Scale) -> Number:
    """What stands on `scale`, a number or an array of numbers, mapped linearly to the scale `other`."""
    if scale == other:
        return value
    return other[0] + (other[1] - other[0]) * (value - scale[0]) / (scale[1] - scale[0])


def said(scale: Scale) -> str:
    """A scale in words."""
    return f"{scale[0]:g} to {scale[1]:g}"


def hint(spans: Sequence[Span]) -> str:
    """The scale that ratings of these spans may be on, as `--scale` takes it."""
    low, high = min(span.low for span in spans), max(span.high for span in spans)
    far = max(high, -low)
    top = next((usual for usual in (1, 2, 3, 5, 7, 10, 100) if far <= usual), far)
    if low < 0:
        return f"{-top:g},{top:g}"
    return f"{0 if low < 1 or top > 10 else 1:g},{top:g}"


def _file(example: Example) -> str:
    """The file that an example was read from."""
    return example.where.rpartition(":")[0]


def _values(example: Example, dimension: str) -> list[float]:
    """All that an example's people gave in `dimension`."""
    single = [rating.value for rating in example.ratings if rating.dimension == dimension]
    return [*single, *([example.quality[dimension]] if dimension in example.quality else [])]


def _require_inside(example: Example, scale: Scale, dimension: str) -> None:
    """Raise where a rating lies outside of `scale`."""
    for value in _values(example, dimension):
        require_inside(value, scale, dimension, example.where, "rating")


def _listed(names: Sequence[str]) -> str:
    """The first names."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _plain(value: float) -> float:
    """A whole number without a point."""
    return int(value) if value == int(value) else value
