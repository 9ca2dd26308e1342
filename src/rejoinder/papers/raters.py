"""People who rated, on the sets with single ratings: agreement, models of raters, and the judge as a stand-in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from rejoinder.catalogue import DEFAULT, fitted_on, load_scorer
from rejoinder.humans.aggregation import AGGREGATIONS, aggregate
from rejoinder.humans.agreeing import agreement_of
from rejoinder.humans.agreement import RaterAgreement
from rejoinder.humans.crowd import believed
from rejoinder.humans.exclusion import Excluded, Rule, excluded
from rejoinder.humans.rated_set import RatedSet, rated_sets, ratings_of
from rejoinder.humans.raters import NOBODY, Raters, raters_of
from rejoinder.meta.replacement import MEAN_RATING, Alternative, alternative, on_scale
from rejoinder.papers.asked import Asked, Takes
from rejoinder.papers.simulated import Crowd, crowd, rate
from rejoinder.records import OVERALL
from rejoinder.scorer import run
from rejoinder.stats.arrays import BoolArray, Counts, FloatArray, IntArray, number_of
from rejoinder.stats.bootstrap import cluster_counts, percentile_interval, resample_correlations
from rejoinder.stats.correlation import spearman
from rejoinder.stats.figure import Figure
from rejoinder.stats.rater_models import Labelled, dawid_skene, mace
from rejoinder.stats.sampling import Sampling
from rejoinder.streams.dialogue import as_rated

TAKES = Takes(("files", "data", "seed"))
SETS = (
    *("usr_personachat", "grade_dailydialog", "grade_empathetic", "fed_turn", "dstc7"),
    *("spotthebot_convai2", "spotthebot_dailydialog", "spotthebot_empathetic"),
)
# Lines of a set that the judge scores: whole contexts drawn at random. A conversation is some eight replies.
MOST_LINES = 2000
MOST_DIALOGUES = 400
RESAMPLES = 300
PLAIN = ("mean", "median", "majority", "z-score")
LIKELIEST = ("dawid-skene", "mace")
EXPECTED = {"dawid-skene": "dawid-skene, expected", "mace": "mace, expected"}
ROUNDS = 20
# Of a simulation: lines, honest raters, spammers, ratings of a line.
DESIGNS = ((100, 8, 2, 3), (300, 8, 2, 3), (300, 8, 2, 5), (300, 12, 8, 5), (300, 60, 20, 3), (1000, 200, 50, 3))
FOUND = 0.2


@dataclass(frozen=True, slots=True)
class OfSet:
    """What was found on a data set.

    Attributes:
        name: of the set.
        agreement: of its raters.
        excluded: who does not agree, by the rule.
        predicted: by aggregation of the other raters, root mean square error and Spearman's correlation with a rater
            who was held out.
        judge: whether the judge in the box may stand in for a rater; on `scored` lines.
        nothing: the same of the mean rating of other contexts.
        scored: lines that were scored.
        fitted: whether the judge was fitted on lines of the set.
    """

    name: str
    agreement: RaterAgreement
    excluded: Sequence[Excluded]
    predicted: Mapping[str, Predicted]
    judge: Alternative
    nothing: Alternative
    scored: int
    fitted: bool


class Predicted(NamedTuple):
    """How well an aggregation of other raters predicts one who was held out.

    Attributes:
        error: root mean square error.
        spearman: correlation; `n` is how many ratings were held out.
    """

    error: Figure
    spearman: Figure


class Simulated(NamedTuple):
    """What a design of simulated raters came to, in shares of all rounds.

    Attributes:
        lines: how many.
        honest: raters who know something.
        spammers: raters who know nothing.
        each: ratings of a line.
        found: spammers with a competence below .2 by MACE.
        wronged: honest raters with one.
        right: by aggregation, lines whose true rating it gives.
    """

    lines: int
    honest: int
    spammers: int
    each: int
    found: float
    wronged: float
    right: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Found:
    """All that was found.

    Attributes:
        sets: one a data set.
        simulated: one a design.
        seed: of what was drawn.
    """

    sets: Sequence[OfSet]
    simulated: Sequence[Simulated]
    seed: int


def find(asked: Asked) -> Found:
    """Agreement, held-out raters, stand-ins, and a simulation."""
    examples = asked.examples(SETS)
    sets = rated_sets(examples, ratings_of(examples, OVERALL), OVERALL).filled
    sampling = Sampling(RESAMPLES, asked.seed)
    found = []
    with asked.stage("sets", len(sets)) as advance:
        for rated in sets:
            found.append(_of_set(rated, sampling))
            advance(1)
    with asked.stage("simulating", None):
        simulated = [_simulated(design, asked.seed) for design in DESIGNS]
    return Found(found, simulated, asked.seed)


def _of_set(rated: RatedSet, sampling: Sampling) -> OfSet:
    """What there is to say of a data set."""
    raters = raters_of(rated)
    agreed = agreement_of(raters, sampling)
    some = raters_of(_some(rated, sampling))
    judge = as_rated(load_scorer(DEFAULT), some.rated.examples)
    scores = run(judge, some.rated.examples).values

    def tested(name: str, values: FloatArray) -> Alternative:
        return alternative(some, on_scale(some, values, sampling), name, sampling)

    return OfSet(
        rated.name,
        agreed,
        excluded(agreed.by_rater, {}, Rule()),
        _predicted(raters, sampling),
        tested(DEFAULT, scores),
        tested(MEAN_RATING, np.zeros(len(scores))),
        len(scores),
        bool(fitted_on([DEFAULT], [rated.name])),
    )


def _some(rated: RatedSet, sampling: Sampling) -> RatedSet:
    """Whole contexts drawn at random, up to a number of lines."""
    most = MOST_DIALOGUES if any(line.is_dialogue for line in rated.examples) else MOST_LINES
    order = sampling.generator(rated.name, "paper, kept at random").permutation(number_of(rated.contexts))
    rank = np.argsort(order)[rated.contexts]
    first = np.sort(np.argsort(rank, kind="stable")[:most])
    return rated.at(first)


# raters held out


def _predicted(raters: Raters, sampling: Sampling) -> dict[str, Predicted]:
    """How well aggregations of the others predict one rater of each line, drawn at random."""
    rng = sampling.generator(raters.rated.name, "paper, kept at random")
    known = np.isfinite(raters.ratings)
    lines = np.flatnonzero(known.sum(axis=1) >= 2)
    place = np.where(known, rng.random(known.shape), -1.0).argmax(axis=1)[lines]
    held = raters.ratings[lines, place]
    ratings, who = raters.ratings.copy(), raters.raters.copy()
    ratings[lines, place], who[lines, place] = np.nan, NOBODY
    others = replace(raters, ratings=ratings, raters=who)
    counts = cluster_counts(number_of(raters.rated.contexts), sampling.resamples, rng)
    return {
        name: _against(values[lines], held, raters.rated.contexts[lines], counts)
        for name, values in _aggregated(others, rng)
    }


def _aggregated(raters: Raters, rng: np.random.Generator) -> Iterator[tuple[str, FloatArray]]:
    """Ratings of lines by aggregation; by models of raters only where these are people."""
    for name in AGGREGATIONS:
        if name in PLAIN and (raters.named or name != "z-score"):
            yield name, aggregate(raters, name, rng=rng).values
    if raters.named:
        for name, model in (("dawid-skene", dawid_skene), ("mace", partial(mace, rng=rng))):
            belief = believed(raters, model)
            yield name, belief.values
            yield EXPECTED[name], belief.expected


def _against(values: FloatArray, held: FloatArray, contexts: IntArray, counts: Counts) -> Predicted:
    """How near ratings come to those held out."""
    square = np.bincount(contexts, weights=(values - held) ** 2, minlength=len(counts))
    n = np.bincount(contexts, minlength=len(counts))
    drawn = counts.astype(np.float64)
    with np.errstate(invalid="ignore"):
        errors = np.sqrt((square @ drawn) / (n @ drawn))
    error = float(np.sqrt(square.sum() / n.sum()))
    ranks = resample_correlations(values, held, contexts, counts, ["spearman"])["spearman"]

    def figure(draws: FloatArray, value: float) -> Figure:
        return replace(percentile_interval(draws, len(counts), value=value, unit="context"), n=len(held))

    return Predicted(figure(errors, error), figure(ranks, spearman(values, held).value))


# simulated raters


def _simulated(design: tuple[int, int, int, int], seed: int) -> Simulated:
    """What a design comes to over all rounds."""
    lines, honest, spammers, each = design
    rounds = [_round(design, np.random.default_rng([seed, number, *design])) for number in range(ROUNDS)]
    right = {name: float(np.mean([one[2][name] for one in rounds])) for name in rounds[0][2]}
    found, wronged = (float(np.mean([one[part] for one in rounds])) for part in (0, 1))
    return Simulated(lines, honest, spammers, each, found, wronged, right)


def _round(design: tuple[int, int, int, int], rng: np.random.Generator) -> tuple[float, float, dict[str, float]]:
    """Shares of spammers found and of honest raters taken for such, and of true ratings by aggregation."""
    lines, honest, spammers, each = design
    people = crowd(honest, spammers, rng)
    truth = rng.integers(0, people.habits.shape[1], lines)
    given = rate(truth, people, each, rng)
    by_mace, by_skene = mace(given, rng, restarts=2), dawid_skene(given)
    below = by_mace.competence < FOUND
    rated = _rated_by(given, people)
    table = given.labels.reshape(lines, each)
    labels = {
        "mean, rounded": np.rint(table.mean(axis=1)),
        "majority": np.array([np.bincount(row).argmax() for row in table]),
        "dawid-skene": by_skene.belief.argmax(axis=1),
        "mace": by_mace.belief.argmax(axis=1),
    }
    right = {name: float((values == truth).mean()) for name, values in labels.items()}
    return float(below[people.spammers & rated].mean()), float(below[~people.spammers & rated].mean()), right


def _rated_by(given: Labelled, people: Crowd) -> BoolArray:
    """[J] whether a rater rated at all."""
    rated: BoolArray = np.bincount(given.raters, minlength=len(people.competence)) > 0
    return rated
