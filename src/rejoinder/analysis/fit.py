"""A judge adapted to a user's own ratings or choices, and how much better it is.

Every figure about the adapted judge comes from cross-validation: conversations are divided into five to ten folds, and
each fold is scored by a judge that was adapted to the others. Shapes: N rated lines or pairs, B resamples.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rejoinder.analysis.fit_layout import ADAPTED, CURVE, JUDGE, WITHIN, layout, quantity, text
from rejoinder.data.clusters import clusters_of, sorted_clusters
from rejoinder.data.rated_lines import UNNAMED
from rejoinder.data.read import lines_of
from rejoinder.data.scales import Scale, with_scale
from rejoinder.errors import DataError, UsageError
from rejoinder.estimates import Estimate, decide, estimate_of, pick, plain
from rejoinder.example import NO_SET, Example, Given, Pair
from rejoinder.judges.answers import answer_scale
from rejoinder.judges.learner import Rows
from rejoinder.judges.lines import MAPPED, UNREAD, normalised_ratings, unlearnable
from rejoinder.judges.views.adapted import FEWEST, Adaptable, of_choices, of_ratings
from rejoinder.judges.views.adapting import FEWEST_FOLDS, folds_of
from rejoinder.judges.views.judge import ViewsJudge
from rejoinder.metrics.baselines import words
from rejoinder.report.results import About, Results
from rejoinder.scorer import Advance, FloatArray, ScorerLike, ignore, signature_of
from rejoinder.scoring.catalog import DEFAULT, load_scorer
from rejoinder.stats.correlation import Statistic, mean_correlations
from rejoinder.stats.resamples import IntArray, Sampling, percentile_interval, renumbered, two_sided

FOLDS = 10
FEWEST_CONVERSATIONS = 10
SIZES = (25, 50, 100, 200, 400)
DRAWS = 2  # samples of the lines for each point of the learning curve
STEPS = 2 + DRAWS * len(SIZES)
_UNREAD = f"no reply, or {UNREAD}"
_NO_SYSTEM = -1
_STATISTICS: tuple[Statistic, ...] = ("spearman", "pearson")
Measure = Callable[[FloatArray, FloatArray, Rows, Sampling], Iterator[Estimate]]
"""From [N] scores before and after and [N] folds to estimates: of each quantity before, after and the gain.

