"""The columns of the language model: by hand, and what holds whatever the texts are."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples_for_views import EXAMPLES, features, phrases, require_rows_of_their_own
from rejoinder.example import Example
from rejoinder.judges.features.language import LanguageView

VIEW = LanguageView(phrases())


@given(st.lists(EXAMPLES, max_size=4))
@settings(max_examples=15)
def test_a_row_depends_on_its_example_alone(examples: list[Example]) -> None:
    found = require_rows_of_their_own(VIEW, examples)
    assert np.isfinite(found).all()
    for row in found:
        one = dict(zip(VIEW.columns, row.tolist(), strict=True))
        assert one["likely_sum"] <= one["likely_least"] <= one["likely_mean"] < 0 and one["usual_words"] < 0
        assert one["likely_lowest_gains"] <= one["likely_gain"] + 1e-5
        assert one["likely_gain"] == pytest.approx(one["likely_mean"] - one["usual_words"], abs=1e-4)


def test_by_hand() -> None:
    model = phrases().model
    after = [log2(p) for p in model.probabilities([phrases().tokens(["hello"])])[-1].tolist()]
    alone = [log2(model.levels[0].shares[token]) for token in phrases().tokens(["hello"])]
    found = features(VIEW, Example((), "Hello"))
    assert found["likely_mean"] == pytest.approx(sum(after) / 2) and found["likely_sum"] == pytest.approx(sum(after))
    assert (found["likely_start"], found["likely_end"]) == pytest.approx(tuple(after))
    assert found["likely_least"] == pytest.approx(min(after)) and found["usual_words"] == pytest.approx(sum(alone) / 2)


@given(st.permutations("we could go to the park".split()))  # noqa: SIM905 - words
def test_what_was_said_is_likelier_than_its_words_in_another_order(words: list[str]) -> None:
    said, other = (features(VIEW, Example((), text)) for text in ("we could go to the park", " ".join(words)))
    assert said["likely_mean"] >= other["likely_mean"]
    assert said["usual_words"] == pytest.approx(other["usual_words"])


def test_gibberish_is_unlikely() -> None:
    said, other = (features(VIEW, Example((), text)) for text in ("how are you today?", "are today? you how"))
    assert said["likely_gain"] > other["likely_gain"]


def test_a_reply_cut_short_is_unlikely_to_end() -> None:
    whole, half = (features(VIEW, Example((), text)) for text in ("how are you today?", "how are you"))
    assert whole["likely_end"] > half["likely_end"]


@pytest.mark.parametrize(
    "other", ["how are you today", "how are you today!", "how are you today ?", "How are you today..."]
)
def test_signs_at_the_end_do_not_change_whether_it_may_end(other: str) -> None:
    said, half = (features(VIEW, Example((), text)) for text in ("how are you today?", "how are"))
    assert features(VIEW, Example((), other))["may_end"] == said["may_end"] > half["may_end"]


def test_what_may_end_by_hand() -> None:
    model, said = phrases().model, phrases().tokens(["you", "today"])[:-1]
    ends = [*phrases().tokens([".", "?", "!"])[:-1], *phrases().tokens([])]
    chances = [model.probabilities([[*said, end]])[-1, -1] for end in ends]
    assert features(VIEW, Example((), "how are you today"))["may_end"] == pytest.approx(log2(sum(chances)))
