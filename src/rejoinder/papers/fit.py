"""What `fit` buys: ratings of data sets that the judge never saw, and choices between replies of language models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np

from rejoinder.catalogue import DEFAULT, load_scorer
from rejoinder.io import read_pairs
from rejoinder.judges.conversations import conversations
from rejoinder.judges.left_out import others
from rejoinder.judges.lines import RatedLines, encode_rated
from rejoinder.judges.views.judge import ViewsJudge
from rejoinder.judges.views.learner import FittedViews, ViewsLearner, boxed_material
from rejoinder.judges.views.trees import Growth
from rejoinder.learner import PREDICTED, Rows
from rejoinder.meta.fitting import fit, longer
from rejoinder.papers.asked import PREFERENCES, Asked, Takes, files_of
from rejoinder.papers.judge import SETS as RATED
from rejoinder.papers.judge_folds import NOBODY, blind
from rejoinder.records import Example, Pair
from rejoinder.scorer import Advance, FloatArray, Scores, run
from rejoinder.stats.arrays import renumbered
from rejoinder.stats.cluster_means import Mean, cluster_means
from rejoinder.stats.correlation import spearman
from rejoinder.stats.sampling import Sampling
from rejoinder.text.normalize import visible

TAKES = Takes(("data", "seed"))
SETS = tuple(name for name in RATED if name != "dstc7")  # which has no context, and no reference is read here
# One of each paper's, where that has 250 ratings or more.
ADAPTED = (
    "conture_turn",
    "engage_dailydialog",
    "zhao_personachat",
    "gupta_dailydialog",
    "usr_personachat",
    "grade_empathetic",
    "deriu_convai2",
    "fed_turn",
)
PAIRS = "pandalm"
SIZES = (30, 50, 100, 200)  # the least that `fit` takes first
PAIRS_FITTED = 200
DRAWS = 2
POOL = 2 / 3  # of the conversations of a set, those that ratings are drawn from; the rest is asked about
MOST_ASKED = 150
FEWEST_ASKED = 50
RESAMPLES = 1000
# Fitted in seconds: what `fit` adds to a judge hardly hangs on how long that one grew.
LIGHT = Growth(trees=120, step=0.1)
BINS = 10
FIGURES = ("before", "after", "gain", "in the interval", "calibration error", "beyond chance", "spread")
WHICH = ("all", "longer preferred", "shorter preferred")


class Tried(NamedTuple):
    """One adaptation to ratings.

    Attributes:
        dataset: of the ratings, which the judge never saw.
        size: how many it was adapted to.
        kept: whether what it learnt was kept.
        values: figures on lines of other conversations, in the order of `FIGURES`.
    """

    dataset: str
    size: int
    kept: bool
    values: tuple[float, ...]


class OfRatings(NamedTuple):
    """What adaptations to so many ratings came to.

    Attributes:
        size: how many ratings.
        sets: the data sets that have as many.
        kept: share of the adaptations in which what was learnt was kept.
        means: over the sets, by name of the figure.
    """

    size: int
    sets: int
    kept: float
    means: Mapping[str, Mean]


class OfChoices(NamedTuple):
    """Accuracy on pairs that were not fitted on.

    Attributes:
        which: of the pairs.
        before: of the judge in the box.
        after: of that judge adapted to other pairs.
    """

    which: str
    before: Mean
    after: Mean


class Found(NamedTuple):
    """All that was found.

    Attributes:
        ratings: one a size.
        choices: one a kind of pair.
        pairs: how many pairs there are.
    """

    ratings: Sequence[OfRatings]
    choices: Sequence[OfChoices]
    pairs: int


def find(asked: Asked) -> Found:
    """What ratings and choices bought."""
    learner = ViewsLearner(boxed_material(), growth=LIGHT)
    with asked.stage("reading", None):
        lines = encode_rated(asked.examples(SETS), learner)
    sets = [name for name in ADAPTED if name in lines.sets]
    with asked.stage("fitting to ratings", len(sets)) as advance:
        tried = [one for name in sets for one in _of_set(lines, name, asked.seed, advance)]
    pairs = [
        pair
        for pair in read_pairs(*files_of((PAIRS,), asked.data, PREFERENCES), on_bad=asked.on_bad, note=asked.note)
        if pair.preferred is not None and all(visible(reply.response) for reply in pair.replies)
    ]
    with asked.stage("fitting to choices", DRAWS) as advance:
        choices = _choices(pairs, asked.seed, advance)
    return Found(_by_size(tried, asked.seed), choices, len(pairs))


# ratings


def _of_set(lines: RatedLines, name: str, seed: int, advance: Advance) -> Iterator[Tried]:
    """The adaptations of a judge that never saw a data set to ratings of this, as far as it has enough of them."""
    own = lines.sets[name]
    fitted = _without(lines, own, seed)
    judge = fitted.judge({}, PREDICTED)
    before = fitted.predict(blind(lines.encoded), own)
    examples = [replace(lines.examples[row], references=()) for row in own.tolist()]
    groups = conversations(examples)
    for size in SIZES:
        for draw in range(DRAWS):
            rng = Sampling(0, seed).generator(f"{name} {draw}", "fit")
            taken, left = _drawn(groups, size, rng)
            if len(taken) == size and len(left) >= FEWEST_ASKED:
                yield _tried(
                    judge,
                    [examples[row] for row in taken.tolist()],
                    [examples[row] for row in left.tolist()],
                    before[left],
                    seed,
                )
    advance(1)


def _without(lines: RatedLines, own: Rows, seed: int) -> FittedViews:
    """A judge that never saw the lines `own`, nor others of their conversations."""
    learner = cast("ViewsLearner", lines.learner)
    rng = np.random.default_rng(seed)
    return learner.fit(blind(lines.encoded), lines.ratings, others(lines, own), NOBODY, rng)


def _drawn(groups: Rows, size: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """At most `size` lines of some conversations, and at most `MOST_ASKED` of the others."""
    order = rng.permutation(int(groups.max()) + 1)
    pool = np.isin(groups, order[: round(POOL * len(order))])
    taken, left = (rng.permutation(np.flatnonzero(inside)) for inside in (pool, ~pool))
    return np.sort(taken[:size]), np.sort(left[:MOST_ASKED])


def _tried(
    judge: ViewsJudge, taken: Sequence[Example], left: Sequence[Example], before: FloatArray, seed: int
) -> Tried:
    """One adaptation, and what it says of lines that are left."""
    found = fit(taken, judge, resamples=200, seed=seed, sizes=())
    low, high = found.judge.scale
    said = run(found.judge, left)
    ratings = np.array([one.rating() for one in left], np.float64)
    gained = [spearman(values, ratings).value for values in (before, said.values)]
    values, told = ((given - low) / (high - low) for given in (said.values, ratings))
    return Tried(
        str(taken[0].dataset),
        len(taken),
        found.corrected,
        (
            *gained,
            gained[1] - gained[0],
            _held(said, ratings),
            calibration_error(values, told),
            beyond_chance(values, told),
            _spread(values, told),
        ),
    )


def _held(said: Scores, ratings: FloatArray) -> float:
    """The share of ratings inside the interval of their reply."""
    if said.low is None or said.high is None:
        return float("nan")
    return float(((said.low <= ratings) & (ratings <= said.high)).mean())


def _spread(values: FloatArray, ratings: FloatArray) -> float:
    """How far scores spread, as a share of the ratings' spread."""
    return float(values.std() / ratings.std()) if ratings.std() > 0 else float("nan")