The first quantity decides whether the correction is kept.
"""


class _Task(NamedTuple):
    """What is fitted and measured: `kind` is "ratings" or "choices", `left_out` counts lines by reason."""

    kind: str
    adaptable: Adaptable
    measure: Measure
    datasets: Mapping[str, int]
    left_out: Mapping[str, int]
    scale: Scale
    note: str


def fit(
    data: Given,
    judge: ScorerLike = DEFAULT,
    *,
    scale: Scale | None = None,
    resamples: int = 1000,
    seed: int = 0,
    sizes: Sequence[int] = SIZES,
    progress: Advance = ignore,
) -> tuple[ViewsJudge, Results]:
    """Return a judge adapted to 50 to 500 ratings, or choices between two replies, and how much better it is.

    Args:
        data: rated examples, or pairs of which people prefer one reply, in any form that `examples_of` or `pairs_of`
            takes.
        judge: the bundled judge or the folder of another one that reads features. A judge that was adapted before
            starts again from what it was before that.
        scale: lowest and highest possible rating, for ratings that state none; the judge then answers on it.
        resamples: of contexts, for the intervals.
        seed: of the folds and draws.
        sizes: of the points of the learning curve, which takes most of the time.
        progress: called with 1 after each of `STEPS`.

    Raises:
        DataError: there are too few lines, all ratings are equal or no scale is known; or ratings and pairs are mixed.
        UsageError: the judge cannot be adapted; a number is out of range.
    """
    sampling = Sampling.checked(resamples, seed)
    loaded = judge if isinstance(judge, ViewsJudge) else load_scorer(judge)
    if not isinstance(loaded, ViewsJudge):
        name = loaded.card.name
        raise UsageError(f"{name} cannot be adapted. Use rejoinder, or a judge by rejoinder train judge (-s FOLDER)")
    examples, pairs = _apart(lines_of(data))
    task = _of_pairs(loaded, pairs, scale) if pairs else _of_ratings(loaded, examples, scale)
    able = task.adaptable
    rng = sampling.generator("fit", "fit")
    # Ten folds, or fewer if one would hold fewer than ten lines: too few for a correlation.
    folds = folds_of(able.groups, min(FOLDS, max(FEWEST_FOLDS, len(able.groups) // FOLDS)), rng)
    before, after = able.before(), able.left_out(folds, rng)
    progress(1)
    measured = list(task.measure(before, after, folds, sampling))
    corrected = is_kept(measured[2])
    curve = list(_curve(task, folds, before, rng, sizes, progress))
    read = np.isfinite(before)
    record = {
        "to": task.kind,
        "lines": int(read.sum()),
        "datasets": dict(task.datasets),
        "corrected": corrected,
        "seed": seed,
        **{
            quantity(first): {"before": _ends(first), "after": _ends(second)}
            for first, second in zip(measured[::3], measured[1::3], strict=True)
        },
    }
    adapted = able.adapted(folds, rng, record, task.scale, corrected=corrected)
    progress(1)
    names = [UNNAMED if name == NO_SET else name for name in task.datasets]
    dataset = names[0] if len(names) == 1 else "pooled"
    estimates = tuple(estimate_of(estimate, dataset=dataset) for estimate in [*measured, *curve])
    contexts = len(np.unique(able.groups[read]))
    about = About(
        data=[{"dataset": name, "lines": count} for name, count in zip(names, task.datasets.values(), strict=True)],
        scorers={
            JUDGE: {"kind": "judge", "name": loaded.card.name, "signature": signature_of(loaded).fields},
            ADAPTED: {"kind": "judge", "corrected": corrected, "scale": adapted.scale},
        },
        options={"fitted_to": task.kind, "resamples": resamples, "seed": seed},
        counts={"lines": record["lines"], "contexts": contexts, "left_out": task.left_out},
    )
    seen = sorted(loaded.trained_on & task.datasets.keys())
    return adapted, Results(
        command="fit",
        estimates=estimates,
        answer=text("answer", estimates, about),
        warnings=text("warnings", estimates, about, seen=seen, note=task.note),
        about=about,
        layout=layout(estimates, about),
    )


def is_kept(gain: Estimate) -> bool:
    """Return whether the correction is kept: unless it is shown to lose.

    The gain is noisy, and the penalty was already chosen by cross-validation. To ask for a significant gain as well
    would lose good corrections from few lines.
    """
    return math.isfinite(gain.value) and not gain.high < 0


def _ends(estimate: Estimate) -> dict[str, float | None]:
    """Return value and interval for the record in the judge's folder."""
    return {name: plain(getattr(estimate, name)) for name in ("value", "low", "high")}


# tasks


def _apart(lines: Sequence[Example | Pair]) -> tuple[list[Example], list[Pair]]:
    """Return the rated lines and the pairs; one of the two lists is empty."""
    examples = [line for line in lines if isinstance(line, Example)]
    pairs = [line for line in lines if isinstance(line, Pair)]
    if examples and pairs:
        problem = f"a pair of replies, and {examples[0].where or 'another line'} is a single one"
        raise DataError(problem, "Call fit once for each", where=pairs[0].where)
    return examples, pairs


