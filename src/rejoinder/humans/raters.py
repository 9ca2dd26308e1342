"""Who rated what: the single ratings of a data set with their raters, and the pairs of ratings that lines give.

Shapes: N lines, R ratings of a line at most, J raters, M pairs of ratings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from rejoinder.example import Example, Rating
from rejoinder.data.rated import RatedSet
from rejoinder.stats.resamples import BoolArray, FloatArray, IntArray

NOBODY = -1
_TOLD = 5  # names in a sentence
PLACE = "rating {}"  # who gave the ratings of one place, where nobody is named


class Meetings(NamedTuple):
    """Pairs of ratings that two raters gave to one line; `first` is before `second` among the raters.

    Attributes:
        lines: [M] the line.
        first: [M] one rater.
        second: [M] the other.
        one: [M] what the first gave.
        other: [M] what the second gave.
    """

    lines: IntArray
    first: IntArray
    second: IntArray
    one: FloatArray
    other: FloatArray

    @property
    def both_ways(self) -> Meetings:
        """[2 M] each pair twice, either rater once as the first."""
        return joined([self, Meetings(self.lines, self.second, self.first, self.other, self.one)])

    def at(self, rows: IntArray | BoolArray) -> Meetings:
        """Some of them."""
        return Meetings(self.lines[rows], self.first[rows], self.second[rows], self.one[rows], self.other[rows])


def joined(parts: Sequence[Meetings]) -> Meetings:
    """All of them, one after the other."""
    return Meetings(
        np.concatenate([part.lines for part in parts]),
        np.concatenate([part.first for part in parts]),
        np.concatenate([part.second for part in parts]),
        np.concatenate([part.one for part in parts]),
        np.concatenate([part.other for part in parts]),
    )


@dataclass(frozen=True, eq=False)
class Raters:
    """The single ratings of a data set, and who gave them.

    Where no rater is named, the first ratings of all lines stand for one rater, and so on: whoever that was, it is one
    person a line, so that what is said of such a rater is said of a person drawn at random.

    Attributes:
        rated: the data set.
        names: [J] the raters, sorted.
        named: whether these are people; else places in the lines.
        ratings: [N, R] NaN where there is none.
        raters: [N, R] number of who gave each, `NOBODY` where there is none.
        again: ratings left out because their rater had rated the line before.
        nameless: ratings left out because they alone have no rater.
    """

    rated: RatedSet
    names: tuple[str, ...]
    named: bool
    ratings: FloatArray
    raters: IntArray
    again: int = 0
    nameless: int = 0

    @cached_property
    def table(self) -> FloatArray:
        """[N, J] what each rater gave, NaN where nothing."""
        table = np.full((len(self.ratings), len(self.names)), np.nan)
        lines, places = np.nonzero(self.raters != NOBODY)
        table[lines, self.raters[lines, places]] = self.ratings[lines, places]
        return table

    @cached_property
    def meetings(self) -> Meetings:
        """The pairs of ratings of all lines."""
        parts = []
        for one, other in combinations(range(self.ratings.shape[1]), 2):
            lines = np.flatnonzero((self.raters[:, one] != NOBODY) & (self.raters[:, other] != NOBODY))
            turned = self.raters[lines, one] > self.raters[lines, other]
            first, second = np.where(turned, other, one), np.where(turned, one, other)
            who = (self.raters[lines, first], self.raters[lines, second])
            parts.append(Meetings(lines, *who, self.ratings[lines, first], self.ratings[lines, second]))
        none = np.empty(0, dtype=np.int64)
        empty = Meetings(none, none, none, np.empty(0), np.empty(0))
        return joined([empty, *parts])

    def without(self, numbers: Sequence[int]) -> Raters:
        """The ratings of all but some raters, who keep their names and have none."""
        left = np.isin(self.raters, numbers)
        return replace(
            self,
            ratings=np.where(left, np.nan, self.ratings),
            raters=np.where(left, NOBODY, self.raters),
        )

    def shuffled(self, rng: np.random.Generator) -> Raters:
        """Return the same raters with the ratings of each line shuffled among those who rated it."""
        keys = np.where(self.raters == NOBODY, np.inf, rng.random(self.ratings.shape))
        order = np.argsort(keys, axis=1)
        there = np.sort(
            np.where(self.raters == NOBODY, self.ratings.shape[1], np.arange(self.ratings.shape[1])), axis=1
        )
        ratings = np.full_like(self.ratings, np.nan)
        lines, places = np.nonzero(there < self.ratings.shape[1])
        ratings[lines, there[lines, places]] = self.ratings[lines, order[lines, places]]
        return replace(self, ratings=ratings)

    def count(self) -> IntArray:
        """[J] ratings of each."""
        return np.bincount(self.raters[self.raters != NOBODY], minlength=len(self.names)).astype(np.int64)


def one_spelling(lines: Sequence[Example]) -> tuple[list[Example], list[str]]:
    """Lines whose raters go by one name each, and what was made of names that differ in case or blanks alone.

    Such names are one rater, under the spelling that is met most, unless two of them that differ in case rated the same
    line: then they are left as they are.
    """
    met: dict[str, Counter[str]] = {}
    apart: set[str] = set()
    for line in lines:
        here: dict[tuple[str, str], str] = {}
        for one in line.ratings:
            if one.rater is not None:
                plain = _plain(one.rater)
                met.setdefault(plain, Counter())[one.rater] += 1
                name = " ".join(one.rater.split())
                if here.setdefault((one.dimension, plain), name) != name:
                    apart.add(plain)
    several = {plain: spellings for plain, spellings in met.items() if len(spellings) > 1}
    names = {plain: max(sorted(spellings), key=spellings.__getitem__) for plain, spellings in several.items()}
    told = []
    for verdict, plains in (("one rater", names.keys() - apart), ("several raters, who rated the same lines", apart)):
        if plains:
            each = "; ".join(" and ".join(map(repr, sorted(several[plain]))) for plain in sorted(plains)[:_TOLD])
            more = f"; and {len(plains) - _TOLD} more" if len(plains) > _TOLD else ""
            told.append(f"Names that differ in case or blanks alone were taken as {verdict}: {each}{more}.")
    if not names.keys() - apart:
        return list(lines), told

    def renamed(one: Rating) -> Rating:
        plain = _plain(one.rater or "")
        return one if plain in apart or plain not in names else replace(one, rater=names[plain])

    return [replace(line, ratings=tuple(map(renamed, line.ratings))) for line in lines], told


def _plain(name: str) -> str:
    """A name without its case, and with single blanks inside."""
    return " ".join(name.split()).casefold()


def raters_of(rated: RatedSet) -> Raters:
    """Who rated a data set; of a line that someone rated twice the first rating counts."""
    ratings = rated.all_ratings
    known = [[one.rater for one in line.ratings if one.dimension == rated.dimension] for line in rated.examples]
    people = sorted({name for row in known for name in row if name is not None})
    if not people:
        names = tuple(PLACE.format(place + 1) for place in range(ratings.shape[1]))
        return Raters(rated, names, False, ratings, np.where(np.isfinite(ratings), np.arange(len(names)), NOBODY))
    numbers = {name: number for number, name in enumerate(people)}
    raters = np.full(ratings.shape, NOBODY)
    again = nameless = 0
    for row, given in zip(raters, known, strict=True):
        for place, name in enumerate(given):
            nameless += name is None
            if name is None or numbers[name] in row[:place]:
                again += name is not None
            else:
                row[place] = numbers[name]
    return Raters(rated, tuple(people), True, np.where(raters == NOBODY, np.nan, ratings), raters, again, nameless)
