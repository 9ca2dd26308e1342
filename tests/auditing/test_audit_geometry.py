"""What an audit says of a judge's vectors and of the spread of its scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rejoinder
from rejoinder.auditing.conicity import conicity
from rejoinder.auditing.geometry import breadth, cones
from rejoinder.example import Example
from rejoinder.documents.audit import audit_document
from rejoinder.documents.markdown import markdown
from rejoinder.stats.resamples import Sampling
from samples import small_panel

SAMPLING = Sampling(0, 0)


def lines(count: int = 60) -> list[Example]:
    return list(rejoinder.read("@conture"))[:count]


def test_a_panel_shows_its_cones() -> None:
    judge = small_panel()
    examples = [*lines(), Example(("hm",), " ", id="blank")]
    found = cones(judge, examples, np.arange(61), SAMPLING)
    assert [(one.judge, one.side, one.space) for one in found] == [
        ("c-adem", side, space) for side in ("response", "context") for space in ("encoder", "head")
    ]
    raw = judge.encoder.encode([one.response for one in lines()])
    assert found[0].value == pytest.approx(conicity(raw)) and found[0].n == 60
    assert all(one.low < one.high and 0 < one.spread < 1 for one in found)
    assert cones(judge, examples, np.arange(61), SAMPLING) == found


def test_each_member_of_a_panel_has_its_own() -> None:
    mixed = [replace(one, references=("well said",) if row % 2 else ()) for row, one in enumerate(lines())]
    found = cones(small_panel(), mixed, np.arange(60), SAMPLING)
    assert {(one.judge, one.side) for one in found if one.judge == "adem"} == {
        ("adem", side) for side in ("response", "context", "reference")
    }
    assert all(25 <= one.n <= 30 for one in found)


def test_a_metric_has_none() -> None:
    assert cones(rejoinder.load_scorer("length"), lines(), np.arange(60), SAMPLING) == ()


def test_scores_are_set_beside_ratings_as_shares_of_their_scales() -> None:
    rated = [
        Example(("hm",), "yes", id=str(n), quality={"overall": float(n % 5)}, scales={"overall": (0.0, 4.0)})
        for n in range(50)
    ]
    judge, scores = replace(small_panel(), scale=(1.0, 5.0)), np.array([3 + (n % 5) / 10 for n in range(50)])
    found = breadth(judge, rated, scores, np.arange(50), SAMPLING)
    assert (found.value, found.low, found.high) == pytest.approx((0.1, 0.1, 0.1))
    assert (found.scores, found.ratings) == pytest.approx((np.std(np.arange(5)) / 40, np.std(np.arange(5)) / 4))
    assert found.pearson.value == pytest.approx(1.0)
    endless = breadth(rejoinder.load_scorer("length"), rated, scores, np.arange(50), SAMPLING)
    assert not endless.known and "no lowest and highest" in endless.reason and endless.pearson.known
    unrated = breadth(judge, [Example(("a",), "b")], np.array([3.0]), np.arange(1), SAMPLING)
    assert "nobody rated" in unrated.reason


def test_the_card_tells_it() -> None:
    found = rejoinder.audit(lines(), small_panel(), families=["upper-case"])
    record = found.to_dict()
    assert {one["side"] for one in record["geometry"]} == {"response", "context"} and record["breadth"]["value"] > 0
    page = markdown(audit_document(found))
    assert "## Geometry" in page and "How the judge's vectors lie" in page and "times as widely as ratings" in page
    plain = markdown(audit_document(rejoinder.audit(lines(), "length", families=["upper-case"])))
    assert "Geometry" not in plain
