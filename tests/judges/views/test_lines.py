"""Rated lines with what was made of them, and which of that a fit on some of the lines may see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from examples_for_views import phrases
from judges_over_views import rated
from rejoinder.example import Example
from rejoinder.judges.augmentation import ReplySet, augment, written
from rejoinder.judges.features.resources import lexical_block
from rejoinder.judges.features.table import FeatureSet
from rejoinder.judges.regression.lines import FITTING, MISLEADING, NO_LINE, OTHER, RANDOM, Spoilt, encode

VIEWS = FeatureSet((lexical_block(phrases()),))


def test_a_fit_sees_no_reply_of_a_line_that_was_left_out() -> None:
    examples = rated("one", 120)
    attacked = augment(examples)
    encoded = encode(VIEWS, examples, attacked)
    inside = np.arange(60)
    left_out = {one.response for one in examples[60:]} - {one.response for one in examples[:60]}
    of_inside = [one for one in attacked if one.row < 60]
    assert any(one.example.response in left_out for one in of_inside)
    kept = encoded.added.of_lines(inside, encoded.replies)
    expected = [one for one in of_inside if one.example.response not in left_out]
    assert kept.rows.tolist() == [one.row for one in expected]
    np.testing.assert_array_equal(kept.features, VIEWS.compute([one.example for one in expected]))


def test_rows_keep_what_they_were_written_for_when_lines_are_left_out() -> None:
    examples = rated("one", 8)
    asked = [ReplySet((f"Shall we meet at {hour}?",), ("Yes.",), ("Blue.",), ("We met.",)) for hour in range(3)]
    given = [*written(asked, ()), *augment(examples)]
    added = encode(VIEWS, examples, given).added.of_lines(np.arange(3), np.arange(8))
    apart = added.rows == NO_LINE
    assert added.kinds[apart].tolist() == [FITTING, MISLEADING, RANDOM] * 3
    assert (added.kinds[~apart] == OTHER).all() and (~apart).any()
    contexts = added.contexts[apart].reshape(3, 3)
    assert (contexts == contexts[:, :1]).all() and len(np.unique(contexts)) == 3


def test_only_what_deserves_as_much_as_before_is_harmless() -> None:
    example = Example(("hello",), "hi there")
    assert Spoilt(example, 0).harmless
    for worse in (Spoilt(example, 0, at_most=-1.5), Spoilt(example, 0, less=0.5), Spoilt(example, NO_LINE, 0.5)):
        assert not worse.harmless


def test_a_reply_of_another_data_set_is_nobody_elses() -> None:
    first, second = (Example(("hello",), "hi there", dataset=name) for name in ("one", "two"))
    parrot = Spoilt(replace(first, response="Hi there "), row=0)
    encoded = encode(VIEWS, [replace(first, response="hello to you"), second], [parrot])
    assert encoded.added.replies.tolist() == [-1]
    assert len(encoded.added.of_lines(np.array([0]), encoded.replies).rows) == 1
