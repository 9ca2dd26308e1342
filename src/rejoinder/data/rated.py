"""Rated examples as data sets: the lines of each with their ratings, and the pool of all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from rejoinder.data.clusters import is_telling, normalized, sorted_clusters
from rejoinder.data.rated_lines import DEV, TEST, TRAIN, UNNAMED, numbered, split_of, title_of_places
from rejoinder.data.scales import BINARY, Scale, on_unit, require_alike
from rejoinder.errors import DataError, require_one_of
from rejoinder.example import OVERALL, Example, Rating, majority
from rejoinder.stats.resamples import BoolArray, FloatArray, IntArray, number_of, renumbered

POOLED = "pooled"
NO_SYSTEM = -1
FEWEST_EQUAL = 3
"""Ratings that equal a scorer's scores, for a warning that scores were read as ratings: fewer may be chance."""
Tie = Literal["fail", "pass"]
"""What counts where as many people say pass as fail."""
PEOPLE = "people"  # the label of human ratings among scorers


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """All M lines of a data set but those that a rated file has alone, whose ratings are of other replies.

    Attributes:
        lines: [M] in order.
        places: [M] their positions among the examples of the study.
        rows: [M] the place of each among the rated lines, -1 without a rating.
    """

    lines: tuple[Example, ...]
    places: IntArray
    rows: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class RatedSet:
    """The rated lines of a data set, or of all data sets pooled, N lines.

    Attributes:
        name: the data set, or "pooled".
        dimension: which ratings these are.
        examples: [N] the lines.
        places: [N] their positions among the examples of the study, which is where scores stand.
        ratings: [N] mean ratings, on one scale.
        contexts: [N] number of the line's cluster, from 0 on: lines of one conversation (see `humans.clusters`).
        systems: [N] number of the line's system, `NO_SYSTEM` where it is not known.
        sets: [N] number of the line's data set; more than one number makes a pool.
        note: what to know of the clusters, in a sentence; "" where there is nothing.
        ties: lines that are none of these because people were divided evenly, with the labels of each.
        population: these and all lines without a rating; empty of a pool.
    """

    name: str
    dimension: str
    examples: tuple[Example, ...]
    places: IntArray
    ratings: FloatArray
    contexts: IntArray
    systems: IntArray
    sets: IntArray
    note: str = ""
    ties: tuple[Example, ...] = ()
    population: Population = Population((), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))

    def __len__(self) -> int:
        """N."""
        return len(self.ratings)

    @property
    def clusters(self) -> int:
        """G, the number of clusters."""
        return number_of(self.contexts)

    @property
    def pooled(self) -> bool:
        """Whether the lines are of several data sets, whose raters and systems have nothing to do with each other."""
        return len(np.unique(self.sets)) > 1

    @property
    def title(self) -> str:
        """Its name for people."""
        return title_of_places(self.name, [example.where for example in self.examples])

    @property
    def level(self) -> Literal["turn", "dialogue"]:
        """The level of its lines: "dialogue" if all are whole conversations."""
        return "dialogue" if all(example.is_dialogue for example in self.examples) else "turn"

    @property
    def scales(self) -> frozenset[Scale]:
        """The scales that lines state. With a single one, lines that state none lie inside it and count as on it."""
        return frozenset(scale for example in self.examples if (scale := example.scale(self.dimension)))

    @property
    def scale(self) -> Scale | None:
        """The lowest and highest possible rating; None if no line states it."""
        return (0.0, 1.0) if self.scales and (self.pooled or len(self.scales) > 1) else next(iter(self.scales), None)

    @property
    def named_systems(self) -> IntArray:
        """The numbers of the systems that are known."""
        return np.unique(self.systems[self.systems != NO_SYSTEM])

    @property
    def exact_contexts(self) -> IntArray:
        """[N] number of the line's context; only equal contexts of one cluster have the same number."""
        lines = zip(self.contexts.tolist(), self.examples, strict=True)
        return numbered([(str(cluster), *example.context) for cluster, example in lines])

    @property
    def splits(self) -> tuple[str, ...]:
        """[N] dev, test or train, or ""; those of train have a rating only where there is no other split."""
        return tuple(split_of(example.extra) for example in self.examples)

    @property
    def copies(self) -> BoolArray:
        """[N] whether a response equals a reference."""
        return np.array([example.copies_reference for example in self.examples], dtype=bool)

    @property
    def single_ratings(self) -> FloatArray:
        """[N, R] the first rating of each person, or NaN; on [0, 1] if lines have several scales."""
        return self._table([example.counted(self.dimension) for example in self.examples])

    @property
    def single_raters(self) -> IntArray | None:
        """[N, R] the number of the person behind each of the single ratings, -1 for none; None unless all are named."""
        rows = [[rating.rater for rating in example.counted(self.dimension)] for example in self.examples]
        if any(name is None for row in rows for name in row):
            return None
        people = [[" ".join((name or "").split()) for name in row] for row in rows]
        numbers = {name: place for place, name in enumerate(sorted({name for row in people for name in row}))}
        table = np.full((len(rows), max(map(len, rows), default=0)), -1, dtype=np.int64)
        for row, names in zip(table, people, strict=True):
            row[: len(names)] = [numbers[name] for name in names]
        return table

    @property
    def all_ratings(self) -> FloatArray:
        """[N, R] the same with every rating of a person."""
        dimension = self.dimension
        return self._table([[one for one in line.ratings if one.dimension == dimension] for line in self.examples])

    def _table(self, ratings: Sequence[Sequence[Rating]]) -> FloatArray:
        """Return [N, R] the values of each line's ratings."""
        rows = [[one.value for one in own] for own in ratings]
        scales = [example.scale(self.dimension) for example in self.examples]
        if len(self.scales) > 1:
            rows = [[on_unit(value, scale) for value in row] for row, scale in zip(rows, scales, strict=True)]
        table = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
        for row, values in zip(table, rows, strict=True):
            row[: len(values)] = values
        return table

    def at(self, rows: IntArray) -> RatedSet:
        """Return some of the lines, with contexts numbered from 0."""
        return replace(
            self,
            examples=tuple(self.examples[row] for row in rows.tolist()),
            places=self.places[rows],
            ratings=self.ratings[rows],
            contexts=renumbered(self.contexts[rows]),
            systems=self.systems[rows],
            sets=self.sets[rows],
        )


