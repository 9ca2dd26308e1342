"""When an attack fools a scorer, and the estimates of one attack.

Whether one attacked reply **fools** a scorer depends on the goal of the attack:

- a worse reply does if it scores higher than the good one that it was made from; an equal score counts half;
- a reply that is no worse does if it loses more than half a spread. Half a standard deviation is a medium effect by
  common convention, and people would not rate all such replies quite the same;
- an unchanged reply does if its score moves by more than a tenth of a spread in either direction.

A spread is the standard deviation of the scores of the original replies, so that the scale does not matter. **The
verdict** is about the share of replies that fool the scorer: fooled if the whole interval is above the share that is
allowed, holds if it is not above it, else inconclusive; with fewer than 30 replies always inconclusive.

Shapes: N replies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rejoinder.auditing.attack import Attack
from rejoinder.data.examples import to_record
from rejoinder.estimates import Estimate, Verdict, estimate_of, plain
from rejoinder.example import Example
from rejoinder.perturbations import Goal
from rejoinder.report.written import percent
from rejoinder.scorer import FloatArray
from rejoinder.stats.correlation import pearson, spearman
from rejoinder.stats.resamples import IntArray, renumbered
from rejoinder.stats.shares import TOO_FEW, auc, share_of_clusters

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
    """The scores [N] of the usable original and attacked replies, and the context of each.

    `declined` has the context of each further reply [M] that the scorer was right to leave without a score.
    """

    before: FloatArray
    after: FloatArray
    clusters: IntArray
    declined: IntArray = np.zeros(0, dtype=np.int64)

    def gains(self, goal: Goal, sign: int) -> FloatArray:
        """Return [N] the change in the direction of the attack; `sign` is -1 if a lower score is better."""
        moved = sign * (self.after - self.before)
        return moved if goal == Goal.WORSE else -moved if goal == Goal.NOT_WORSE else np.abs(moved)

    def fooled(self, goal: Goal, sign: int, spread: float) -> FloatArray:
        """Return [N] 1 if the scorer was fooled, 1/2 for an equal score of a worse reply, else 0."""
        gained, tie = self.gains(goal, sign), _ROUNDING * max(spread, 1e-12)
        if goal == Goal.WORSE:
            return np.where(gained > tie, 1.0, np.where(gained < -tie, 0.0, 0.5))
        return np.where(gained > (DROP if goal == Goal.NOT_WORSE else MOVE) * spread + tie, 1.0, 0.0)


def estimates_of(
    attack: Attack, measured: Measured, sign: int, spread: float, allowed: float, why_failed: str, **labels: Any
) -> list[Estimate]:
    """Return the estimates of one attack, the share of replies that fool the scorer first.

    `sign` is -1 if a lower score is better, `spread` the standard deviation of the scores of all originals, `allowed`
    the share that may fool a scorer that holds, and `why_failed` the main reason for missing scores.
    """
    before, after = measured.before, measured.after
    labels |= {"by": "attack", "group": attack.name}
    flags = np.concatenate([measured.fooled(attack.goal, sign, spread), np.zeros(len(measured.declined))])
    contexts = renumbered(np.concatenate([measured.clusters, measured.declined]))
    labels |= {"n": len(flags), "contexts": len(np.unique(contexts))}
    share = share_of_clusters(flags, contexts) if len(flags) else Estimate()
    share = estimate_of(share, **labels, statistic="share fooled", method=_METHOD)
    share = _decided(share, allowed, why_failed)
    if not len(before):
        return [share]
    values: Mapping[str, float] = {
        "share scored better": float((sign * (after - before) > 0).mean()),
        "AUC": auc(sign * before, sign * after),
        **_summary("original score", before),
        **_summary("attacked score", after),
    }
    labels["n"] = len(before)
    return [
        share,
        *(Estimate(**labels, statistic=name, value=value) for name, value in values.items()),
        *(
            estimate_of(correlation(before, after, names=_NAMES), **labels, statistic=f"{name} with the original score")
            for name, correlation in {"pearson": pearson, "spearman": spearman}.items()
        ),
    ]


def _decided(share: Estimate, allowed: float, why_failed: str) -> Estimate:
    """Return the share with its verdict; an inconclusive one has a reason."""
    if share.n < FEWEST:
        why = f" ({why_failed})" if why_failed and not share.n else ""
        reason = f"{share.n} usable replies, {FEWEST} are needed{why}"
    elif not share.has_interval:
        reason = TOO_FEW
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


def line_record(
    scorer: str, attack: Attack, original: Example, attacked: Example, before: float, after: float, fooled: float
) -> dict[str, Any]:
    """Return an attacked reply as a line that `rejoinder score` reads, with its score and the attack."""
    record = to_record(attacked)
    about = {"family": attack.name, "goal": attack.goal, "id": original.id, "original": original.response}
    values = {"before": plain(before), "after": plain(after), "fooled": plain(fooled)}
    scores = {**(record.get("scores") or {}), scorer: plain(after)}
    return {**record, "id": f"{original.id}#{attack.name}", "scores": scores, "attack": {**about, **values}}
