"""Scores of the chosen replies, and of the first reply of each system, by a scorer that did not choose.

Of each context a few numbers are kept, no texts. Shapes: S systems, G contexts, all lines of one of them together.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from rejoinder.estimates import Estimate
from rejoinder.example import Example
from rejoinder.improve.choosing import Choice
from rejoinder.improve.pools import Pool
from rejoinder.scorer import Scorer, run
from rejoinder.scoring.domain import NO_REPLIES, DomainShare, domain_share
from rejoinder.stats.permutation import cluster_means
from rejoinder.stats.resamples import Sampling, number_of, renumbered

UNNAMED = "first listed"
"""The system of the first reply of a list, if the list names none."""


@dataclass
class Measuring:
    """Scores of the chosen replies and of the first replies; grows chunk by chunk.

    Attributes:
        scorer: the one that measures.
        reasons: why chosen replies have no score, counted.
        share: how many of the replies are out of the scorer's domain.
    """

    scorer: Scorer
    reasons: Counter[str] = field(default_factory=Counter)
    share: DomainShare = NO_REPLIES
    _chosen: array[float] = field(default_factory=lambda: array("d"))
    _own: dict[str, array[float]] = field(default_factory=dict)
    _keys: array[int] = field(default_factory=lambda: array("Q"))

    def add(self, choices: Sequence[Choice]) -> list[float]:
        """Measure choices; the score of each chosen reply, NaN without one.

        A context in which none was chosen has no part in the figures, for there is nothing to compare.
        """
        answered = [choice for choice in choices if choice.reply is not None]
        own = [own_replies(choice.pool) for choice in answered]
        replies = [choice.reply for choice in answered if choice.reply is not None]
        chosen = run(self.scorer, replies, last=False)
        others = run(self.scorer, [reply for firsts in own for reply in firsts.values()], last=False)
        self.reasons.update(chosen.reasons.values())
        for scores in (chosen, others):
            self.share = self.share.with_more(domain_share(scores, self.scorer))
        values, left = chosen.values.tolist(), iter(others.values.tolist())
        for choice, value, firsts in zip(answered, values, own, strict=True):
            self._keep(choice.pool, value, {name: next(left) for name in firsts})
        found = iter(values)
        return [float("nan") if choice.reply is None else next(found) for choice in choices]

    def _keep(self, pool: Pool, chosen: float, own: Mapping[str, float]) -> None:
        """Keep the numbers of one context."""
        for name in own.keys() - self._own.keys():
            self._own[name] = array("d", [float("nan")] * len(self._chosen))
        for name, values in self._own.items():
            values.append(own.get(name, float("nan")))
        self._chosen.append(chosen)
        key = repr(pool.context.context_key).encode()
        self._keys.append(int.from_bytes(blake2b(key, digest_size=8).digest()))

    def figures(self, sampling: Sampling) -> tuple[Estimate, dict[str, tuple[Estimate, Estimate]]]:
        """Return the mean of all chosen replies, and by system the mean of its first replies and the gain over it.

        Those of a system are over the contexts in which its first and the chosen reply have a score. Contexts are
        resampled.
        """
        if not self._chosen:
            return Estimate(reason="no reply was chosen"), {}
        chosen, clusters = np.array(self._chosen), renumbered(np.array(self._keys, np.uint64))
        own = np.array([*self._own.values()]).reshape(len(self._own), len(chosen))
        gains = chosen - own
        rows = np.concatenate([chosen[None], np.where(np.isfinite(gains), own, np.nan), gains])
        rng = sampling.generator([number_of(clusters)], "re-ranking")
        means = cluster_means(rows, clusters, np.zeros(len(rows)), sampling.resamples, rng)
        each = zip(self._own, means[1 : 1 + len(own)], means[1 + len(own) :], strict=True)
        return means[0], {name: (mean, gain) for name, mean, gain in each}


def own_replies(pool: Pool) -> dict[str, Example]:
    """Return the first reply of each system, by its name."""
    found: dict[str, Example] = {}
    for candidate in pool.candidates:
        found.setdefault(candidate.system or UNNAMED, candidate)
    return found