class RatedSets(NamedTuple):
    """The data sets of a study.

    Attributes:
        sets: in order of appearance; one without a rated line is empty.
        pool: the lines of all of them; None if fewer than two have rated lines.
    """

    sets: tuple[RatedSet, ...]
    pool: RatedSet | None

    @property
    def dimension(self) -> str:
        """The dimension of the ratings."""
        return self.sets[0].dimension

    @property
    def filled(self) -> tuple[RatedSet, ...]:
        """The data sets that have rated lines."""
        return tuple(one for one in self.sets if len(one))


def ratings_of(examples: Sequence[Example], dimension: str) -> FloatArray:
    """Return [N] mean ratings in `dimension`, NaN without a rating.

    Means are rounded to nine decimals, so that raters summed in another order do not break a tie.
    """
    means = [example.rating(dimension) for example in examples]
    ratings: FloatArray = np.array([np.nan if mean is None else mean for mean in means], dtype=np.float64)
    return ratings.round(9)


def equal_scores(scores: FloatArray, ratings: FloatArray) -> int:
    """Return how many of [N] ratings are the scores of a scorer, read as human ratings by mistake.

    Only numbers count that are no mean of up to six whole ratings; NaN is equal to nothing.
    """
    sixtieths = 60 * ratings
    is_no_mean = np.abs(sixtieths - np.round(sixtieths)) > 1e-4
    return int((is_no_mean & np.isclose(scores, ratings, rtol=0, atol=1e-8)).sum())


