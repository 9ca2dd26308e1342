"""Length bias, the accuracy over pairs of lines, and intervals of few contexts."""

from __future__ import annotations

from itertools import starmap

import numpy as np

from rejoinder.analysis.length import BIAS, EFFECT, length
from rejoinder.estimates import one
from rejoinder.example import Example, Rating
from rejoinder.stats.correlation import pearsons
from rejoinder.stats.ranking import pair_accuracy, pair_accuracy_by_chance
from rejoinder.stats.resamples import FloatArray, IntArray, Resamples, expanded_tail, percentile_interval
from scored_sets import scored_sets
from simulations.rows import COVERAGE, FALSE_VERDICTS, Row, Simulation

LINES = 4  # of a context
RESAMPLES = 400
RULE = "length bias"
ONE = "errors of single ratings are unknown; no verdict follows from the interval alone"


def alike(rng: np.random.Generator, contexts: IntArray, share: float = 0.3) -> FloatArray:
    """Return standard normal values of lines that are alike in a context."""
    of_contexts = rng.normal(size=int(contexts.max()) + 1)[contexts]
    values: FloatArray = share**0.5 * of_contexts + (1 - share) ** 0.5 * rng.normal(size=len(contexts))
    return values


def rated_by(number: int, value: float) -> Rating:
    """Return the rating by one of the raters, who all rate all lines."""
    return Rating(value, rater=f"rater {number}")


def length_bias(draws: int, seed: int) -> list[Row]:
    """Return how often a scorer is said to follow length at the same rating."""
    rows = []
    for world, bias, noise, raters, right in (
        ("people like long responses, the scorer follows people", 0.0, 0.0, 1, FALSE_VERDICTS),
        ("the same, one rating with an error as large as its spread", 0.0, 1.0, 1, FALSE_VERDICTS),
        ("the same, three ratings with such errors", 0.0, 1.0, 3, FALSE_VERDICTS),
        ("the same, three ratings with errors twice as large", 0.0, 2.0, 3, FALSE_VERDICTS),
        ("three ratings, the scorer adds .6 standard deviations of length", 0.6, 1.0, 3, (0.8, 1.0)),
    ):
        rng, held, verdicts, before = np.random.default_rng(seed), 0, 0, 0
        for _ in range(draws):
            contexts = np.repeat(np.arange(40), LINES)
            words = np.clip(np.rint(12 + 4 * alike(rng, contexts)), 1, None).astype(int)
            liked = 0.5 * (words - 12) / 4 + 0.75**0.5 * alike(rng, contexts)
            ratings = liked[:, None] + noise * rng.normal(size=(len(words), raters))
            scores = 0.6 * liked + bias * (words - 12) / 4 + alike(rng, contexts)
            examples = [
                Example(
                    (f"about {context}",),
                    " ".join(["word"] * count),
                    ratings=tuple(starmap(rated_by, enumerate(values))),
                )
                for context, count, values in zip(contexts.tolist(), words.tolist(), ratings.tolist(), strict=True)
            ]
            estimates = length(scored_sets(examples, {"judge": scores}, resamples=RESAMPLES)[0][0])
            given, effect = (one(estimates, scorer="judge", statistic=name) for name in (BIAS, EFFECT))
            held += not given.excludes()
            verdicts += given.verdict in ("above", "below")
            before += effect.excludes()
        rows.append(Row(RULE, world, "length bias is claimed", verdicts / draws, draws, right, before / draws))
        if not bias:
            measure, outside = "interval of the partial correlation holds 0", ONE if noise and raters == 1 else ""
            rows.append(Row(RULE, world, measure, held / draws, draws, COVERAGE, 1 - before / draws, outside))
    return rows


def pairs_of_lines(draws: int, seed: int) -> list[Row]:
    """Return how far a random scorer is above the level of chance, with the threshold of ties fitted."""
    rows = []
    for levels in (2, 3, 5, 100):
        rng, above, before = np.random.default_rng(seed), np.empty(draws), np.empty(draws)
        for draw in range(draws):
            ratings = rng.integers(0, levels, size=60).astype(np.float64)
            scores, chance = rng.normal(size=60), pair_accuracy_by_chance(ratings).value
            above[draw] = pair_accuracy(scores, ratings, np.arange(60) // 2 % 5).value - chance
            before[draw] = fitted_here(scores, ratings) - chance
        world = f"random scores, ratings of {levels} values, 60 lines"
        mean, share = "mean of pair accuracy less its level of chance", "pair accuracy is above its level of chance"
        shares = [float((values > 0).mean()) for values in (above, before)]
        rows.append(Row("pair accuracy", world, mean, float(above.mean()), draws, (-0.1, 0.01), float(before.mean())))
        rows.append(Row("pair accuracy", world, share, shares[0], draws, (0.0, 0.5), shares[1]))
    return rows


def fitted_here(scores: FloatArray, ratings: FloatArray) -> float:
    """Return the pair accuracy with the threshold that is best on the same lines: the rule that was replaced."""
    low, high = np.triu_indices(len(scores), 1)
    gaps, ties = np.abs(scores[low] - scores[high]), ratings[low] == ratings[high]
    ordered = (scores[low] < scores[high]) == (ratings[low] < ratings[high])
    gains = np.where(ties, 1, -ordered.astype(int))[np.argsort(gaps)]
    return float(((ordered & ~ties).sum() + max(0, np.cumsum(gains).max())) / len(gaps))


def few_contexts(draws: int, seed: int) -> list[Row]:
    """Return how often there is an interval of a correlation that misses the truth."""
    rows = []
    for groups in (3, 4, 5):
        rng, missed, before = np.random.default_rng(seed), 0, 0
        contexts = np.repeat(np.arange(groups), 20)
        for _ in range(draws):
            x, noise = alike(rng, contexts), alike(rng, contexts)
            resampled = pearsons(x[None], 0.4 * x + 0.84**0.5 * noise, Resamples.draw(contexts, RESAMPLES, rng))[0]
            interval = percentile_interval(resampled, groups)
            missed += interval.has_interval and not interval.low <= 0.4 <= interval.high
            low, high = np.nanquantile(resampled[1:], [expanded_tail(groups), 1 - expanded_tail(groups)])
            before += not low <= 0.4 <= high
        world = f"{groups} contexts of 20 lines, correlation .4"
        measure = "there is an interval, and it misses the truth"
        rows.append(Row("four contexts", world, measure, missed / draws, draws, (0.0, 0.08), before / draws))
    return rows


SIMULATIONS = (
    Simulation(length_bias, few=40, many=1000),
    Simulation(pairs_of_lines, few=150, many=1000),
    Simulation(few_contexts, few=1000, many=3000),
)
