"""Estimates: finding them, rows, adjusted p-values and verdicts."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rejoinder.estimates import (
    LABELS,
    STATISTICS,
    Adjustment,
    Estimate,
    Verdict,
    adjusted,
    decide,
    estimate_of,
    one,
    pick,
    rows,
)
from rejoinder.report.results import Results

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=20)
ABOVE = Estimate(scorer="a", statistic="pearson", value=0.4, low=0.2, high=0.6, p=0.001)
BELOW = Estimate(scorer="b", statistic="pearson", value=-0.4, low=-0.6, high=-0.2, p=0.002)
WIDE = Estimate(scorer="c", statistic="pearson", value=0.4, low=-0.1, high=0.9, p=0.001)
UNKNOWN = Estimate(scorer="d", statistic="pearson", reason="constant")


def test_adjusted_by_hand() -> None:
    p = [0.01, 0.04, 0.03, 0.005]
    # .005 * 4, .01 * 3, .03 * 2, then .04 * 1 may not fall below .06
    assert adjusted(p, "holm") == pytest.approx([0.03, 0.06, 0.06, 0.02])
    # .04 * 4/4, .03 * 4/3, .01 * 4/2, .005 * 4/1
    assert adjusted(p, "benjamini-hochberg") == pytest.approx([0.02, 0.04, 0.04, 0.02])


@given(p=p_values)
def test_false_discovery_rates_equal_scipy(p: list[float]) -> None:
    assert adjusted(p, "benjamini-hochberg") == pytest.approx(stats.false_discovery_control(p), abs=1e-12)
    expected = stats.false_discovery_control(p, method="by")
    assert adjusted(p, "benjamini-yekutieli") == pytest.approx(expected, abs=1e-12)


@given(p=p_values)
def test_holm_rejects_step_by_step(p: list[float]) -> None:
    """Go up the p-values and stop at the first that is over level / (M - those rejected)."""
    level, results = 0.05, adjusted(p, "holm")
    rejected = 0
    for value in sorted(p):
        if value * (len(p) - rejected) > level:
            break
        rejected += 1
    assert sum(result <= level for result in results) == rejected
    assert all(result >= value for result, value in zip(results, p, strict=True))


@pytest.mark.parametrize("method", get_args(Adjustment))
def test_missing_p_values_stay_missing(method: Adjustment) -> None:
    first, missing, last = adjusted([0.02, math.nan, 0.5], method)
    assert math.isnan(missing) and [first, last] == pytest.approx(adjusted([0.02, 0.5], method))
    assert adjusted([], method) == []


def test_a_verdict_needs_p_and_interval() -> None:
    verdicts = [estimate.verdict for estimate in decide([ABOVE, BELOW, WIDE, UNKNOWN])]
    assert verdicts == [Verdict.ABOVE, Verdict.BELOW, Verdict.INCONCLUSIVE, Verdict.UNDEFINED]
    weak = replace(ABOVE, p=0.04)
    assert decide([weak])[0].verdict == "above" and decide([weak, replace(WIDE, p=0.9)])[0].verdict == "inconclusive"
    assert decide([weak], tests=2)[0].p_adjusted == pytest.approx(0.08)
    assert decide([ABOVE], null=0.3)[0].verdict == "inconclusive" and decide([ABOVE], null=0.1)[0].verdict == "above"


def test_a_scorer_out_of_domain_is_not_in_the_family() -> None:
    outside, weak = decide([ABOVE, replace(BELOW, p=0.04)], outside=["a"])
    assert (outside.verdict, weak.verdict) == ("out of domain", "below") and weak.p_adjusted == 0.04
    (difference,) = decide([replace(ABOVE, versus="z")], outside=["z"])
    assert difference.verdict == "out of domain"


def test_labels_find_estimates() -> None:
    estimates = [ABOVE, BELOW, replace(ABOVE, dataset="two")]
    assert pick(estimates, scorer="a") == [ABOVE, estimates[2]] and pick(estimates, scorer=["a", "b"]) == estimates
    assert one(estimates, scorer="b") is BELOW
    assert one(estimates, scorer="x").reason == "not measured" and not one(estimates, scorer="x").known
    with pytest.raises(LookupError, match="2 estimates"):
        one(estimates, scorer="a")


def test_rows_are_json_with_the_same_keys() -> None:
    first, second = rows([ABOVE, UNKNOWN])
    assert list(first) == list(second) == [field.name for field in fields(Estimate)] and set(LABELS) < set(first)
    assert second["value"] is None and first["verdict"] == "undefined"
    assert json.loads(json.dumps(first, allow_nan=False)) == first


def test_results_refuse_unlisted_statistics_and_equal_labels() -> None:
    with pytest.raises(LookupError, match="not in STATISTICS"):
        Results(command="study", estimates=(replace(ABOVE, statistic="magic"),), answer=())
    with pytest.raises(LookupError, match="two estimates"):
        Results(command="study", estimates=(ABOVE, replace(ABOVE, value=0.1)), answer=())
    assert all(name and name == name.strip() for name in STATISTICS)


def test_an_estimate_changes_labels_sign_and_scale() -> None:
    assert estimate_of(ABOVE, scorer="z").scorer == "z" and estimate_of(ABOVE).value == 0.4
    assert (-ABOVE).ends == (-0.6, -0.2) and (ABOVE / 2).value == 0.2 and not (ABOVE / 0).known
    assert ABOVE.between(0.3, 0.5).ends == (0.3, 0.5) and ABOVE.between(0.5, 1) == ABOVE
