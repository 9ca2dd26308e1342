"""The best of several scorers, forecasts, scorers against each other, and another data set."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from rated_lines import plain_lines, ratings_of
from rejoinder.analysis.standings import standings
from rejoinder.estimates import Estimate, Verdict, adjusted
from rejoinder.stats.correlation import all_resampled, chance_band
from rejoinder.stats.permutation import drawn_swaps, step_down, swapped_differences
from rejoinder.stats.resamples import Resamples, interval_of_highest, percentile_interval, prediction_interval
from rejoinder.stats.splits import most_needed
from scored_sets import scored_sets
from simulations.rows import COVERAGE, FALSE_VERDICTS, Row, Simulation

Floats = NDArray[np.float64]
NEEDED = 783  # lines that show a correlation of .1 with probability .8


def correlated(rng: np.random.Generator, r: list[float], between: float, lines: int) -> tuple[Floats, Floats]:
    """Return [K, N] scores that correlate with the ratings by `r` and with each other by `between`, and the ratings."""
    matrix = np.full((len(r) + 1, len(r) + 1), between)
    matrix[0, 1:] = matrix[1:, 0] = r
    np.fill_diagonal(matrix, 1)
    ratings, *scores = np.linalg.cholesky(matrix) @ rng.normal(size=(len(matrix), lines))
    return np.stack(scores), ratings


def named_best(draws: int, seed: int) -> list[Row]:
    """Measure how often the interval of the highest correlation holds the truth."""
    rng, rows = np.random.default_rng(seed), []
    for scorers, lines in ((5, 200), (20, 200), (20, 1000)):
        held = np.zeros(2)
        for _ in range(draws):
            scores, ratings = correlated(rng, [0.15] * scorers, 0.3, lines)
            drawn = all_resampled("pearson", scores, ratings, Resamples.draw(np.arange(lines), 200, rng))
            plain = percentile_interval(drawn[np.argmax(drawn[:, 0])], lines)
            held += [own.low <= 0.15 <= own.high for own in (interval_of_highest(drawn, lines), plain)]
        world, (value, before) = f"{scorers} scorers of true r .15, {lines} lines", held / draws
        rows.append(Row("highest of several", world, "interval holds the truth", value, draws, COVERAGE, before))
    return rows


def forecasts(draws: int, seed: int) -> list[Row]:
    """Measure when a forecast is given, and whether it holds the number of lines that are needed."""
    rng = np.random.default_rng(seed)

    def open_row(r: float, lines: int) -> Estimate:
        scores, ratings = correlated(rng, [r], 0.3, lines)
        drawn = all_resampled("pearson", scores, ratings, Resamples.draw(np.arange(lines), 200, rng))[0]
        p = chance_band(scores[0], ratings, np.arange(lines)).p
        return replace(percentile_interval(drawn, lines), contexts=lines, p=p, verdict=Verdict.INCONCLUSIVE)

    useless = [row for _ in range(draws) if (row := open_row(0.0, 100)).p > 0.05]  # others are not inconclusive
    none, before = np.mean([(most_needed(row) is None, row.value <= 0) for row in useless], axis=0)
    rows = [Row("forecasts", "useless scorer, 100 lines", "no number is given", none, draws, (0.95, 1.0), before)]
    for lines, outside in ((400, ""), (100, "an interval above 0 is luck here, in one of six data sets")):
        held: list[bool] = []
        while len(held) < draws:
            if (row := open_row(0.1, lines)).low > 0:
                number = most_needed(row)
                held.append(number is None or lines <= NEEDED <= number)
        world, measure = f"true r .1, {lines} lines, interval above 0", "range holds the 783 lines needed"
        rows.append(Row("forecasts", world, measure, float(np.mean(held)), draws, (0.9, 1.0), outside=outside))
    return rows


def tests_of(
    scores: Floats, ratings: Floats, pairs: list[tuple[int, int]], every: int, rng: np.random.Generator
) -> tuple[Floats, Floats, float]:
    """Return p of pairs by Westfall and Young, by Holm over `every` pairs, and the critical value of the first."""
    lines = np.arange(len(ratings))
    swaps = drawn_swaps(len(lines), 400, rng)
    by_pair = swapped_differences("pearson", dict(enumerate(scores)), ratings, 0 * lines, lines, swaps, pairs)
    swapped = np.stack(list(by_pair.values()))
    sizes = np.abs(swapped) / swapped.std(axis=1, keepdims=True)
    alone = (2 * stats.norm.sf(sizes[:, 0])).tolist()
    holm = np.array(adjusted([*alone, *[1.0] * (every - len(alone))]))[: len(alone)]
    return step_down(swapped), holm, float(np.quantile(sizes.max(axis=0), 0.95))


def families(draws: int, seed: int) -> list[Row]:
    """Measure false verdicts about the best of equal scorers, and the lines that the tests need."""
    rng, rows = np.random.default_rng(seed), []
    for scorers, between in ((3, 0.4), (10, 0.4), (25, 0.4), (10, 0.8)):
        false, critical, pairs = np.zeros(2), [], list(combinations(range(scorers), 2))
        for _ in range(draws):
            scores, ratings = correlated(rng, [0.3] * scorers, between, 100)
            best = int(np.argmax(scores @ ratings / scores.std(axis=1)))
            young, holm, limit = tests_of(scores, ratings, pairs, len(pairs), rng)
            of_best = np.array([best in pair for pair in pairs])
            false += young[of_best].min() < 0.05, holm[of_best].min() < 0.05
            critical.append(limit)
        world, (value, before) = f"{scorers} equal scorers, {between} with each other", false / draws
        rows.append(Row("comparing scorers", world, "any false verdict", value, draws, FALSE_VERDICTS, before))
        limits = [np.median(critical), stats.norm.isf(0.025 / (len(pairs) + 5 * scorers + 10))]
        value, before = ((np.array(limits) + 0.84) / 2.8) ** 2
        rows.append(
            Row("comparing scorers", world, "lines needed, of a single test's", value, draws, (1.0, before), before)
        )
    shown, scorers = np.zeros(2), 10
    pairs = list(product(range(scorers), range(scorers, scorers + 5)))
    for _ in range(draws):
        scores, ratings = correlated(rng, [0.4] * scorers + [0.1] * 5, 0.4, 150)
        best = int(np.argmax(scores[:scorers] @ ratings / scores[:scorers].std(axis=1)))
        young, holm, _ = tests_of(scores, ratings, pairs, 15 * 14 // 2, rng)
        of_best = np.array([pair[0] == best for pair in pairs])
        shown += (young[of_best] < 0.05).mean(), (holm[of_best] < 0.05).mean()
    value, before = shown / draws
    world, measure = "10 scorers of r .4, 5 baselines of r .1, 150 lines", "best scorer shown ahead of a baseline"
    return [*rows, Row("comparing scorers", world, measure, value, draws, (float(before), 1.0), before)]


def abstaining(draws: int, seed: int) -> list[Row]:
    """Measure how often a scorer is best that has no score for the fifth of its lines nearest to the middle."""
    rng, examples = np.random.default_rng(seed), plain_lines(300)
    (scored,), _ = scored_sets(examples, {"whole": np.zeros(300), "shy": np.zeros(300)}, resamples=0)
    ratings, best = ratings_of(examples), np.zeros(2)
    for _ in range(draws):
        whole, shy = 0.4 * ratings + np.sqrt(1 - 0.16) * rng.normal(size=(2, 300))
        shy = np.where(np.abs(shy) > np.quantile(np.abs(shy), 0.2), shy, np.nan)
        known = np.isfinite(shy)
        own = np.corrcoef(whole, ratings)[0, 1], np.corrcoef(shy[known], ratings[known])[0, 1]
        best += standings(replace(scored, scores={"whole": whole, "shy": shy})).ranked[0] == "shy", own[1] > own[0]
    value, before = best / draws
    world = "two equal scorers, one abstains on its middle 20 %"
    return [Row("order of scorers", world, "the one that abstains is best", value, draws, (0.0, 0.0), before)]


def another_set(draws: int, seed: int) -> list[Row]:
    """Measure how often the prediction interval holds the correlation in another data set."""
    rng, sets, lines, held = np.random.default_rng(seed), 5, 200, np.zeros(2)
    for _ in range(draws):
        *truths, another = rng.normal(0.15, 0.15, sets + 1)
        values = np.array(truths) + rng.normal(size=sets) / np.sqrt(lines)
        predicted, half = prediction_interval(values.tolist()), 1.96 / np.sqrt(sets * lines)
        held += predicted.low <= another <= predicted.high, abs(another - predicted.value) < half
    value, before = held / draws
    return [
        Row("another data set", "5 sets, sd of true r .15", "holds another set", value, draws, (0.92, 0.98), before)
    ]


SIMULATIONS = (
    Simulation(named_best, few=60, many=1000),
    Simulation(forecasts, few=100, many=2000),
    Simulation(families, few=30, many=1000),
    Simulation(abstaining, few=60, many=1000),
    Simulation(another_set, few=1000, many=10_000),
)
