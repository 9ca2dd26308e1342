"""Lines that share references alone are not independent, in every analysis; one rater counts once."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rejoinder
from rejoinder.analysis.quality import quality
from rejoinder.example import Example, Pair
from rejoinder.judges.rated import conversations
from rejoinder.scorer import Scores, Signature

REFERENCES, REPLIES = 40, 6


def of_references(rng: np.random.Generator) -> list[Example]:
    """Lines without a context, whose ratings have a level by reference, and scores another one."""
    ratings, scores = (
        np.repeat(rng.normal(size=REFERENCES), REPLIES) + 0.5 * rng.normal(size=REFERENCES * REPLIES) for _ in range(2)
    )
    return [
        Example(
            (),
            f"reply {place}",
            (f"reference {place // REPLIES}",),
            id=str(place),
            quality={"overall": float(3 + rating)},
            scales={"overall": (-9, 9)},
            extra={"guess": float(guess)},
        )
        for place, (rating, guess) in enumerate(zip(ratings, scores, strict=True))
    ]


def given(lines: list[Example]) -> dict[str, Scores]:
    return {"given": Scores(np.array([line.extra["guess"] for line in lines]), {}, Signature({"scorer": "given"}))}


def test_intervals_of_a_study_miss_no_correlation_about_as_often_as_they_say() -> None:
    rng, missed = np.random.default_rng(0), 0
    for _ in range(30):
        lines = of_references(rng)
        found = rejoinder.study(lines, given(lines), resamples=100)
        row = found.one(scorer="given", statistic="pearson", level="turn")
        assert row.contexts == REFERENCES
        missed += not row.low <= 0 <= row.high
    assert missed <= 4, "one or two are expected; with each line as a cluster of its own ten"


def test_intervals_of_an_estimate_hold_the_mean_about_as_often_as_they_say() -> None:
    rng, held = np.random.default_rng(1), 0
    for _ in range(60):
        mean = rejoinder.estimate(of_references(rng), "column:guess").one(statistic="mean rating")
        assert mean.contexts == REFERENCES
        held += mean.low <= 3 <= mean.high
    assert held >= 53, "57 are expected; with each line as a cluster of its own it is two of three"


def test_all_analyses_see_the_same_clusters() -> None:
    rng = np.random.default_rng(2)
    lines = of_references(rng)
    assert rejoinder.estimate(lines, "column:guess").one(statistic="mean rating").contexts == REFERENCES
    other = [Example((), f"other {place}", line.references, id=line.id) for place, line in enumerate(lines)]
    compared = rejoinder.compare(lines, other, ["length"], resamples=100)
    assert compared.one(statistic="difference").contexts == REFERENCES
    apart = rejoinder.compare(lines, other, ["length"], resamples=100, pair_by="none")
    assert apart.one(statistic="difference").contexts == 2 * REFERENCES
    assert quality(lines, 0.1, "rouge-l", resamples=100).estimates[0].contexts == REFERENCES
    pairs = [
        Pair((line, Example((), f"other {place}", line.references)), 0, id=str(place))
        for place, line in enumerate(lines)
    ]
    results = rejoinder.study(pairs, ["length"], resamples=100).estimates
    assert {row.contexts for row in results if row.n} == {REFERENCES}


def test_a_pair_asked_of_four_people_is_one_cluster(tmp_path: Path) -> None:
    """A line a vote, choices by lot: nothing can be learnt, and no line of a pair is tested on another."""
    rng = np.random.default_rng(3)
    rows = []
    for number in range(60):
        replies = [f"first reply number {number}", f"second reply , longer , number {number}"]
        for vote in range(4):
            better = int(rng.integers(2))
            rows.append({"id": f"{number}-{vote}", "chosen": replies[better], "rejected": replies[1 - better]})
    (tmp_path / "pairs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    pairs = list(rejoinder.read_pairs(tmp_path / "pairs.jsonl"))
    assert len(pairs) == 240
    assert len(set(conversations(pairs).tolist())) == 60


TEXTS = [(f"Question number {number}?", f"Answer number {number}.") for number in range(40)]


def table(path: Path, times: Callable[[str], int]) -> Path:
    """A row a rating; each of a rater as often as `times` says."""
    rng = np.random.default_rng(4)
    with path.open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream)
        rows.writerow(["id", "prompt", "answer", "rater", "rating"])
        for number, (prompt, answer) in enumerate(TEXTS):
            for rater in ("ann", "bob"):
                rating = int(rng.integers(1, 6))
                for _ in range(times(rater)):
                    rows.writerow([number, prompt, answer, rater, rating])
    return path


@pytest.mark.parametrize("times", [lambda _: 2, lambda rater: 3 if rater == "ann" else 1])
def test_rows_given_twice_change_nothing(tmp_path: Path, times: Callable[[str], int]) -> None:
    said: list[str] = []
    once = list(rejoinder.read(table(tmp_path / "once.csv", lambda _: 1)))
    again = list(rejoinder.read(table(tmp_path / "again.csv", times), note=said.append))
    assert [line.ratings for line in once] == [line.ratings for line in again]
    assert any("80" in line for line in said)
