"""Lines on which scorer and raters differ most, and replies that they judge in opposite ways."""

from __future__ import annotations

import numpy as np
import pytest

from rejoinder.analysis.disagreements import BAD_AS_GOOD, GOOD_AS_BAD, disagreements, mistakes, on_rating_scale
from rejoinder.estimates import one
from rejoinder.example import Example
from scored_sets import scored_sets


def rated(ratings: list[float], dataset: str | None = None) -> list[Example]:
    return [
        Example(
            (f"about {n}",),
            f"reply {n}",
            ("first reference", "second"),
            id=f"line-{n}",
            system="abc"[n % 3],
            dataset=dataset,
            quality={"overall": rating},
            scales={"overall": (1, 5)},
        )
        for n, rating in enumerate(ratings)
    ]


def test_mistakes_are_counted_on_the_scale_of_the_ratings() -> None:
    """Raters use 1 to 5 and call two replies in three bad; a lenient judge passes half of these."""
    ratings, judge = [1.0, 1.0, 2.0, 2.0, 5.0, 5.0] * 10, np.array([1.0, 5.0, 2.0, 4.0, 5.0, 1.0] * 10)
    ((scored,), _) = scored_sets(rated(ratings), {"judge": judge})
    counts = mistakes(scored)
    bad, good = one(counts, statistic=BAD_AS_GOOD), one(counts, statistic=GOOD_AS_BAD)
    assert (bad.n, bad.value, good.n, good.value) == (40, 20, 20, 10)
    assert [abs(case.values["difference"]) for case in disagreements(scored)] == [4, 4, 4, 4]


def test_scores_on_another_scale_are_brought_to_that_of_the_ratings() -> None:
    ratings = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert on_rating_scale(np.array([10.0, 20.0, 30.0, 40.0, 50.0]), ratings, (1, 5)) == pytest.approx(ratings)
    assert on_rating_scale(np.array([0.0, 0, 0, 0, 1000]), ratings, (1, 5)).max() == 5
    kept = np.array([1.0, 1, 2, 3, 4])
    assert on_rating_scale(kept, ratings, (1, 5)) is kept


def test_cases_are_the_lines_where_scores_are_furthest_from_ratings() -> None:
    rng = np.random.default_rng(0)
    ratings = rng.integers(1, 6, 60).astype(float)
    scores = ratings + rng.normal(size=60)
    high, low = int(np.argmin(ratings)), int(np.argmax(ratings))
    scores[high], scores[low] = 9.0, -9.0
    ((scored,), _) = scored_sets(rated(ratings.tolist()), {"judge": scores, "constant": np.ones(60)})
    cases = disagreements(scored)
    assert [case.group for case in cases] == ["judge"] * 4
    assert [case.values["id"] for case in (cases[0], cases[2])] == [f"line-{high}", f"line-{low}"]
    assert cases[0].values["score_rank"] > 0.98 and cases[0].values["rating_rank"] < 0.3
    assert cases[2].values["score_rank"] < 0.02
    assert cases[0].replies == [("Response", f"reply {high}"), ("Reference (first of 2)", "first reference")]


def test_a_pool_and_few_lines_have_no_cases() -> None:
    examples = [*rated([1.0, 5.0] * 4, "one"), *rated([1.0, 5.0] * 4, "two")]
    members, pool = scored_sets(examples, {"judge": np.arange(16.0)})
    assert pool is not None and len(disagreements(members[0])) == 4
    assert disagreements(pool) == [] and mistakes(pool) == []
    ((few,), _) = scored_sets(rated([1.0, 5.0, 3.0]), {"judge": np.arange(3.0)})
    assert disagreements(few) == [] and mistakes(few) == []
