"""Counts over a batch: the same as counted one pair at a time, for texts of every kind and length."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.example import Example
from rejoinder.metrics import counting
from rejoinder.metrics.counting import (
    TextBatch,
    close_gaps,
    number_characters,
    number_tokens,
    shared_ngrams,
    shared_subsequences,
)

TEXT = st.text("aabé我😀", max_size=9)
BATCH = st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=6).map(
    lambda rows: TextBatch.of([Example((), response, tuple(references)) for response, references in rows])
)


def grams(text: str, size: int) -> Counter[str]:
    return Counter(text[start : start + size] for start in range(len(text) - size + 1))


def shared_by_hand(batch: TextBatch, size: int) -> tuple[list[int], list[int]]:
    """Return the n-grams shared with each reference, and of each response those shared with all of its references."""
    each, together = [], []
    for row, response in enumerate(batch.texts[: batch.size]):
        references = [grams(batch.texts[batch.size + place], size) for place in np.flatnonzero(batch.owners == row)]
        each += [(grams(response, size) & reference).total() for reference in references]
        union: Counter[str] = Counter()
        for reference in references:
            union |= reference
        together.append((grams(response, size) & union).total())
    return each, together


@pytest.mark.parametrize("number_bits", [63, 0])  # without room in a number, places are sorted by themselves
@given(batch=BATCH)
def test_counts_are_those_of_a_loop(batch: TextBatch, number_bits: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "NUMBER_BITS", number_bits)
        for tokens in (number_characters(batch.texts), number_tokens(batch.texts)):
            each = shared_ngrams(tokens, batch.owners, 4)
            together = shared_ngrams(tokens, batch.owners, 4, together=True)
            for size in range(1, 5):
                assert (each[:, size - 1].tolist(), together[:, size - 1].tolist()) == shared_by_hand(batch, size)


def test_a_batch_keeps_one_reference_of_each_example() -> None:
    batch = TextBatch.of([Example((), "a", ("b", " ")), Example((), "c", (" ",)), Example((), "d")])
    assert batch.texts == ("a", "c", "d", "b", "", "")
    assert batch.owners.tolist() == [0, 1, 2]


@given(batch=BATCH)
def test_parts_make_up_the_batch(batch: TextBatch) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "PART_CHARACTERS", 8)
        parts = list(batch.parts())
    assert sum((part.texts[: part.size] for part in parts), ()) == batch.texts[: batch.size]
    assert sum((part.texts[part.size :] for part in parts), ()) == batch.texts[batch.size :]
    starts = np.cumsum([0, *(part.size for part in parts)])
    owners = [start + part.owners for start, part in zip(starts, parts, strict=False)]
    np.testing.assert_array_equal(np.concatenate(owners), batch.owners)


def test_gaps_are_closed_in_order() -> None:
    numbers, distinct = close_gaps(np.array([7, 3, 1_000, 3]))
    assert (numbers.tolist(), distinct.tolist()) == ([1, 0, 2, 0], [3, 7, 1_000])


@given(st.lists(st.tuples(TEXT, TEXT), max_size=5))
def test_subsequences_are_those_of_the_table(pairs: list[tuple[str, str]]) -> None:
    def length(first: str, second: str) -> int:
        above = [0] * (len(second) + 1)
        for one in first:
            row = [0]
            for place, other in enumerate(second):
                row.append(above[place] + 1 if one == other else max(row[-1], above[place + 1]))
            above = row
        return above[-1]

    found = shared_subsequences([list(first) for first, _ in pairs], [list(second) for _, second in pairs])
    assert found.tolist() == [length(*pair) for pair in pairs]


def test_what_is_kept_is_bounded_and_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "CACHE_CHARACTERS", 3_000)
    calls: list[str] = []

    @counting.keep_results
    def longest(batch: TextBatch, name: str) -> int:
        calls.append(f"{name} {batch.texts[0]}")
        return max(map(len, batch.texts))

    batches = [TextBatch.of([Example((), str(number), ("b",))]) for number in range(20)]
    assert [longest(batches[0], "x"), longest(batches[0], "x"), longest(batches[0], "y")] == [1, 1, 1]
    assert calls == ["x 0", "y 0"]
    for batch in batches:
        longest(batch, "x")
    longest(batches[0], "x")  # was dropped when the memory was full
    assert calls.count("x 0") == 2
