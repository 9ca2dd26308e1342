"""The head: a mixture of its parts, with contributions that add up; what a fit may see; the folder of a head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from examples_for_views import phrases
from judges_over_views import QUICK, rated
from rated_features import OPTIONS, lines
from rejoinder.data.folders import Parts
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.augmentation import NO_LINE, AugmentedExample, ReplySet, WrittenFor, augment, written
from rejoinder.judges.features.resources import lexical_block
from rejoinder.judges.features.table import WIDE, Feature, FeatureBlock, Features, FeatureSet
from rejoinder.judges.regression.folder import heads_in, with_heads
from rejoinder.judges.regression.head import VECTOR_LINE, Head, fit_head
from rejoinder.judges.regression.learner import FeatureLearner, FittedHeads, TrainingLines, line_weights, standardized
from rejoinder.judges.regression.linear import MIN_REPLIES, PROBES
from rejoinder.scorer import FloatArray

LEXICAL = FeatureSet((lexical_block(phrases()),))


def learner_over(feature_set: FeatureSet, augmented: Sequence[AugmentedExample]) -> FeatureLearner:
    """Return a learner over these features that adds these replies, whatever the lines."""
    resources: Any = SimpleNamespace(features=feature_set)
    return FeatureLearner(resources, lambda _: augmented, QUICK)


def encode(examples: Sequence[Example], augmented: Sequence[AugmentedExample]) -> TrainingLines:
    """Return the lexical features of examples and of augmented replies."""
    return learner_over(LEXICAL, augmented).encode(examples)


def full(features: FloatArray, vector: FloatArray | None = None, nonsense: float = 0.0) -> FloatArray:
    """Return what a head reads: features, whether the reply is nonsense, and the numbers of a vector."""
    return np.column_stack([features, np.full(len(features), nonsense), *([] if vector is None else [vector])])


def adds_up(head: Head, rows: NDArray[np.floating]) -> bool:
    added = head.contributions(rows)
    return added.shape == rows.shape and np.allclose(head.expected + added.sum(axis=1), head.predict(rows))


def test_a_head_is_the_mean_of_its_parts() -> None:
    features, targets, weights = lines()
    head = fit_head(full(features), targets, weights, np.random.default_rng(0), options=OPTIONS)
    unseen, truth, _ = lines(20, seed=4)
    mean = (head.kernel.predict(unseen) + head.trees.predict(unseen)) / 2
    assert head.predict(full(unseen)) == pytest.approx(mean) and adds_up(head, full(unseen))
    assert np.corrcoef(mean, truth)[0, 1] > 0.8


def test_a_linear_function_of_a_long_vector_joins_trees_and_kernel() -> None:
    features, targets, weights = lines(600)
    rng = np.random.default_rng(1)
    vector = rng.normal(size=(600, 40))
    rows = full(features, vector)
    head = fit_head(rows, targets + vector[:, 3], weights, rng, vector=40, options=OPTIONS, forests=1)
    head = head.with_baseline(rows, weights)
    assert head.vector_line is not None and int(np.abs(head.vector_line.weights).argmax()) == 3
    unseen = full(lines(20, seed=4)[0], rng.normal(size=(20, 40)))
    mean = (head.kernel.predict(unseen[:, :5]) + head.trees.predict(unseen[:, :5])) / 2
    line = head.vector_line.predict(unseen[:, 6:])
    assert head.predict(unseen) == pytest.approx((1 - VECTOR_LINE) * mean + VECTOR_LINE * line)
    assert adds_up(head, unseen)


def test_nonsense_is_rated_lower_by_a_rule() -> None:
    features, targets, weights = lines()
    plain, lowered = (
        fit_head(full(features, nonsense=often), targets, weights, np.random.default_rng(0), nonsense_penalty=penalty,
                 options=OPTIONS)
        for often, penalty in ((0.0, 0.0), (1.0, 1.5))
    )  # fmt: skip
    unseen = lines(20, seed=4)[0]
    bad = full(unseen, nonsense=1.0)
    assert lowered.predict(full(unseen)) == pytest.approx(plain.predict(full(unseen)))
    assert lowered.predict(bad) == pytest.approx(plain.predict(full(unseen)) - 1.5)
    assert lowered.contributions(bad)[:, 5] == pytest.approx(-1.5) and adds_up(lowered, bad)


def test_ratings_are_standardized_within_their_set_and_large_sets_weigh_by_the_root_of_their_size() -> None:
    sets = np.array([0] * 4 + [1] * 16 + [2])
    ratings = standardized(np.concatenate([np.arange(4.0), 100 + np.arange(16.0), [3.0]]), sets)
    for number in (0, 1):
        assert ratings[sets == number].mean() == pytest.approx(0) and ratings[sets == number].std() == pytest.approx(1)
    assert ratings[-1] == 0
    weights = line_weights(sets)
    assert weights[sets == 1].sum() / weights[sets == 0].sum() == pytest.approx(2)


def three_numbers(examples: Sequence[Example]) -> Features:
    """Return three numbers for each reply, like a language model."""
    return np.array([[len(one.response), one.response.count("e"), one.response.count(" ")] for one in examples])


STATE = FeatureBlock("state", [Feature(str(number), WIDE, None, 0, np.inf) for number in range(3)], three_numbers)


def fitted(*blocks: FeatureBlock) -> tuple[FeatureSet, FittedHeads]:
    """Return heads over some blocks, fitted to ratings and to replies that people wrote."""
    texts = [example.response for example in rated("one", 3 * MIN_REPLIES)]
    sets = [
        ReplySet((f"context number {i} of these",), (texts[i],), (texts[i + MIN_REPLIES],), (texts[-i],))
        for i in range(MIN_REPLIES)
    ]
    examples, feature_set = rated("one", 90), FeatureSet((lexical_block(phrases()), *blocks))

    learner = learner_over(feature_set, written(sets, ()))
    ratings = np.array([example.quality["overall"] for example in examples])
    rng = np.random.default_rng(0)
    return feature_set, learner.fit(learner.encode(examples), ratings, np.arange(90), np.arange(0), rng)


def test_a_folder_keeps_probes_and_refuses_those_over_other_features() -> None:
    feature_set, fit = fitted(STATE)
    parts = with_heads(Parts({}, {}), feature_set, fit.heads)
    again, features = heads_in(parts, feature_set), feature_set.compute(rated("two", 8))
    assert again.keys() == fit.heads.keys() and again
    for side, head in fit.heads.items():
        assert len(head.head.probes) == PROBES
        rows = features[:, head.columns]
        assert again[side].head.predict(rows).tolist() == head.head.predict(rows).tolist()
        assert adds_up(head.head, rows)
    cut = {name: value[:-1] if name.endswith("contrast_2.weights") else value for name, value in parts.tensors.items()}
    with pytest.raises(DataError, match="weights"):
        heads_in(Parts(parts.config, cut), feature_set)


def test_heads_that_read_no_long_vector_have_no_probes() -> None:
    _, fit = fitted()
    assert fit.heads and all(head.head.probes == () for head in fit.heads.values())


def test_a_fit_sees_no_reply_of_a_line_that_was_left_out() -> None:
    examples = rated("one", 120)
    changed = augment(examples)
    encoded = encode(examples, changed)
    left_out = {one.response for one in examples[60:]} - {one.response for one in examples[:60]}
    of_inside = [one for one in changed if one.row < 60]
    assert any(one.example.response in left_out for one in of_inside)
    kept = encoded.augmented.of_lines(np.arange(60), encoded.replies)
    expected = [one for one in of_inside if one.example.response not in left_out]
    assert kept.rows.tolist() == [one.row for one in expected]
    np.testing.assert_array_equal(kept.features, LEXICAL.compute([one.example for one in expected]))


def test_an_equal_reply_of_another_data_set_is_no_copy() -> None:
    first, second = (Example(("hello",), "hi there", dataset=name) for name in ("one", "two"))
    parrot = AugmentedExample(replace(first, response="Hi there "), row=0)
    encoded = encode([replace(first, response="hello to you"), second], [parrot])
    assert encoded.augmented.replies.tolist() == [-1]
    assert len(encoded.augmented.of_lines(np.array([0]), encoded.replies).rows) == 1


def test_rows_keep_what_they_were_written_for_when_lines_are_left_out() -> None:
    examples = rated("one", 8)
    sets = [ReplySet((f"Shall we meet at {hour}?",), ("Yes.",), ("Blue.",), ("We met.",)) for hour in range(3)]
    rows = encode(examples, [*written(sets, ()), *augment(examples)]).augmented
    rows = rows.of_lines(np.arange(3), np.arange(8))
    apart = rows.rows == NO_LINE
    assert rows.written_for[apart].tolist() == [WrittenFor.FITTING, WrittenFor.MISLEADING, WrittenFor.RANDOM] * 3
    assert (rows.written_for[~apart] == WrittenFor.OTHER).all() and (~apart).any()
    contexts = rows.contexts[apart].reshape(3, 3)
    assert (contexts == contexts[:, :1]).all() and len(np.unique(contexts)) == 3


def test_targets_of_augmented_rows() -> None:
    example = Example(("hello",), "hi there")
    harmless = AugmentedExample(example, 0)
    others = [AugmentedExample(example, 0, at_most=-1.5), AugmentedExample(example, 0, less=0.5),
              AugmentedExample(example, NO_LINE, 0.5)]  # fmt: skip
    assert harmless.is_harmless and not any(line.is_harmless for line in others)
    rows = encode([example], [harmless, *others]).augmented
    assert rows.targets(np.array([1.0])).tolist() == [1.0, -1.5, 0.5, 0.5]
