"""Bands of chance in every form that tells a study."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence

import numpy as np
import pytest

from rejoinder.example import Example
from rejoinder.meta import FullStudy, full_study
from rejoinder.documents import study as report
from rejoinder.documents.chart import Point, chart
from rejoinder.documents.data import csv_text, json_text
from rejoinder.documents.html import html
from rejoinder.documents.markdown import markdown
from rejoinder.documents.svg import systems
from rejoinder.scorer import Scores, Signature
from rejoinder.stats.figure import Figure
from sets import array

NONE = math.nan


def study(n: int = 60, sets: Sequence[str] = ("one",), system: str = "abc") -> FullStudy:
    rng = np.random.default_rng(0)
    lines = [
        Example(
            (f"turn {place // 3}",),
            "word " * int(rng.integers(1, 9)),
            references=("word",),
            id=f"{name}-{place}",
            dataset=name,
            system=system[place % len(system)] if system else None,
            quality={"overall": float(np.clip(place % 3 + 2 + rng.normal(), 1, 5))},
            scales={"overall": (1, 5)},
        )
        for name in sets
        for place in range(n)
    ]
    ratings = array(*(one.quality["overall"] for one in lines))
    given = {"wise": Signature({"scorer": "wise"}), "bleu-2": Signature({"scorer": "bleu-2"})}
    noise = {"wise": 0.5, "bleu-2": 3.0}
    scores = {
        name: Scores(ratings + noise[name] * rng.normal(size=len(lines)), {}, signature)
        for name, signature in given.items()
    }
    return full_study(lines, scores, resamples=100)


def test_every_form_tells_all_of_it() -> None:
    found = study()
    (here,) = found.findings
    document = report.study(found, "x")
    page, words = html(document), markdown(document)
    assert "by chance" in words
    assert "have nothing to do with the ratings" in page
    assert page.count('<i class="chance"') == sum(one.chance.known for one in here.standings) == 5
    assert page.count('class="ideal"') == 4 and "1 c, 2 b, 3 a." in page, (
        "all but the constant overlap with the context"
    )
    told = json.loads(json_text(document))["findings"][0]
    assert 0.2 < told["standings"][0]["chance"] < 0.3
    rows = {(row["scorer"], row["statistic"]): row for row in csv.DictReader(io.StringIO(csv_text(document)))}
    assert float(rows["wise", "pearson by chance"]["high"]) == told["standings"][0]["chance"]
    assert found.chance == {}, "that of means over data sets"


def test_several_sets_add_their_pairs_and_halve_their_chance() -> None:
    found = study(sets=("one", "two", "three", "four"))
    single = found.findings[:-1]
    inside = [two.chance.high for one in single for two in one.standings if two.scorer == "wise"]
    assert found.chance["wise"] == pytest.approx(math.sqrt(sum(one * one for one in inside)) / 4)
    assert "±" in markdown(report.study(found))


@pytest.mark.parametrize("system", ["ab", ""])
def test_a_plot_of_systems_needs_three(system: str) -> None:
    found = study(system=system)
    page = html(report.study(found))
    assert 'class="ideal"' not in page


def test_the_band_and_the_diagonal_are_drawn() -> None:
    drawn = chart(
        "t",
        [Point("a", Figure(value=0.5), "metric", "", 0.25), Point("b", Figure(value=0, low=0, high=0), "judge", "")],
    )
    assert drawn.count("chance") == 1 and "nan" not in drawn
    panel = systems("t", ["best", "lost", "mid", "last"], array(4, 3, 2, 0), array(8, NONE, 6, 4))
    assert panel.count("<circle") == 3 and ">1</b>" in panel and "2 lost" not in panel
    assert 'cx="50.0" cy="50.0"' in panel, "rated in the middle of those shown, scored in the middle: on the diagonal"
