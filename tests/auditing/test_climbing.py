"""Hill climbing over words: it climbs, keeps to its budget, and is what the seed says."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from rejoinder.auditing.climbing import ROUNDS, TRIED, climbing
from rejoinder.auditing.search import Target
from rejoinder.example import Example
from research.attacks import by_attack

ODD = ("a", "Tag, wie geht es dir?", "你好", "one two three", "w " * 2000, "🙂")


def vowels(examples: list[Example]) -> list[float]:
    return [sum(letter in "aeiou" for letter in one.response) / (1 + len(one.response)) for one in examples]


def starts(texts: tuple[str, ...] = ODD) -> list[Example]:
    return [Example((f"an area of {text[:5]}",), text) for text in texts]


def generators(count: int, seed: int = 0) -> list[np.random.Generator]:
    return [np.random.default_rng([seed, n]) for n in range(count)]


def climbed(examples: list[Example], seed: int = 0, rounds: int = ROUNDS) -> list[Example]:
    target = Target(rejoinder.load_scorer(vowels), 1)
    found = climbing(rounds)(examples, generators(len(examples), seed), target)
    return [one for one in found if one is not None]


@given(st.integers(0, 2**32 - 1), st.integers(0, 6))
def test_no_step_leads_down_and_each_changes_one_word(seed: int, rounds: int) -> None:
    given_ = starts(("one two three", "a", "xyz qrs"))
    found = climbed(given_, seed, rounds)
    assert (np.array(vowels(found)) >= np.array(vowels(given_))).all()
    for before, after in zip(given_, found, strict=True):
        gone, come = (Counter(one.response.split()) for one in (before, after))
        assert (gone - come).total() <= rounds and (come - gone).total() <= rounds
        assert after.response.strip() and (after.context, after.references) == (before.context, before.references)


def test_it_climbs_by_the_seed_on_whatever_text() -> None:
    found = climbed(starts())
    assert np.mean(vowels(found)) > np.mean(vowels(starts())) + 0.05
    assert found == climbed(starts()) != climbed(starts(), seed=1)
    assert climbed(starts(), rounds=0) == starts()


def test_the_budget_is_kept() -> None:
    asked: list[int] = []

    def counting(examples: list[Example]) -> list[float]:
        asked.append(len(examples))
        return vowels(examples)

    climbing()(starts(), generators(len(ODD)), Target(rejoinder.load_scorer(counting), 1))
    assert sum(asked) <= len(ODD) * (1 + ROUNDS * TRIED)


def test_lower_may_be_better_and_a_failing_scorer_is_no_end() -> None:
    def failing(examples: list[Example]) -> list[float]:
        if any("one" in one.response for one in examples):
            raise ValueError("not that one")
        return vowels(examples)

    down = climbing()(starts(), generators(len(ODD)), Target(rejoinder.load_scorer(vowels), -1))
    assert np.mean(vowels([one for one in down if one])) < np.mean(vowels(starts()))
    found = climbing()(starts(("two three",)), generators(1), Target(rejoinder.load_scorer(failing), 1))
    assert found[0] is not None and vowels([found[0]]) >= vowels(starts(("two three",)))


def test_an_audit_holds_what_it_finds_against_the_good_reply() -> None:
    found = rejoinder.audit("@conture", "context-overlap", families=["other-random", "climbed"], limit=80)
    drawn, climbed_ = by_attack(found).values()
    assert climbed_.share.value > drawn.share.value + 0.2
    assert climbed_.value("attacked score, mean") > drawn.value("attacked score, mean") and climbed_.verdict == "fooled"


def test_who_knows_the_ratings_cannot_be_climbed() -> None:
    def oracle(examples: list[Example]) -> list[float]:
        return [-1.0 if (rating := one.rating()) is None else rating for one in examples]

    (one,) = by_attack(rejoinder.audit("@conture", oracle, families=["climbed"])).values()
    assert (one.share.value, one.verdict) == (0.0, "holds") and one.n > 30
    assert one.value("attacked score, mean") == -1.0 < one.value("original score, lowest")
