"""The record of an audit: what every attack did to a scorer, and whether a gate is passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rejoinder.auditing.bias import Bias
from rejoinder.auditing.geometry import Breadth, Cone
from rejoinder.auditing.results import UNTOLD, Attacked, Result
from rejoinder.scoring.domain import advice
from rejoinder.meta.frames import FORMAT_VERSION, results_frame
from rejoinder.scorer import Signature
from rejoinder.stats.figure import plain


class Gate(NamedTuple):
    """Whether a scorer may pass.

    Attributes:
        allowed: the share of examples that may fool it.
        passed: whether no attack is shown to fool it on more, and for one at least that could be told.
        reasons: why not.
    """

    allowed: float
    passed: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What a battery of attacks did to a scorer.

    Attributes:
        answer: the findings in words, the most important first.
        scorer: its name.
        results: one a family, in the order of the battery.
        out_of_domain: why the scorer cannot judge the replies as they were, so that it has no verdict; "" where it can.
        facts: the warning that facts were not checked, or "".
        fitted: the data sets of these lines that the judge was fitted on, on these lines or others.
        left_out: families whose tools are missing, and which.
        signature: of scorer, attacks and tools.
        cones: how narrow the cones of the judge's vectors are, where it shows them.
        breadth: how widely its scores are spread beside the ratings.
        biases: what its scores go with that people did not reward.
        examples: replies that were attacked.
        given: lines in all.
        rated: replies of these that people rated.
        scaled: replies of these whose data set has a known scale.
        human: replies of these that are a reference in the place of an unrated response.
        good: replies of these that a bad one can be held against.
        contexts: contexts that they answer.
        empty: lines without a reply, which are left out.
        unscored: replies that the scorer does not score as they are.
        noted: what the scorer cannot judge of the replies as they are, counted.
        mean: of its scores of them.
        spread: the standard deviation of these scores.
        directed: whether the scorer says which direction is better; else higher is taken for it.
        allowed: the share of examples that may fool a scorer that holds.
        limit: how many replies were to be attacked at most.
        seed: decides what is drawn.
        attacked: every attacked reply with its scores; stands in no JSON of the whole, and in JSON lines by itself.
    """

    answer: tuple[str, ...]
    scorer: str
    results: tuple[Result, ...]
    out_of_domain: str
    facts: str
    fitted: Sequence[str]
    left_out: Mapping[str, str]
    signature: Signature
    cones: tuple[Cone, ...]
    breadth: Breadth
    biases: tuple[Bias, ...]
    examples: int
    given: int
    rated: int
    scaled: int
    human: int
    good: int
    contexts: int
    empty: int
    unscored: int
    noted: Mapping[str, int]
    mean: float
    spread: float
    directed: bool
    allowed: float
    limit: int
    seed: int
    attacked: tuple[Attacked, ...] = ()

    def gate(self) -> Gate:
        """Whether no attack is shown to fool the scorer on more examples than are let pass.

        A gate where nothing could be told is not passed: silence is no proof. Nor is one on replies of which more than
        a tenth are out of the scorer's domain.
        """
        fooled = [one for one in self.results if one.verdict == "fooled"]
        reasons = [f"{one.family} fools it {100 * one.value:.0f} % of the time" for one in fooled]
        if all(one.verdict == UNTOLD for one in self.results):
            reasons.append("no attack has a verdict")
        if self.out_of_domain:
            reasons.append(advice(self.out_of_domain).removesuffix("."))
        return Gate(self.allowed, not reasons, tuple(reasons))

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain JSON values: numbers that do not exist are None, never NaN."""
        return {
            "version": FORMAT_VERSION,
            "answer": list(self.answer),
            "results": [{"scorer": self.scorer, **_result(one), "seed": self.seed} for one in self.results],
            "fitted": list(self.fitted),
            "left_out": dict(self.left_out),
            "signature": plain(self.signature.fields),
            "options": {"allowed": self.allowed, "limit": self.limit, "seed": self.seed},
            "counts": {
                name: getattr(self, name)
                for name in ("examples", "given", "rated", "scaled", "human", "good", "contexts", "empty", "unscored")
            },
            "notes": {self.scorer: dict(self.noted)},
            "out_of_domain": self.out_of_domain,
            "geometry": [plain(one) for one in self.cones],
            "breadth": plain(self.breadth),
            "bias": [plain(one) for one in self.biases],
            "scores": {"mean": plain(self.mean), "spread": plain(self.spread), "directed": self.directed},
        }

    def to_pandas(self) -> Any:
        """The results as a `pandas.DataFrame`, a row each; the signature stands in its `attrs`."""
        return results_frame(self.to_dict())


def _result(one: Result) -> dict[str, Any]:
    """One result, its examples and the published row as objects with names."""
    found: dict[str, Any] = plain(one)
    found["worst"] = [plain(case._asdict()) for case in one.worst]
    found["published"] = None if one.published is None else plain(one.published._asdict())
    return found