def _of_ratings(judge: ViewsJudge, examples: Sequence[Example], scale: Scale | None) -> _Task:
    """Return the task of rated lines."""
    lines = list(with_scale(examples, scale))
    rated = [line for line in lines if not unlearnable(line)]
    ratings, lost = normalised_ratings(rated), Counter(filter(None, map(unlearnable, lines)))
    _require_enough(len(rated), "rated lines", lost)
    if (ratings == ratings[0]).all():
        raise DataError("all ratings are equal", "Give ratings that differ; there is nothing to learn from these")
    clusters = clusters_of(rated)
    able = of_ratings(judge, rated, ratings, clusters.numbers)
    left_out = _left_out(able, "rated lines", lost)
    sets = renumbered(np.array([line.dataset or "" for line in rated]))
    names = [None if line.system is None else (line.dataset or "", line.system) for line in rated]
    known = {name: number for number, name in enumerate(dict.fromkeys(names))} | {None: _NO_SYSTEM}
    systems = np.array([known[name] for name in names], dtype=np.int64)
    measure = of_correlations(ratings, sets, sorted_clusters(rated).numbers, systems)
    return _Task(
        "ratings",
        able,
        measure,
        Counter(line.dataset or NO_SET for line in rated),
        left_out,
        answer_scale(rated, scale),
        clusters.note,
    )


def _of_pairs(judge: ViewsJudge, given: Sequence[Pair], scale: Scale | None) -> _Task:
    """Return the task of pairs."""
    if scale is not None:
        raise UsageError(f"--scale is for ratings, and {given[0].where or 'the first line'} is a pair. Remove it")
    pairs = [pair for pair in given if pair.preferred is not None]
    ties = {"a tie": len(given) - len(pairs)}
    _require_enough(len(pairs), "pairs with a preferred reply", ties)
    lengths = np.array([longer(pair) for pair in pairs])
    clusters = clusters_of(pairs)
    able = of_choices(judge, pairs, clusters.numbers, lengths)
    left_out = _left_out(able, "pairs with a preferred reply", ties)
    measure = of_shares(lengths, sorted_clusters(pairs).numbers)
    datasets = Counter(pair.dataset or NO_SET for pair in pairs)
    return _Task("choices", able, measure, datasets, left_out, judge.scale, clusters.note)


def _left_out(able: Adaptable, what: str, before: Mapping[str, int]) -> Mapping[str, int]:
    """Return the number of lines that nothing is learned from, by reason, if enough are left."""
    groups = [group for group, way in zip(able.groups.tolist(), able.used, strict=True) if way is not None]
    left_out = {**before, _UNREAD: len(able.used) - len(groups)}
    _require_enough(len(groups), what, left_out)
    if len(set(groups)) < FEWEST_CONVERSATIONS:
        problem = f"{len(set(groups))} conversations, expected {FEWEST_CONVERSATIONS} or more"
        raise DataError(problem, "Have replies to other contexts rated too")
    return +Counter(left_out)


def _require_enough(count: int, what: str, left_out: Mapping[str, int]) -> None:
    """Raise `DataError` if there are too few lines."""
    if count >= FEWEST:
        return
    why = ", ".join(f"{lost:,} left out: {reason}" for reason, lost in left_out.items() if lost)
    problem = f"{count:,} {what}, expected {FEWEST} or more" + (f" ({why})" if why else "")
    unread = count + left_out.get(_UNREAD, 0) >= FEWEST
    raise DataError(problem, MAPPED if unread else "Give more; 50 to 500 are recommended")


def longer(pair: Pair) -> float:
    """Return 1 if the longer reply is preferred, -1 if the shorter is, 0 if both have the same number of words."""
    first, second = (len(words(reply.response)) for reply in pair.replies)
    return float(np.sign(second - first if pair.preferred == 1 else first - second))


# figures


def of_correlations(ratings: FloatArray, sets: IntArray, contexts: IntArray, systems: IntArray) -> Measure:
    """Return the measure of agreement with [N] ratings inside folds and data sets, so that their levels do not count.

    The arrays hold the numbers of each line's data set, cluster and system (-1 without one). If there are several
    systems, agreement is measured within systems too, over all folds: a fold has too few lines of a system.
    """

    def measure(before: FloatArray, after: FloatArray, folds: Rows, sampling: Sampling) -> Iterator[Estimate]:
        rows = np.flatnonzero(np.isfinite(before) & np.isfinite(after))
        clusters = renumbered(contexts[rows])
        resamples = sampling.draw(clusters, "fit", "fit")
        both = np.stack([before[rows], after[rows]], axis=1)
        parts = renumbered(sets[rows] * (int(folds.max(initial=0)) + 1) + folds[rows])
        named = np.flatnonzero(systems[rows] != _NO_SYSTEM)
        groups = [(np.arange(len(rows)), parts, "", "inside folds (and data sets)")]
        if len(np.unique(systems[rows[named]])) > 1:
            groups.append((named, systems[rows[named]], WITHIN, WITHIN.strip()))
        for lines, numbers, suffix, where in groups:
            for name in _STATISTICS:
                drawn = mean_correlations(name, both[lines], ratings[rows[lines]], numbers, resamples.at(lines))
                labels = {"statistic": f"{name}{suffix}"}
                yield from _gain(drawn, clusters[lines], sampling, f"mean correlation {where}", labels)

    return measure


