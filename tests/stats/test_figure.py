"""A measured number: what it is as JSON, turned round, as a share, and as a record that says more."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.stats.bootstrap import percentile_interval
from rejoinder.stats.figure import NOTHING, Figure, plain, written_as
from rejoinder.stats.shares import share_of_clusters, wilson

NUMBERS = st.floats(allow_nan=True, allow_infinity=True)
FIGURES = st.builds(
    Figure,
    value=NUMBERS,
    low=NUMBERS,
    high=NUMBERS,
    p=NUMBERS,
    n=st.integers(0, 10**6),
    method=st.text(),
    seed=st.none() | st.integers(0),
    reason=st.text(),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class About(Figure):
    """A figure that says what it is about, and n in other words."""

    scorer: str
    n: int = written_as(default=0)
    n_close: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Several:
    """A record with figures in all three ways of writing."""

    name: str
    alone: Figure = NOTHING
    win: Figure = written_as(value="win", low="win_low", high="win_high", reason="why", default=NOTHING)
    hidden: Figure = written_as(default=NOTHING)
    rows: tuple[About, ...] = ()


def same(one: float | None, other: float) -> bool:
    """Whether a JSON value is what a number comes to."""
    return one is None if not math.isfinite(other) else one == other


@given(figure=FIGURES, scorer=st.text())
def test_a_record_as_json_has_every_part_and_no_number_that_json_does_not_know(figure: Figure, scorer: str) -> None:
    record = About.of(figure, scorer=scorer, n_close=figure.n)
    found = json.loads(json.dumps(plain(record), allow_nan=False))
    assert list(found) == ["scorer", "n_close", "value", "low", "high", "p", "method", "seed", "reason"]
    assert all(same(found[part], getattr(figure, part)) for part in ("value", "low", "high", "p"))
    assert (found["method"], found["seed"], found["reason"]) == (figure.method, figure.seed, figure.reason)
    assert (found["scorer"], found["n_close"]) == (scorer, figure.n)


@given(figure=FIGURES)
def test_json_gives_back_the_figure(figure: Figure) -> None:
    found = json.loads(json.dumps(plain(About.of(figure, scorer="x"))))
    again = Figure(
        **{part: math.nan if found[part] is None else found[part] for part in ("value", "low", "high", "p")},
        n=figure.n,
        method=found["method"],
        seed=found["seed"],
        reason=found["reason"],
    )
    for key in fields(Figure):
        one, other = getattr(figure, key.name), getattr(again, key.name)
        assert one == other or not math.isfinite(one)


@given(figure=FIGURES)
def test_a_record_says_where_its_figures_stand(figure: Figure) -> None:
    found = plain(Several(name="a", alone=figure, win=figure, hidden=figure, rows=(About(scorer="b"),)))
    assert set(found) == {"name", "alone", "win", "win_low", "win_high", "why", "rows"}
    assert list(found["alone"]) == ["value", "low", "high"]
    assert [found["win"], found["win_low"], found["win_high"]] == list(found["alone"].values())
    assert found["rows"][0]["scorer"] == "b" and found["why"] == figure.reason


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.inf, None),
        (np.float64(0.5), 0.5),
        ((1, [math.nan]), [1, [None]]),
        ({1: {"a": (2.0,)}}, {"1": {"a": [2.0]}}),
        (None, None),
        (True, True),
        (Several, str(Several)),
    ],
)
def test_other_values_as_json(value: Any, expected: Any) -> None:
    assert plain(value) == expected


@given(figure=FIGURES)
def test_turned_round_twice_is_what_it_was(figure: Figure) -> None:
    turned = -figure
    assert same(None if math.isnan(turned.low) else turned.low, -figure.high) or math.isinf(turned.low)
    again = -turned
    for part in ("value", "low", "high"):
        one, other = getattr(again, part), getattr(figure, part)
        assert one == other or (math.isnan(one) and math.isnan(other))


@given(value=st.floats(0, 1), reach=st.floats(0, 1), whole=st.floats(0.01, 1))
def test_a_share_of_a_whole(value: float, reach: float, whole: float) -> None:
    figure = Figure(value=value, low=value - reach, high=value + reach, n=7)
    found = figure / whole
    assert found.low <= found.value <= found.high and found.value == value / whole and found.n == 7
    assert not (figure / 0.0).known and not (figure / math.nan).has_interval and not (figure / -whole).known


@pytest.mark.parametrize(
    ("low", "high", "null", "expected"),
    [(0.1, 0.2, 0.0, True), (-0.2, -0.1, 0.0, True), (-0.1, 0.1, 0.0, False), (0.4, 0.6, 0.5, False)],
)
def test_an_interval_that_leaves_the_null_out(low: float, high: float, null: float, expected: bool) -> None:
    assert Figure(low=low, high=high).excludes(null) is expected
    assert not NOTHING.excludes(null)


@given(
    wins=st.integers(0, 1000),
    variance=st.floats(1e-12, 0.25) | st.just(0.0),
    clusters=st.integers(3, 200),
)
def test_wilsons_ends_stand_around_the_share(wins: int, variance: float, clusters: int) -> None:
    found = wilson(wins / 1000, variance, clusters, clusters - 1)
    assert 0 <= found.low <= found.value + 1e-12 and found.value - 1e-12 <= found.high <= 1


@given(values=st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=30), size=st.integers(1, 4))
def test_a_share_over_clusters_stands_inside_its_interval(values: list[float], size: int) -> None:
    found = share_of_clusters(np.array(values), np.arange(len(values)) // size)
    assert found.value == np.mean(values)
    assert found.has_interval is ((len(values) - 1) // size + 1 >= 3)
    assert not found.has_interval or found.low - 1e-12 <= found.value <= found.high + 1e-12


@given(draws=st.lists(st.floats(-1, 1) | st.just(math.nan), max_size=50), clusters=st.integers(0, 50))
def test_a_percentile_interval_is_whole_or_says_why_not(draws: list[float], clusters: int) -> None:
    found = percentile_interval(np.array(draws, dtype=np.float64), clusters, value=0.25)
    assert found.value == 0.25
    assert found.has_interval is (found.reason == "") is (found.method != "no interval")
    assert not found.has_interval or -1 <= found.low <= found.high <= 1


def test_an_interval_ends_where_the_scale_does_but_what_lies_beyond_it_is_left_to_be_seen() -> None:
    near = Figure(value=4.9, low=4.7, high=5.1).between(1, 5)
    assert (near.value, *near.ends) == (4.9, 4.7, 5)
    beyond = Figure(value=5.3, low=5.2, high=5.4)
    assert beyond.between(1, 5) == beyond
    alone = Figure(value=4.9).between(1, 5)
    assert alone.value == 4.9 and not alone.has_interval and not NOTHING.between(1, 5).known
