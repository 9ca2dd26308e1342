"""Time of the paired bootstrap of many scorers' correlations, beside `scipy.stats.bootstrap`.

Usage: python benchmarks/pearsons.py [--lines 10000] [--scorers 10] [--resamples 10000] [--rounds 3] [--write]

Both sides give each scorer's Pearson correlation with the same ratings over resamples that the scorers share; each line
is a cluster of its own, because scipy draws single lines. Drawing is part of the time. scipy works through fewer
resamples, whose time is scaled up, in turns with ours in one process. `--write` keeps the table in
benchmarks/results/pearsons.md.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import stats

from rejoinder.stats.correlation import pearsons
from rejoinder.stats.resamples import Resamples, percentile_interval

RESULT = Path(__file__).parent / "results" / "pearsons.md"
MOST_SECONDS = 5.0
Floats = NDArray[np.float64]


class Sample(NamedTuple):
    """Made-up scores [N, K] and ratings [N]."""

    scores: Floats
    ratings: Floats


class Seconds(NamedTuple):
    """Medians over rounds, scipy's scaled to all resamples."""

    ours: float
    scipys: float


def sample(lines: int, scorers: int, seed: int) -> Sample:
    """Ratings from 1 to 5 and scorers that follow them with ever more noise."""
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, 6, lines).astype(np.float64)
    return Sample(ratings[:, None] + np.arange(1, scorers + 1) * rng.normal(size=(lines, scorers)), ratings)


def ours(given: Sample, resamples: int, seed: int) -> None:
    """The interval of every scorer."""
    lines = len(given.ratings)
    resampled = Resamples.draw(np.arange(lines), resamples, np.random.default_rng(seed))
    values = pearsons(given.scores.T, given.ratings, resampled)
    for row in values:
        percentile_interval(row, lines)


def scipys(given: Sample, resamples: int, seed: int) -> None:
    """The same by scipy, all scorers as one statistic."""

    def correlations(ratings: Floats, *scores: Floats, axis: int = -1) -> Floats:
        def standard(values: Floats) -> Floats:
            centred = values - values.mean(axis=axis, keepdims=True)
            scaled: Floats = centred / np.sqrt((centred * centred).sum(axis=axis, keepdims=True))
            return scaled

        y = standard(ratings)
        return np.stack([(standard(x) * y).sum(axis=axis) for x in scores])

    stats.bootstrap(
        (given.ratings, *given.scores.T),
        correlations,
        n_resamples=resamples,
        batch=10,
        vectorized=True,
        paired=True,
        method="percentile",
        rng=np.random.default_rng(seed),
    )


def seconds(work: Callable[[Sample, int, int], None], given: Sample, resamples: int, seed: int) -> float:
    """Wall time of one run."""
    start = time.perf_counter()
    work(given, resamples, seed)
    return time.perf_counter() - start


def race(given: Sample, asked: argparse.Namespace) -> Seconds:
    """Both sides in turns, after a small run of each to warm up."""
    for work in (ours, scipys):
        work(Sample(given.scores[:50], given.ratings[:50]), 20, 0)
    times = [
        (
            seconds(ours, given, asked.resamples, asked.seed + turn),
            seconds(scipys, given, asked.of_scipy, asked.seed + turn) * asked.resamples / asked.of_scipy,
        )
        for turn in range(asked.rounds)
    ]
    return Seconds(*(statistics.median(side) for side in zip(*times, strict=True)))


def page(found: Seconds, asked: argparse.Namespace) -> str:
    """The result as Markdown."""
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    machine = f"{os.cpu_count()} CPUs, Python {platform.python_version()}, numpy {np.__version__}"
    options = (
        f"--lines {asked.lines} --scorers {asked.scorers} --resamples {asked.resamples} "
        f"--of-scipy {asked.of_scipy} --rounds {asked.rounds} --seed {asked.seed}"
    )
    return f"""# Paired bootstrap of many scorers' correlations

{asked.resamples:,} resamples of {asked.lines:,} lines, {asked.scorers} scorers, 95 % intervals; drawing included.
`scipy.stats.bootstrap` (paired, vectorised, all scorers as one statistic) worked through {asked.of_scipy:,} resamples,
scaled up. Medians of {asked.rounds} rounds, in turns.

| | seconds |
| --- | ---: |
| rejoinder | {found.ours:.2f} |
| scipy.stats.bootstrap | {found.scipys:.1f} |

{found.scipys / found.ours:.0f} times as fast (at most {MOST_SECONDS:.0f} s wanted).

{today}, {machine}, scipy {scipy.__version__}

`python benchmarks/pearsons.py {options} --write`
"""


def main() -> None:
    """Measure, print, and with --write keep; fails where ours takes longer than wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--scorers", type=int, default=10)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--of-scipy", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name} into benchmarks/results")
    asked = parser.parse_args()
    found = race(sample(asked.lines, asked.scorers, asked.seed), asked)
    print(result := page(found, asked))
    if asked.write:
        RESULT.parent.mkdir(parents=True, exist_ok=True)
        RESULT.write_text(result, encoding="utf-8")
    if found.ours > MOST_SECONDS:
        sys.exit(f"{found.ours:.1f} s for what should take at most {MOST_SECONDS:.0f}")


if __name__ == "__main__":
    main()