def calibration_error(values: FloatArray, ratings: FloatArray, bins: int = BINS) -> float:
    """How far the mean rating of replies with like scores lies from the mean of these scores, in what both stand in.

    Args:
        values: [N] scores.
        ratings: [N] of people.
        bins: of about as many replies each, by score.
    """
    return float(sum(abs(off.sum()) for off in _binned(values, ratings, bins)) / len(values))


def beyond_chance(values: FloatArray, ratings: FloatArray, bins: int = BINS) -> float:
    """The same without what a few replies a bin make of a calibrated judge: squares, less the variance of each mean.

    0 where chance explains all. Source: the debiased estimator of Kumar, Liang and Ma 2019, Verified uncertainty
    calibration; of ratings instead of outcomes, so that the variance is that of the differences.

    Args:
        values: [N] scores.
        ratings: [N] of people.
        bins: of about as many replies each, two or more, by score.
    """
    found = _binned(values, ratings, bins)
    squares = sum(len(off) * (float(off.mean()) ** 2 - float(off.var(ddof=1)) / len(off)) for off in found)
    return float(np.sqrt(max(0.0, squares / len(values))))


def _binned(values: FloatArray, ratings: FloatArray, bins: int) -> list[FloatArray]:
    """How far ratings lie from scores, in bins of about as many replies each, by score."""
    return [(ratings - values)[own] for own in np.array_split(np.argsort(values, kind="stable"), bins)]