def rated_sets(
    examples: Sequence[Example], ratings: FloatArray, dimension: str, ties: Sequence[Example] = (), others: int = 0
) -> RatedSets:
    """Return the data sets of the examples (`Example.dataset`, "all" without a name), and their pool.

    Args:
        examples: N examples.
        ratings: [N] their mean ratings in `dimension`; NaN leaves a line out.
        dimension: names the scale that ratings are brought to [0, 1] by where scales differ.
        ties: lines without a label because people were divided evenly.
        others: how many of the last examples are replies that a rated file has alone, so of no population.

    Raises:
        DataError: scales differ or data sets are pooled, and some rated lines have no scale, or all have none and look
            unlike; a data set has the name of the pool.
    """
    names = [example.dataset or UNNAMED for example in examples]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    of_lines, rated = np.array([numbers[name] for name in names], dtype=np.int64), np.isfinite(ratings)
    sets = []
    for number, name in enumerate(numbers):
        of_set = _rated_set(name, np.flatnonzero(rated & (of_lines == number)), examples, ratings, of_lines, dimension)
        places = np.flatnonzero(of_lines[: len(examples) - others] == number)
        of_place = {place: row for row, place in enumerate(of_set.places.tolist())}
        rows = np.array([of_place.get(place, -1) for place in places.tolist()], dtype=np.int64)
        population = Population(tuple(examples[place] for place in places.tolist()), places, rows)
        divided = tuple(line for line in ties if (line.dataset or UNNAMED) == name)
        sets.append(replace(of_set, ties=divided, population=population))
    if sum(len(one) > 0 for one in sets) < 2:
        return RatedSets(tuple(sets), None)
    _refuse_pool_name(examples)
    pool = _rated_set(POOLED, np.flatnonzero(rated), examples, ratings, of_lines, dimension)
    return RatedSets(tuple(sets), replace(pool, ties=tuple(ties)))


def _rated_set(
    name: str, places: IntArray, examples: Sequence[Example], ratings: FloatArray, sets: IntArray, dimension: str
) -> RatedSet:
    """Return the set called `name` of the lines at `places`; `sets` are the data sets of all lines, by number."""
    own = sets[places]
    chosen = tuple(examples[place] for place in places)
    clusters = sorted_clusters(chosen)
    known = np.array([example.system is not None for example in chosen], dtype=bool)
    systems = numbered([(example.dataset or "", example.system or "") for example in chosen])
    return RatedSet(
        name=name,
        dimension=dimension,
        examples=chosen,
        places=places,
        ratings=_on_one_scale(chosen, ratings[places], dimension, pooled=len(np.unique(own)) > 1),
        contexts=clusters.numbers,
        systems=np.where(known, systems, NO_SYSTEM),
        sets=own,
        note=clusters.note,
    )


