"""Any tree of records as rows of one table: each figure once, with all that is said of it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from hypothesis import given
from hypothesis import strategies as st

from rejoinder.stats.figure import COLUMNS, NOTHING, Figure, rows_of, written_as


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
