"""Protocols of splitting: disjoint, covering, whole groups, the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rejoinder.stats.splits import (
    fold_groups,
    joined_ties,
    leave_one_out,
    split_groups,
)

Groups = st.lists(st.integers(0, 12), min_size=3, max_size=60).map(np.array)
Seeds = st.integers(0, 5)


def whole(groups: NDArray[np.intp], *parts: NDArray[np.intp]) -> bool:
    """Whether no group stands in two of the parts."""
    inside = [set(groups[part].tolist()) for part in parts]
    return sum(map(len, inside)) == len(set().union(*inside))


@given(Groups, Seeds)
def test_parts_cover_everything_once_and_keep_groups_whole(groups: NDArray[np.intp], seed: int) -> None:
    parts = split_groups(groups, (0.7, 0.15, 0.15), np.random.default_rng(seed))
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(groups)))
    assert whole(groups, *parts)


@given(Groups, Seeds, st.data())
def test_folds_keep_groups_whole_and_are_alike(groups: NDArray[np.intp], seed: int, data: st.DataObject) -> None:
    count = len(set(groups.tolist()))
    folds = data.draw(st.integers(1, count))
    fold = fold_groups(groups, folds, np.random.default_rng(seed))
    assert set(fold.tolist()) == set(range(folds))
    assert whole(groups, *(np.flatnonzero(fold == number) for number in range(folds)))
    sizes = [len(set(groups[fold == number].tolist())) for number in range(folds)]
    assert max(sizes) - min(sizes) <= 1
    assert fold.tolist() == fold_groups(groups, folds, np.random.default_rng(seed)).tolist()


def test_folds_differ_with_the_seed() -> None:
    one, other = (fold_groups(np.arange(50), 10, np.random.default_rng(seed)) for seed in (0, 1))
    assert one.tolist() != other.tolist()


def test_more_folds_than_groups_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^3 folds of 2 groups, expected 1 to 2$"):
        fold_groups(np.array([0, 0, 5]), 3, np.random.default_rng(0))


@given(st.lists(st.sampled_from(["", "hred", "human", "tfidf"]), min_size=1, max_size=40))
def test_each_label_is_left_out_once(labels: list[str]) -> None:
    found = list(leave_one_out(labels))
    assert [one.label for one in found] == sorted(set(labels) - {""})
    for one in found:
        assert sorted([*one.rest, *one.left]) == list(range(len(labels)))
        assert {labels[row] for row in one.left} == {one.label}
        assert one.label not in {labels[row] for row in one.rest}


def ties(*items: str) -> list[NDArray[np.intp]]:
    """The ties of items, a letter each."""
    return [np.array([ord(letter) for letter in item], dtype=np.intp) for item in items]


def test_groups_are_joined_through_any_tie() -> None:
    assert joined_ties(ties("ax", "ay", "by", "c", "d", "")).tolist() == [0, 0, 0, 1, 2, 3]
    assert joined_ties(ties("x", "y", "y", "", "")).tolist() == [0, 1, 1, 2, 3]
    assert joined_ties(ties("xy", "y", "zyx")).tolist() == [0, 0, 0], "wherever a tie stands"
    assert joined_ties([]).tolist() == []


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["", "x", "y", "z"])), min_size=1, max_size=20))
def test_joined_ties_are_the_finest_that_split_no_tie(pairs: list[tuple[str, str]]) -> None:
    found = joined_ties(ties(*(label + other for label, other in pairs)))
    # By hand: merge until nothing changes.
    numbers = list(range(len(pairs)))
    for _ in pairs:
        for i, one in enumerate(pairs):
            for j, other in enumerate(pairs):
                if one[0] == other[0] or (one[1] and one[1] == other[1]):
                    numbers[i] = numbers[j] = min(numbers[i], numbers[j])
    known = list(dict.fromkeys(numbers))
    assert found.tolist() == [known.index(number) for number in numbers]
