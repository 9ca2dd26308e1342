"""What a scorer is worth beside few ratings: how wide intervals are and how often they hold, over many draws.

Shapes: N lines of a data set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from rejoinder.catalogue import cards, score
from rejoinder.humans.lines import numbered
from rejoinder.humans.rated_set import ratings_of
from rejoinder.judges.left_out import others, rated_lines
from rejoinder.judges.lines import RatedLines
from rejoinder.judges.many import Manner, Task, scores_of
from rejoinder.judges.views.learner import ViewsLearner, boxed_material
from rejoinder.learner import members_of
from rejoinder.meta.estimate import filled
from rejoinder.papers.asked import Asked, Takes
from rejoinder.papers.judge import BESIDE
from rejoinder.papers.judge import SETS as FITTED_ON
from rejoinder.records import OVERALL, Example
from rejoinder.scorer import FloatArray, Scores, Signature
from rejoinder.stats.arrays import BoolArray, IntArray, number_of, renumbered
from rejoinder.stats.correlation import pearson
from rejoinder.stats.figure import Figure
from rejoinder.stats.prediction_powered import Powered, powered, sample_of, shared_power
from rejoinder.stats.sampling import Sampling
from rejoinder.stats.shares import share_of_clusters

TAKES = Takes(("files", "data", "seeds", "seed"))
SETS = ("dstc7", "usr_personachat")
RATINGS = (50, 100, 200)
DRAWS = 500
MOST_LINES = 2000  # of a data set
JUDGE = "judge, unseen"
Target = Literal["all lines", "each system", "two systems"]
TARGETS: tuple[Target, ...] = ("all lines", "each system", "two systems")


@dataclass(frozen=True)
class Rated:
    """A data set with all its ratings, which are the truth of every draw.

    Attributes:
        name: of the set.
        ratings: [N].
        contexts: [N] number of the context.
        systems: [N] number of the system.
        scores: by scorer: [N].
        agreement: by scorer, Pearson's correlation with the ratings.
    """

    name: str
    ratings: FloatArray
    contexts: IntArray
    systems: IntArray
    scores: Mapping[str, FloatArray]
    agreement: Mapping[str, Figure]

    @cached_property
    def rows(self) -> list[IntArray]:
        """The rows of each context."""
        order = np.argsort(self.contexts, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self.contexts[order])) + 1)

    @cached_property
    def means(self) -> FloatArray:
        """The mean rating of each system, over all its lines."""
        return np.array([self.ratings[self.systems == one].mean() for one in range(number_of(self.systems))])


class Outcome(NamedTuple):
    """What became of so many ratings, over all draws.

    Attributes:
        dataset: name of the set.
        target: what was estimated.
        ratings: how many, of all lines that the estimate is of.
        scorer: which.
        alone: how often the interval by ratings alone held the truth.
        powered: how often that with the scores did.
        half_alone: how far the former reaches to either side, mean over draws.
        half: the same of the latter.
        widest: the most that the latter was as wide as the former.
        without: share of draws in which there was no interval.
    """

    dataset: str
    target: Target
    ratings: int
    scorer: str
    alone: Figure
    powered: Figure
    half_alone: float
    half: float
    widest: float
    without: float

    @property
    def worth(self) -> float:
        """How many more ratings would have been as narrow without the scores."""
        return self.ratings * ((self.half_alone / self.half) ** 2 - 1)


@dataclass(frozen=True)
class Found:
    """All that was found.

    Attributes:
        sets: what was drawn from.
        fitted_on: by set, how many lines the judge was fitted on that never saw it.
        outcomes: one a set, target, number of ratings and scorer.
        draws: how many draws.
    """

    sets: Sequence[Rated]
    fitted_on: Mapping[str, int]
    outcomes: Sequence[Outcome]
    draws: int


def find(asked: Asked) -> Found:
    """Intervals from few ratings of two sets, with a judge that never saw the set and with the best metric."""
    with asked.stage("reading", None):
        examples = _some(asked.examples(tuple(FITTED_ON)), asked.seed)
        lines = rated_lines(examples, ViewsLearner(boxed_material()))
    names = [name for name in SETS if name in lines.sets]
    tasks = {name: Task(others(lines, lines.sets[name]), lines.sets[name]) for name in names}
    with asked.stage("fitting", len(tasks)) as advance:
        manner = Manner(members_of(lines.learner), seed=asked.seed)
        scores = scores_of(lines, list(tasks.values()), manner, advance)
    with asked.stage("scoring", len(names)) as advance:
        sets = []
        for name in names:
            sets.append(_rated(lines, name, scores))
            advance(1)
    draws = asked.seeds or DRAWS
    with asked.stage("drawing", len(sets) * len(TARGETS)) as advance:
        outcomes = []
        for one in sets:
            for target in TARGETS[: None if len(one.means) > 1 else 1]:
                outcomes += _outcomes(one, target, draws, asked.seed)
                advance(1)
    return Found(sets, {name: len(task.rows) for name, task in tasks.items()}, outcomes, draws)


def _some(examples: Sequence[Example], seed: int) -> list[Example]:
    """The lines of some contexts of each data set, drawn by chance: enough to tell, and no more to read than that."""
    keys = [(example.dataset or "", example.context_key) for example in examples]
    kept = set[tuple[str, tuple[str, ...]]]()
    for name in sorted({name for name, _ in keys}):
        sizes = Counter(key for key in keys if key[0] == name)
        contexts, room = sorted(sizes), MOST_LINES
        for place in Sampling(0, seed).generator((len(contexts),), "paper, kept at random").permutation(len(contexts)):
            if room > 0:
                kept.add(contexts[place])
                room -= sizes[contexts[place]]
    return [example for example, key in zip(examples, keys, strict=True) if key in kept]


def _rated(lines: RatedLines, name: str, scores: FloatArray) -> Rated:
    """A set with the scores of the judge and of the metric that agrees best with people on it."""
    rows = lines.sets[name]
    own = [lines.examples[row] for row in rows.tolist()]
    ratings = ratings_of(own, OVERALL)
    unscored = dict.fromkeys(np.flatnonzero(np.isnan(scores[rows])).tolist(), "read by no judge")
    judged = Scores(scores[rows], unscored, Signature({"scorer": JUDGE}))
    read = {JUDGE: filled(own, judged, cards()["rejoinder"])} if judged.scored.any() else {}
    known = {**read, **_best(own, ratings)}
    return Rated(
        name,
        ratings,
        numbered([one.context_key for one in own]),
        numbered([(one.system or "",) for one in own]),
        known,
        {scorer: pearson(values, ratings) for scorer, values in known.items()},
    )


def _best(own: Sequence[Example], ratings: FloatArray) -> dict[str, FloatArray]:
    """The metric that is nearest to the ratings of these very lines, and its scores."""
    scored = {name: score(own, name, out_of_domain="keep") for name in BESIDE}
    found = {name: filled(own, one, cards()[name]) for name, one in scored.items()}
    best = max(found, key=lambda name: abs(np.nan_to_num(pearson(found[name], ratings).value)))
    return {best: found[best]}


class _Draw(NamedTuple):
    """What one draw made.

    Attributes:
        truth: of each estimate.
        by_scorer: the estimates.
    """

    truth: FloatArray
    by_scorer: Mapping[str, Sequence[Powered]]


def _outcomes(one: Rated, target: Target, draws: int, seed: int) -> list[Outcome]:
    """What becomes of each number of ratings, by scorer."""
    found: dict[int, list[_Draw]] = {}
    for draw in range(draws):
        rng = Sampling(0, seed).generator((draw,), "paper")
        rows, clusters = _file(one, rng)
        if target == "two systems":
            kept = np.isin(one.systems[rows], rng.choice(len(one.means), 2, replace=False))
            rows, clusters = rows[kept], clusters[kept]
        order = rng.permutation(len(rows))
        for ratings in RATINGS:
            if ratings < len(rows):
                made = _draw(one, target, rows, clusters, order < ratings)
                found.setdefault(ratings, []).append(made)
    return [
        _outcome(one.name, target, ratings, scorer, made) for ratings, made in found.items() for scorer in one.scores
    ]


def _file(one: Rated, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """The rows of a file such as this set might have been: as many contexts, drawn with replacement, and clusters."""
    drawn = [one.rows[context] for context in rng.integers(0, len(one.rows), len(one.rows)).tolist()]
    sizes = [len(rows) for rows in drawn]
    return np.concatenate(drawn), np.repeat(np.arange(len(drawn)), sizes)


def _draw(one: Rated, target: Target, rows: IntArray, clusters: IntArray, rated: BoolArray) -> _Draw:
    """The estimates from some ratings of a file."""
    ratings = np.where(rated, one.ratings[rows], np.nan)
    present, groups = np.unique(one.systems[rows], return_inverse=True)
    truth = one.means[present]
    if target == "all lines":
        groups, truth = np.zeros_like(groups), np.array([one.ratings.mean()])
    by_scorer = {}
    for scorer, values in one.scores.items():
        samples = []
        for group in range(len(truth)):
            own = groups == group
            plain = np.ones(int(own.sum()))
            samples.append(sample_of(ratings[own], values[rows[own]], plain, plain.astype(bool), clusters[own]))
        shared = shared_power(samples)
        wanted = [samples[1].minus(samples[0])] if target == "two systems" else samples
        by_scorer[scorer] = [powered(sample, shared) for sample in wanted]
    return _Draw(np.diff(truth) if target == "two systems" else truth, by_scorer)


def _outcome(dataset: str, target: Target, ratings: int, scorer: str, made: Sequence[_Draw]) -> Outcome:
    """What became of them, over draws."""
    rows = [
        (draw, estimate, truth)
        for draw, one in enumerate(made)
        for estimate, truth in zip(one.by_scorer[scorer], one.truth.tolist(), strict=True)
    ]
    known = [row for row in rows if row[1].alone.has_interval]
    draws = renumbered(np.array([draw for draw, _, _ in known], np.int64))
    truth = [one for _, _, one in known]
    figures = [[one.alone for _, one, _ in known], [one.powered for _, one, _ in known]]
    alone, held = (
        share_of_clusters(np.array([float(not one.excludes(it)) for one, it in zip(own, truth, strict=True)]), draws)
        for own in figures
    )
    half_alone, half = (np.array([(one.high - one.low) / 2 for one in own]) for own in figures)
    return Outcome(
        dataset,
        target,
        ratings,
        scorer,
        alone,
        held,
        float(half_alone.mean()),
        float(half.mean()),
        float((half / half_alone).max()),
        1 - len(known) / len(rows),
    )
