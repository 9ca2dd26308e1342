"""Raters who are left out or suspected, and scorers in the place of a rater, in worlds with known truth."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from rejoinder.analysis.agreement_of_raters import suspects
from rejoinder.analysis.raters import Raters, below_kappa, missed_checks
from rejoinder.analysis.stand_in import stand_in, stand_ins
from rejoinder.data.rated import rated_sets
from rejoinder.estimates import Verdict, pick
from rejoinder.example import Example, Rating
from rejoinder.stats.agreement import krippendorff_alpha
from rejoinder.stats.resamples import FloatArray, Sampling
from simulations.rows import FALSE_VERDICTS, Row, Simulation

PEOPLE, EACH = 30, 3
DISAGREE, REPLACE = "suspects", "stand-in for a rater"


@cache
def frame(lines: int, people: int, contexts: int) -> Raters:
    """Return raters of a data set, whose ratings are replaced in each draw."""
    examples = [
        Example(
            (f"about {line % contexts}",),
            "reply",
            id=str(line),
            ratings=tuple(Rating(1 + line % 5, rater=f"r{(line + place) % people:02}") for place in range(EACH)),
            scales={"overall": (1, 5)},
        )
        for line in range(lines)
    ]
    (rated,) = rated_sets(examples, np.ones(lines), "overall").sets
    return Raters.of(rated)


def on_scale(values: FloatArray) -> FloatArray:
    """Return standard normal values as ratings from 1 to 5."""
    ratings: FloatArray = np.clip(np.round(3 + 1.2 * values), 1, 5)
    return ratings


def crowd(rng: np.random.Generator, icc: float, guessers: int, lines: int) -> Raters:
    """Return thirty raters, each line rated by three drawn at random; the first of them may guess."""
    raters = np.argsort(rng.random((lines, PEOPLE)), axis=1)[:, :EACH]
    noise = rng.normal(size=(lines, EACH)) * (1 - icc) ** 0.5
    ratings = on_scale(rng.normal(size=(lines, 1)) * icc**0.5 + noise)
    guessed = raters < guessers
    ratings[guessed] = rng.integers(1, 6, int(guessed.sum()))
    return replace(frame(lines, PEOPLE, lines), ratings=ratings, raters=raters.astype(np.int64))


def disagreement(draws: int, seed: int) -> list[Row]:
    """Count the raters who are suspects, and who were left out by the rule of kappa below .2."""
    rng, rows = np.random.default_rng(seed), list[Row]()
    designs = [(icc, 0, 300) for icc in (0.2, 0.35, 0.5)] + [(0.35, 5, 300), (0.35, 5, 1000)]
    for icc, guessers, lines in designs:
        figures = []
        for _ in range(draws):
            raters = crowd(rng, icc, guessers, lines)
            listed = [row.rater for row in suspects(raters, Sampling(0, 0)) if row.verdict == Verdict.ABOVE]
            low = below_kappa(raters, 0.2)
            names = set(raters.names[:guessers])
            counts = [
                figure
                for out in (set(listed), set(low))
                for figure in (
                    len(out - names) / (PEOPLE - guessers),
                    len(out & names) / max(guessers, 1),
                    len(out - names) / max(len(out), 1),
                )
            ]
            parts = [raters, raters.without(missed_checks(raters, {})), raters.without(low)]
            alpha, *alphas = (krippendorff_alpha(part.ratings).value for part in parts)
            figures.append([*counts, *(value - alpha for value in alphas)])
        means = np.nanmean(figures, axis=0).tolist()
        alike = "exactly alike" if not guessers else f"{guessers} of whom guess"
        design = f"{PEOPLE} raters, {alike}, {lines * EACH // PEOPLE} ratings each, ICC {icc}"

        measures = [("honest raters listed", (0.0, 0.02)), ("guessers listed", (0.1 if lines == 300 else 0.6, 1.0))]
        measures += [("honest among the listed", (0.0, 0.1))]
        rows += [
            Row(DISAGREE, design, measure, means[place], draws, right, means[place + len(measures)])
            for place, (measure, right) in enumerate(measures)
            if guessers or measure != "guessers listed"
        ]
        rows.append(Row(DISAGREE, design, "rise of alpha", means[-2], draws, (-0.01, 0.01), means[-1]))
    return rows


def place_of_a_rater(draws: int, seed: int) -> list[Row]:
    """Count the scorers that can replace a rater: a constant, noise, and one that knows how good a reply is."""
    rng, rows, count = np.random.default_rng(seed), list[Row](), 300
    for icc in (0.2, 0.35, 0.5):
        verdicts = []
        for draw in range(draws):
            truth = rng.normal(size=count)
            ratings = on_scale(truth[:, None] * icc**0.5 + rng.normal(size=(count, EACH)) * (1 - icc) ** 0.5)
            everyone = np.tile(np.arange(EACH), (count, 1))
            raters = replace(frame(count, EACH, count), ratings=ratings, raters=everyone)
            noise = rng.normal(size=(2, count))
            scores = {"constant": np.ones(count), "noise": noise[0], "good": 0.9 * truth + 0.19**0.5 * noise[1]}
            tests = stand_ins(raters, scores, Sampling(200, draw))
            lead = {row.scorer: row for row in pick(tests, statistic="advantage", rater="", versus="")}
            passes = {row.scorer: row for row in pick(tests, statistic="raters beaten")}
            verdicts.append([[part[name].verdict == Verdict.ABOVE for name in scores] for part in (lead, passes)])
        now, before = np.mean(verdicts, axis=0).tolist()
        design = f"3 raters of {count} lines, ICC {icc}"
        for name, value, old in zip(("a constant", "noise", "a good scorer (r .9)"), now, before, strict=True):
            good = name.startswith("a good")
            outside = "single ratings differ too much for 300 lines to show it" if good and icc == 0.2 else ""
            right = (0.8, 1.0) if good else FALSE_VERDICTS
            rows.append(Row(REPLACE, design, f"{name} can replace a rater", value, draws, right, old, outside))
    return rows


def lines_of_contexts(draws: int, seed: int) -> list[Row]:
    """Count how often a rater is beaten by a scorer that is one more rater, at an epsilon of 0: never for a reason."""
    rng, contexts, each = np.random.default_rng(seed), 40, 5
    count = contexts * each
    everyone, place = np.tile(np.arange(EACH), (count, 1)), np.arange(count) % contexts
    false = []
    for draw in range(draws):
        people = rng.normal(size=(contexts, 4))[place] * 0.6 + rng.normal(size=(count, 4)) * 0.4
        ratings = on_scale(rng.normal(size=(count, 1)) * 0.7 + people)
        beaten = []
        for clusters in (contexts, count):  # before: lines as if they were independent
            raters = replace(frame(count, EACH, clusters), ratings=ratings[:, :EACH], raters=everyone)
            tests = stand_in(raters, ratings[:, EACH], "one more rater", Sampling(0, draw), epsilon=0.0)
            beaten.append(np.mean([row.p <= 0.05 for row in pick(tests, statistic="advantage") if row.rater]))
        false.append(beaten)
    now, before = np.mean(false, axis=0).tolist()
    design = f"{contexts} contexts of {each} lines, raters with a mood in each context"
    return [Row(REPLACE, design, "a rater is beaten by an equal", now, draws, FALSE_VERDICTS, before)]


SIMULATIONS = (
    Simulation(disagreement, few=8, many=200),
    Simulation(place_of_a_rater, few=10, many=400),
    Simulation(lines_of_contexts, few=60, many=1000),
)
