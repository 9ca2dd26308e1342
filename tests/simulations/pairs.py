"""Preference pairs: people and scorers on the same votes, and scorers that read length alone."""

from __future__ import annotations

import numpy as np

from rejoinder.stats.agreement import highest_agreement, votes
from rejoinder.stats.permutation import cluster_means
from simulations.rows import FALSE_VERDICTS, NAN, Row, Simulation

SAME = (0.99, 1.01)
COVERED = (0.92, 0.98)


def people_and_scorers(draws: int, seed: int) -> list[Row]:
    """A scorer that is one more person, and one that knows what most people prefer.

    A person prefers the first reply with the probability p of the pair, and calls it a tie with the probability `tie`.
    """
    rows = []
    for spread, tie, k in ((1, 0.0, 2), (1, 0.0, 5), (1, 0.2, 3), (2, 0.2, 2)):
        rng, figures = np.random.default_rng(seed), []
        for _ in range(draws):
            p = rng.beta(spread, spread, 1000)
            table = np.where(rng.random((1000, k + 1)) < p[:, None], 1.0, -1.0)
            table = np.where(rng.random(table.shape) < tie, 0.0, table)
            scorer, given, best = table[:, 0], votes(table[:, 1:]), np.sign(p - 0.5)
            means = [part.mean() for part in (given.persons, given.scorer(scorer), given.scorer(best))]
            decided = given.mean != 0
            before = (scorer * np.sign(given.mean))[decided].mean() / 2 + 0.5
            figures.append((*means, before))
        person, alike, oracle, before = np.mean(figures, axis=0)
        design = f"{k} votes, preferences Beta({spread}, {spread}), {tie:.0%} ties"
        bound = highest_agreement(person)
        measure = "agreement of a scorer that is one more person over that of two people"
        rows.append(Row("preference pairs", design, measure, alike / person, draws, SAME, before / person))
        measure = "agreement of a scorer that knows what most prefer over the bound"
        rows.append(Row("preference pairs", design, measure, oracle / bound, draws, (0.9, 1.0)))
    return rows


def length_alone(draws: int, seed: int) -> list[Row]:
    """People prefer the longer reply in most pairs; scorers that read length alone, and one that reads more."""
    rows = []
    for pairs, a_context, longer, often, skill in (
        (200, 2, 0.8, 0.8, 0.0),
        (200, 2, 0.6, 0.95, 0.0),
        (60, 1, 0.7, 0.7, 0.0),
        (200, 2, 0.7, 0.7, 0.15),
    ):
        rng, hits = np.random.default_rng(seed), []
        clusters = np.arange(pairs) // a_context
        for _ in range(draws):
            by_length = rng.random(pairs) < longer
            right = np.where(by_length, often + skill, 1 - often + skill)
            right = (rng.random(pairs) < right).astype(np.float64)
            values = np.stack([np.where(by_length, right, NAN), np.where(by_length, NAN, right), right])
            *_, accuracy, balanced = cluster_means(
                values, clusters, np.full(3, 0.5), 400, rng, flips=400, balanced=[(0, 1)]
            )
            false = [row.p < 0.05 and row.excludes(0.5) for row in (balanced, accuracy)]
            hits.append((*false, balanced.low <= 0.5 + skill <= balanced.high))
        shown, before, covered = np.mean(hits, axis=0)
        design = (
            f"{pairs} pairs, {a_context} a context, people prefer the longer in {longer:.0%}, the scorer in {often:.0%}"
        )
        if not skill:
            measure = "false verdicts of a scorer that reads length alone"
            rows.append(Row("length-balanced accuracy", design, measure, shown, draws, FALSE_VERDICTS, before))
        else:
            design += f", right in {skill:.0%} more"
        rows.append(
            Row("length-balanced accuracy", design, "coverage: length-balanced accuracy", covered, draws, COVERED)
        )
    return rows


SIMULATIONS = (Simulation(people_and_scorers, few=200, many=4000), Simulation(length_alone, few=150, many=2000))
