"""A measured number: as JSON, with the opposite sign, as a share, as a record, and as a row of a table."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.stats.figure import COLUMNS, NOTHING, Figure, plain, rows_of, written_as

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


def test_an_interval_ends_where_the_scale_does_but_what_lies_beyond_it_is_left_to_be_seen() -> None:
    near = Figure(value=4.9, low=4.7, high=5.1).between(1, 5)
    assert (near.value, *near.ends) == (4.9, 4.7, 5)
    beyond = Figure(value=5.3, low=5.2, high=5.4)
    assert beyond.between(1, 5) == beyond
    alone = Figure(value=4.9).between(1, 5)
    assert alone.value == 4.9 and not alone.has_interval and not NOTHING.between(1, 5).known


# rows of a tree of records


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Figure):
    """A figure that says what it is about."""

    dataset: str = ""
    scorer: str
    statistic: str = "pearson"
    unscored: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """A record that holds figures and speaks for them."""

    ceiling: Figure = NOTHING
    one_rater: Figure = written_as(value="one_rater", called="pearson, one rater", default=NOTHING)
    method: str = "by hand"
    seed: int = 3
    n: int = 40
    scorer: ClassVar = "people"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """A record that gives its figures itself."""

    scorer: str = "counted"
    level: ClassVar = "system"

    def figures(self) -> Iterator[Row]:
        """Yield two shares."""
        for name in ("same", "reversed"):
            yield Row(scorer=self.scorer, statistic=f"share: {name}", value=0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What is said of a data set."""

    dataset: str
    rows: tuple[Row, ...] = ()
    people: People | None = None
    counts: Counts | None = None
    by_name: Mapping[str, Figure] = field(default_factory=dict)
    words: str = "no figure"
    numbers: tuple[float, ...] = (0.5, 0.7)


def test_a_tree_by_hand() -> None:
    rows = (
        Row(scorer="a", value=0.5, low=0.2, high=0.7, p=0.01, n=9, method="m", seed=1, unscored=2),
        Row(scorer="b", reason="nothing to correlate"),
    )
    people = People(ceiling=Figure(value=0.9, low=0.8, high=0.95, method="own"), one_rater=Figure(value=0.6, n=7))
    found = list(rows_of([Findings(dataset="one", rows=rows, people=people, counts=Counts())], contexts=5))
    assert all(list(row) == list(COLUMNS) for row in found)
    about = [(row["scorer"], row["level"], row["statistic"], row["n"], row["value"]) for row in found]
    assert about == [
        ("a", "turn", "pearson", 9, 0.5),
        ("b", "turn", "pearson", 0, None),
        ("people", "turn", "ceiling", 40, 0.9),
        ("people", "turn", "pearson, one rater", 7, 0.6),
        ("counted", "system", "share: same", 0, 0.5),
        ("counted", "system", "share: reversed", 0, 0.5),
    ]
    assert {row["dataset"] for row in found} == {"one"} and {row["contexts"] for row in found} == {5}
    assert [row["method"] for row in found[:3]] == ["m", None, "by hand"], "the record says better than a bare figure"
    assert (found[0]["unscored"], found[0]["seed"], found[2]["seed"]) == (2, 1, 3)
    assert found[1]["reason"] == "nothing to correlate" and found[2]["unscored"] is None


def test_what_stands_twice_is_one_row() -> None:
    one = Row(dataset="x", scorer="a", value=0.5)
    again = Row(dataset="x", scorer="a", value=0.7)
    assert [row["value"] for row in rows_of([one, [one, again], Row(dataset="y", scorer="a", value=0.1)])] == [0.5, 0.1]


def test_what_was_not_measured_is_no_row() -> None:
    assert list(rows_of([NOTHING, None, "text", 3, Findings(dataset="x"), People(), Row(scorer="a")])) == []


@given(st.lists(st.tuples(st.text(), st.floats(), st.floats(), st.integers(0, 99)), max_size=8), st.text())
def test_every_figure_is_one_row_that_json_knows(figures: list[tuple[str, float, float, int]], dataset: str) -> None:
    rows = tuple(Row(scorer=name, value=value, low=low, n=n, reason="why") for name, value, low, n in figures)
    named = {str(place): Figure(value=value) for place, (_, value, _, _) in enumerate(figures)}
    found = list(rows_of(Findings(dataset=dataset, rows=rows, by_name=named), statistic="mean"))
    firsts = {row.scorer: row for row in reversed(rows)}
    own = [row for row in found if row["statistic"] == "pearson"]
    assert [row["scorer"] or "" for row in own] == list(dict.fromkeys(row.scorer for row in rows))
    for row in json.loads(json.dumps(own, allow_nan=False)):
        expected = firsts[row["scorer"] or ""]
        assert row["n"] == expected.n and row["dataset"] == (dataset or None)
        assert row["value"] == (expected.value if math.isfinite(expected.value) else None)
    first = next((value for _, value, _, _ in figures if not math.isnan(value)), None)
    bare = [row["value"] for row in found if row["statistic"] == "mean"]
    assert bare == ([] if first is None else [first if math.isfinite(first) else None])
