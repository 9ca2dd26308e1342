"""`rejoinder.next_lines`: which lines to rate next, and that an estimate from them is right."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import rejoinder
from rated_systems import parted, replies, truth
from rejoinder.errors import DataError, UsageError
from rejoinder.example import Example


def bare(count: int = 400) -> list[Example]:
    return [replace(line, quality={}, scales={}) for line in replies(count)]


def test_equally_many_of_each_system_over_the_range_of_scores() -> None:
    lines = bare()
    chosen = rejoinder.next_lines(lines, 80, "column:guess")
    assert Counter(line.system for line in chosen) == {"good": 40, "poor": 40}
    for system in ("good", "poor"):
        every = sorted(float(line.extra["guess"]) for line in lines if line.system == system)
        drawn = sorted(float(line.extra["guess"]) for line in chosen if line.system == system)
        assert all(low <= one <= high for one, low, high in zip(drawn[::4], every[::40], every[39::40], strict=True))
    assert [line.id for line in chosen] == [line.id for line in lines if line.id in {one.id for one in chosen}]
    assert all(line.extra["rating_weight"] == 1.0 for line in chosen)


def test_systems_with_fewer_ratings_come_first() -> None:
    lines, rated = parted(replies(), 60)
    of_good = [line for line in rated if line.system == "good"]
    for given, others in ((lines, of_good), ([*of_good, *lines[len(lines) :]], None)):
        if others is None:
            known = {line.id: line for line in of_good}
            given = [known.get(line.id, line) for line in lines]
        chosen = rejoinder.next_lines(given, len(of_good) + 10, "column:guess", rated=others)
        counts = Counter(line.system for line in chosen)
        assert counts == {"poor": len(of_good) + 5, "good": 5}
        assert not {line.id for line in chosen} & {line.id for line in of_good}


def test_the_same_seed_the_same_lines() -> None:
    first, again, other = (rejoinder.next_lines(bare(50), 10, "length", seed=seed) for seed in (1, 1, 2))
    assert first == again != other


def test_weights_of_two_rounds_give_valid_intervals() -> None:
    lines, answers = bare(200), {line.id: line for line in replies(200)}
    held = []
    for seed in range(6):
        rated: list[Example] = []
        for _ in range(2):
            chosen = rejoinder.next_lines(lines, 61, "column:guess", rated=rated, seed=seed)
            rated += [
                replace(line, quality=answers[line.id].quality, scales=answers[line.id].scales) for line in chosen
            ]
        results = rejoinder.estimate(lines, "column:guess", rated=rated)
        means = results.pick(statistic="mean rating")
        held += [mean.low < truth(replies(200), mean.system) < mean.high for mean in means if mean.system]
        assert results.about.counts["ratings"] == 122 and results.about.counts["differing"] == []
    assert np.mean(held) > 0.85


def test_all_lines_if_there_are_fewer() -> None:
    lines, rated = parted(replies(10), 5)
    assert len(rejoinder.next_lines(lines, 99, "length", rated=rated)) == 15
    with pytest.raises(DataError, match="all 20 lines are rated"):
        rejoinder.next_lines(replies(10), 1, "length")


@pytest.mark.parametrize("count", [0, -1, 2.5, True, "many"])
def test_invalid_counts(count: int) -> None:
    with pytest.raises(UsageError, match="expected the number of lines to rate, a whole number over 0"):
        rejoinder.next_lines(bare(5), count, "length")


def test_weights_are_one_over_the_chance_of_being_drawn_and_one_on_average() -> None:
    lines = bare(10)
    drawn = {line.id: line.extra["rating_weight"] for line in rejoinder.next_lines(lines, 14, "column:guess")}
    for system in ("good", "poor"):
        weights = [weight for name, weight in drawn.items() if name.startswith(system)]
        assert len(weights) == 7 and np.mean(weights) == pytest.approx(1, abs=1e-5)
