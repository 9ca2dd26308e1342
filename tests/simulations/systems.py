"""Few systems: verdicts over all lines and intervals over systems; intervals of few contexts."""

from __future__ import annotations

import numpy as np

from rejoinder.analysis.analyses import FEWEST_SYSTEMS
from rejoinder.estimates import LEVEL, Estimate
from rejoinder.stats.correlation import chance_band, columns, less_group_means, pearsons
from rejoinder.stats.resamples import FloatArray, IntArray, Resamples, groups_drawn, percentile_interval
from simulations.rows import COVERAGE, FALSE_VERDICTS, Row, Simulation

RESAMPLES = 200
FEW, WITHIN, KEPT = "band of chance", "within systems", "interval of Pearson"
OF_CONTEXT = 0.1
"""Share of the variance of scores and of ratings that the contexts hold."""
World = tuple[FloatArray, FloatArray, IntArray, IntArray]


def drawn(
    rng: np.random.Generator, sizes: tuple[int, int], shares: tuple[float, float], skill: float = 0, over: float = 0
) -> World:
    """Return scores, ratings, systems and contexts: each system answers each context.

    `shares` of the variance of ratings and of scores lie between systems, where they correlate by `over`; within
    systems by `skill`.
    """
    systems, contexts = np.tile(np.arange(sizes[0]), sizes[1]), np.repeat(np.arange(sizes[1]), sizes[0])
    levels, noise, of_contexts = (rng.normal(size=(count, 2)) for count in (sizes[0], len(systems), sizes[1]))
    for values, r in ((levels, over), (noise, skill)):
        values[:, 1] = r * values[:, 0] + (1 - r * r) ** 0.5 * values[:, 1]
    share = np.array(shares)
    both = levels[systems] * share**0.5 + of_contexts[contexts] * OF_CONTEXT**0.5
    both += noise * (1 - share - OF_CONTEXT) ** 0.5
    return both[:, 1], both[:, 0], systems, contexts


def interval(x: FloatArray, y: FloatArray, contexts: IntArray, rng: np.random.Generator) -> Estimate:
    """Return Pearson's correlation with its interval over contexts."""
    resamples = Resamples.draw(contexts, RESAMPLES, rng)
    return percentile_interval(pearsons(x[None], y, resamples)[0], resamples.size)


def verdicts(draws: int, seed: int) -> list[Row]:
    """Return how often scorers are said to agree that are unrelated to the ratings, or that know the lines a little."""
    rows = []
    few = [((count, 100), (0.1, 0.1), 0.0) for count in (2, 3, 4, 5, 10, 20)]
    more = [((5, 100), (0.15, 0.3), 0.0), ((5, 300), (0.1, 0.1), 0.0), ((5, 100), (0.0, 0.0), 0.0)]
    for sizes, shares, skill in (*few, *more, ((5, 300), (0.15, 0.3), -1.0), ((5, 100), (0.1, 0.1), 0.2)):
        rng, shown = np.random.default_rng(seed), np.zeros((draws, 3))
        for draw in range(draws):
            world = drawn(rng, sizes, shares, max(skill, 0.0))
            if skill < 0:  # the second system answers every second context, the third every third, ...
                kept = rng.random(len(world[2])) < 1 / (1 + world[2])
                world = (
                    world[0][kept],
                    world[1][kept],
                    world[2][kept],
                    np.unique(world[3][kept], return_inverse=True)[1],
                )
            x, y, systems, contexts = world
            excludes = interval(x, y, contexts, rng).excludes()
            inside = interval(less_group_means(x, systems), less_group_means(y, systems), contexts, rng)
            p, before = chance_band(x, y, contexts, systems).p, chance_band(x, y, contexts).p
            shown[draw] = excludes and p < LEVEL, excludes and before < LEVEL, inside.excludes()
        value, before, within = shown.mean(axis=0)
        held = f"systems hold {shares[0]:.0%} of the ratings and {shares[1]:.0%} of the scores"
        design = f"{sizes[0]} systems, {sizes[1]} contexts, {held}" + (", unequal systems" if skill < 0 else "")
        right = FALSE_VERDICTS if skill <= 0 else (0.7, 1.0)
        design += ", correlation within systems .2" if skill > 0 else ""
        rows.append(Row(FEW, design, "verdict over all lines", value, draws, right, before))
        if skill >= 0:
            right = FALSE_VERDICTS if skill <= 0 else (0.9, 1.0)
            rows.append(Row(WITHIN, design, "interval within systems leaves out 0", within, draws, right))
    return rows


def over_systems(draws: int, seed: int) -> list[Row]:
    """Return how often the interval of the correlation over systems leaves out 0, and holds the truth."""
    rows = []
    for count, over in ((5, 0.0), (10, 0.0), (20, 0.0), (10, 0.7), (20, 0.7)):
        rng, held = np.random.default_rng(seed), np.zeros((draws, 2))
        error = 0.1 + (0.9 - OF_CONTEXT) / 100
        truth = over * 0.1 / error
        for draw in range(draws):
            x, y, systems, contexts = drawn(rng, (count, 100), (0.1, 0.1), over=over)
            means = [Resamples.draw(contexts, RESAMPLES, np.random.default_rng(draw)).means(v, systems) for v in (x, y)]
            both = [groups_drawn(mean, np.random.default_rng(draw)) for mean in means]
            of_contexts = percentile_interval(columns("pearson", *means), 100)
            new = percentile_interval(columns("pearson", *both), min(count, 100))
            new = new if count >= FEWEST_SYSTEMS else Estimate()
            misses = [not row.low <= truth <= row.high and row.has_interval for row in (new, of_contexts)]
            held[draw] = misses
        measure = "interval over systems leaves out 0" if not over else f"interval over systems misses {truth:.2f}"
        value, before = held.mean(axis=0)
        rows.append(Row(FEW, f"{count} systems, 100 contexts", measure, value, draws, (0.0, 0.08), before))
    return rows


def kept(draws: int, seed: int) -> list[Row]:
    """Return how often the interval of Pearson's correlation holds the truth with few contexts."""
    rows = []
    for count, size in ((4, 20), (5, 20), (8, 20), (12, 10), (20, 5), (8, 0), (20, 0)):
        rng, held = np.random.default_rng(seed), 0
        for _ in range(draws):
            sizes = np.full(count, size) if size else (rng.pareto(1.2, count) * 10 + 2).astype(int).clip(2, 200)
            contexts = np.repeat(np.arange(count), sizes)
            x, y = 0.3**0.5 * rng.normal(size=(2, count))[:, contexts] + 0.7**0.5 * rng.normal(size=(2, sizes.sum()))
            row = interval(x, 0.4 * x + 0.84**0.5 * y, contexts, rng)
            held += row.low <= 0.4 <= row.high
        design = f"{count} contexts of {size or 'very unequal numbers of'} lines, correlation .4"
        rows.append(Row(KEPT, design, "interval holds the truth", held / draws, draws, COVERAGE))
    return rows


SIMULATIONS = (
    Simulation(verdicts, few=40, many=1000),
    Simulation(over_systems, few=100, many=1000),
    Simulation(kept, few=100, many=2000),
)
