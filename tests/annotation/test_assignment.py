"""Who rates what: shares are as large as asked, overlap is even, and all rate what is common."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest

from rejoinder.annotation.assignment import dealt, with_checks


def contexts(number: int, replies: int = 4) -> list[list[int]]:
    return [[context * replies + place for place in range(replies)] for context in range(number)]


def shares(
    number: int, raters: int, *, each: int, replies: int = 4, common: tuple[int, ...] = (), one_by_one: bool = False
) -> list[list[list[int]]]:
    rng = np.random.default_rng(7)
    found: list[list[list[int]]] = []
    for more in [1] * raters if one_by_one else [raters]:
        earlier = [[item for block in share for item in block] for share in found]
        found += dealt(contexts(number), earlier, more, each=each, replies=replies, common=common, rng=rng)
    return found


def overlaps(found: list[list[list[int]]]) -> Counter[int]:
    """How often two raters share how many contexts."""
    of = [{block[0] // 4 for block in share} for share in found]
    return Counter(len(one & other) for one, other in combinations(of, 2))


def test_every_rater_gets_so_many_contexts_and_replies_once() -> None:
    for share in shares(30, 6, each=10, replies=3):
        items = [item for block in share for item in block]
        assert len(share) == 10 and len(set(items)) == len(items) == 30
        assert all(len({item // 4 for item in block}) == 1 for block in share)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_ratings_spread_evenly(one_by_one: bool) -> None:
    found = shares(30, 6, each=15, one_by_one=one_by_one)
    raters = Counter(item for share in found for block in share for item in block)
    assert set(raters.values()) == {3} and len(raters) == 120


def test_replies_of_a_context_spread_evenly_too() -> None:
    found = shares(5, 4, each=5, replies=2)
    assert set(Counter(item for share in found for block in share for item in block).values()) == {2}


def test_any_two_raters_overlap_about_as_much() -> None:
    for number, raters, each in ((40, 8, 20), (100, 10, 30), (60, 4, 30)):
        found = overlaps(shares(number, raters, each=each))
        assert max(found) - min(found) <= 4, found


def test_all_rate_the_same_replies_of_common_contexts() -> None:
    found = shares(30, 5, each=8, replies=2, common=(3, 17), one_by_one=True)
    for context in (3, 17):
        (same,) = {tuple(sorted(item for block in share for item in block if item // 4 == context)) for share in found}
        assert len(same) == 2


def test_more_contexts_than_there_are_is_all_of_them() -> None:
    (share,) = shares(3, 1, each=50, common=(0, 1, 2))
    assert sorted(item for block in share for item in block) == list(range(12))


def test_contexts_and_replies_stand_in_another_order_for_each_rater() -> None:
    one, other = shares(12, 2, each=12)
    assert [block[0] // 4 for block in one] != [block[0] // 4 for block in other]
    assert {tuple(block) for block in one} != {tuple(block) for block in other}


def test_the_generator_decides() -> None:
    assert shares(30, 3, each=10) == shares(30, 3, each=10)


@pytest.mark.parametrize(("blocks", "checks"), [(50, 4), (1, 1), (3, 3), (2, 4), (10, 0)])
def test_checks_stand_apart_and_never_first(blocks: int, checks: int) -> None:
    numbers = [*range(1000, 1000 + checks)]
    found = with_checks([[place] for place in range(blocks)], numbers, np.random.default_rng(1))
    places = [place for place, block in enumerate(found) if block[0] >= 1000]
    assert [block for block in found if block[0] < 1000] == [[place] for place in range(blocks)]
    assert sorted(block[0] for block in found if block[0] >= 1000) == numbers
    assert 0 not in places
    if blocks >= 5 * checks:
        assert all(after - before > 1 for before, after in pairwise(places))