def _by_size(tried: Sequence[Tried], seed: int) -> list[OfRatings]:
    """The means over data sets, a data set the mean of its draws."""
    found = []
    for size in SIZES:
        own = [one for one in tried if one.size == size]
        if own:
            clusters = renumbered(np.array([one.dataset for one in own]))
            means = _means(np.array([one.values for one in own]).T, clusters, seed)
            kept = float(np.mean([one.kept for one in own]))
            found.append(OfRatings(size, int(clusters.max()) + 1, kept, dict(zip(FIGURES, means, strict=True))))
    return found


def _means(values: FloatArray, clusters: Rows, seed: int) -> list[Mean]:
    """[R] means of [R, N] values with intervals over clusters."""
    return cluster_means(values, clusters, np.zeros(len(values)), RESAMPLES, np.random.default_rng(seed), flips=1)


# choices


def _choices(pairs: Sequence[Pair], seed: int, advance: Advance) -> list[OfChoices]:
    """Accuracy of the judge in the box on pairs, and of it adapted to other pairs."""
    judge = load_scorer(DEFAULT)
    contexts = conversations(pairs)
    before = _right(run(judge, _replies(pairs)).values)
    after = np.full((DRAWS, len(pairs)), np.nan)
    for draw in range(DRAWS):
        rng = Sampling(0, seed).generator(f"{PAIRS} {draw}", "fit")
        # Whole contexts, so that none of those asked about was fitted on.
        places = np.argsort(rng.permutation(int(contexts.max()) + 1)[contexts], kind="stable")[:PAIRS_FITTED]
        left = np.flatnonzero(~np.isin(contexts, contexts[places]))
        found = fit([pairs[place] for place in np.sort(places).tolist()], judge, resamples=200, seed=seed, sizes=())
        after[draw, left] = _right(run(found.judge, _replies([pairs[place] for place in left.tolist()])).values)
        advance(1)
    return _by_length(pairs, before, after, contexts, seed)


def _by_length(
    pairs: Sequence[Pair], before: FloatArray, after: FloatArray, contexts: Rows, seed: int
) -> list[OfChoices]:
    """Accuracy over all, and where the longer and where the shorter reply is preferred.

    Args:
        pairs: N pairs.
        before: [N] 1 where the judge is right, 0.5 where it says that both are alike.
        after: [D, N] the same of adapted judges; NaN where one was fitted on the pair.
        contexts: [N] the context of each.
        seed: of the resampling.
    """
    lengths = np.tile([longer(pair) for pair in pairs], DRAWS)
    both = np.stack([np.tile(before, DRAWS), after.ravel()])
    both[:, np.isnan(both[1])] = np.nan  # both are asked of the same pairs
    chosen = (np.ones(len(lengths), np.bool_), lengths > 0, lengths < 0)
    rows = np.concatenate([np.where(inside, both, np.nan) for inside in chosen])
    means = _means(rows, np.tile(contexts, DRAWS), seed)
    return [OfChoices(which, *means[2 * place : 2 * place + 2]) for place, which in enumerate(WHICH)]


def _replies(pairs: Sequence[Pair]) -> list[Example]:
    """[2 N] the preferred reply of each pair, then the other of each."""
    chosen = [pair.preferred or 0 for pair in pairs]
    better = [pair.replies[one] for pair, one in zip(pairs, chosen, strict=True)]
    return [*better, *(pair.replies[1 - one] for pair, one in zip(pairs, chosen, strict=True))]


def _right(scores: FloatArray) -> FloatArray:
    """[N] whether the preferred reply is ahead, of [2 N] scores as in `_replies`; half where both are alike."""
    better, worse = np.split(scores, 2)
    return np.asarray(0.5 + 0.5 * np.sign(better - worse), np.float64)
