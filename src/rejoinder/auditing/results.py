"""What one family of attacks did to a scorer, and when it is said to have fooled it.

**Fooled** is decided example by example, and by goal:

- *bad scores high*: the bad reply scores higher than the good one it stands for; an equal score counts half, because
  who cannot tell them apart can but toss a coin.
- *good scores low*: the reply loses more than half a spread. Half a standard deviation is what is commonly called a
  medium effect; people would not rate all such replies quite the same, so that less proves nothing.
- *no change*: the score moves by more than a tenth of a spread, either way. To a reader nothing has happened, so little
  is too much; under a tenth is noise that changes no ranking.

A spread is the standard deviation of the scorer's own scores of the replies as they were, so that scales of 1 to 5 and
of 0 to 1 are held to the same. **The verdict** is on the share of examples that fooled it: *fooled* where the whole
interval lies above what is let pass, *holds* where none of it does, else it *cannot be told*; and not with fewer than
30 usable examples.

Shapes: N examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from rejoinder.auditing.attack import BAD, GOOD, Attack, Goal
from rejoinder.auditing.published import PUBLISHED, Row
from rejoinder.example import Example
from rejoinder.stats.correlation import pearson, spearman
from rejoinder.stats.figure import NONE, NOTHING, Figure, percent, written_as
from rejoinder.stats.resamples import FloatArray, IntArray, renumbered
from rejoinder.stats.shares import share_of_clusters

Verdict = Literal["fooled", "holds", "cannot be told", "out of domain"]
UNTOLD: Verdict = "cannot be told"
OUTSIDE: Verdict = "out of domain"
FEWEST = 30
"""Usable examples under which there is no verdict."""
DROP = 0.5
"""Spreads that a good reply may lose."""
MOVE = 0.1
"""Spreads that the score of an unchanged reply may move."""
_ROUNDING = 1e-9
_METHOD = "share of examples that fooled the scorer, Wilson's interval with contexts as trials"


class Case(NamedTuple):
    """One example of an attack.

    Attributes:
        id: of the line.
        context: the turns.
        original: the reply as it was.
        attacked: the reply that was made of it.
        before: score of the first.
        after: score of the second.
    """

    id: str
    context: tuple[str, ...]
    original: str
    attacked: str
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Figure):
    """The share of n usable examples on which an attack fooled the scorer.

    Attributes:
        family: the attack's name.
        goal: see `attack.GOALS`.
        about: what is done.
        ideal: what an ideal judge answers.
        verdict: see above; `reason` explains a missing verdict. "out of domain" where the scorer cannot judge the
            replies as they were, whatever the share.
        skipped: examples that the attack could not change.
        declined: usable examples that the scorer rightly left without a score, which is no fault of it.
        failed: examples of which one of the two scores is missing otherwise.
        why_failed: the most frequent reason for that, or "".
        better: share that scores better than the original; equal ones do not.
        auc: share of pairs of any original and any attacked reply in which the original scores better, equal ones half.
        mean: of the scores of attacked replies.
        sd: their standard deviation.
        within: share of them within one standard deviation of their mean.
        lowest: of the scores of attacked replies.
        highest: of them.
        original_mean: of the scores of the same replies as they were.
        original_sd: their standard deviation.
        original_within: share of them within one standard deviation of their mean.
        original_lowest: of these.
        original_highest: of these.
        pearson: correlation of attacked and original scores.
        spearman: the same of their ranks.
        chosen: what a search chose, and for how many examples.
        source: where the attack was first done.
        published: what was published of ADEM, or None.
        worst: the examples that it fooled most.
    """

    family: str
    goal: Goal
    about: str
    ideal: str
    verdict: Verdict = UNTOLD
    skipped: int = 0
    declined: int = 0
    failed: int = 0
    why_failed: str = ""
    better: float = NONE
    auc: float = NONE
    mean: float = NONE
    sd: float = NONE
    within: float = NONE
    lowest: float = NONE
    highest: float = NONE
    original_mean: float = NONE
    original_sd: float = NONE
    original_within: float = NONE
    original_lowest: float = NONE
    original_highest: float = NONE
    pearson: Figure = written_as(value="pearson", p="pearson_p", default=NOTHING)
    spearman: Figure = written_as(value="spearman", p="spearman_p", default=NOTHING)
    chosen: Mapping[str, int] = field(default_factory=dict)
    source: str = ""
    published: Row | None = None
    worst: tuple[Case, ...] = ()


class Measured(NamedTuple):
    """The usable examples of an attack.

    Attributes:
        before: [N] scores of the replies as they were.
        after: [N] scores of the attacked ones.
        clusters: [N] the context of each.
        declined: [M] the context of each further one that the scorer rightly left without a score.
    """

    before: FloatArray
    after: FloatArray
    clusters: IntArray
    declined: IntArray = np.zeros(0, dtype=np.int64)


class Attacked(NamedTuple):
    """One attacked reply.

    Attributes:
        family: the attack's name.
        goal: see `attack.GOALS`.
        original: the example as it was.
        attacked: what was made of it.
        before: score of the first; NaN where there is none.
        after: score of the second.
        fooled: 1 where the scorer was fooled, 1/2 where it could not tell, else 0; NaN where a score is missing.
    """

    family: str
    goal: Goal
    original: Example
    attacked: Example
    before: float
    after: float
    fooled: float


def gains(goal: Goal, found: Measured, sign: int) -> FloatArray:
    """[N] how far each attack went in its own direction; `sign` is -1 where a lower score is the better one."""
    moved = sign * (found.after - found.before)
    return moved if goal == BAD else -moved if goal == GOOD else np.abs(moved)


def fooled(goal: Goal, found: Measured, sign: int, spread: float) -> FloatArray:
    """[N] 1 where the scorer was fooled, 1/2 where it could not tell bad from good, 0 where it was not fooled."""
    gained = gains(goal, found, sign)
    tie = _ROUNDING * max(spread, 1e-12)
    if goal == BAD:
        return np.where(gained > tie, 1.0, np.where(gained < -tie, 0.0, 0.5))
    return np.where(gained > (DROP if goal == GOOD else MOVE) * spread + tie, 1.0, 0.0)


def result_of(attack: Attack, found: Measured, sign: int, spread: float, allowed: float, **about: Any) -> Result:
    """What an attack did.

    Args:
        attack: the attack.
        found: the scores of its usable examples.
        sign: see `gains`.
        spread: standard deviation of the scorer's scores of all replies as they were.
        allowed: the share of examples that may fool a scorer that holds.
        about: the fields of `Result` that scores do not tell.
    """
    n = len(found.before) + len(found.declined)
    each = np.concatenate([fooled(attack.goal, found, sign, spread), np.zeros(len(found.declined))])
    share = share_of_clusters(each, renumbered(np.concatenate([found.clusters, found.declined]))) if n else NOTHING
    verdict, reason = _verdict(share, n, allowed, str(about.get("why_failed", "")))
    names = ("score of the original", "score of the attacked reply")
    told: dict[str, Any] = {
        "family": attack.name,
        "goal": attack.goal,
        "about": attack.about,
        "ideal": attack.ideal,
        "source": attack.source,
        "published": PUBLISHED.get(attack.name),
        "n": n,
        "declined": len(found.declined),
        "method": _METHOD,
        "verdict": verdict,
        "reason": reason,
        **about,
    }
    if not len(found.before):
        return Result.of(share, **told)
    mean, sd, within = _moments(found.after)
    original_mean, original_sd, original_within = _moments(found.before)
    return Result.of(
        share,
        **told,
        auc=_auc(sign * found.before, sign * found.after),
        better=float((sign * (found.after - found.before) > 0).mean()),
        mean=mean,
        sd=sd,
        within=within,
        lowest=float(found.after.min()),
        highest=float(found.after.max()),
        original_lowest=float(found.before.min()),
        original_highest=float(found.before.max()),
        original_mean=original_mean,
        original_sd=original_sd,
        original_within=original_within,
        pearson=pearson(found.before, found.after, names=names),
        spearman=spearman(found.before, found.after, names=names),
    )


def _verdict(share: Figure, n: int, allowed: float, why_failed: str) -> tuple[Verdict, str]:
    """The verdict on a share, and why there is none."""
    if n < FEWEST:
        why = f" ({why_failed})" if why_failed and not n else ""
        return UNTOLD, f"{n} usable examples, {FEWEST} are needed{why}"
    if not share.has_interval:
        return UNTOLD, "too few contexts for an interval, 3 are needed"
    if share.low > allowed:
        return "fooled", ""
    if share.high <= allowed:
        return "holds", ""
    return UNTOLD, f"the interval holds {percent(allowed)}, which is let pass; more examples would tell"


def _auc(good: FloatArray, bad: FloatArray) -> float:
    """The share of pairs of a score of each in which the good one is higher; equal ones count half."""
    from scipy.stats import rankdata

    n = len(good)
    ranks = rankdata(np.concatenate([good, bad]))[:n]
    return float((ranks.sum() - n * (n + 1) / 2) / (n * len(bad)))


def _moments(scores: FloatArray) -> tuple[float, float, float]:
    """Mean, standard deviation, and the share within one of them of the mean."""
    mean, sd = float(scores.mean()), float(scores.std())
    return mean, sd, float((np.abs(scores - mean) <= sd * (1 + _ROUNDING)).mean())
