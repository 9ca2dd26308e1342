"""Attacks that look for replies in a pool: on a judge whose slopes are known, on real ones, and on scorers without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import rejoinder
from rejoinder.auditing import pool as pools
from rejoinder.auditing.battery import POOL_ATTACKS
from rejoinder.auditing.making import chosen
from rejoinder.auditing.neighbours import exact_index
from rejoinder.auditing.pool import Pool, best_of, one_for_all, pool_of, toward, white_box
from rejoinder.auditing.search import Target
from rejoinder.errors import UsageError
from rejoinder.example import Example
from rejoinder.judges.bilinear.judge import BilinearJudge
from rejoinder.judges.bilinear.panel import Panel
from rejoinder.judges.differentiable import Differentiable, Side, Slopes, Space
from rejoinder.scorer import Card, FloatArray, Scores
from research.attacks import by_attack
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

        side = Side(self.encoder.encode([one.response for one in examples]), rows)
        return [Space("linear", rows, {"response": side}, lambda vectors: vectors, scores)]


def given(count: int = 12) -> list[Example]:
    rng = np.random.default_rng(1)
    return [Example(("hm",), " ".join(f"{x:.3f}" for x in rng.normal(size=3) * 0.3), id=str(n)) for n in range(count)]


def spread(count: int = 3000) -> tuple[str, ...]:
    rng = np.random.default_rng(2)
    return tuple(" ".join(f"{x:.3f}" for x in rng.normal(size=3)) for _ in range(count))


def generators(count: int) -> list[np.random.Generator]:
    return [np.random.default_rng(n) for n in range(count)]


# where the gradient leads


def test_the_gradient_leads_to_the_target_the_shortest_way() -> None:
    examples = given()
    reached, values = toward(Linear(), examples, 4.75, 0.15)
    own = Linear().slopes(examples)
    np.testing.assert_allclose(values, 4.75)
    # The closed form: along the slope, as far as the score is off.
    expected = own.vectors + np.outer((4.75 - own.values) / (WEIGHTS @ WEIGHTS), WEIGHTS)
    np.testing.assert_allclose(reached, expected)


def test_what_is_near_enough_stays_and_what_has_no_score_is_left() -> None:
    examples = [Example((), "0 0 0.8"), Example((), "words")]
    reached, values = toward(Linear(), examples, 4.75, 0.2)
    assert reached[0].tolist() == [0, 0, 0.8] and values[0] == pytest.approx(4.6)
    assert np.isnan(reached[1]).all() and np.isnan(values[1])


@pytest.mark.parametrize("kind", ["adem", "c-adem", "r-adem"])
def test_over_a_bilinear_head_one_step_is_the_closed_form(kind: str) -> None:
    panel = small_panel()
    assert isinstance(panel, Panel)
    judge: BilinearJudge = panel.members[kind]  # type: ignore[index]
    examples = [replace(one, references=("I like films too.",)) for one in rejoinder.read("@conture")][:20]
    own = judge.slopes(examples)
    reached, values = toward(judge, examples, 4.75, 1e-6)
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
    found = white_box(pool, exact_index)(examples, generators(12), target)
    upper = best_of(pool)(examples, generators(12), target)
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
    for seek in (best_of(Pool(spread())), white_box(Pool((*spread(30), best)), exact_index)):
        first, second = seek(examples, generators(2), Target(Linear(), 1))
        assert first is not None and first.response != best and second is not None and second.response == best
    assert best_of(Pool(("0 0 0",)))(examples[:1], generators(1), Target(Linear(), 1)) == [None]


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    examples, target = given(), Target(Linear(), 1)
    whole = [seek(examples, generators(12), target) for seek in (best_of(Pool(spread(500))),)]
    monkeypatch.setattr(pools, "_AT_ONCE", 100)
    monkeypatch.setattr(pools, "_ENCODED", 7)
    assert [seek(examples, generators(12), target) for seek in (best_of(Pool(spread(500))),)] == whole


def test_replies_without_a_vector_are_passed_over() -> None:
    pool = Pool(("words", "0 0 1", "more words"))
    for seek in (best_of(pool), white_box(pool, exact_index)):
        (found,) = seek(given(1), generators(1), Target(Linear(), 1))
        assert found is not None and found.response == "0 0 1"
        assert white_box(Pool(("words",)), exact_index)(given(1), generators(1), Target(Linear(), 1)) == [None]
    assert best_of(pool)([Example((), "none")], generators(1), Target(Linear(), 1)) is not None


def test_a_scorer_without_vectors_is_asked_about_a_few() -> None:
    asked: list[int] = []

    def length(examples: list[Example]) -> list[float]:
        asked.append(len(examples))
        return [float(len(one.response)) for one in examples]

    pool, examples = Pool(tuple("a" * n for n in range(1, 200))), given(3)
    target = Target(rejoinder.load_scorer(length), 1)
    found = best_of(pool)(examples, generators(3), target)
    assert sum(asked) <= 3 * pools.DRAWN and all(one is not None and len(one.response) > 100 for one in found)
    assert found == best_of(pool)(examples, generators(3), target)
    assert white_box(pool, exact_index)(examples, generators(3), target) == [None] * 3


# one for all


def test_one_reply_for_all_is_chosen_on_the_other_half() -> None:
    examples, pool, target = given(), Pool(spread(500)), Target(Linear(), 1)
    parted = [replace(one, context=(f"context {row % 5}",)) for row, one in enumerate(examples)]
    values = 3 + Spelled().encode(pool.texts) @ WEIGHTS
    found = one_for_all(pool)(parted, generators(12), target)
    assert {one.response for one in found if one} == {pool.texts[int(values.argmax())]}

    def by_half(lines: list[Example]) -> list[float]:
        """One half of the contexts likes the one reply, the other the other."""
        return [float((int(one.context[0][-1]) % 2 == 0) == (one.response == "yes")) for one in lines]

    asked = Target(rejoinder.load_scorer(by_half), 1)
    found = one_for_all(Pool(("yes", "no")))(parted, generators(12), asked)
    assert by_half([one for one in found if one]) == [0.0] * 12, "each half gets what pleases the other"
    alone = one_for_all(Pool(("yes", "no")))(parted[:1], generators(1), asked)
    assert [one.response for one in alone if one] == ["yes"]
    assert one_for_all(Pool(("words",)))(examples, generators(12), target) == [None] * 12


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
    assert not {one.name for one in chosen(None, None)} & set(POOL_ATTACKS)
    assert set(POOL_ATTACKS) < {one.name for one in chosen(None, Pool(("yes",)))}
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
    pool = pool_of(["yes", " yes", "", "no"])
    assert pool is not None and pool.texts == ("yes", "no") and pool.signature.startswith("2 replies, ")
    assert pool_of(None) is None
    judge: Differentiable = Linear()
    assert pool.vectors(judge.encoder) is pool.vectors(judge.encoder)
