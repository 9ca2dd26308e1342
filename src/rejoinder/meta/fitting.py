"""A judge adapted to a user's own ratings or choices, and what that bought: what `rejoinder fit` calls.

Whatever is said of the adapted judge comes from cross-validation: conversations are divided into five to ten folds,
each of which is judged by an adaptation to the others. Shapes: N rated lines or pairs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rejoinder.data.read import lines_of
from rejoinder.data.scales import Scale, with_scale
from rejoinder.errors import DataError, UsageError
from rejoinder.example import NO_SET, Example, Given, Pair
from rejoinder.data.clusters import clusters_of, sorted_clusters
from rejoinder.judges.answers import answer_scale
from rejoinder.judges.learner import Rows
from rejoinder.judges.lines import MAPPED, UNREAD, normalised_ratings, unlearnable
from rejoinder.judges.views.adapted import FEWEST, Adaptable, of_choices, of_ratings
from rejoinder.judges.views.adapting import FEWEST_FOLDS, folds_of
from rejoinder.judges.views.judge import ViewsJudge
from rejoinder.meta.fitting_answer import fitting_answer
from rejoinder.meta.fitting_figures import NOBODY, Measure, of_correlations, of_shares
from rejoinder.meta.fitting_results import Fit, Kind, Point
from rejoinder.metrics.baselines import words
from rejoinder.scorer import Advance, FloatArray, ScorerLike, ignore
from rejoinder.scoring.catalog import DEFAULT, load_scorer
from rejoinder.stats.figure import Figure, plain
from rejoinder.stats.resamples import Sampling, renumbered

FOLDS = 10
_UNREAD = f"no reply, or {UNREAD}"
FEWEST_CONVERSATIONS = 10
SIZES = (25, 50, 100, 200, 400)
DRAWS = 2  # of the lines of each size of the learning curve
STEPS = 2 + DRAWS * len(SIZES)


class _Task(NamedTuple):
    """What is to be fitted, and how it is measured.

    Attributes:
        kind: ratings or choices.
        able: the judge with the items that it reads.
        measure: figures of what is said before and after.
        datasets: items of each data set.
        left_out: see `Fit`.
        scale: that the judge will answer on.
        note: what to know of the clusters, in a sentence.
    """

    kind: Kind
    able: Adaptable
    measure: Measure
    datasets: Mapping[str, int]
    left_out: Mapping[str, int]
    scale: Scale
    note: str


def fit(
    given: Given,
    judge: ScorerLike = DEFAULT,
    *,
    scale: Scale | None = None,
    resamples: int = 1000,
    seed: int = 0,
    sizes: Sequence[int] = SIZES,
    advance: Advance = ignore,
) -> Fit:
    """A judge over views adapted to 50 to 500 ratings, or choices between two replies, and what that bought.

    Args:
        given: rated examples, or pairs of which people prefer one reply, in any form that `examples_of` or `pairs_of`
            takes.
        judge: the judge in the box, or the folder of another one over views; one that was adapted before begins anew.
        scale: lowest and highest possible rating, for ratings that state none; the judge then answers on it.
        resamples: of contexts, for the intervals.
        seed: decides the folds and what is resampled.
        sizes: of the points of the learning curve, which takes most of the time.
        advance: called with 1 after each of `STEPS`.

    Raises:
        DataError: there is too little to fit on, all ratings are equal or no scale is known; or ratings and pairs
            are mixed.
        UsageError: the judge is not over views; a number is out of range.
    """
    sampling = Sampling.checked(resamples, seed)
    loaded = _over_views(judge)
    examples, pairs = _apart(lines_of(given))
    task = _of_pairs(loaded, pairs, scale) if pairs else _of_ratings(loaded, examples, scale)
    rng = sampling.generator("fit", "fit")
    folds = folds_of(task.able.groups, _how_many_folds(len(task.able.groups)), rng)
    before, after = task.able.before(), task.able.left_out(folds, rng)
    advance(1)
    gains = task.measure(before, after, folds, sampling)
    corrected = _is_kept(gains[0].gain)
    curve = _curve(task, folds, before, rng, Sampling(0, seed), sizes, advance)
    record = {
        "to": task.kind,
        "lines": int(np.isfinite(before).sum()),
        "datasets": dict(task.datasets),
        "corrected": corrected,
        "seed": seed,
        **{gain.name: {"before": plain(gain.before), "after": plain(gain.after)} for gain in gains},
    }
    adapted = task.able.adapted(folds, rng, record, task.scale, corrected=corrected)
    advance(1)
    read = np.isfinite(before)
    contexts = len(np.unique(task.able.groups[read]))
    found = Fit((), adapted, task.kind, int(read.sum()), contexts, task.left_out, gains, curve, corrected, seed)
    verdict, *rest = fitting_answer(found)
    return replace(found, answer=(verdict, *_known(loaded, task.datasets), *rest, *filter(None, [task.note])))


def _how_many_folds(items: int) -> int:
    """Ten; fewer where one would hold fewer than ten items, inside which figures say nothing; five at least."""
    return min(FOLDS, max(FEWEST_FOLDS, items // FOLDS))


def _is_kept(gain: Figure) -> bool:
    """Whether what was learnt is kept: unless it is shown to lose.

    The gain is noisy, and the penalty was chosen by cross-validation already: to ask for a gain over 0 besides would
    lose good corrections of few lines.
    """
    return math.isfinite(gain.value) and not gain.high < 0


def _known(judge: ViewsJudge, datasets: Mapping[str, int]) -> list[str]:
    """What to say where the judge was fitted on such lines before, so that it is better on them than on others."""
    known = sorted(judge.trained_on & datasets.keys())
    flattered = "the figures before and after are better than on lines that it never saw"
    return (
        [f"The judge was fitted on lines of {', '.join(known)} before, these or others: {flattered}."] if known else []
    )


def _over_views(judge: ScorerLike) -> ViewsJudge:
    """The judge, where it is one that can be adapted."""
    found = judge if isinstance(judge, ViewsJudge) else load_scorer(judge)
    if not isinstance(found, ViewsJudge):
        raise UsageError(
            f"{found.card.name} is no judge over views, and only such are adapted. Name the folder of one (-s FOLDER; "
            "rejoinder train judge FILE -o FOLDER makes one), or fit a new one to your ratings: rejoinder train"
        )
    return found


def _apart(given: Sequence[Example | Pair]) -> tuple[list[Example], list[Pair]]:
    """The rated lines and the pairs; one of the two is empty."""
    examples = [one for one in given if isinstance(one, Example)]
    pairs = [one for one in given if isinstance(one, Pair)]
    if examples and pairs:
        found = f"a pair of replies, and {examples[0].where or 'another line'} is a single one"
        raise DataError(found, "Call fit once for each", where=pairs[0].where)
    return examples, pairs


def _of_ratings(judge: ViewsJudge, given: Sequence[Example], scale: Scale | None) -> _Task:
    """The task of rated lines."""
    lines = list(with_scale(given, scale))
    rated = [one for one in lines if not unlearnable(one)]
    ratings, lost = normalised_ratings(rated), Counter(filter(None, map(unlearnable, lines)))
    _require_enough(len(rated), "rated lines", lost)
    if (ratings == ratings[0]).all():
        raise DataError("all ratings are equal", "Give ratings that differ; there is nothing to learn from these")
    clusters = clusters_of(rated)
    able = of_ratings(judge, rated, ratings, clusters.numbers)
    left_out = _left_out(able, "rated lines", lost)
    sets = renumbered(np.array([one.dataset or "" for one in rated]))
    systems = [NOBODY if one.system is None else (one.dataset or "", one.system) for one in rated]
    known = {name: number for number, name in enumerate(dict.fromkeys(systems))} | {NOBODY: NOBODY}
    numbers = np.array([known[name] for name in systems], dtype=np.int64)
    measure = of_correlations(ratings, sets, sorted_clusters(rated).numbers, numbers)
    return _Task("ratings", able, measure, _datasets(rated), left_out, answer_scale(rated, scale), clusters.note)


def _of_pairs(judge: ViewsJudge, given: Sequence[Pair], scale: Scale | None) -> _Task:
    """The task of pairs."""
    if scale is not None:
        raise UsageError(f"--scale is for ratings, and {given[0].where or 'what was given'} is a pair. Leave it out")
    pairs = [pair for pair in given if pair.preferred is not None]
    ties = {"a tie": len(given) - len(pairs)}
    _require_enough(len(pairs), "pairs with a preferred reply", ties)
    lengths = np.array([longer(pair) for pair in pairs])
    firsts = [pair.replies[0] for pair in pairs]
    clusters = clusters_of(pairs)
    able = of_choices(judge, pairs, clusters.numbers, lengths)
    left_out = _left_out(able, "pairs with a preferred reply", ties)
    return _Task(
        "choices",
        able,
        of_shares(lengths, sorted_clusters(pairs).numbers),
        _datasets(firsts),
        left_out,
        judge.scale,
        clusters.note,
    )


def _left_out(able: Adaptable, what: str, before: Mapping[str, int]) -> Mapping[str, int]:
    """How many lines nothing is learnt from, by reason, where enough are left."""
    read = [group for group, way in zip(able.groups.tolist(), able.used, strict=True) if way is not None]
    left_out = {**before, _UNREAD: len(able.used) - len(read)}
    _require_enough(len(read), what, left_out)
    if len(set(read)) < FEWEST_CONVERSATIONS:
        problem = f"{len(set(read))} conversations, expected {FEWEST_CONVERSATIONS} or more"
        raise DataError(problem, "Have replies to other contexts rated too")
    return +Counter(left_out)


def _require_enough(count: int, what: str, left_out: Mapping[str, int]) -> None:
    """Raise where there are too few lines."""
    if count < FEWEST:
        why = ", ".join(f"{lost:,} left out: {reason}" for reason, lost in left_out.items() if lost)
        found = f"{count:,} {what}, expected {FEWEST} or more" + (f" ({why})" if why else "")
        if count + left_out.get(_UNREAD, 0) >= FEWEST:
            raise DataError(found, MAPPED)
        raise DataError(found, "Give more; 50 to 500 are what this is for")


def _curve(
    task: _Task,
    folds: Rows,
    before: FloatArray,
    rng: np.random.Generator,
    sampling: Sampling,
    sizes: Sequence[int],
    advance: Advance,
) -> tuple[Point, ...]:
    """What fewer items would have bought, as far as there are as many in all folds but one."""
    groups, points, count = task.able.groups, [], int(folds.max()) + 1
    for size in sizes:
        values = []
        for _ in range(DRAWS):
            wanted = round(size * count / (count - 1))
            if wanted < len(groups):
                places = np.argsort(rng.permutation(int(groups.max()) + 1)[groups], kind="stable")[:wanted]
                after = task.able.left_out(folds, rng, np.sort(places))
                values.append(task.measure(before, after, folds, sampling)[0].after.value)
            advance(1)
        if values:
            points.append(Point(size, float(np.mean(values))))
    return tuple(points)


def _datasets(examples: Sequence[Example]) -> Mapping[str, int]:
    """Items of each data set."""
    return Counter(one.dataset or NO_SET for one in examples)


def longer(pair: Pair) -> float:
    """1 where the longer reply is preferred, -1 where the shorter is, 0 where both have as many words."""
    better, worse = (
        len(words(pair.replies[place].response)) for place in (pair.preferred or 0, 1 - (pair.preferred or 0))
    )
    return float(np.sign(better - worse))