def _on_one_scale(examples: Sequence[Example], ratings: FloatArray, dimension: str, *, pooled: bool) -> FloatArray:
    """Return [N] ratings on one scale.

    Those of one data set stay as they are, unless its lines name different scales: then each is mapped to [0, 1] by its
    own. Pooled ratings are always mapped, if there are scales. If no line names one, the ratings must look as if they
    were on one; if some lines of a data set do, the others must lie inside it.
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
    mapped: FloatArray = (ratings - lows) / (highs - lows)
    return mapped.round(9)  # 0.65 of one scale then ties with 0.65 of another


def _no_scale(example: Example, scale: tuple[float, float] | None, dimension: str) -> DataError:
    """Return the error for a rated line whose rating cannot be compared with those of other scales."""
    found = "no scale" if scale is None else f"the scale {list(scale)}, whose ends are not in order"
    key = '"scale": [1, 5]' if dimension == OVERALL else f'"scales": {{"{dimension}": [1, 5]}}'
    return DataError(
        f"a rated line of data set {example.dataset or UNNAMED!r} has {found}, "
        "and without one its rating cannot be compared with those of other scales",
        f"Add {key} (lowest, highest) to its lines, or say --scale 1,5 for all that state none",
        where=example.where,
        field="scale" if dimension == OVERALL else "scales",
    )


def _refuse_pool_name(examples: Sequence[Example]) -> None:
    """Raise `DataError` if a data set has the name of the pool."""
    for example in examples:
        if example.dataset == POOLED:
            raise DataError(
                f"a data set is called {POOLED!r}, the name of all data sets together",
                "Give it another name",
                where=example.where,
                field="dataset",
            )


class Labelled(NamedTuple):
    """Lines with one label each, or rating.

    Attributes:
        lines: [N] in order.
        ties: lines without a label, because people were divided evenly, with the labels of each.
        facts: what a warning names, as ids of lines.
    """

    lines: tuple[Example, ...]
    ties: tuple[Example, ...]
    facts: dict[str, Any]


def labelled(
    lines: Sequence[Example],
    dimension: str,
    *,
    tie: Tie | None = None,
    prompts: Sequence[str] = (),
    test_only: bool = False,
    unknown: Sequence[str] = (),
) -> Labelled:
    """Return lines with the label of most people where all ratings of a data set are 0 or 1.

    Labels do not count if the line is of the split train and others are of dev or test, or if the reply is part of the
    prompt of a scorer.

    Args:
        lines: N lines, some of them rated.
        dimension: which ratings.
        tie: what counts where people are divided evenly; by default nothing.
        prompts: of the scorers.
        test_only: whether labels of dev do not count either, if there are some of test.
        unknown: ids of labels that belong to none of the lines, for the warning.

    Raises:
        UsageError: `tie` is another word.
    """
    if tie is not None:
        require_one_of("tie", tie, ("fail", "pass"))
    splits = [split_of(line.extra) if _rated(line, dimension) else "" for line in lines]
    left_out = {TRAIN} & {*splits} if {DEV, TEST} & {*splits} else set()
    left_out |= {DEV} & {*splits} if test_only and TEST in splits else set()
    prompts = list(map(normalized, prompts))
    leaks: dict[str, list[str]] = {"train": [], "dev": [], "in_prompt": []}
    kept, by_set = list[Example](), defaultdict[str | None, list[int]](list)
    for place, (line, split) in enumerate(zip(lines, splits, strict=True)):
        words = normalized(line.response) if prompts and _rated(line, dimension) else ""
        leak = split if split in left_out else ""
        if is_telling(words) and any(words in prompt for prompt in prompts):
            leak = "in_prompt"
        if leak:
            leaks[leak].append(line.id)
        kept.append(_unlabelled(line, dimension) if leak else line)
        by_set[line.dataset].append(place)
    differing, ties = [line.id for line in kept if _contradicts_itself(line, dimension)], list[Example]()
    for places in by_set.values():
        if not _are_labels([kept[place] for place in places], dimension):
            continue
        for place in places:
            line = kept[place]
            votes = [int(rating.value) for rating in line.counted(dimension)]
            if len(votes) < 2 or dimension in line.quality:
                continue
            label: int | None = majority(votes)  # type: ignore[arg-type]
            if label is None:
                ties.append(line)
                label = None if tie is None else int(tie == "pass")
            if label is None:
                kept[place] = _unlabelled(line, dimension)
            else:
                kept[place] = replace(line, quality={**line.quality, dimension: label})
    facts = {"unknown": [*unknown], **leaks, "differing": differing, "ties": [line.id for line in ties]}
    return Labelled(tuple(kept), () if tie else tuple(ties), {**facts, "tied_as": tie or ""})


def _unlabelled(line: Example, dimension: str) -> Example:
    """Return a line without ratings in a dimension."""
    quality = {name: mean for name, mean in line.quality.items() if name != dimension}
    ratings = tuple(rating for rating in line.ratings if rating.dimension != dimension)
    return replace(line, ratings=ratings, quality=quality)


def _rated(line: Example, dimension: str) -> bool:
    return dimension in line.quality or any(rating.dimension == dimension for rating in line.ratings)


def _are_labels(lines: Sequence[Example], dimension: str) -> bool:
    """Return whether all ratings are 0 or 1, on the scale from 0 to 1 or, with both of them, on none."""
    values = {rating.value for line in lines for rating in line.ratings if rating.dimension == dimension}
    values |= {line.quality[dimension] for line in lines if dimension in line.quality}
    scales = {line.scale(dimension) for line in lines if _rated(line, dimension)}
    return values <= {0, 1} and scales <= {BINARY, None} and (None not in scales or len(values) == 2)


def _contradicts_itself(line: Example, dimension: str) -> bool:
    """Return whether one person gave a line two different ratings, of which the first counts."""
    given = {(rating.rater, rating.value) for rating in line.ratings if rating.dimension == dimension and rating.rater}
    return len(given) > len({rater for rater, _ in given})
