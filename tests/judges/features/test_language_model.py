"""Features of the trigram model: by hand, and for replies that are shuffled or cut."""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples_for_views import EXAMPLES, features, phrases
from rejoinder.example import Example
from rejoinder.judges.features.language_model import trigram_block

BLOCK = trigram_block(phrases())


@given(EXAMPLES)
@settings(max_examples=15)
def test_means_lie_between_extremes(example: Example) -> None:
    values = features(BLOCK, example)
    assert values["likely_sum"] <= values["likely_least"] <= values["likely_mean"] < 0 and values["usual_words"] < 0
    assert values["likely_lowest_gains"] <= values["likely_gain"] + 1e-5
    assert values["likely_gain"] == pytest.approx(values["likely_mean"] - values["usual_words"], abs=1e-4)


def test_by_hand() -> None:
    model = phrases().model
    after = [log2(p) for p in model.probabilities([phrases().tokens(["hello"])])[-1].tolist()]
    alone = [log2(model.levels[0].shares[token]) for token in phrases().tokens(["hello"])]
    values = features(BLOCK, Example((), "Hello"))
    assert values["likely_mean"] == pytest.approx(sum(after) / 2) and values["likely_sum"] == pytest.approx(sum(after))
    assert (values["likely_start"], values["likely_end"]) == pytest.approx(tuple(after))
    assert values["likely_least"] == pytest.approx(min(after)) and values["usual_words"] == pytest.approx(
        sum(alone) / 2
    )


@given(st.permutations("we could go to the park".split()))  # noqa: SIM905 - words
def test_what_was_said_is_likelier_than_its_words_in_another_order(words: list[str]) -> None:
    said, other = (features(BLOCK, Example((), text)) for text in ("we could go to the park", " ".join(words)))
    assert said["likely_mean"] >= other["likely_mean"]
    assert said["usual_words"] == pytest.approx(other["usual_words"])


def test_gibberish_is_unlikely() -> None:
    said, other = (features(BLOCK, Example((), text)) for text in ("how are you today?", "are today? you how"))
    assert said["likely_gain"] > other["likely_gain"]


def test_a_reply_cut_short_is_unlikely_to_end() -> None:
    whole, half = (features(BLOCK, Example((), text)) for text in ("how are you today?", "how are you"))
    assert whole["likely_end"] > half["likely_end"]


@pytest.mark.parametrize(
    "other", ["how are you today", "how are you today!", "how are you today ?", "How are you today..."]
)
def test_signs_at_the_end_do_not_change_whether_it_may_end(other: str) -> None:
    said, half = (features(BLOCK, Example((), text)) for text in ("how are you today?", "how are"))
    assert features(BLOCK, Example((), other))["may_end"] == said["may_end"] > half["may_end"]


def test_what_may_end_by_hand() -> None:
    model, said = phrases().model, phrases().tokens(["you", "today"])[:-1]
    ends = [*phrases().tokens([".", "?", "!"])[:-1], *phrases().tokens([])]
    chances = [model.probabilities([[*said, end]])[-1, -1] for end in ends]
    assert features(BLOCK, Example((), "how are you today"))["may_end"] == pytest.approx(log2(sum(chances)))