def of_shares(lengths: FloatArray, contexts: IntArray) -> Measure:
    """Return the measure of how often the preferred reply has the higher score; `lengths` [N] are by `longer`."""
    kinds = {"": np.ones(len(lengths), bool), "longer": lengths > 0, "shorter": lengths < 0}

    def measure(before: FloatArray, after: FloatArray, _folds: Rows, sampling: Sampling) -> Iterator[Estimate]:
        known = np.isfinite(before) & np.isfinite(after)
        for group, kind in kinds.items():
            rows = np.flatnonzero(known & kind)
            clusters = renumbered(contexts[rows])
            right = [0.5 + np.sign(scores[rows]) / 2 for scores in (before, after)]
            sums = sampling.draw(clusters, "fit", "fit").sums(np.stack([*right, np.ones(len(rows))]))
            with np.errstate(invalid="ignore"):
                drawn = (sums[:2] / sums[2]).T
            labels = {
                "statistic": "accuracy",
                "level": "pair",
                "by": "preferred reply" if group else "",
                "group": group,
            }
            yield from _gain(drawn, clusters, sampling, "mean over pairs", labels, null=0.5)

    return measure


def _gain(
    drawn: FloatArray, clusters: IntArray, sampling: Sampling, method: str, labels: dict[str, str], null: float = 0.0
) -> Iterator[Estimate]:
    """Yield the estimates before and after, and their difference, from [1 + B, 2] draws."""
    count = len(np.unique(clusters))
    method = f"{method}; 95 % expanded percentile interval, {sampling.resamples} resamples of contexts"
    about = {"n": len(clusters), "contexts": count, "seed": sampling.seed, "method": method}
    gained = {**labels, "statistic": f"gain in {labels['statistic']}", "versus": JUDGE}
    before, after = drawn.T
    triple = (JUDGE, before, null, labels), (ADAPTED, after, null, labels), (ADAPTED, after - before, 0.0, gained)
    for scorer, values, chance, named in triple:
        p = two_sided(values - chance, count)
        estimate = estimate_of(percentile_interval(values, count), scorer=scorer, p=p, **about, **named)
        yield decide([estimate], null=chance)[0]


def _curve(
    task: _Task, folds: Rows, before: FloatArray, rng: np.random.Generator, sizes: Sequence[int], progress: Advance
) -> Iterator[Estimate]:
    """Yield the first quantity after an adaptation to fewer lines: whole conversations, as far as there are enough."""
    groups, count, once = task.adaptable.groups, int(folds.max()) + 1, Sampling(0, 0)
    for size in sizes:
        drawn = []
        for _ in range(DRAWS):
            wanted = round(size * count / (count - 1))
            if wanted < len(groups):
                places = np.argsort(rng.permutation(int(groups.max()) + 1)[groups], kind="stable")[:wanted]
                after = task.adaptable.left_out(folds, rng, np.sort(places))
                drawn.append(pick(task.measure(before, after, folds, once), scorer=ADAPTED)[0])
            progress(1)
        if drawn:
            value, method = float(np.mean([one.value for one in drawn])), f"mean of {DRAWS} samples of conversations"
            first = Estimate(scorer=ADAPTED, by=CURVE, group=str(size), value=value, n=drawn[0].n, method=method)
            yield estimate_of(first, statistic=drawn[0].statistic, level=drawn[0].level)
