"""Scores on the scale of ratings: by hand."""

from __future__ import annotations

import numpy as np

from rejoinder.stats.calibration import calibrated, matched
from sets import array


def test_a_line_through_the_other_clusters_by_hand() -> None:
    found = calibrated(array(0, 1, 2, 3), array(1, 2, 3, 5), np.array([0, 0, 1, 1]))
    np.testing.assert_allclose(found, [-1, 1, 3, 4])  # 2 x - 1 from the second cluster, x + 1 from the first


def test_a_scorer_that_says_nothing_or_the_reverse_gives_the_mean_of_the_others() -> None:
    clusters = np.array([0, 0, 1, 1])
    for scores in (array(7, 7, 7, 7), array(3, 2, 1, 0)):
        np.testing.assert_allclose(calibrated(scores, array(1, 2, 3, 5), clusters), [4, 4, 1.5, 1.5])
    assert np.isnan(calibrated(array(1, 2), array(1, 2), np.array([5, 5]))).all()


def test_matched_scores_have_the_mean_and_the_variance_of_the_ratings() -> None:
    np.testing.assert_allclose(matched(array(0, 1, 2), array(5, 1, 3)), [1, 3, 5])
