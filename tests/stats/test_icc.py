"""Intraclass correlations of full tables: Shrout and Fleiss's own."""

from __future__ import annotations

import numpy as np
import pytest

from rejoinder.errors import UsageError
from rejoinder.stats.icc import two_way

# Shrout and Fleiss (1979), table 2; their table 4 has .29, .62, .71 and .91.
SHROUT_FLEISS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)


def test_two_way_is_that_of_shrout_and_fleiss() -> None:
    found = two_way(SHROUT_FLEISS)
    assert [round(value, 2) for value in found[:4]] == [0.29, 0.62, 0.71, 0.91]
    assert (found.items, found.reason) == (6, "")


def test_a_stricter_rater_agrees_by_consistency_alone() -> None:
    table = np.arange(10.0)[:, None] + np.array([0.0, 3.0])
    found = two_way(table)
    assert found.consistency == pytest.approx(1, abs=1e-12) and found.agreement < 0.7


def test_items_with_a_gap_do_not_count() -> None:
    with_gap = np.vstack([SHROUT_FLEISS, [1, np.nan, 2, 3]])
    assert two_way(with_gap) == two_way(SHROUT_FLEISS)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (SHROUT_FLEISS[:2], "2 items were rated by all 4 raters"),
        (SHROUT_FLEISS[:, :1], "there is one rater"),
        (np.ones((5, 2)), "all ratings are the same"),
    ],
)
def test_what_cannot_be_said_has_a_reason(table: np.ndarray, why: str) -> None:
    found = two_way(table)
    assert why in found.reason and np.isnan(found[:4]).all()


def test_a_row_is_no_table() -> None:
    with pytest.raises(UsageError, match="shape"):
        two_way(np.ones(3))
