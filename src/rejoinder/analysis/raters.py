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
from numpy.typing import NDArray

from rejoinder.data.formats.annotation import project_raters
from rejoinder.data.rated import RatedSet
from rejoinder.data.read import lines_of
from rejoinder.data.values import is_number
from rejoinder.errors import DataError
from rejoinder.example import Example, Pair, Rating
from rejoinder.report.written import number, pluralize
from rejoinder.stats.agreement import Weighting, kappas
from rejoinder.stats.resamples import BoolArray, FloatArray, IntArray, Resamples

CHECK = "check"
"""The key of a line whose rating is known: the rating of an attentive rater, or its lowest and highest value."""
FEWEST_SHARED = 10
"""Lines that two raters share before their agreement is computed, and pairs or lines that a rule needs."""
MOST_VALUES = 101
"""Different ratings; if there are more, they are not categories."""
NO_RATER = -1


class RatingPairs(NamedTuple):
    """[M] pairs of ratings of a line, with the numbers of their raters; of two raters the lower number is the first."""

    lines: NDArray[Any]
    first: NDArray[Any]
    second: NDArray[Any]
    values: NDArray[Any]
    others: NDArray[Any]

    @property
    def both_ways(self) -> RatingPairs:
        """[2 M] each pair twice, with each rater as the first."""
        swapped = (self.lines, self.second, self.first, self.others, self.values)
        return RatingPairs(*(np.concatenate(columns) for columns in zip(self, swapped, strict=True)))

    def at(self, rows: BoolArray) -> RatingPairs:
        """Return some of them."""
        return RatingPairs(*(column[rows] for column in self))


@dataclass(frozen=True, eq=False)
class Raters:
    """The single ratings of a data set and their raters.

    If no rater is named, the first ratings of all lines count as one rater, the second ratings as another, and so on:
    a person drawn at random for each line.
    """

    rated: RatedSet
    names: tuple[str, ...]  # [J] sorted
    named: bool  # whether these are people; else places in the lines
    ratings: FloatArray  # [N, R] NaN for a missing rating
    raters: IntArray  # [N, R] number of the rater, `NO_RATER` for a missing rating
    repeated: int = 0  # ratings left out because their rater had rated the line before
    nameless: int = 0  # ratings left out because they have no rater but others have

    @classmethod
    def of(cls, rated: RatedSet) -> Raters:
        """Return the raters of a data set. If somebody rated a line twice, the first rating counts."""
        ratings, dimension = rated.all_ratings, rated.dimension
        names = [[rating.rater for rating in line.ratings if rating.dimension == dimension] for line in rated.examples]
        people = sorted({name for line in names for name in line if name is not None})
        if not people:
            places = np.arange(ratings.shape[1])
            raters = np.where(np.isfinite(ratings), places, NO_RATER)
            return cls(rated, tuple(f"rating {place + 1}" for place in places), False, ratings, raters)
        numbers, raters = {name: place for place, name in enumerate(people)}, np.full(ratings.shape, NO_RATER)
        for row, line in zip(raters, names, strict=True):
            for place, name in enumerate(line):
                if name is not None and numbers[name] not in row[:place]:
                    row[place] = numbers[name]
        nameless = sum(name is None for line in names for name in line)
        repeated = sum(map(len, names)) - nameless - int((raters != NO_RATER).sum())
        ratings = np.where(raters == NO_RATER, np.nan, ratings)
        return cls(rated, tuple(people), True, ratings, raters, repeated, nameless)

    @cached_property
    def present(self) -> BoolArray:
        """[N, R] whether there is a rating."""
        return np.not_equal(self.raters, NO_RATER)

    @cached_property
    def counts(self) -> IntArray:
        """[J] the number of ratings of each rater."""
        return np.bincount(self.raters[self.present], minlength=len(self.names)).astype(np.int64)

    @property
    def sizes(self) -> dict[str, int]:
        """The numbers of rated lines, ratings and raters."""
        lines, ratings = int(self.present.any(axis=1).sum()), int(self.present.sum())
        return {"lines": lines, "ratings": ratings, "raters": int((self.counts > 0).sum())}

    @cached_property
    def values(self) -> FloatArray:
        """The different ratings, ascending."""
        return np.unique(self.ratings[self.present])

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
        places = np.where(swapped, right, left), np.where(swapped, left, right)
        columns = [table[lines, part] for table in (self.raters, self.ratings) for part in places]
        return RatingPairs(lines, *columns)

    def without(self, names: Mapping[str, str]) -> Raters:
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
    return list(lines), list(joined.values()), [groups[key] for key in groups if key in apart]


