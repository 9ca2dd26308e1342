"""Searches: hill climbing over words, and replies of a pool, by the gradient and by brute force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

import rejoinder
from attacked import by_attack
from rejoinder.auditing import pool as pools
from rejoinder.auditing.attack import POOL_ATTACKS, ROUNDS, TRIES, Search, Target, Task, hill_climbing, select
from rejoinder.auditing.pool import Pool, best_of, follow_gradient, one_for_all, pool_attacks, white_box
from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.judges.adem.judge import AdemJudge
from rejoinder.judges.adem.panel import Panel
from rejoinder.judges.protocol import Differentiable, SideVectors, Slopes, Space
from rejoinder.perturbations import Corpus
from rejoinder.scorer import Card, FloatArray, Scores
from samples import small_panel

WEIGHTS = np.array([0.5, -1.0, 2.0])


class Spelled:
    """An encoder whose texts are the numbers of their vectors; a word is none."""

    width = 3
    options: Mapping[str, Any] = MappingProxyType({})

    def encode(self, texts: Sequence[str]) -> FloatArray:
        return np.array([self._vector(text) for text in texts]).reshape(-1, 3)

    def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> FloatArray:
        return self.encode([" ".join(context) for context in contexts])

    @staticmethod
    def _vector(text: str) -> list[float]:
        try:
            return [float(word) for word in text.split()]
        except ValueError:
            return [np.nan] * 3


class Linear:
    """An oracle: the score is 3 and a known product with the vector of the response."""

    encoder = Spelled()
    options: Mapping[str, Any] = MappingProxyType({})
    scale = (1.0, 5.0)
    trained_on: frozenset[str] = frozenset()

    def __init__(self, sign: int = 1) -> None:
        self.sign = sign

    @property
    def card(self) -> Card:
        return Card("linear", "s", "judge", frozenset(), (None, None), "none", higher_is_better=self.sign > 0)

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        values = self.slopes(examples).values
        return Scores(values, dict.fromkeys(np.flatnonzero(np.isnan(values)).tolist(), "no number"))

    def slopes(self, examples: Sequence[Example], vectors: FloatArray | None = None) -> Slopes:
        raw = self.encoder.encode([one.response for one in examples]) if vectors is None else vectors
        values = 3 + raw @ WEIGHTS
        return Slopes(values, raw, np.where(np.isnan(values)[:, None], np.nan, WEIGHTS))

    def spaces(self, examples: Sequence[Example]) -> list[Space]:
        rows = np.arange(len(examples))

        def scores(compared: FloatArray, asked: Any = None) -> FloatArray:
            return np.tile(3 + compared @ WEIGHTS, (len(rows if asked is None else asked), 1))

        side = SideVectors(self.encoder.encode([one.response for one in examples]), rows)
        return [Space("linear", rows, {"response": side}, lambda vectors: vectors, scores)]


def given(count: int = 12) -> list[Example]:
    rng = np.random.default_rng(1)
    return [Example(("hm",), " ".join(f"{x:.3f}" for x in rng.normal(size=3) * 0.3), id=str(n)) for n in range(count)]


def spread(count: int = 3000) -> tuple[str, ...]:
    rng = np.random.default_rng(2)
    return tuple(" ".join(f"{x:.3f}" for x in rng.normal(size=3)) for _ in range(count))


def generators(count: int, seed: int = 0) -> list[np.random.Generator]:
    return [np.random.default_rng([seed, n]) for n in range(count)]


def found_by(
    search: Search, examples: list[Example], drawn: list[np.random.Generator], target: Target
) -> list[Example | None]:
    """Return what a search finds from each example, which is its start."""
    start: Any = SimpleNamespace(apply=lambda example, *_: example)
    return [*search(Task(start, examples, drawn, np.arange(len(examples)), Corpus(examples)), target)]


# where the gradient leads


def test_the_gradient_leads_to_the_target_the_shortest_way() -> None:
    examples = given()
    reached, values = follow_gradient(Linear(), examples, 4.75, 0.15)
    own = Linear().slopes(examples)
    np.testing.assert_allclose(values, 4.75)
    # The closed form: along the slope, as far as the score is off.
    expected = own.vectors + np.outer((4.75 - own.values) / (WEIGHTS @ WEIGHTS), WEIGHTS)
    np.testing.assert_allclose(reached, expected)


def test_what_is_near_enough_stays_and_what_has_no_score_is_left() -> None:
    examples = [Example((), "0 0 0.8"), Example((), "words")]
    reached, values = follow_gradient(Linear(), examples, 4.75, 0.2)
    assert reached[0].tolist() == [0, 0, 0.8] and values[0] == pytest.approx(4.6)
    assert np.isnan(reached[1]).all() and np.isnan(values[1])


@pytest.mark.parametrize("kind", ["adem", "c-adem", "r-adem"])
def test_over_a_bilinear_head_one_step_is_the_closed_form(kind: str) -> None:
    panel = small_panel()
    assert isinstance(panel, Panel)
    judge: AdemJudge = panel.members[kind]  # type: ignore[index]
    examples = [replace(one, references=("I like films too.",)) for one in rejoinder.read("@conture")][:20]
    own = judge.slopes(examples)
    reached, values = follow_gradient(judge, examples, 4.75, 1e-6)
    if judge.normalise == "none":
        slope = own.gradients
        expected = own.vectors + slope * ((4.75 - own.values) / (slope**2).sum(axis=1))[:, None]
        np.testing.assert_allclose(reached, expected, rtol=1e-6)
    np.testing.assert_allclose(values, 4.75, atol=1e-4)


# what is found there


@pytest.mark.parametrize("sign", [1, -1])
def test_the_attack_finds_what_scores_near_the_top(sign: int) -> None:
    scorer, examples, pool = Linear(sign), given(), Pool(spread())
    target = Target(scorer, sign)
    found = found_by(partial(white_box, pool), examples, generators(12), target)
    upper = found_by(partial(best_of, pool), examples, generators(12), target)
    before = sign * scorer.slopes(examples).values
    after, best = (sign * scorer.slopes([one for one in them if one]).values for them in (found, upper))
    values = 3 + Spelled().encode(pool.texts) @ WEIGHTS
    assert (after > before).all() and (best >= after).all()
    np.testing.assert_allclose(best, (sign * values).max())
    assert (sign * (after - 3) > 1.2).all()  # 4.75 was aimed at, and the 400 nearest lie round there
    assert {one.context for one in found if one} == {("hm",)}


def test_its_own_replies_are_no_attack() -> None:
    best = max(spread(), key=lambda text: float(Spelled().encode([text])[0] @ WEIGHTS))
    examples = [Example((), "0 0 0", references=(f" {best.upper()} ",)), Example((), "0 0 1")]
    for seek in (partial(best_of, Pool(spread())), partial(white_box, Pool((*spread(30), best)))):
        first, second = found_by(seek, examples, generators(2), Target(Linear(), 1))
        assert first is not None and first.response != best and second is not None and second.response == best
    assert found_by(partial(best_of, Pool(("0 0 0",))), examples[:1], generators(1), Target(Linear(), 1)) == [None]


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    examples, target = given(), Target(Linear(), 1)
    whole = found_by(partial(best_of, Pool(spread(500))), examples, generators(12), target)
    monkeypatch.setattr(pools, "_SCORES_AT_ONCE", 100)
    monkeypatch.setattr(pools, "_ENCODED_AT_ONCE", 7)
    assert found_by(partial(best_of, Pool(spread(500))), examples, generators(12), target) == whole


def test_replies_without_a_vector_are_passed_over() -> None:
    pool = Pool(("words", "0 0 1", "more words"))
    for seek in (partial(best_of, pool), partial(white_box, pool)):
        (found,) = found_by(seek, given(1), generators(1), Target(Linear(), 1))
        assert found is not None and found.response == "0 0 1"
        assert found_by(partial(white_box, Pool(("words",))), given(1), generators(1), Target(Linear(), 1)) == [None]
    assert found_by(partial(best_of, pool), [Example((), "none")], generators(1), Target(Linear(), 1)) is not None


def test_a_scorer_without_vectors_is_asked_about_a_few() -> None:
    asked: list[int] = []

    def length(examples: list[Example]) -> list[float]:
        asked.append(len(examples))
        return [float(len(one.response)) for one in examples]

    pool, examples = Pool(tuple("a" * n for n in range(1, 200))), given(3)
    target = Target(rejoinder.load_scorer(length), 1)
    found = found_by(partial(best_of, pool), examples, generators(3), target)
    assert sum(asked) <= 3 * pools.DRAWN and all(one is not None and len(one.response) > 100 for one in found)
    assert found == found_by(partial(best_of, pool), examples, generators(3), target)


# one for all


def test_one_reply_for_all_is_chosen_on_the_other_half() -> None:
    examples, pool, target = given(), Pool(spread(500)), Target(Linear(), 1)
    parted = [replace(one, context=(f"context {row % 5}",)) for row, one in enumerate(examples)]
    values = 3 + Spelled().encode(pool.texts) @ WEIGHTS
    found = found_by(partial(one_for_all, pool), parted, generators(12), target)
    assert {one.response for one in found if one} == {pool.texts[int(values.argmax())]}

    def by_half(lines: list[Example]) -> list[float]:
        """One half of the contexts likes the one reply, the other the other."""
        return [float((int(one.context[0][-1]) % 2 == 0) == (one.response == "yes")) for one in lines]

    asked = Target(rejoinder.load_scorer(by_half), 1)
    found = found_by(partial(one_for_all, Pool(("yes", "no"))), parted, generators(12), asked)
    assert by_half([one for one in found if one]) == [0.0] * 12, "each half gets what pleases the other"
    alone = found_by(partial(one_for_all, Pool(("yes", "no"))), parted[:1], generators(1), asked)
    assert [one.response for one in alone if one] == ["yes"]
    assert found_by(partial(one_for_all, Pool(("words",))), examples, generators(12), target) == [None] * 12


# in an audit


def test_of_an_audit_with_a_pool_the_upper_limit_is_higher() -> None:
    replies = [one.response for one in rejoinder.read("@dstc7")][:150]
    found = rejoinder.audit("@conture", small_panel(), pool=replies, families=["white-box", "pool-best"], limit=50)
    near, best = by_attack(found).values()
    means = [one.value("attacked score, mean") for one in (best, near)]
    assert means[0] >= means[1] > near.value("original score, mean") and best.verdict == "fooled"
    assert best.value("attacked score, lowest") <= means[0] <= best.value("attacked score, highest")
    (signature,) = found.about.signatures.values()
    assert signature["pool"].startswith(f"{len(set(replies))} replies, ")
    assert {case.values["attacked"] for case in found.cases} <= set(replies)
    judge = small_panel()
    for case in found.cases:
        (score,) = rejoinder.score([Example(tuple(case.context), case.values["attacked"])], judge).values
        assert score == pytest.approx(case.values["after"])


def test_without_a_pool_they_are_no_part_of_the_battery() -> None:
    assert not {one.name for one in select(None, {})} & set(POOL_ATTACKS)
    assert set(POOL_ATTACKS) < {one.name for one in select(None, pool_attacks(Pool(("yes",))))}
    with pytest.raises(UsageError, match=r"white-box looks for replies in a pool. Give a file of them: --pool FILE"):
        rejoinder.audit("@conture", families=["white-box"])
    with pytest.raises(UsageError, match="the pool holds no reply"):
        rejoinder.audit("@conture", pool=[" "])


def test_what_cannot_look_inside_is_left_out_and_told() -> None:
    names = ["white-box", "pool-best"]
    found = rejoinder.audit("@conture", "length", pool=["yes", "no"], families=names, limit=40)
    assert "vectors and gradients" in found.about.options["left_out"]["white-box"]
    assert [one.n for one in by_attack(found).values()] == [found.about.counts["good"]]


def test_a_pool_is_each_text_once() -> None:
    pool = Pool.of(["yes", " yes", "", "no"])
    assert pool.texts == ("yes", "no") and pool.signature.startswith("2 replies, ")
    judge: Differentiable = Linear()
    assert pool.vectors(judge.encoder) is pool.vectors(judge.encoder)


# hill climbing

ODD = ("a", "Tag, wie geht es dir?", "你好", "one two three", "w " * 2000, "🙂")


def vowels(examples: list[Example]) -> list[float]:
    return [sum(letter in "aeiou" for letter in one.response) / (1 + len(one.response)) for one in examples]


def starts(texts: tuple[str, ...] = ODD) -> list[Example]:
    return [Example((f"an area of {text[:5]}",), text) for text in texts]


def climbed(examples: list[Example], seed: int = 0, rounds: int = ROUNDS) -> list[Example]:
    target = Target(rejoinder.load_scorer(vowels), 1)
    found = found_by(partial(hill_climbing, rounds=rounds), examples, generators(len(examples), seed), target)
    return [one for one in found if one is not None]


@drawn(st.integers(0, 2**32 - 1), st.integers(0, 6))
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

    found_by(hill_climbing, starts(), generators(len(ODD)), Target(rejoinder.load_scorer(counting), 1))
    assert sum(asked) <= len(ODD) * (1 + ROUNDS * TRIES)


def test_lower_may_be_better_and_a_failing_scorer_is_no_end() -> None:
    def failing(examples: list[Example]) -> list[float]:
        if any("one" in one.response for one in examples):
            raise ValueError("not that one")
        return vowels(examples)

    down = found_by(hill_climbing, starts(), generators(len(ODD)), Target(rejoinder.load_scorer(vowels), -1))
    assert np.mean(vowels([one for one in down if one])) < np.mean(vowels(starts()))
    found = found_by(hill_climbing, starts(("two three",)), generators(1), Target(rejoinder.load_scorer(failing), 1))
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
