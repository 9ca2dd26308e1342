"""A judge as a reward function: bounded, with abstention, and in the form in which trainers call it."""

from __future__ import annotations

import inspect
import math
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from rejoinder.errors import NothingScored, UsageError
from rejoinder.example import Example
from rejoinder.improve.reward import FEWEST, Reward
from rejoinder.scorer import Card, Scores

CHAT = [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}]


class Sure:
    """Scores a reply by its letters, with an interval two wide; has no score for a question."""

    card = Card("sure", "", "judge", frozenset(), (None, None), "")
    scale = (1, 5)

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}
        self.seen: list[Example] = []

    def score_batch(self, examples: Sequence[Example]) -> Scores:
        self.seen += examples
        values = np.array([math.nan if "?" in one.response else float(len(one.response)) for one in examples])
        reasons = {row: "a question" for row, value in enumerate(values) if math.isnan(value)}
        return Scores(values, reasons, low=values - 1, high=values + 1)


def low(examples: list[Example]) -> list[float]:
    """As many as there are turns before."""
    return [float(len(one.context)) for one in examples]


def as_trl_calls(function: Any, prompts: list[Any], completions: list[Any], **columns: list[Any]) -> list[float]:
    """The call that TRL's GRPO and RLOO trainers make (version 1.16), and what they do with what comes back."""
    assert not inspect.iscoroutinefunction(function) and function.__name__
    ids = [[1, 2, 3] for _ in completions]
    beside = {"trainer_state": object(), "log_extra": lambda *_: None, "log_metric": lambda *_: None}
    output = function(prompts=prompts, completions=completions, completion_ids=ids, **columns, **beside)
    rewards = [one if one is not None else math.nan for one in output]
    assert len(rewards) == len(prompts)
    return [float(one) for one in np.array(rewards, dtype=np.float32)]


# The contract


def test_plain_and_conversational_prompts_are_worth_the_same() -> None:
    function = rejoinder.reward(Sure())
    plain = as_trl_calls(function, ["hi", "hi"], ["abc", "abcdefg"], topic=["a", "b"])
    said = [[{"role": "assistant", "content": text}] for text in ("abc", "abcdefg")]
    assert as_trl_calls(function, [CHAT, CHAT], said, topic=["a", "b"]) == plain == [0.5, 1.0]


def test_what_cannot_be_scored_has_none_and_what_is_empty_has_nothing() -> None:
    function = rejoinder.reward(Sure())
    assert function(["hi"] * 4, ["why?", "", " \n", "abc"]) == [None, 0.0, 0.0, 0.5]
    assert function(prompts=[CHAT], completions=[[{"role": "assistant", "content": ""}]]) == [0.0]
    assert function(prompts=[CHAT], completions=[[]]) == [0.0]
    assert math.isnan(as_trl_calls(function, ["hi"], ["why?"])[0])
    assert function.asked == 7 and function.unscored == {"a question": 2}


@given(st.lists(st.text(max_size=30), max_size=6))
def test_rewards_are_bounded_in_order_and_of_python(texts: list[str]) -> None:
    found = rejoinder.reward(Sure(), most_unscored=1)(["hi"] * len(texts), texts)
    assert len(found) == len(texts)
    for text, one in zip(texts, found, strict=True):
        assert one is None or (type(one) is float and 0 <= one <= 1)
        assert (one is None) is ("?" in text)


def test_it_can_be_sent_to_another_process() -> None:
    copy = pickle.loads(pickle.dumps(rejoinder.reward(Sure())))
    assert isinstance(copy, Reward) and copy(["hi"], ["abc"]) == [0.5] and copy.__name__ == "reward_sure"


# What is judged


def test_turns_and_references_go_to_the_scorer() -> None:
    scorer = Sure()
    rejoinder.reward(scorer, references="answer")(
        ["User: hi\nBot: ho\nUser: well", CHAT], ["abc", "abcd"], answer=["so", ["one", "two"]]
    )
    assert sorted((one.context, one.references) for one in scorer.seen) == [
        (("hi",), ("one", "two")),
        (("hi", "ho", "well"), ("so",)),
    ]


def test_references_stay_hidden_unless_they_are_named() -> None:
    scorer = Sure()
    rejoinder.reward(scorer)(["hi"], ["abc"], references=[["abc"]])
    assert scorer.seen[0].references == ()


def test_of_several_scorers_the_lowest_counts() -> None:
    function = rejoinder.reward([Sure(), low], bounds=(1, 5))
    assert function(["hi", "User: a\nBot: b\nUser: c", "hi"], ["abcdefg", "abcdefg", "why?"]) == [0.0, 0.5, None]


def test_the_lower_end_counts_where_it_is_asked_for() -> None:
    assert rejoinder.reward(Sure(), lower=True)(["hi", "hi"], ["abc", "why?"]) == [0.25, None]
    with pytest.raises(UsageError, match="low does not say how sure it is of its scores"):
        rejoinder.reward(low, bounds=(0, 1), lower=True)(["hi"], ["ho"])


def test_lower_is_better_is_turned_round() -> None:
    scorer = Sure()
    scorer.card = Card("sure", "", "judge", frozenset(), (None, None), "", higher_is_better=False)
    assert rejoinder.reward(scorer)(["hi"] * 2, ["a", "abcd"]) == [1.0, 0.25]
    assert rejoinder.reward(scorer, lower=True)(["hi"], ["abcd"]) == [0.0]