class Attention(NamedTuple):
    """Attention checks that a rater missed, all checks, and seconds for each reply, as far as they are known."""

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
            problem, remedy = f"{expected!r}, expected a rating or [lowest, highest]", 'Write "check": 1 or [1, 2]'
            raise DataError(problem, remedy, where=line.where, field=CHECK)
        for rating in line.ratings:
            if rating.dimension == dimension and rating.rater is not None:
                missed, count, _ = attention.get(rating.rater, Attention())
                attention[rating.rater] = Attention(missed + (not ends[0] <= rating.value <= ends[1]), count + 1)
    return attention


def project_ratings(path: str | Path) -> tuple[list[Example], dict[str, Attention]]:
    """Return the lines of a rating project, which may be running, and the attention of its raters.

    Raises:
        DataError: it is damaged, has votes between two replies, or keeps its answers in a database elsewhere.
    """
    attention = {name: Attention(*facts) for name, facts in project_raters(path).items()}
    return rated_replies(lines_of(path), path), attention


def rated_replies(lines: Sequence[Example | Pair], path: str | Path) -> list[Example]:
    """Return the lines of a rating project; `DataError` if its raters chose between two replies."""
    replies = [line for line in lines if isinstance(line, Example)]
    if len(replies) < len(lines):
        remedy = "Run rejoinder study to see which scorers agree with the votes"
        raise DataError("the raters chose between two replies, so there are no ratings", remedy, where=str(path))
    return replies


def missed_checks(raters: Raters, attention: Mapping[str, Attention]) -> dict[str, str]:
    """Return the raters who missed an attention check, each with the reason why they do not count.

    Source: Lowe et al. (2017), appendix.
    """
    missed = {name: known for name, known in attention.items() if known.missed and raters.named}
    return {
        name: f"missed {missed[name].missed} of {pluralize(missed[name].checks, 'attention check')}"
        for name in raters.names
        if name in missed
    }


def below_kappa(raters: Raters, least: float | None, weighting: Weighting = "quadratic") -> dict[str, str]:
    """Return the raters whose kappa with all others is below `least`, each with the reason; none without `least`.

    The rule leaves out honest raters wherever people disagree, so it is off by default. It spares raters with fewer
    than ten pairs of ratings, and those who share lines with one other rater only: either may err.

    Source: Lowe et al. (2017), appendix (kappa under .2); Liu et al. (2016), section 5.1.
    """
    reasons, pairs = {}, raters.pairs.both_ways
    if least is not None and raters.named and len(pairs.lines) and len(raters.values) <= MOST_VALUES:
        numbers, groups, counts = np.unique(pairs.first, return_inverse=True, return_counts=True)
        once = Resamples.once(np.zeros(len(groups), dtype=np.int64))
        values = kappas(pairs.values, pairs.others, groups, once, weighting)[:, 0]
        for number_, value in zip(numbers[counts >= FEWEST_SHARED], values[counts >= FEWEST_SHARED], strict=True):
            if value < least and len(np.unique(pairs.second[pairs.first == number_])) > 1:
                reasons[raters.names[number_]] = f"kappa {number(value)} with the others, below {least:g}"
    return reasons
