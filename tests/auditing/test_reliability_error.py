"""Evaluator Reliability Error."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from rejoinder.auditing.reliability import reliability_error
from rejoinder.errors import DataError, NothingScored, UsageError
from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.models.responders import FunctionResponder
from rejoinder.report.results import Results


def dialogues(count: int = 200) -> list[tuple[str, ...]]:
    """The true reply and what follows it name the number of the dialogue."""
    return [(f"hello {n}", f"how is {n} ?", f"true {n} is fine", f"skipped {n} bye") for n in range(count)]


def oracle(examples: list[Example]) -> list[float]:
    """Knows which reply is the true one of which context."""
    return [float(f"true {one.context[0].split()[1]} " in one.response) for one in examples]


def constant(examples: list[Example]) -> list[float]:
    return [2.0] * len(examples)


def noise(examples: list[Example]) -> list[float]:
    return list(np.random.default_rng(5).normal(size=len(examples)))


def accuracies(found: Results) -> dict[str, float]:
    return {accuracy.group: accuracy.value for accuracy in found.pick(statistic="accuracy")}


def error(found: Results) -> Estimate:
    return found.one(statistic="evaluator reliability error")


def test_an_oracle_has_hardly_any_error() -> None:
    found = reliability_error(dialogues(), oracle)
    got = accuracies(found)
    assert got["human / random"] == got["human / skipped"] == 1.0 and got["human / machine"] > 0.98
    assert got["human / human"] == pytest.approx(0.5, abs=0.1) and error(found).value < 0.05
    assert found.about.counts == {"dialogues": 200} and "19 %" in found.answer[0]


@pytest.mark.parametrize("blind", [constant, noise])
def test_who_knows_nothing_is_wrong_by_a_quarter(blind: Callable[[list[Example]], list[float]]) -> None:
    found = reliability_error(dialogues(), blind)
    assert error(found).value == pytest.approx(0.25, abs=0.06)
    assert error(found).low <= error(found).value <= error(found).high


def test_the_error_is_the_mean_distance() -> None:
    found = reliability_error(dialogues(), noise)
    ideals = np.array([0.5, 0.5, 1.0, 1.0])
    values = np.array([*accuracies(found).values()])[:4]
    assert error(found).value == pytest.approx(np.abs(values - ideals).mean())
    assert [accuracy.n for accuracy in found.pick(statistic="accuracy")] == [200, 200, 400, 400, 400]


def test_who_sees_the_subject_alone_is_fooled_by_what_skips_a_turn() -> None:
    def on_subject(examples: list[Example]) -> list[float]:
        return [float(one.context[0].split()[1] in one.response.split()) for one in examples]

    got = accuracies(reliability_error(dialogues(), on_subject))
    assert got["human / random"] == 1.0 and got["human / skipped"] == pytest.approx(0.5, abs=0.05)


def test_each_half_is_judged_by_what_the_other_taught() -> None:
    """Scores that name each reply by itself, as if learnt by heart: nothing of that holds on other dialogues."""

    class Heart:
        width = 400
        options: Mapping[str, Any] = MappingProxyType({"encoder": "by heart"})

        def encode(self, texts: Sequence[str]) -> np.ndarray:
            return np.stack([np.random.default_rng([*text.encode()]).normal(size=400) for text in texts])

        def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> np.ndarray:
            return self.encode([" ".join(one) for one in contexts])

    found = reliability_error(dialogues(100), Heart())
    assert list(found.about.scorers) == ["a classifier over by heart"]
    assert all(abs(value - 0.5) < 0.15 for value in accuracies(found).values())


def test_a_classifier_over_an_encoder_learns() -> None:
    class FirstWord:
        """True replies lie one way from their contexts, others another."""

        width = 2
        options: Mapping[str, Any] = MappingProxyType({})

        def encode(self, texts: Sequence[str]) -> np.ndarray:
            return np.array([[1.0, 0.0] if text.startswith("true") else [0.0, 1.0] for text in texts])

        def encode_contexts(self, contexts: Sequence[tuple[str, ...]]) -> np.ndarray:
            return np.array([[1.0, 0.0]] * len(contexts))

    got = accuracies(reliability_error(dialogues(), FirstWord()))
    assert got["human / skipped"] == 1.0 and got["human / random"] == pytest.approx(0.5, abs=0.05)


def test_a_responder_is_the_machine() -> None:
    parrot = FunctionResponder(lambda context: context[-1], "parrot")
    found = reliability_error(dialogues(), oracle, machine=parrot)
    assert (
        found.about.options["machine"].startswith("responder:parrot|") and accuracies(found)["human / machine"] == 1.0
    )
    shams = FunctionResponder(lambda context: f"true {context[0].split()[1]} indeed", "sham")
    assert accuracies(reliability_error(dialogues(), oracle, machine=shams))["human / machine"] < 0.6


def test_the_seed_decides() -> None:
    assert (
        reliability_error(dialogues(), noise, seed=1).to_dict()
        == reliability_error(dialogues(), noise, seed=1).to_dict()
    )
    one, other = (reliability_error(dialogues(), noise, seed=seed) for seed in (1, 2))
    assert accuracies(one) != accuracies(other)


def test_as_json() -> None:
    record = json.loads(reliability_error(dialogues(40), oracle).to_json())
    assert record["results"][0]["low"] <= record["results"][0]["value"]
    assert record["results"][-1]["group"] == "human / machine"


def test_unscored_replies_are_left_out_and_counted() -> None:
    def choosy(examples: list[Example]) -> list[float | None]:
        return [None if one.response.startswith("skipped 1") else float(len(one.response)) for one in examples]

    found = reliability_error(dialogues(), choosy)
    assert [(one.group, one.unscored) for one in found.estimates if one.unscored] == [("human / skipped", 111)]

    def silent(examples: list[Example]) -> list[float | None]:
        return [None if one.response.startswith("skipped") else 1.0 for one in examples]

    with pytest.raises(NothingScored, match="silent: human / skipped: 0 replies with a score, 20 are needed"):
        reliability_error(dialogues(), silent)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: reliability_error(dialogues(19), oracle), DataError, "19 dialogues, 20 are needed"),
        (
            lambda: reliability_error([*dialogues(), ("a", "b")], oracle),
            DataError,
            "a dialogue of 2 turns, expected three",
        ),
        (lambda: reliability_error([*dialogues(), "abc"], oracle), DataError, "a text instead of turns"),
        (lambda: reliability_error(dialogues(), oracle, seed=-1), UsageError, "seed is -1"),
        (lambda: reliability_error(dialogues(), "bleu-2"), NothingScored, "bleu-2: human / human: 0 replies with a"),
    ],
)
def test_wrong_calls(call: Callable[[], object], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        call()