def test_the_judge_in_the_box_rewards() -> None:
    function = rejoinder.reward()
    good, bad = function(["do you have any pets ?"] * 2, ["yes , i have two dogs and a cat .", "of of of of"])
    assert good is not None and bad is not None and 0 <= bad < good <= 1
    (safe,) = rejoinder.reward(lower=True)(["do you have any pets ?"], ["yes , i have two dogs and a cat ."])
    assert safe is not None and safe < good


# What is refused


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"scorer": low}, "low has no lowest and highest score. Say what is worth 0 and 1"),
        ({"scorer": "bleu-2"}, "bleu-2 compares with references. Say which column has them"),
        ({"scorer": "length"}, "length does not say whether higher is better, so it cannot reward"),
        ({"scorer": []}, "no scorer was named"),
        ({"bounds": (5, 1)}, r"the scale \[5, 1\]"),
        ({"most_unscored": 2}, "most_unscored is 2, expected a share from 0 to 1"),
    ],
)
def test_a_reward_that_cannot_be_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        rejoinder.reward(**given)


def test_as_many_completions_as_prompts_and_references() -> None:
    with pytest.raises(UsageError, match="1 prompts and 2 completions, expected one for each"):
        rejoinder.reward(Sure())(["a"], ["b", "c"])
    with pytest.raises(UsageError, match="2 completions and no references under 'gold' for each, but none"):
        rejoinder.reward(Sure(), references="gold")(["a", "a"], ["b", "c"])
    with pytest.raises(UsageError, match="a completion is neither a text nor chat messages"):
        rejoinder.reward(Sure())(["a"], [["b"]])  # type: ignore[list-item]


@pytest.mark.parametrize("missing", [None, math.nan])
def test_what_is_missing_is_empty(missing: Any) -> None:
    scorer = Sure()
    function = rejoinder.reward(scorer, references="gold")
    assert function([missing, "hi"], ["abc", missing], gold=[missing, ["one", missing]]) == [0.5, 0.0]
    assert {(one.context, one.references) for one in scorer.seen} <= {((), ()), (("hi",), ("one",))}


@pytest.mark.parametrize(
    ("prompt", "completion", "reference", "said"),
    [
        (3, "abc", "one", "a prompt is a number, expected a text, chat messages or turns"),
        ("hi", 3, "one", "a completion is neither a text nor chat messages"),
        ("hi", "abc", 3, "a reference is a number, expected a text or several"),
        ("hi", "abc", [["one"]], "a reference is a list, expected a text or several"),
    ],
)
def test_what_is_no_text_is_refused(prompt: Any, completion: Any, reference: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        rejoinder.reward(Sure(), references="gold")([prompt], [completion], gold=[reference])


def test_a_scorer_that_fails_half_the_time_stops_the_training() -> None:
    function = rejoinder.reward(Sure())
    texts = ["why?", "why?", "abc"]
    for _ in range(FEWEST // 3):
        function(["hi"] * 3, texts)
    with pytest.raises(NothingScored, match="of 33 completions have no reward; most often: a question"):
        function(["hi"] * 3, texts)


CALL = {"type": "function", "function": {"name": "f", "arguments": "{}"}}
ASKED = [{"role": "user", "content": "any pets ?"}]


@pytest.mark.parametrize(
    ("prompt", "completion"),
    [
        ("any pets ?", "<think>They ask.</think>\ntwo dogs"),
        ("any pets ?<think>\n", "They ask.</think>\ntwo dogs"),
        ("any pets ?", "<reasoning>They ask.</reasoning><answer>two dogs</answer>"),
        ("any pets ?", "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>two dogs"),
        (ASKED, [{"role": "assistant", "content": "<think>They ask.</think>two dogs"}]),
        (ASKED, [{"role": "assistant", "content": "They ask.</think>two dogs"}]),
        (ASKED, [{"role": "assistant", "content": "two dogs", "reasoning_content": "They ask."}]),
        (ASKED, [{"role": "assistant", "content": [{"type": "thinking", "thinking": "a"}, {"text": "two dogs"}]}]),
        (ASKED, [{"role": "assistant", "content": "two dogs", "tool_calls": [CALL]}]),
        (ASKED, [{"role": "assistant", "content": "two dogs", "tool_calls": [CALL]}, {"role": "tool", "content": "x"}]),
        (ASKED, [{"role": "assistant", "content": None, "refusal": "two dogs"}]),
    ],
)
def test_only_what_is_said_is_rewarded(prompt: Any, completion: Any) -> None:
    seen: list[tuple[tuple[str, ...], str]] = []

    def scorer(examples: Any) -> list[float]:
        seen.extend((example.context, example.response) for example in examples)
        return [1.0] * len(examples)

    assert rejoinder.reward(scorer, bounds=(0, 1))([prompt], [completion]) == [1.0]
    assert seen == [(("any pets ?",), "two dogs")]


@pytest.mark.parametrize("thought", ["<think>never done", "They ask.</think>\n", "<think>a</think>"])
def test_who_only_thinks_says_nothing(thought: str) -> None:
    reward = rejoinder.reward("rejoinder")
    messages = [{"role": "assistant", "content": thought}]
    assert reward(["any pets ?", ASKED], [thought, messages]) == [0.0, 0.0]
