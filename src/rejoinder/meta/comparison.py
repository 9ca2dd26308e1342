"""The records that a comparison of two systems returns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rejoinder.data.values import is_number
from rejoinder.errors import UsageError, shown
from rejoinder.meta.compared import Aligned, Compared
from rejoinder.scoring.domain import advice
from rejoinder.meta.frames import FORMAT_VERSION, results_frame
from rejoinder.meta.gap import Gap, Stratum
from rejoinder.scorer import Signature
from rejoinder.stats.figure import NONE, plain

Design = Literal["paired", "unpaired"]
MIN_SCORED = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast(Gap):
    """Two systems under one scorer.

    Attributes:
        scorer: name of the scorer.
        unscored: pairs of which one or both have no score; without pairs, replies that have none or are of a value of
            the field that is left out.
        higher_is_better: the scorer's direction; None where it claims none.
        worst: the score that an empty reply counts as; NaN where none is empty, or the scorer knows no worst.
        spared: empty replies, or pairs with one, that do not count, because few of the others have a score (see
            `worst.in_proportion`).
        strata: by value of the field that was named.
        left_out: values of the field with too few conversations on a side to compare, which count nowhere.
    """

    scorer: str
    unscored: int
    higher_is_better: bool | None
    worst: float = NONE
    spared: int = 0
    strata: tuple[Stratum, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def of_whole(self) -> bool:
        """Whether the scores stand in the file, so that they may be of whole chats."""
        return self.scorer.startswith("column:")

    @property
    def least_gain(self) -> float:
        """The least that B gains over A by the interval, in the scorer's direction; NaN where it is not known."""
        if self.higher_is_better is None:
            return NONE
        return self.low if self.higher_is_better else -self.high


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether a comparison lets B pass.

    Attributes:
        threshold: the gain that was asked for.
        min_scored: the least share of pairs with scores on both sides that was asked for.
        passed: whether it does.
        reasons: why not.
    """

    threshold: float
    min_scored: float
    passed: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems compared.

    Attributes:
        answer: what was found, in sentences.
        contrasts: one a scorer.
        signatures: where the scores came from, by scorer.
        design: whether pairs of replies are compared, or two independent samples of them.
        why: what the design rests on, in words.
        aligned: what pairs rest on; None without pairs.
        pairs: responses of A that have a partner in B, or contexts that both answered; 0 without pairs.
        only_a: lines of A without a partner.
        only_b: lines of B without a partner.
        by: the field whose values are strata, or None.
        resamples: number of resamples and of permutations.
        seed: their seed.
        replies: lines of A and of B.
        empty: those of them without a reply, which count as the worst.
        notes: by scorer, how many replies of A and of B each note stands at.
        out_of_domain: by scorer that cannot judge the replies of a side, why; it has no verdict.
        facts: the warning that facts were not checked, or "".
        fitted: the judges that were fitted on lines of these data sets, and of which.
        compared: the lines themselves with their scores.
    """

    answer: tuple[str, ...]
    contrasts: tuple[Contrast, ...]
    signatures: Mapping[str, Signature]
    design: Design
    why: str
    aligned: Aligned | None
    pairs: int
    only_a: int
    only_b: int
    by: str | None
    resamples: int
    seed: int
    replies: tuple[int, int]
    empty: tuple[int, int]
    notes: Mapping[str, tuple[Mapping[str, int], Mapping[str, int]]]
    out_of_domain: Mapping[str, str]
    facts: str
    fitted: Mapping[str, Sequence[str]]
    compared: Compared = field(repr=False, compare=False)

    @property
    def judged(self) -> tuple[Contrast, ...]:
        """The contrasts of the scorers that can judge the replies of both sides."""
        return tuple(one for one in self.contrasts if one.scorer not in self.out_of_domain)

    def gate(self, threshold: float, min_scored: float = MIN_SCORED) -> Gate:
        """Whether by every scorer B gains `threshold` or more over A, by the unfavourable end of the interval.

        A scorer without an interval passes nothing, and so does one that saw too little: a reply of A that B has no
        scored answer to is not forgiven for being missing. Nor does one that cannot judge the replies of a side: more
        than a tenth of them are out of its domain.

        Args:
            threshold: 0 asks that B is shown to be no worse, -0.1 that it is at most 0.1 worse.
            min_scored: the least share, from 0 to 1, of the pairs, and of the lines of A without a partner, that must
                have scores on both sides; without pairs, of the replies of each side.

        Raises:
            UsageError: a number is out of range; a scorer claims no direction, so that nothing is a gain.
        """
        if not (is_number(threshold) and is_number(min_scored) and 0 <= min_scored <= 1):
            raise UsageError(
                f"the threshold is expected to be a finite number and the least share scored to be from 0 to 1, not "
                f"{shown(threshold)} and {shown(min_scored)}"
            )
        if vague := [one.scorer for one in self.contrasts if one.higher_is_better is None]:
            raise UsageError(f"{', '.join(vague)} claims no direction, so there is no gain to ask for. Leave it out")
        reasons = [
            *(reason for one in self.contrasts for reason in self._too_few(one, min_scored)),
            *(advice(reason).removesuffix(".") for reason in self.out_of_domain.values()),
            *(_too_little(one) for one in self.judged if not one.least_gain >= threshold),
        ]
        if (ended := self.compared.ended) and not all(one.of_whole for one in self.contrasts):
            reasons.append(
                f'the user ends {ended}. Say of these whether an answer was due, "unanswered": true or false'
            )
        return Gate(threshold, min_scored, not reasons, tuple(reasons))

    def to_pandas(self) -> Any:
        """The results as a `pandas.DataFrame`, a row each; the signatures stand in its `attrs`."""
        return results_frame(self.to_dict())

    def _too_few(self, one: Contrast, min_scored: float) -> list[str]:
        """Where a scorer saw too little for a gate."""
        if self.design == "paired":
            seen = [("scores on both sides for", one.n, self.pairs + self.only_a, "pairs")]
        else:
            both = zip("AB", (one.n_a, one.n_b), self.replies, strict=True)
            seen = [("comparable scores for", n, replies, f"replies of {side}") for side, n, replies in both]
        return [
            f"{one.scorer} has {what} {n:,} of {of:,} {whose}, under {100 * min_scored:g} %"
            for what, n, of, whose in seen
            if n < min_scored * of
        ]

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain JSON values: numbers that do not exist are None, never NaN."""
        return {
            "version": FORMAT_VERSION,
            "answer": list(self.answer),
            "results": [{**plain(one), "level": "turn", "more": one.more} for one in self.contrasts],
            "signature": {name: plain(signature.fields) for name, signature in self.signatures.items()},
            "options": {"resamples": self.resamples, "seed": self.seed, "by": self.by},
            "counts": {
                "design": self.design,
                "why": self.why,
                "aligned": self.aligned,
                "pairs": self.pairs,
                "only_a": self.only_a,
                "only_b": self.only_b,
                "replies": list(self.replies),
                "empty": list(self.empty),
            },
            "notes": {name: {"a": dict(a), "b": dict(b)} for name, (a, b) in self.notes.items()},
            "out_of_domain": dict(self.out_of_domain),
        }


def _too_little(one: Contrast) -> str:
    """Why a scorer does not see enough of a gain."""
    if math.isnan(one.least_gain):
        return f"{one.scorer} has no interval"
    return f"by {one.scorer} the gain may be as little as {one.least_gain:+.3g}"
