"""Who rated what: the single ratings of a data set with their raters, their attention, and who is left out.

No rating is deleted: ratings that do not count are kept aside, with the reason.

Shapes: N lines, R ratings of a line at most, J raters, M pairs of ratings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rejoinder.data.formats.annotation import project_raters
from rejoinder.data.rated import RatedSet
from rejoinder.data.read import lines_of
from rejoinder.data.values import is_number
from rejoinder.errors import DataError
from rejoinder.example import Example, Rating
from rejoinder.report import written
from rejoinder.stats.agreement import Weighting, kappas
from rejoinder.stats.resamples import FloatArray, IntArray, Resamples

CHECK = "check"
"""The key of a line whose rating is known: the rating of an attentive rater, or its lowest and highest value."""
NO_RATER = -1
FEWEST_SHARED = 10
"""Lines that two raters share before their agreement is computed, and pairs of ratings that a rule needs."""
MOST_VALUES = 101
"""Different ratings; if there are more, they are not categories."""


class RatingPairs(NamedTuple):
    """Pairs of ratings of a line by two raters; `first` is before `second` among the raters.

    Attributes:
        lines: [M] the line.
        first: [M] number of one rater.
        second: [M] number of the other rater.
        values: [M] the rating of the first.
        others: [M] the rating of the second.
    """

    lines: IntArray
    first: IntArray
    second: IntArray
    values: FloatArray
    others: FloatArray

    @property
    def both_ways(self) -> RatingPairs:
        """[2 M] each pair twice, with each rater as the first."""
        swapped = (self.lines, self.second, self.first, self.others, self.values)
        return RatingPairs(*map(np.concatenate, zip(self, swapped, strict=True)))

    def at(self, rows: Any) -> RatingPairs:
        """Return some of them."""
        return RatingPairs(*(column[rows] for column in self))


@dataclass(frozen=True, eq=False)
class Raters:
    """The single ratings of a data set and their raters.

    If no rater is named, the first ratings of all lines count as one rater, the second ratings as another, and so on.
    Such a rater is a person drawn at random for each line.

    Attributes:
        rated: the data set.
        names: [J] the raters, sorted.
        named: whether these are people; else places in the lines.
        ratings: [N, R] NaN for a missing rating.
        raters: [N, R] number of the rater of each rating, `NO_RATER` for a missing one.
        repeated: ratings left out because their rater had rated the line before.
        nameless: ratings left out because they have no rater but others have.
    """

    rated: RatedSet
    names: tuple[str, ...]
    named: bool
    ratings: FloatArray
    raters: IntArray
    repeated: int = 0
    nameless: int = 0

    @cached_property
    def present(self) -> Any:
        """[N, R] whether there is a rating."""
        return self.raters != NO_RATER

    @cached_property
    def few_values(self) -> bool:
        """Whether ratings take so few values that they are categories."""
        return len(np.unique(self.ratings[self.present])) <= MOST_VALUES

    @cached_property
    def table(self) -> FloatArray:
        """[N, J] the rating of each rater, NaN for a missing one."""
        table = np.full((len(self.ratings), len(self.names)), np.nan)
        table[np.nonzero(self.present)[0], self.raters[self.present]] = self.ratings[self.present]
        return table

    @cached_property
    def pairs(self) -> RatingPairs:
        """All pairs of ratings of a line."""
        left, right = np.triu_indices(self.ratings.shape[1], 1)
        pair, lines = np.nonzero((self.present[:, left] & self.present[:, right]).T)
        left, right = left[pair], right[pair]
        swapped = self.raters[lines, left] > self.raters[lines, right]
        left, right = np.where(swapped, right, left), np.where(swapped, left, right)
        numbers, values = (tuple(table[lines, part] for part in (left, right)) for table in (self.raters, self.ratings))
        return RatingPairs(lines, *numbers, *values)

    def without(self, names: Sequence[str]) -> Raters:
        """Return the ratings of all but some raters, who keep their numbers."""
        out = np.isin(self.raters, [place for place, name in enumerate(self.names) if name in names])
        ratings, raters = np.where(out, np.nan, self.ratings), np.where(out, NO_RATER, self.raters)
        return replace(self, ratings=ratings, raters=raters)

    def shuffled(self, rng: np.random.Generator) -> Raters:
        """Return the same raters with the ratings of each line shuffled among those who rated it."""
        order = np.argsort(np.where(self.present, rng.random(self.ratings.shape), np.inf), axis=1)
        ratings = np.full_like(self.ratings, np.nan)
        ratings[self.present] = np.take_along_axis(self.ratings, order, axis=1)[~np.sort(~self.present, axis=1)]
        return replace(self, ratings=ratings)

    def count(self) -> IntArray:
        """Return [J] the number of ratings of each rater."""
        return np.bincount(self.raters[self.present], minlength=len(self.names)).astype(np.int64)


def raters_of(rated: RatedSet) -> Raters:
    """Return the raters of a data set. If somebody rated a line twice, the first rating counts."""
    ratings = rated.all_ratings
    given = [[rating.rater for rating in line.ratings if rating.dimension == rated.dimension] for line in rated.examples]
    people = sorted({name for row in given for name in row if name is not None})
    if not people:
        names = tuple(f"rating {place + 1}" for place in range(ratings.shape[1]))
        return Raters(rated, names, False, ratings, np.where(np.isfinite(ratings), np.arange(len(names)), NO_RATER))
    numbers, raters = {name: place for place, name in enumerate(people)}, np.full(ratings.shape, NO_RATER)
    for row, line in zip(raters, given, strict=True):
        for place, name in enumerate(line):
            if name is not None and numbers[name] not in row[:place]:
                row[place] = numbers[name]
    nameless = sum(name is None for line in given for name in line)
    repeated = sum(map(len, given)) - nameless - int((raters != NO_RATER).sum())
    ratings = np.where(raters == NO_RATER, np.nan, ratings)
    return Raters(rated, tuple(people), True, ratings, raters, repeated, nameless)


def unified_names(lines: Sequence[Example]) -> tuple[list[Example], list[list[str]], list[list[str]]]:
    """Return the lines with one spelling for each rater, the groups of names that were joined, and those that were not.

    Names that differ in case or blanks only are one rater, under the most frequent spelling, unless two that differ in
    case rated the same line.
    """
    counts: dict[str, Counter[str]] = {}
    apart = set()
    for line in lines:
        seen: dict[tuple[str, str], str] = {}
        for rating in line.ratings:
            if rating.rater is not None:
                words = " ".join(rating.rater.split())
                counts.setdefault(words.casefold(), Counter())[rating.rater] += 1
                if seen.setdefault((rating.dimension, words.casefold()), words) != words:
                    apart.add(words.casefold())
    groups = {key: sorted(names) for key, names in sorted(counts.items()) if len(names) > 1}
    joined = {key: names for key, names in groups.items() if key not in apart}
    spelling = {name: max(names, key=counts[key].__getitem__) for key, names in joined.items() for name in names}

    def renamed(rating: Rating) -> Rating:
        return replace(rating, rater=spelling.get(rating.rater or "", rating.rater))

    if spelling:
        lines = [replace(line, ratings=tuple(map(renamed, line.ratings))) for line in lines]
    return list(lines), list(joined.values()), [names for key, names in groups.items() if key in apart]


class Attention(NamedTuple):
    """The attention of a rater.

    Attributes:
        missed: number of attention checks that were missed.
        checks: number of attention checks.
        seconds: time spent on each reply, as far as it is known.
    """

    missed: int = 0
    checks: int = 0
    seconds: tuple[float, ...] = ()


def attention_of(checks: Sequence[Example], dimension: str) -> dict[str, Attention]:
    """Return the attention of each rater of some `checks`, lines with the key `check`.

    Raises:
        DataError: a check states no rating, nor the lowest and highest value of one.
    """
    attention: dict[str, Attention] = {}
    for line in checks:
        expected: Any = line.extra[CHECK]
        ends = expected if isinstance(expected, list) else [expected, expected]
        if len(ends) != 2 or not all(map(is_number, ends)) or ends[0] > ends[1]:
            remedy = 'Write "check": 1, or "check": [1, 2]'
            problem = f"{expected!r}, expected a rating or [lowest, highest]"
            raise DataError(problem, remedy, where=line.where, field=CHECK)
        for rating in line.ratings:
            if rating.dimension == dimension and rating.rater is not None:
                missed, number_of_checks, _ = attention.get(rating.rater, Attention())
                missed += not ends[0] <= rating.value <= ends[1]
                attention[rating.rater] = Attention(missed, number_of_checks + 1)
    return attention


def project_ratings(path: str | Path) -> tuple[list[Example], dict[str, Attention]]:
    """Return the lines of a rating project, which may be running, and the attention of its raters.

    Raises:
        DataError: it is damaged, has votes between two replies, or keeps its answers in a database elsewhere.
    """
    lines = lines_of(path)
    examples = [line for line in lines if isinstance(line, Example)]
    if len(examples) < len(lines):
        remedy = "Run rejoinder study to see which scorers agree with the votes"
        raise DataError("the raters chose between two replies, so there are no ratings", remedy, where=str(path))
    return examples, {name: Attention(*facts) for name, facts in project_raters(path).items()}


def left_out(
    raters: Raters,
    attention: Mapping[str, Attention],
    least: float | None = None,
    weighting: Weighting = "quadratic",
) -> dict[str, str]:
    """Return the raters that do not count, each with the reason: who missed a check, or has a kappa below `least`.

    The rule by kappa leaves out honest raters wherever people disagree, so it is off by default (None). It spares
    raters with fewer than ten pairs of ratings, and raters who share lines with one other rater only: nobody knows
    which of the two is wrong.

    Source: Lowe et al. (2017), appendix (checks, and kappa under .2); Liu et al. (2016), section 5.1 (kappa).
    """
    reasons, pairs = {}, raters.pairs.both_ways
    numbers, groups, counts = np.unique(pairs.first, return_inverse=True, return_counts=True)
    values = np.full(len(numbers), np.nan)
    if least is not None and len(numbers) and raters.few_values:
        once = Resamples.once(np.zeros(len(groups), dtype=np.int64))
        values = kappas(pairs.values, pairs.others, groups, once, weighting)[:, 0]
    for number, value, count in zip(numbers.tolist(), values.tolist(), counts.tolist(), strict=True):
        several = least is not None and value < least and len(np.unique(pairs.second[pairs.first == number])) > 1
        if several and count >= FEWEST_SHARED and raters.named:
            reasons[raters.names[number]] = f"kappa {written.number(value)} with the others, below {least:g}"
    for name in raters.names if raters.named else ():
        missed, checks, _ = attention.get(name, Attention())
        if missed:
            reasons[name] = f"missed {missed} of {written.pluralize(checks, 'attention check')}"
    return {name: reasons[name] for name in raters.names if name in reasons}
