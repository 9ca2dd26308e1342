"""Relevant against irrelevant replies to one context, as DailyDialog++ has them (Sai et al. 2020).

Shapes: N replies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from rejoinder.data.files import Row, rows
from rejoinder.data.rated_lines import numbered
from rejoinder.data.read import raise_error
from rejoinder.estimates import Estimate, estimate_of
from rejoinder.example import Example
from rejoinder.judges.augmentation import ReplySet
from rejoinder.scorer import FloatArray, Scorer, run
from rejoinder.stats.resamples import IntArray, Sampling, renumbered
from rejoinder.stats.shares import auc_of_clusters, best_cutoff, share_of_clusters
from research.common import measured, table

STATISTICS: Mapping[str, str] = {
    "pairs": "share of pairs of one context in which the relevant reply scores higher, equal scores half; Wilson's "
    "interval with contexts as trials",
    "AUC": "share of all pairs, across contexts too; Obuchowski's variance over contexts, Wilson's interval",
    "single replies": "share of replies on the right side of a threshold, the best on the other half of the contexts; "
    "Wilson's interval with contexts as trials",
}
PUBLISHED = {("random", "single replies"): 0.8827}
"""Of DEB: Sai et al. (2020), abstract; on the test part of DailyDialog++."""


def read_reply_sets(*paths: str | Path) -> list[ReplySet]:
    """Return the sets of replies in files of DailyDialog++."""
    return [_reply_set(row) for path in paths for row in rows(path, raise_error)]


def _reply_set(row: Row) -> ReplySet:
    """Return one line as a set of replies."""
    keys = ("context", "positive_responses", "random_negative_responses", "adversarial_negative_responses")
    context, relevant, random, misleading = (tuple(row.data.get(key, ())) for key in keys)
    return ReplySet(context, relevant, random, misleading, str(row.data.get("id", row.where)))


def relevance(sets: Sequence[ReplySet], scorer: Scorer, *, limit: int, seed: int) -> list[Estimate]:
    """Return three estimates for each kind of irrelevant replies, which is their group; chance is 1/2.

    Args:
        sets: the replies.
        scorer: the scorer. One that needs references gets the other relevant replies.
        limit: the most contexts that are used, drawn by the seed.
        seed: decides which.
    """
    if len(sets) > limit:
        rng = Sampling(0, seed).generator([len(sets), limit], "audited lines")
        sets = [sets[place] for place in np.sort(rng.choice(len(sets), limit, replace=False)).tolist()]
    lines = [line for number, replies in enumerate(sets) for line in _lines(number, replies)]
    examples = [example for _, _, example in lines]
    numbers, clusters = np.array([number for number, _, _ in lines]), numbered([line.context_key for line in examples])
    kinds = np.array([kind for _, kind, _ in lines])
    values = run(scorer, examples).values * (-1 if scorer.card.higher_is_better is False else 1)
    good = np.flatnonzero(np.isfinite(values) & (kinds == "relevant"))
    estimates = []
    for kind in ("random", "misleading"):
        bad = np.flatnonzero(np.isfinite(values) & (kinds == kind))
        if len(good) and len(bad):
            estimates += _estimates(kind, good, bad, values, numbers, clusters)
    return estimates


def _lines(number: int, replies: ReplySet) -> Iterable[tuple[int, str, Example]]:
    """Yield the replies of one set, each with its kind."""
    relevant = replies.relevant
    for kind in ("relevant", "random", "misleading"):
        for place, text in enumerate(getattr(replies, kind)):
            skip = place % max(len(relevant), 1)
            yield number, kind, Example(replies.context, text, relevant[:skip] + relevant[skip + 1 :], id=replies.id)


def _estimates(
    kind: str, good: IntArray, bad: IntArray, values: FloatArray, numbers: IntArray, clusters: IntArray
) -> list[Estimate]:
    """Return the estimates of one kind of irrelevant replies."""
    bad = bad[np.argsort(numbers[bad], kind="stable")]
    start, end = (np.searchsorted(numbers[bad], numbers[good], side) for side in ("left", "right"))
    first, second = np.repeat(good, end - start), bad[np.concatenate([*map(np.arange, start, end)])]
    pairs = 0.5 + 0.5 * np.sign(values[first] - values[second])
    both = np.concatenate([good, bad])
    right = _right(good, bad, values, clusters)
    fewer = min(len(np.unique(clusters[good])), len(np.unique(clusters[bad])))
    figures = {
        "pairs": (share_of_clusters(pairs, renumbered(clusters[first])), len(pairs)),
        "AUC": (auc_of_clusters(values[good], values[bad], clusters[good], clusters[bad]), len(both)),
        "single replies": (share_of_clusters(right, renumbered(clusters[both]), fewer), len(both)),
    }
    return [
        estimate_of(figure, by="irrelevant", group=kind, statistic=name, n=n, method=STATISTICS[name])
        for name, (figure, n) in figures.items()
    ]


def _right(good: IntArray, bad: IntArray, values: FloatArray, clusters: IntArray) -> FloatArray:
    """Return 1 for each reply on the right side of the threshold that the other half of the contexts gives."""
    cutoffs = []
    for half in (0, 1):
        others = [rows[clusters[rows] % 2 != half] for rows in (good, bad)]
        learnt = others if all(map(len, others)) else [good, bad]
        cutoffs.append(best_cutoff(values[learnt[0]], values[learnt[1]]))
    limits = np.array(cutoffs)
    right = [values[good] > limits[clusters[good] % 2], values[bad] <= limits[clusters[bad] % 2]]
    return np.concatenate(right).astype(np.float64)


def relevance_table(estimates: Sequence[Estimate]) -> str:
    """Return how well relevant replies are distinguished from irrelevant ones."""
    rows = [
        [row.group, row.statistic, str(row.n), measured(row), PUBLISHED.get((row.group, row.statistic), np.nan)]
        for row in estimates
    ]
    header = ["DailyDialog++, test part: irrelevant replies", "statistic", "n", "judge", "DEB, published"]
    return table(header, rows)
