"""The records that a comparison of two systems returns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from rejoinder.errors import UsageError
from rejoinder.frames import results_frame
from rejoinder.meta.results import FORMAT_VERSION, plain
from rejoinder.scorer import Signature

Verdict = Literal["A is better", "B is better", "A is higher", "B is higher", "not separable"]
NONE = float("nan")
MIN_SCORED = 0.95


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two systems under one scorer.

    Attributes:
        scorer: name of the scorer.
        n: pairs of responses with a score each.
        contexts: the contexts they come from; these are resampled and swapped.
        unscored: pairs of which one or both have no score.
        mean_a: mean score of A.
        mean_b: mean score of B.
        value: mean of B less mean of A; NaN without pairs.
        low: lower end of its 95 % interval; NaN where there is none.
        high: upper end.
        p: two-sided, of no difference, by paired permutation; never 0; NaN where there is none.
        p_adjusted: p by Holm for the number of scorers; the verdict rests on it.
        higher_is_better: the scorer's direction; None where it claims none.
        verdict: in words; "higher" instead of "better" where the scorer claims no direction.
        needed: pairs in all at which a difference like this one would be told with probability 0.8; None where it is
            told already or no number can be forecast.
        method: how the figures were worked out.
        seed: seed of the resampling.
        worst: the score that an empty reply counts as; NaN where none is empty, or the scorer knows no worst.
        reason: why a figure is missing, else "".
    """

    scorer: str
    n: int
    contexts: int
    unscored: int
    mean_a: float
    mean_b: float
    value: float
    low: float
    high: float
    p: float
    p_adjusted: float
    higher_is_better: bool | None
    verdict: Verdict
    needed: int | None
    method: str
    seed: int
    worst: float = NONE
    reason: str = ""

    @property
    def more(self) -> int | None:
        """How many more pairs would tell, or None where that is not the question."""
        return None if self.needed is None else max(self.needed - self.n, 1)

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
        contrasts: one a scorer.
        signatures: where the scores came from, by scorer.
        aligned: what pairs rest on.
        pairs: responses of A that have a partner in B, or contexts that both answered.
        only_a: lines of A without a partner.
        only_b: lines of B without a partner.
        resamples: number of resamples and of permutations.
        seed: their seed.
        replies: lines of A and of B.
        empty: those of them without a reply, which count as the worst.
        notes: by scorer, how many replies of A and of B each note stands at.
    """

    contrasts: tuple[Contrast, ...]
    signatures: Mapping[str, Signature]
    aligned: Literal["id", "context"]
    pairs: int
    only_a: int
    only_b: int
    resamples: int
    seed: int
    replies: tuple[int, int]
    empty: tuple[int, int]
    notes: Mapping[str, tuple[Mapping[str, int], Mapping[str, int]]]

    def gate(self, threshold: float, min_scored: float = MIN_SCORED) -> Gate:
        """Whether by every scorer B gains `threshold` or more over A, by the unfavourable end of the interval.

        A scorer without an interval passes nothing, and so does one that saw too little: a reply of A that B has no
        scored answer to is not forgiven for being missing.

        Args:
            threshold: 0 asks that B is shown to be no worse, -0.1 that it is at most 0.1 worse.
            min_scored: the least share, from 0 to 1, of the pairs, and of the lines of A without a partner, that must
                have scores on both sides.

        Raises:
            UsageError: a number is out of range; a scorer claims no direction, so that nothing is a gain.
        """
        if not math.isfinite(threshold) or not 0 <= min_scored <= 1:
            raise UsageError(
                f"the threshold is expected to be a finite number and the least share scored to be from 0 to 1, not "
                f"{threshold:g} and {min_scored:g}"
            )
        if vague := [one.scorer for one in self.contrasts if one.higher_is_better is None]:
            raise UsageError(f"{', '.join(vague)} claims no direction, so there is no gain to ask for. Leave it out")
        reasons = [
            *(reason for one in self.contrasts if (reason := _too_few(one, self.pairs + self.only_a, min_scored))),
            *(_too_little(one) for one in self.contrasts if not one.least_gain >= threshold),
        ]
        return Gate(threshold, min_scored, not reasons, tuple(reasons))

    def to_pandas(self) -> Any:
        """The results as a `pandas.DataFrame`, a row each; the signatures stand in its `attrs`."""
        return results_frame(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain JSON values: numbers that do not exist are None, never NaN."""
        return {
            "version": FORMAT_VERSION,
            "results": [plain({**asdict(one), "level": "turn", "more": one.more}) for one in self.contrasts],
            "signature": {name: plain(signature.fields) for name, signature in self.signatures.items()},
            "options": {"resamples": self.resamples, "seed": self.seed},
            "counts": {
                "aligned": self.aligned,
                "pairs": self.pairs,
                "only_a": self.only_a,
                "only_b": self.only_b,
                "replies": list(self.replies),
                "empty": list(self.empty),
            },
            "notes": {name: {"a": dict(a), "b": dict(b)} for name, (a, b) in self.notes.items()},
        }


def _too_few(one: Contrast, pairs: int, min_scored: float) -> str:
    """Why a scorer saw too little for a gate, or ""."""
    if one.n >= min_scored * pairs:
        return ""
    return f"{one.scorer} has scores on both sides for {one.n:,} of {pairs:,} pairs, under {100 * min_scored:g} %"


def _too_little(one: Contrast) -> str:
    """Why a scorer does not see enough of a gain."""
    if math.isnan(one.least_gain):
        return f"{one.scorer} has no interval"
    return f"by {one.scorer} the gain may be as little as {one.least_gain:+.3g}"
