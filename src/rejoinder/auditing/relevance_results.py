"""The record of a scorer against irrelevant replies, and what it comes to in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rejoinder.auditing.answer import replies_to
from rejoinder.auditing.card import Gate
from rejoinder.auditing.results import Case
from rejoinder.scoring.domain import advice
from rejoinder.meta.frames import FORMAT_VERSION, results_frame
from rejoinder.scorer import Signature
from rejoinder.stats.figure import NONE, Figure, interval, percent, plain, pluralize

Kind = Literal["random", "misleading"]
Statistic = Literal["pairs", "auc", "single replies"]
KINDS: Mapping[Kind, str] = {
    "random": "replies to other contexts",
    "misleading": "replies that people wrote to mislead",
}
STATISTICS: Mapping[Statistic, str] = {
    "pairs": "share of pairs of one context in which the relevant reply scores higher, equal scores half; Wilson's "
    "interval with contexts as trials",
    "auc": "share of all pairs, across contexts too; Obuchowski's variance over contexts, Wilson's interval",
    "single replies": "share of replies on the right side of a threshold, the best on the other half of the contexts; "
    "Wilson's interval with contexts as trials",
}
PUBLISHED: Mapping[tuple[Kind, Statistic], float] = {("random", "single replies"): 0.8827}
"""Of DEB: Sai et al. (2020), Improving Dialog Evaluation, abstract; on the test part of DailyDialog++."""
CHANCE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Told(Figure):
    """How well a scorer tells relevant from irrelevant replies, from 0 to 1, by one statistic; chance is 1/2.

    Attributes:
        irrelevant: which irrelevant replies.
        statistic: see `STATISTICS`.
        published: the same of DEB, or NaN.
        thresholds: of single replies: the one for each half of the contexts.
    """

    irrelevant: Kind
    statistic: Statistic
    published: float = NONE
    thresholds: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Relevance:
    """Whether a scorer tells replies that fit from replies that do not.

    Attributes:
        answer: the findings in words.
        scorer: its name.
        results: three figures a kind of irrelevant replies.
        out_of_domain: why the scorer cannot judge the relevant replies, so that nothing follows; "" where it can.
        facts: the warning that facts were not checked, or "".
        shorter: by kind how often taking the shorter reply, in words, is right, over pairs; equal ones count half.
        worst: by kind the pairs that it has most wrong; `before` is the score of the relevant reply.
        signature: where the scores came from.
        sets: contexts with their replies that were scored.
        given: lines in all.
        replies: that were scored, or could not be.
        unscored: of these, those without a score.
        why_unscored: the most frequent reason, or "".
        directed: whether the scorer says which direction is better; else higher is taken for it.
        allowed: the share of pairs that a gate lets pass wrong.
        limit: how many contexts were to be taken at most.
        seed: decides which.
    """

    answer: tuple[str, ...]
    scorer: str
    results: tuple[Told, ...]
    out_of_domain: str
    facts: str
    shorter: Mapping[Kind, Figure]
    worst: Mapping[Kind, Sequence[Case]]
    signature: Signature
    sets: int
    given: int
    replies: int
    unscored: int
    why_unscored: str
    directed: bool
    allowed: float
    limit: int
    seed: int

    def of(self, irrelevant: Kind, statistic: Statistic) -> Told | None:
        """One figure; None where the lines bring no such replies."""
        found = (one for one in self.results if (one.irrelevant, one.statistic) == (irrelevant, statistic))
        return next(found, None)

    def gate(self) -> Gate:
        """Whether no kind of irrelevant replies is shown to win more pairs than are let pass, and one can be told."""
        pairs = [one for one in self.results if one.statistic == "pairs"]
        reasons = [
            f"{one.irrelevant} irrelevant replies win {100 * (1 - one.value):.0f} % of pairs"
            for one in pairs
            if 1 - one.high > self.allowed
        ]
        if not any(one.has_interval for one in pairs):
            reasons.append("nothing could be told")
        if self.out_of_domain:
            reasons = [advice(self.out_of_domain).removesuffix(".")]
        return Gate(self.allowed, not reasons, tuple(reasons))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values: numbers that do not exist are None, never NaN."""
        return {
            "version": FORMAT_VERSION,
            "answer": list(self.answer),
            "results": [{"scorer": self.scorer, **plain(one), "seed": self.seed} for one in self.results],
            "shorter": {kind: plain(one) for kind, one in self.shorter.items()},
            "worst": {kind: [plain(case._asdict()) for case in cases] for kind, cases in self.worst.items()},
            "signature": plain(self.signature.fields),
            "options": {"allowed": self.allowed, "limit": self.limit, "seed": self.seed},
            "counts": {name: getattr(self, name) for name in ("sets", "given", "replies", "unscored")},
            "why_unscored": self.why_unscored,
            "directed": self.directed,
            "out_of_domain": self.out_of_domain,
        }

    def to_pandas(self) -> Any:
        """The results as a `pandas.DataFrame`, a row each; the signature stands in its `attrs`."""
        return results_frame(self.to_dict())


def answer(found: Relevance) -> list[str]:
    """The findings, the most important first."""
    facts = [*filter(None, [found.facts])]
    if found.out_of_domain:
        return [advice(found.out_of_domain), *facts, *_counted(found)]
    pairs = [one for one in found.results if one.statistic == "pairs" and one.known]
    told = " and ".join(f"in {interval(one, share=True)} of pairs with {KINDS[one.irrelevant]}" for one in pairs)
    said = [f"{found.scorer} gives the relevant reply the higher score {told}; by chance in {percent(CHANCE)}."]
    said += facts
    said += [
        f"On {KINDS[one.irrelevant]} it is not shown to be better than chance." for one in pairs if one.low <= CHANCE
    ]
    short = " and ".join(f"{percent(one.value)} of those with {KINDS[kind]}" for kind, one in found.shorter.items())
    said.append(f"Who takes the shorter reply is right in {short}.")
    said += [_single(one) for one in found.results if one.statistic == "single replies" and one.known]
    return [*said, *_counted(found)]


def _counted(found: Relevance) -> list[str]:
    """Which replies were scored, and which were not."""
    drawn = f", drawn of {found.given:,}" if found.sets < found.given else ""
    said = [f"That is on {replies_to(found.replies, found.sets)}{drawn}."]
    if found.unscored:
        without = pluralize(found.unscored, "reply without a score", "replies without a score")
        said.append(f"There are {without}, most often: {found.why_unscored}.")
    if not found.directed:
        said.append(f"{found.scorer} claims no direction; higher is taken as better.")
    return said


def _single(one: Told) -> str:
    """What was found of single replies, with what was published."""
    said = f"As a yes or no of single replies it is right on {interval(one, share=True)} beside {KINDS[one.irrelevant]}"
    if np.isnan(one.published):
        return f"{said}."
    return f"{said}; published is {100 * one.published:.2f} % of DEB, which was trained on such lines."
