"""Geometry: conicity with golden values, the spread of scores, and the reports of both."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rejoinder
from conftest import GOLDEN
from rejoinder.auditing.geometry import alignments, breadth, cones, conicity_over, ratio_of_spreads
from rejoinder.estimates import one, pick
from rejoinder.example import Example
from rejoinder.report.markdown import markdown
from rejoinder.stats.resamples import Resamples, Sampling
from samples import small_panel

CASES: dict[str, Any] = json.loads((GOLDEN / "conicity.json").read_text())["cases"]


def conicity(vectors: np.ndarray) -> float:
    """Return the mean alignment of vectors [N, D]."""
    return float(alignments(vectors).mean())


def as_array(values: list[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values])


@pytest.mark.parametrize("name", CASES)
def test_golden_values(name: str) -> None:
    case = CASES[name]
    vectors = np.array(case["vectors"], dtype=float)
    np.testing.assert_allclose(alignments(vectors), as_array(case["atm_cosine"]), atol=1e-9)
    np.testing.assert_allclose(conicity(vectors), as_array([case["conicity_cosine"]])[0], atol=1e-9)


@given(st.integers(2, 30), st.integers(1, 8), st.floats(0.1, 10), st.integers(0, 2**32 - 1))
def test_a_longer_or_turned_space_has_the_same_cone(n: int, width: int, factor: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n, width)) + rng.normal(size=width)
    turned = np.linalg.qr(rng.normal(size=(width, width)))[0]
    for other in (factor * vectors, vectors @ turned, vectors[rng.permutation(n)]):
        assert conicity(other) == pytest.approx(conicity(vectors), abs=1e-7)
        assert alignments(other).var() == pytest.approx(alignments(vectors).var(), abs=1e-7)
    assert -1 - 1e-9 <= conicity(vectors) <= 1 + 1e-9


def test_a_far_mean_makes_a_narrow_cone() -> None:
    vectors = np.random.default_rng(0).normal(size=(500, 20))
    near, far = conicity(vectors + 0.5), conicity(vectors + 5)
    assert near < 0.6 < 0.97 < far and alignments(vectors + 5).var() < alignments(vectors + 0.5).var()


def test_the_interval_is_over_clusters() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(20, 6)) + 1
    five = np.repeat(vectors, 5, axis=0)
    together = conicity_over(five, Resamples.draw(np.arange(100) // 5, 200, rng))
    apart = conicity_over(five, Resamples.draw(np.arange(100), 200, rng))
    assert together.n == 100 and together.low < together.value < together.high
    assert together.value == pytest.approx(conicity(vectors))
    assert together.high - together.low > 1.5 * (apart.high - apart.low)
    assert conicity_over(np.empty((0, 2)), Resamples.draw(np.arange(0), 10, rng)).reason == "no vector"


def test_the_ratio_and_its_interval() -> None:
    rng = np.random.default_rng(0)
    values, clusters = rng.normal(size=300) + 1e6, np.arange(300) // 3
    resamples = Resamples.draw(clusters, 300, rng)
    found = ratio_of_spreads(values, rng.normal(size=300) * 2, resamples)
    assert found.n == 300 and found.low < found.value < found.high and 0.4 < found.low < found.high < 0.65
    exact = ratio_of_spreads(3 * values, values, resamples)
    assert (exact.low, exact.value, exact.high) == pytest.approx((3, 3, 3))
    assert ratio_of_spreads(np.full(300, 2.0), values, resamples).value == 0


def test_there_is_none_beside_equal_values() -> None:
    for values in (np.array([1.0, 2.0]), np.empty(0)):
        found = ratio_of_spreads(values, np.ones_like(values), Resamples.once(np.arange(len(values))))
        assert not found.known and found.reason == "the ratings have no spread"


# in an audit

SAMPLING = Sampling(0, 0)


def lines(count: int = 60) -> list[Example]:
    return list(rejoinder.read("@conture"))[:count]


def test_a_panel_shows_its_cones() -> None:
    judge = small_panel()
    examples = [*lines(), Example(("hm",), " ", id="blank")]
    found = cones(judge, examples, np.arange(61), SAMPLING)
    shown = pick(found, statistic="conicity")
    assert [cone.group for cone in shown] == [
        f"c-adem: {side}, {kind}" for side in ("response", "context") for kind in ("encoder", "projected")
    ]
    raw = judge.encoder.encode([line.response for line in lines()])
    assert shown[0].value == pytest.approx(conicity(raw)) and shown[0].n == 60
    assert all(cone.low < cone.high for cone in shown)
    assert all(0 < cone.value < 1 for cone in pick(found, statistic="spread of vectors"))
    assert list(map(str, cones(judge, examples, np.arange(61), SAMPLING))) == list(map(str, found))


def test_each_member_of_a_panel_has_its_own() -> None:
    mixed = [replace(line, references=("well said",) if row % 2 else ()) for row, line in enumerate(lines())]
    found = cones(small_panel(), mixed, np.arange(60), SAMPLING)
    groups = {cone.group for cone in found if cone.group.startswith("adem")}
    assert groups == {
        f"adem: {side}, {kind}" for side in ("response", "context", "reference") for kind in ("encoder", "projected")
    }
    assert all(25 <= cone.n <= 30 for cone in found)


def test_a_metric_has_none() -> None:
    assert cones(rejoinder.load_scorer("length"), lines(), np.arange(60), SAMPLING) == []


def test_scores_are_set_beside_ratings_as_shares_of_their_scales() -> None:
    rated = [
        Example(("hm",), "yes", id=str(n), quality={"overall": float(n % 5)}, scales={"overall": (0.0, 4.0)})
        for n in range(50)
    ]
    judge, scores = replace(small_panel(), scale=(1.0, 5.0)), np.array([3 + (n % 5) / 10 for n in range(50)])
    found = breadth(judge, rated, scores, np.arange(50), SAMPLING)
    ratio = one(found, statistic="ratio of spreads")
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx((0.1, 0.1, 0.1))
    spreads = [one(found, statistic=f"sd of {name}, share of the scale").value for name in ("scores", "ratings")]
    assert spreads == pytest.approx([np.std(np.arange(5)) / 40, np.std(np.arange(5)) / 4])
    assert one(found, statistic="pearson").value == pytest.approx(1.0)
    endless = breadth(rejoinder.load_scorer("length"), rated, scores, np.arange(50), SAMPLING)
    assert "no lowest and highest" in one(endless, statistic="ratio of spreads").reason
    assert one(endless, statistic="pearson").known
    unrated = breadth(judge, [Example(("a",), "b")], np.array([3.0]), np.arange(1), SAMPLING)
    assert "no human ratings" in unrated[0].reason


def test_the_report_shows_it() -> None:
    found = rejoinder.audit(lines(), small_panel(), families=["upper-case"])
    assert found.one(statistic="ratio of spreads").value > 0
    page = markdown(found)
    assert "## Geometry" in page and "### Vectors" in page and "times that of the ratings" in page
    assert "Geometry" not in markdown(rejoinder.audit(lines(), "length", families=["upper-case"]))
