"""Contrasts: what replies that people wrote to fit a context, or not to fit it, teach a head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from examples_for_views import phrases
from judges_over_views import rated
from rejoinder.data.folders import Parts
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.augmentation import ReplySet, written
from rejoinder.judges.features.resources import lexical_block
from rejoinder.judges.features.table import WIDE, FeatureBlock, Features, FeatureSet, Group
from rejoinder.judges.regression.contrasts import AGAINST, FEWEST, FOLDS, Written, fit_contrasts, said_of, shared_out
from rejoinder.judges.regression.fit import Part, Way, fit_parts
from rejoinder.judges.regression.head import fit_head
from rejoinder.judges.regression.lines import FITTING, MISLEADING, OTHER, RANDOM, encode
from rejoinder.judges.regression.parts import heads_in, with_heads
from rejoinder.judges.regression.trees import Growth
from rejoinder.scorer import FloatArray

SMALL = Growth(trees=15, leaves=5, step=0.3, fewest=5)


def shown(count: int, seed: int = 0) -> tuple[FloatArray, Written]:
    """Six features, the first less of random replies, the second more of misleading ones; as many rated rows."""
    rng = np.random.default_rng(seed)
    kinds = np.repeat([OTHER, FITTING, MISLEADING, RANDOM], count)
    features = rng.normal(size=(4 * count, 6))
    features[kinds == RANDOM, 0] -= 2
    features[kinds == MISLEADING, 1] += 2
    return features, Written(kinds, np.arange(4 * count) // 3)


def test_each_contrast_finds_what_its_kind_of_reply_is_known_by() -> None:
    features, replies = shown(300)
    contrasts, said = fit_contrasts(features, replies)
    assert len(contrasts) == len(AGAINST) == said.shape[1]
    both, misleading, random = (one.weights for one in contrasts)
    assert both[0] > 0.1 and both[1] < -0.1
    assert abs(misleading[0]) < 0.05 and misleading[1] < -0.1
    assert random[0] > 0.1 and abs(random[1]) < 0.05


def test_a_row_that_a_contrast_is_fitted_on_is_told_what_others_say() -> None:
    rng = np.random.default_rng(0)
    kinds = np.repeat([FITTING, MISLEADING, RANDOM], FEWEST)
    noise = rng.normal(size=(len(kinds), 400))  # more features than replies: a line would learn these by heart
    _, said = fit_contrasts(noise, Written(kinds, np.arange(len(kinds))))
    inside = said_of(fit_contrasts(noise, Written(kinds, np.arange(len(kinds))))[0], noise)
    fits = kinds == FITTING
    assert inside[fits, 0].mean() - inside[~fits, 0].mean() > 0.2
    assert abs(said[fits, 0].mean() - said[~fits, 0].mean()) < 0.1


def test_a_row_is_told_nothing_of_what_its_own_context_is_known_by() -> None:
    rng = np.random.default_rng(0)
    contexts = np.repeat(np.arange(100), 4)
    marks = rng.normal(size=(100, 80))[contexts]  # one context is known from another by these
    fits = rng.random(100)[contexts] < 0.5  # and all its replies fit, or none does
    kinds = np.where(fits, FITTING, np.where(rng.random(400) < 0.5, MISLEADING, RANDOM))
    contrasts, said = fit_contrasts(marks, Written(kinds, contexts))
    inside = said_of(contrasts, marks)
    assert inside[fits, 0].mean() - inside[~fits, 0].mean() > 0.1
    assert said[fits, 0].mean() - said[~fits, 0].mean() < 0.03


def test_contexts_of_which_some_fold_has_none_teach_nothing() -> None:
    features, replies = shown(FEWEST)
    assert fit_contrasts(features, replies._replace(contexts=replies.contexts * FOLDS))[0] == ()


@pytest.mark.parametrize("kind", [FITTING, MISLEADING, RANDOM])
def test_too_few_of_a_kind_teach_nothing(kind: int) -> None:
    features, replies = shown(FEWEST)
    assert fit_contrasts(features, replies)[0]
    fewer = replies.kinds.copy()
    fewer[np.flatnonzero(fewer == kind)[0]] = OTHER
    contrasts, said = fit_contrasts(features, replies._replace(kinds=fewer))
    assert contrasts == () and said.shape == (len(features), 0)


def test_what_contrasts_add_is_shared_out_in_full() -> None:
    features, replies = shown(FEWEST)
    contrasts, _ = fit_contrasts(features, replies)
    rows = np.vstack([features[:20], np.array([one.centre for one in contrasts])])
    added = np.random.default_rng(1).normal(size=(len(rows), len(contrasts)))
    assert shared_out(contrasts, rows, added).sum(axis=1) == pytest.approx(added.sum(axis=1))


@pytest.mark.parametrize("vector", [0, 3])
def test_a_head_with_contrasts_tells_what_moved_it(vector: int) -> None:
    features, replies = shown(FEWEST)
    rng = np.random.default_rng(2)
    rows = np.hstack([features, np.zeros((len(features), 1)), rng.normal(size=(len(features), vector))])
    targets = features[:, 0] + 0.1 * rng.normal(size=len(rows))
    head = fit_head(rows, targets, np.ones(len(rows)), rng, written=replies, vector=vector, growth=SMALL, seeds=1)
    head = head.told_from(rows, np.ones(len(rows)))
    assert len(head.contrasts) == len(AGAINST) and head.plain == 6
    assert head.moved(rows[:9]).shape == rows[:9].shape
    assert head.expected + head.moved(rows[:9]).sum(axis=1) == pytest.approx(head.predict(rows[:9]))
    assert (np.concatenate([head.predict(row[None]) for row in rows[:9]]) == head.predict(rows[:9])).all()


@dataclass(frozen=True)
class State:
    """A view of three numbers, as a language model has them of a reply."""

    name = "state"
    columns = ("0", "1", "2")
    groups: tuple[Group, ...] = (WIDE,) * 3
    needs = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def compute(self, examples: Sequence[Example]) -> Features:
        return np.array([[len(one.response), one.response.count("e"), one.response.count(" ")] for one in examples])


def fitted(*views: FeatureBlock) -> tuple[FeatureSet, dict[Way, Part]]:
    """Heads over some views, fitted to ratings and to replies that people wrote."""
    texts = [one.response for one in rated("one", 3 * FEWEST)]
    sets = [
        ReplySet((f"context number {place} of these",), (texts[place],), (texts[place + FEWEST],), (texts[-place],))
        for place in range(FEWEST)
    ]
    examples = rated("one", 90)
    read = FeatureSet((lexical_block(phrases()), *views))
    lines = encode(read, examples, written(sets, ()))
    ratings = np.array([one.quality["overall"] for one in examples])
    return read, fit_parts(lines, ratings, np.arange(90), read, SMALL, np.random.default_rng(0), lambda _: None)


def test_a_folder_keeps_contrasts() -> None:
    views, heads = fitted(State())
    again = heads_in(with_heads(Parts({}, {}), views, heads), views)
    features = views.compute(rated("two", 8))
    for way, part in heads.items():
        assert len(part.head.contrasts) == len(AGAINST)
        own = features[:, part.columns]
        assert again[way].head.predict(own).tolist() == part.head.predict(own).tolist()


def test_heads_that_read_no_model_have_none() -> None:
    _, heads = fitted()
    assert heads and all(part.head.contrasts == () for part in heads.values())


def test_a_contrast_over_other_features_is_refused() -> None:
    views, heads = fitted(State())
    parts = with_heads(Parts({}, {}), views, heads)
    cut = {name: one[:-1] if name.endswith("contrast_2.weights") else one for name, one in parts.tensors.items()}
    with pytest.raises(DataError, match="weights"):
        heads_in(Parts(parts.config, cut), views)
