"""What degenerate replies show without a judge."""

from __future__ import annotations

from math import isnan

import pytest

from rejoinder.improve.degenerate import account

FINE = [f"the {word} was good last year ." for word in ("cake", "rain", "book", "game", "soup", "song", "trip", "talk")]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("empty", " "),
        ("short", "ok ."),
        ("parrot", "How  are you ?"),
        ("repeated", "i do not know , i do not"),
    ],
)
def test_each_kind_is_seen(kind: str, said: str) -> None:
    contexts = [("hello there", "how are you ?")] * 9
    found = account(contexts, [*FINE, said])._asdict()
    kinds = ("empty", "short", "parrot", "repeated", "degenerate")
    assert {name: found[name] for name in kinds} == {name: 1 / 9 * (name in (kind, "degenerate")) for name in kinds}


def test_one_sentence_for_all() -> None:
    found = account([("hello",)] * 10, [*FINE, "so do i .", "So do I ."])
    assert (found.favourite, found.degenerate) == (0.2, 0.2)
    once = account([("hello",)] * 8, FINE)
    assert (once.favourite, once.degenerate) == (1 / 8, 0)  # the most frequent of replies that all differ is none


def test_a_rare_repetition_is_not_one_sentence_for_all() -> None:
    replies = [f"number {number} it is ." for number in range(40)]
    found = account([("hello",)] * 41, [*replies, replies[0]])
    assert (found.favourite, found.degenerate) == (2 / 41, 0)


def test_variety() -> None:
    found = account([("hello",)] * 2, ["a b c", "a b d"])
    assert (found.distinct_1, found.distinct_2) == (4 / 6, 3 / 4)


def test_nothing_said_is_nothing_known() -> None:
    assert all(isnan(one) for one in account([], []))
