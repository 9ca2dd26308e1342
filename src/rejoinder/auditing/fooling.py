"""When an attack fools a scorer, and the estimates of one attack.

A scorer is **fooled** by one attacked reply, depending on the goal of the attack:

- *bad scores high*: the bad reply scores higher than the good one that it was made from. An equal score counts half.
- *good scores low*: the reply loses more than half a spread. Half a standard deviation is a medium effect by common
  convention, and people would not rate all such replies quite the same.
- *no change*: the score moves by more than a tenth of a spread in either direction. To a reader nothing has changed.

A spread is the standard deviation of the scores of the original replies, so that scales of 1 to 5 and of 0 to 1 are
treated alike. **The verdict** is about the share of replies that fool the scorer: above the share that is allowed
(fooled) or below it (holds) if the whole interval is, else inconclusive. With fewer than 30 replies it is inconclusive.

Shapes: N examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rejoinder.auditing.attack import BAD, GOOD, Attack, Goal
from rejoinder.data.examples import to_record
from rejoinder.estimates import Estimate, Verdict, estimate_of, plain
from rejoinder.example import Example
from rejoinder.report.written import percent
from rejoinder.scorer import FloatArray
from rejoinder.stats.correlation import pearson, spearman
from rejoinder.stats.resamples import IntArray, renumbered
from rejoinder.stats.shares import auc, share_of_clusters

FEWEST = 30
"""The fewest replies with which there is a verdict."""
DROP = 0.5
"""Spreads that a good reply may lose."""
MOVE = 0.1
"""Spreads that the score of an unchanged reply may move."""
_ROUNDING = 1e-9
_METHOD = "share of replies that fool the scorer, Wilson's interval with contexts as trials"
_NAMES = ("original score", "attacked score")


class Measured(NamedTuple):
    """The usable replies of an attack.

    Attributes:
        before: [N] scores of the original replies.
        after: [N] scores of the attacked replies.
        clusters: [N] context of each reply.
        declined: [M] context of each further reply that the scorer was right to leave without a score.
    """

    before: FloatArray
    after: FloatArray
    clusters: IntArray
    declined: IntArray = np.zeros(0, dtype=np.int64)


class Attacked(NamedTuple):
    """One attacked reply.

    Attributes:
        family: name of the attack.
        goal: see `attack.GOALS`.
        original: the original example.
        attacked: the attacked example.
        before: score of the original; NaN without one.
        after: score of the attacked reply.
        fooled: 1 if the scorer was fooled, 1/2 if it could not tell, else 0; NaN if a score is missing.
    """

    family: str
    goal: Goal
    original: Example
    attacked: Example
    before: float
    after: float
    fooled: float

    def to_record(self, scorer: str) -> dict[str, Any]:
        """Return it as a line that `rejoinder score` reads, with its score and the attack."""
        record = to_record(self.attacked)
        scores = {**(record.get("scores") or {}), scorer: plain(self.after)}
        values = {name: plain(getattr(self, name)) for name in ("before", "after", "fooled")}
        labels = {"family": self.family, "goal": self.goal, "id": self.original.id, "original": self.original.response}
        line_id = f"{self.original.id}#{self.family}"
        return {**record, "id": line_id, "scores": scores, "attack": {**labels, **values}}


def gains(goal: Goal, measured: Measured, sign: int) -> FloatArray:
    """Return [N] how far each attack went in its own direction; `sign` is -1 if a lower score is better."""
    moved = sign * (measured.after - measured.before)
    return moved if goal == BAD else -moved if goal == GOOD else np.abs(moved)


def fooled(goal: Goal, measured: Measured, sign: int, spread: float) -> FloatArray:
    """Return [N] 1 if the scorer was fooled, 1/2 if it could not tell bad from good, 0 if it was not fooled."""
    gained = gains(goal, measured, sign)
    tie = _ROUNDING * max(spread, 1e-12)
    if goal == BAD:
        return np.where(gained > tie, 1.0, np.where(gained < -tie, 0.0, 0.5))
    return np.where(gained > (DROP if goal == GOOD else MOVE) * spread + tie, 1.0, 0.0)


def estimates_of(
    attack: Attack, measured: Measured, sign: int, spread: float, allowed: float, why_failed: str, **labels: Any
) -> list[Estimate]:
    """Return the estimates of one attack, the share of replies that fool the scorer first.

    Args:
        attack: the attack.
        measured: the scores of its usable replies.
        sign: see `gains`.
        spread: standard deviation of the scores of all original replies.
        allowed: the share of replies that may fool a scorer that holds.
        why_failed: the most frequent reason for a missing score, or "".
        labels: fields of the estimates, such as the scorer.
    """
    n = len(measured.before) + len(measured.declined)
    labels = {**labels, "by": "attack", "group": attack.name}
    flags = np.concatenate([fooled(attack.goal, measured, sign, spread), np.zeros(len(measured.declined))])
    contexts = renumbered(np.concatenate([measured.clusters, measured.declined]))
    counts: dict[str, Any] = {"n": n, "contexts": len(np.unique(contexts))}
    measurement: Any = share_of_clusters(flags, contexts) if n else Estimate()
    share = estimate_of(measurement, **labels, **counts, statistic="share fooled", method=_METHOD)
    share = _decided(share, allowed, why_failed)
    if not len(measured.before):
        return [share]
    before, after = measured.before, measured.after
    values: Mapping[str, float] = {
        "share scored better": float((sign * (after - before) > 0).mean()),
        "AUC": auc(sign * before, sign * after),
        **_summary("original score", before),
        **_summary("attacked score", after),
    }
    counts["n"] = len(before)
    rows = [Estimate(**labels, **counts, statistic=name, value=value) for name, value in values.items()]
    correlations = {
        "pearson with the original score": pearson(before, after, names=_NAMES),
        "spearman with the original score": spearman(before, after, names=_NAMES),
    }
    rows += [estimate_of(figure, **labels, **counts, statistic=name) for name, figure in correlations.items()]
    return [share, *rows]


def _decided(share: Estimate, allowed: float, why_failed: str) -> Estimate:
    """Return the share with its verdict, or with the reason why there is none."""
    if share.n < FEWEST:
        why = f" ({why_failed})" if why_failed and not share.n else ""
        reason = f"{share.n} usable replies, {FEWEST} are needed{why}"
    elif not share.has_interval:
        reason = "too few contexts for an interval, 3 are needed"
    elif share.low > allowed:
        return replace(share, verdict=Verdict.ABOVE)
    elif share.high <= allowed:
        return replace(share, verdict=Verdict.BELOW)
    else:
        reason = f"the interval includes {percent(allowed)}, the share that is allowed; you need more replies"
    return replace(share, verdict=Verdict.INCONCLUSIVE, reason=reason)


def _summary(name: str, scores: FloatArray) -> dict[str, float]:
    """Return mean, standard deviation and range of scores, and the share within one standard deviation of the mean."""
    mean, sd = float(scores.mean()), float(scores.std())
    within = float((np.abs(scores - mean) <= sd * (1 + _ROUNDING)).mean())
    values = {"mean": mean, "sd": sd, "within 1 sd": within, "lowest": scores.min(), "highest": scores.max()}
    return {f"{name}, {key}": float(value) for key, value in values.items()}
