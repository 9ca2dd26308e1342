"""Rated sets: what lines become which set, and the pool of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from rejoinder.errors import DataError
from rejoinder.example import Example, Rating
from rejoinder.data.rated import NO_SYSTEM, POOLED, RatedSets, rated_sets, ratings_of


def line(
    rating: float | None,
    dataset: str | None = "one",
    scale: tuple[float, float] | None = None,
    system: str | None = None,
) -> Example:
    return Example(
        (f"about {rating}",),
        "yes",
        ("yes",) if rating == 2 else (),
        dataset=dataset,
        system=system,
        quality={} if rating is None else {"overall": rating},
        scales={"overall": scale} if scale else {},
    )


def sets_of(lines: Sequence[Example]) -> RatedSets:
    return rated_sets(lines, ratings_of(lines, "overall"), "overall")


def test_lines_of_one_set_stay_as_they_are() -> None:
    lines = [line(2, system="b"), line(None), line(5), line(2, system="a")]
    found = sets_of(lines)
    (one,) = found.sets
    assert found.pool is None and not one.pooled and len(one) == 3
    assert (one.name, one.dimension, one.title, one.scale) == ("one", "overall", "one", None)
    assert one.examples == (lines[0], lines[2], lines[3]) and one.places.tolist() == [0, 2, 3]
    assert one.ratings.tolist() == [2, 5, 2] and one.contexts.tolist() == [0, 1, 0]
    assert one.systems.tolist() == [2, NO_SYSTEM, 1] and one.named_systems.tolist() == [1, 2]
    assert one.copies.tolist() == [True, False, True]


def test_the_pool_holds_all_lines_on_one_scale() -> None:
    found = sets_of([line(1, "one", (1, 5)), line(10, "two", (0, 10)), line(5, "one", (1, 5))])
    assert [one.name for one in found.sets] == ["one", "two"] and found.filled == found.sets
    pool = found.pool
    assert pool is not None and pool.pooled and pool.name == POOLED and pool.scale == (0.0, 1.0)
    assert pool.ratings.tolist() == [0, 1, 1] and pool.places.tolist() == [0, 1, 2] and pool.sets.tolist() == [0, 1, 0]
    assert found.sets[0].ratings.tolist() == [1, 5] and found.sets[0].scale == (1.0, 5.0)


def test_a_set_without_ratings_is_empty_and_makes_no_pool() -> None:
    found = sets_of([line(1), line(None, "two"), line(3)])
    assert [len(one) for one in found.sets] == [2, 0] and found.pool is None
    assert [one.name for one in found.filled] == ["one"]


def test_no_set_may_have_the_name_of_the_pool() -> None:
    lines = [line(1, POOLED, (1, 5)), line(2, "two", (1, 5))]
    with pytest.raises(DataError, match="a data set is called 'pooled'"):
        sets_of(lines)
    (alone,) = sets_of(lines[:1]).sets
    assert not alone.pooled and alone.ratings.tolist() == [1], "by itself it is a data set like any other"


def test_some_of_the_lines() -> None:
    (one,) = sets_of([line(1), line(2, system="a"), line(3), line(2, system="b")]).sets
    some = one.at(np.array([3, 2]))
    assert [example.quality["overall"] for example in some.examples] == some.ratings.tolist() == [2, 3]
    assert some.contexts.tolist() == [0, 1] and some.places.tolist() == [3, 2]
    assert some.systems.tolist() == one.systems[[3, 2]].tolist()


def test_single_ratings_are_a_table_with_gaps() -> None:
    def rated(*values: float, scale: tuple[float, float]) -> Example:
        ratings = (*(Rating(value) for value in values), Rating(3, "fun"))
        return Example(("a",), "b", ratings=ratings, scales={"overall": scale})

    alike = sets_of([rated(1, 5, scale=(1, 5)), rated(3, scale=(1, 5))]).sets[0].single_ratings
    np.testing.assert_equal(alike, [[1, 5], [3, np.nan]])
    unlike = sets_of([rated(1, 5, scale=(1, 5)), rated(3, scale=(0, 10))]).sets[0].single_ratings
    np.testing.assert_equal(unlike, [[0, 1], [0.3, np.nan]])
    some = sets_of([rated(1, 5, scale=(1, 5)), replace(rated(3, scale=(1, 5)), scales={})]).sets[0]
    np.testing.assert_equal(some.single_ratings, alike)
    assert some.ratings.tolist() == [3, 3] and some.scale == (1.0, 5.0), (
        "who states no scale lies inside the one stated"
    )
