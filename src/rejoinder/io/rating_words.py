"""What people write in place of a bare number: `3/5`, `★★★`, `50%`, `3 (good)`, `agree`, and `n/a` for no rating.

What a word such as `agree` is worth, and where a scale ends, no cell tells by itself: such ratings are read column by
column.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from rejoinder.errors import ColumnError
from rejoinder.example import OVERALL
from rejoinder.io.lines import Note
from rejoinder.io.ratings import BINARY, Scale
from rejoinder.io.values import number_in

_NONE = frozenset(
    (
        *("n/a", "na", "n.a.", "#n/a", "not applicable", "not rated", "no rating", "no answer", "skip", "skipped"),
        *("none", "null", "nan", "-", "--", "---", "–", "—", "?", "."),
    )
)
_NEITHER = "neutral, neither, undecided"
_ORDERS = tuple(
    tuple(frozenset(map(str.strip, level.split(","))) for level in order.split("|"))
    for order in (
        f"strongly disagree | disagree | {_NEITHER}, neither agree nor disagree | agree | strongly agree",
        f"strongly disagree | somewhat disagree, slightly disagree | {_NEITHER}, neither agree nor disagree"
        "| somewhat agree, slightly agree | strongly agree",
        "strongly disagree | disagree | somewhat disagree, slightly disagree"
        f"| {_NEITHER}, neither agree nor disagree | somewhat agree, slightly agree | agree | strongly agree",
        f"very dissatisfied | dissatisfied, somewhat dissatisfied | {_NEITHER}, neither satisfied nor dissatisfied"
        "| satisfied, somewhat satisfied | very satisfied",
        f"very unlikely | unlikely | {_NEITHER}, neither likely nor unlikely | likely | very likely",
        "bad | poor | fair | good | excellent",
        "poor | fair | good | very good | excellent",
        f"very poor, very bad, terrible | poor, bad | fair, average, acceptable, ok, okay, {_NEITHER}"
        ", neither good nor bad | good | very good, excellent",
        "not at all | slightly, not so, a little | moderately, somewhat | very | extremely",
        "never | rarely | sometimes | often | always",
        "bad | good",
        "wrong, incorrect | right, correct",
        "fail, failed | pass, passed",
        "unacceptable | acceptable",
        "unhelpful, not helpful | helpful",
        "irrelevant, not relevant | relevant",
    )
)
"""Words from the worst to the best; those of one level are the same, and no column has two of them."""

_WORDS = frozenset(word for order in _ORDERS for level in order for word in level)
_DEGREE = re.compile(r"(not at all|slightly|not so|a little|moderately|somewhat|very|extremely) [^\W\d_]+")
_NUMBER = r"(\d{1,9}(?:[.,]\d{1,9})?)"
_UNIT = r"(?:\s*(?:stars?|points?|pts?))?"
_NO_DIGIT = r"[^\d()\[\]]+"
_OUT_OF = re.compile(rf"{_NUMBER}\s*(?:/|out of|of)\s*{_NUMBER}{_UNIT}")
_PERCENT = re.compile(rf"{_NUMBER}\s*(?:%|percent|per cent)")
_STARS = re.compile(r"([★⭐🌟]{1,10})(☆{0,10})|(\*{1,10})")
_NAMED = re.compile(  # 3 stars; 3 (good), 3 - good, 3: good, 3 = good; good (3)
    rf"{_NUMBER}{_UNIT}(?:\s*[(\[]{_NO_DIGIT}[)\]]|\s*[-–—:=.)]\s*[^\W\d_]{_NO_DIGIT}|\s+[^\W\d_]+)?"
    rf"|[^\W\d_]{_NO_DIGIT}[(\[]\s*{_NUMBER}\s*[)\]]"
)
_LONGEST = 60  # characters of what may be a rating
_SHOWN = 7  # words in a message
_FROM_ONE = 10  # scales up to this highest rating begin at 1, unless a rating is lower


class Said(NamedTuple):
    """What a text says of a reply.

    Attributes:
        value: the number in it; None where it is a word.
        top: the highest that it could be, where the text says so.
        low: the lowest, where the text says so.
        word: the word.
    """

    value: float | None = None
    top: float | None = None
    low: float | None = None
    word: str = ""


NO_RATING = Said()


@lru_cache(maxsize=1024)
def rating_in(text: str) -> Said | None:
    """What a text other than a bare number says of a reply.

    Returns:
        `NO_RATING` for a sign that nobody rated; None where it is no rating.
    """
    plain = " ".join(text.replace("\ufe0f", "").casefold().split())
    if plain in _NONE:
        return NO_RATING
    if len(plain) > _LONGEST or number_in(plain, thousands=False) is not None:
        return None
    if plain in _WORDS or _DEGREE.fullmatch(plain):
        return Said(word=plain)
    if found := _STARS.fullmatch(plain):
        full, rest, plainer = found.groups()
        return Said(len(full or plainer), len(full) + len(rest) if rest else None)
    if found := _PERCENT.fullmatch(plain):
        return _inside(Said(number_in(found[1]), 100, 0))
    if found := _OUT_OF.fullmatch(plain):
        return _inside(Said(number_in(found[1]), number_in(found[2])))
    if found := _NAMED.fullmatch(plain):
        return Said(number_in(found[1] or found[2]))
    return None


def is_word(value: Any) -> bool:
    """Whether a value is a word for a rating."""
    said = rating_in(value) if isinstance(value, str) else None
    return said is not None and bool(said.word)


def _inside(said: Said) -> Said | None:
    """What was said, unless it is more than the most."""
    return said if said.value is not None and said.top and said.value <= said.top else None


Placed = tuple[str, Any]
"""(`file:line`, record under our names)."""


class _Reading(NamedTuple):
    """How the texts of a dimension are read: what each word is worth, and the scale of all."""

    worth: Mapping[str, int]
    scale: Scale


def numbered(records: Iterable[Placed], note: Note) -> Iterator[Placed]:
    """Yield records, the ratings in them as numbers, with their scale where their column tells it.

    From the first record on whose ratings only their column explains, all are held in memory.

    Args:
        records: of one file.
        note: is told what words were taken for, and how many signs of no rating were met.

    Raises:
        ColumnError: words of a dimension belong to no known order or to several, or stand among numbers; texts of it
            state several scales.
    """
    signs: Counter[str] = Counter()
    bare: set[str] = set()
    records = ((where, _settled(record, signs)) for where, record in records)
    where = ""
    for where, record in records:
        if any(_texts(values) for _, _, values in _given(record)):
            yield from _of_columns([(where, record), *records], bare, note)
            break
        bare.update(dimension for _, dimension, values in _given(record) if values)
        yield where, record
    if signs:
        met = " or ".join(map(repr, signs))
        note(f"{where.rpartition(':')[0]}: {signs.total():,} times {met} where a rating could be: read as not rated")


def _given(record: Any) -> Iterator[tuple[str, str, list[Any]]]:
    """The field, the dimension and the values of the ratings in a record."""
    for field in ("ratings", "quality") if isinstance(record, Mapping) else ():
        given = record.get(field)
        for dimension, values in given.items() if isinstance(given, Mapping) else ():
            yield field, dimension, values if isinstance(values, list) else [values]


def _texts(values: Sequence[Any]) -> list[Said]:
    """What those of some values say that are texts of a known form."""
    found = (rating_in(one) for one in values if isinstance(one, str))
    return [said for said in found if said is not None]


def _settled(record: Any, signs: Counter[str]) -> Any:
    """The record with what a text tells by itself: numbers without a scale; signs of no rating go and are counted."""
    for field, dimension, values in list(_given(record)):
        if not _texts(values):
            continue
        said = [rating_in(one) if isinstance(one, str) else None for one in values]
        gone = [one == NO_RATING for one in said]
        signs.update(value.strip() for value, left in zip(values, gone, strict=True) if left)
        known = [
            one.value if one and one.value is not None and one.top is None else value
            for one, value in zip(said, values, strict=True)
        ]
        if any(gone) and field == "ratings":
            record = _without_raters(record, dimension, gone)
        record = _replaced(record, field, dimension, [one for one, left in zip(known, gone, strict=True) if not left])
    return record


def _without_raters(record: Mapping[str, Any], dimension: str, gone: Sequence[bool]) -> Mapping[str, Any]:
    """The record without the names of those who gave no rating."""
    raters = record.get("raters")
    if isinstance(raters, list):  # one list may serve several dimensions
        raters = dict.fromkeys(record["ratings"], raters)
    if not isinstance(raters, Mapping):
        return record
    names = raters.get(dimension)
    if not isinstance(names, list) or len(names) != len(gone):  # for the parser to refuse
        return record
    stay = [name for name, left in zip(names, gone, strict=True) if not left]
    return {**record, "raters": {**raters, dimension: stay}}


def _replaced(record: Mapping[str, Any], field: str, dimension: str, values: list[Any]) -> Mapping[str, Any]:
    """The record with other ratings in a dimension."""
    given = {key: value for key, value in record[field].items() if key != dimension}
    if values:
        given[dimension] = values if field == "ratings" else values[0]
    return {**record, field: given}


def _of_columns(held: list[Placed], bare: set[str], note: Note) -> Iterator[Placed]:
    """Yield records, each dimension of them read as its texts in all of them tell."""
    columns: dict[str, list[tuple[str, Said]]] = {}
    for where, record in held:
        for _, dimension, values in _given(record):
            columns.setdefault(dimension, []).extend((where, said) for said in _texts(values))
            if len(_texts(values)) < len(values):
                bare.add(dimension)
    # Words beside plain numbers stay as they are, for the parser to refuse line by line: one odd cell is no odd column.
    readings = {
        dimension: _reading(dimension, texts)
        for dimension, texts in columns.items()
        if texts and not (dimension in bare and all(said.word for _, said in texts))
    }
    for dimension, reading in readings.items():
        if reading.worth:
            file = columns[dimension][0][0].rpartition(":")[0]
            low, high = reading.scale
            each = ", ".join(f"{word!r} as {number}" for word, number in reading.worth.items())
            note(f"{file}: read the words of the {dimension} rating on a scale of {low:g} to {high:g}: {each}")
    for where, record in held:
        for field, dimension, values in list(_given(record)):
            if dimension in readings and values:
                record = _read(record, field, dimension, values, readings[dimension], where)
        yield where, record


def _read(
    record: Mapping[str, Any], field: str, dimension: str, values: list[Any], reading: _Reading, where: str
) -> Mapping[str, Any]:
    """The record with the ratings of a dimension as numbers on their scale."""
    found = []
    for value in values:
        said = rating_in(value) if isinstance(value, str) else None
        found.append(value if said is None else reading.worth[said.word] if said.word else said.value)
    own = (record.get("scale") if dimension == OVERALL else None) or (record.get("scales") or {}).get(dimension)
    if own is not None and list(own) != list(reading.scale):
        problem = f"the {dimension} ratings are written on a scale of {list(reading.scale)}, but {list(own)} is stated"
        raise ColumnError(problem, "Correct the scale, or write the ratings as numbers", where=where, field="scale")
    record = _replaced(record, field, dimension, found)
    return {**record, "scales": {**(record.get("scales") or {}), dimension: list(reading.scale)}}


def _reading(dimension: str, texts: Sequence[tuple[str, Said]]) -> _Reading:
    """How the texts of a dimension are read.

    Raises:
        ColumnError: it cannot be told.
    """
    where = texts[0][0]
    words = list(dict.fromkeys(said.word for _, said in texts if said.word))
    tops = {said.top: place for place, said in texts if said.top is not None}
    remedy = "Replace them by numbers on one scale, or leave empty what is not rated"
    if words and tops:
        problem = f"the {dimension} ratings are words ({_listed(words)}) and numbers"
        raise ColumnError(problem, remedy, where=where)
    if words:
        return _ordered(words, dimension, where, remedy)
    if len(tops) > 1:
        problem = f"the {dimension} ratings are out of {' and out of '.join(f'{top:g}' for top in tops)}"
        raise ColumnError(problem, "Bring them to one scale", where=list(tops.values())[1])
    (top,) = tops
    lows = [said.low for _, said in texts if said.low is not None]
    low = 0 if lows or top > _FROM_ONE or top <= 1 or any((said.value or 0) < 1 for _, said in texts) else 1
    return _Reading({}, (low, int(top) if top == int(top) else top))


def _ordered(words: Sequence[str], dimension: str, where: str, remedy: str) -> _Reading:
    """What each word is worth, by the shortest order that has all of them.

    Raises:
        ColumnError: none has, or several that do not say the same.
    """
    places = [found for order in _ORDERS if (found := _places(order, words)) is not None]
    shortest = min((length for length, _ in places), default=0)
    several = {numbers for length, numbers in places if length == shortest}
    if len(several) != 1:
        why = "words of no order that is known" if not several else "words that may be more than one order"
        problem = f"the {dimension} ratings are {why}: {_listed(words)}"
        raise ColumnError(problem, remedy, where=where)
    worth = dict(sorted(zip(words, several.pop(), strict=True), key=lambda one: one[1]))
    if shortest == len(BINARY):
        return _Reading({word: number - 1 for word, number in worth.items()}, BINARY)
    return _Reading(worth, (1, shortest))


def _places(order: Sequence[frozenset[str]], words: Sequence[str]) -> tuple[int, tuple[int, ...]] | None:
    """The length of an order and the place of each word in it; None where it lacks one, or two have one place."""
    about = {found[0].rpartition(" ")[2] for word in words if (found := _DEGREE.fullmatch(word))}
    if len(about) == 1 and all(map(_DEGREE.fullmatch, words)) and "not at all" in order[0]:  # `very helpful`: `very`
        words = [word.rpartition(" ")[0] for word in words]
    levels = {word: place for place, level in enumerate(order, start=1) for word in level}
    places = tuple(levels.get(word, 0) for word in words)
    return (len(order), places) if all(places) and len(set(places)) == len(places) else None


def _listed(words: Sequence[str]) -> str:
    """The first words."""
    return ", ".join(map(repr, words[:_SHOWN])) + (" ..." if len(words) > _SHOWN else "")
