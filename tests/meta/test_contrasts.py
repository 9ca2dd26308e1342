"""Scorers against each other: the resamples that several data sets share, worked out anew one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import stats

from rejoinder.example import Example
from rejoinder.meta.contrasts import _resampled
from rejoinder.stats.resamples import Resamples
from sets import rated


def test_every_data_set_is_resampled_by_its_own_contexts() -> None:
    """Two sets whose contexts are numbered in turns; a line comes as often as its own context was drawn."""
    rng = np.random.default_rng(0)
    contexts = np.repeat(np.arange(30), 2)
    sets = np.where(contexts % 3 == 0, 1, 4)
    ratings = rng.normal(size=60)
    scores = np.stack([ratings + rng.normal(size=60), rng.normal(size=60)], axis=1)
    resamples = Resamples.draw(contexts, 19, rng)
    lines = replace(rated([Example((), "")] * 60, ratings.tolist(), contexts.tolist()), sets=sets)
    found = _resampled(scores, lines, resamples)
    assert found.shape == (2, 2, 20)
    for place, one in enumerate((1, 4)):
        rows = np.flatnonzero(sets == one)
        for resample in range(20):
            drawn = np.repeat(rows, resamples.counts[contexts[rows], resample])
            for scorer in range(2):
                expected = stats.pearsonr(scores[drawn, scorer], ratings[drawn]).statistic
                np.testing.assert_allclose(found[scorer, place, resample], expected, atol=1e-9)
