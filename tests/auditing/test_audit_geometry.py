"""What an audit says of a judge's vectors and of the spread of its scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rejoinder
from rejoinder.auditing.conicity import conicity
from rejoinder.auditing.geometry import breadth, cones
from rejoinder.estimates import one, pick
from rejoinder.example import Example
from rejoinder.report.markdown import markdown
from rejoinder.stats.resamples import Sampling
from samples import small_panel

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
