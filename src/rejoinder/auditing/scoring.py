"""The scores that an audit needs, in few calls, whatever a scorer does on strange replies.

A scorer that raises on an attacked reply is not to take the audit down: the calls are then made smaller, until the
replies that it cannot take are alone, and these are unscored. What it does on the originals is its own affair and told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

import numpy as np

from rejoinder.example import Example
from rejoinder.scorer import Advance, FloatArray, Scorer, Signature, run, signature_of
from rejoinder.scoring.domain import NO_REPLIES, DomainShare, domain_share
from rejoinder.stats.resamples import BoolArray

FAILED = "it failed: "
"""How the reason begins where a scorer raised an error."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores of N replies.

    Attributes:
        values: [N]; NaN where there is none.
        reasons: why, by place.
        signature: where they came from.
        warnings: how many replies have each warning.
        share: how many are out of its domain.
    """

    values: FloatArray
    reasons: Mapping[int, str]
    signature: Signature
    warnings: Mapping[str, int] = field(default_factory=dict)
    share: DomainShare = NO_REPLIES

    @property
    def known(self) -> BoolArray:
        """[N] where there is a score."""
        return np.isfinite(self.values)

    @property
    def most_frequent(self) -> str:
        """The most frequent reason for a missing score, "" where none is missing."""
        return next((reason for reason, _ in Counter(self.reasons.values()).most_common(1)), "")


def scored(scorer: Scorer, examples: Sequence[Example], advance: Advance) -> Scored:
    """The scores of all, in one go.

    Raises:
        RejoinderError: the scorer fails.
    """
    found = run(scorer, examples, progress=advance)
    return Scored(found.values, found.reasons, found.signature, found.warning_counts, domain_share(found, scorer))


def scored_groups(scorer: Scorer, groups: Sequence[Sequence[Example]], advance: Advance) -> list[Scored]:
    """The scores of each group of attacked examples, as far as the scorer can take them."""
    every = [one for group in groups for one in group]
    try:
        found = scored(scorer, every, advance)
    except Exception:  # noqa: BLE001 - whatever a stranger's scorer raises on strange replies
        return [carefully(scorer, group, advance) for group in groups]
    ends = [0, *accumulate(map(len, groups))]
    return [_part(found, start, end) for start, end in pairwise(ends)]


def _part(whole: Scored, start: int, end: int) -> Scored:
    """Those from one place to another."""
    reasons = {place - start: why for place, why in whole.reasons.items() if start <= place < end}
    return Scored(whole.values[start:end], reasons, whole.signature)


def carefully(scorer: Scorer, examples: Sequence[Example], advance: Advance) -> Scored:
    """The scores of all that the scorer can take."""
    try:
        return scored(scorer, examples, advance)
    except Exception as error:  # noqa: BLE001 - see `scored_groups`
        if len(examples) == 1:
            why = f"{FAILED}{type(error).__name__}: {error}".removesuffix(": ")
            return Scored(np.array([np.nan]), {0: why}, signature_of(scorer))
    middle = len(examples) // 2
    first, second = (carefully(scorer, part, advance) for part in (examples[:middle], examples[middle:]))
    later = {place + middle: why for place, why in second.reasons.items()}
    return Scored(np.concatenate([first.values, second.values]), {**first.reasons, **later}, first.signature)
