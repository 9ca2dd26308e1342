"""Scorers on the same lines: the figures worked out anew from the scores and ratings of those lines alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from rejoinder.example import Example, Rating
from rejoinder.data.rated import rated_sets
from rejoinder.meta import full_study
from rejoinder.meta.same_lines import common_lines
from rejoinder.documents.over_sets import nearness_table
from rejoinder.scorer import FloatArray, Scores, Signature

SETS = {"one": 60, "two": 70, "three": 50}
RATINGS = 4


def examples() -> list[Example]:
    """Rated lines of three sets, two a context, four single ratings each."""
    rng = np.random.default_rng(3)
    found = []
    for name, size in SETS.items():
        for number in range(size):
            values = np.clip(np.rint(rng.normal(3, 1) + rng.normal(0, 0.5, RATINGS)), 1, 5)
            example = Example(
                (f"context {number // 2} of {name}",),
                " ".join(["word"] * int(rng.integers(1, 9))),
                id=f"{name}-{number}",
                dataset=name,
                ratings=tuple(Rating(float(value)) for value in values),
                scales={"overall": (1, 5)},
            )
            found.append(example)
    return found


def given(values: FloatArray) -> Scores:
    missing = np.flatnonzero(np.isnan(values)).tolist()
    return Scores(values, dict.fromkeys(missing, "not there"), Signature({"scorer": "given"}))


def noisy(lines: Sequence[Example], seed: int, spread: float) -> FloatArray:
    """What people say, and noise."""
    rng = np.random.default_rng(seed)
    ratings = [example.rating() for example in lines]
    found: FloatArray = np.array(ratings, dtype=np.float64) + spread * rng.normal(size=len(lines))
    return found


def test_every_scorer_stands_on_the_lines_that_all_score() -> None:
    lines = examples()
    sets = np.array([str(example.dataset) for example in lines])
    whole, half = noisy(lines, 1, 1.0), noisy(lines, 2, 1.0)
    half[::3] = np.nan  # lines that one of them does not score
    half[sets == "three"] = np.nan  # and a set that it does not have
    found = full_study(lines, {"whole": given(whole), "half": given(half)}, resamples=100)
    rows = {row.scorer: row for row in found.nearness}
    ratings = np.array([example.rating() for example in lines], dtype=np.float64)
    length = np.array([len(example.response.split()) for example in lines], dtype=np.float64)
    same = {name: np.flatnonzero((sets == name) & np.isfinite(half)) for name in ("one", "two")}
    for name, values in {"whole": whole, "half": half, "length": length}.items():
        expected = np.mean([stats.pearsonr(values[own], ratings[own]).statistic for own in same.values()])
        assert rows[name].common.value == pytest.approx(expected)
        assert rows[name].common.low < expected < rows[name].common.high
    people, others = found.nearness[:2], [row.pearson.value for row in found.nearness[2:]]
    assert [row.kind for row in people] == ["people", "people"] and others == sorted(others, reverse=True)
    assert rows["whole"].common.value != pytest.approx(rows["whole"].pearson.value)
    assert rows["half"].common.value == pytest.approx(rows["half"].pearson.value)  # it has no other lines
    assert (found.common, found.common_lines) == (("one", "two"), sum(map(len, same.values())))
    assert found.to_dict()["common_lines"] == found.common_lines
    lead = max((rows["whole"], rows["half"]), key=lambda row: row.common.value).scorer
    said = f"On the {found.common_lines} lines of 2 data sets that all scorers score, {lead} is nearest"
    assert any(sentence.startswith(said) for sentence in found.answer)
    assert f"the {found.common_lines} lines of 2 sets that all of them score" in nearness_table(found).caption


def test_people_stand_on_the_same_lines() -> None:
    lines = examples()
    scores = noisy(lines, 1, 1.0)
    scores[::2] = np.nan
    found = full_study(lines, {"half": given(scores)}, resamples=50)
    alone = full_study(lines[1::2], {"half": given(scores[1::2])}, resamples=50)
    rows, own = ({row.scorer: row for row in one.nearness} for one in (found, alone))
    for name in ("ceiling", "one rater"):
        assert rows[name].common.value == pytest.approx(own[name].pearson.value, abs=0.02)
        assert rows[name].common.value != pytest.approx(rows[name].pearson.value, abs=1e-6)


def test_a_set_without_a_correlation_of_all_is_not_common() -> None:
    lines = examples()
    ratings = np.array([example.rating() for example in lines], dtype=np.float64)
    rated = rated_sets(lines, ratings, "overall")
    flat = noisy(lines, 1, 1.0)
    flat[:60] = 2.0  # the same on all lines of the first set
    few = noisy(lines, 2, 1.0)
    few[62:130] = np.nan  # two lines of the second
    found = common_lines(rated.sets, {"flat": flat, "few": few})
    assert [(one.name, len(rows)) for one, rows in found] == [("three", 50)]
    study = full_study(lines[:130], {"flat": given(flat[:130]), "few": given(few[:130])}, resamples=0)
    assert (study.common, study.common_lines) == ((), 0)
    assert all(math.isnan(row.common.value) for row in study.nearness)
    assert "there is no such set" in {cell.note for row in nearness_table(study).rows for cell in row}


def test_lines_that_nobody_rated_are_passed_over() -> None:
    lines = [replace(one, ratings=()) if place % 5 == 0 else one for place, one in enumerate(examples())]
    scores = noisy(examples(), 1, 1.0)
    found = full_study(lines, {"whole": given(scores)}, resamples=0)
    assert found.common_lines == sum(bool(one.ratings) for one in lines)
