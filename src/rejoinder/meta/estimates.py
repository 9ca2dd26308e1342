"""The records that an estimate of people's mean ratings returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rejoinder.data.scales import Scale
from rejoinder.meta.frames import FORMAT_VERSION, results_frame
from rejoinder.scorer import Signature
from rejoinder.stats.figure import NONE, NOTHING, Figure, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many ratings an interval of a wanted width needs, those at hand counted in.

    Attributes:
        half: how far the interval may reach to either side.
        alone: ratings needed without the scorer; None where it cannot be said or there is no such number.
        scored: ratings needed with it.
    """

    half: float
    alone: int | None
    scored: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Figure):
    """The mean rating of a system, or the difference of two, by ratings and scores together; n counts ratings.

    Attributes:
        system: which.
        minus: the system whose mean is taken off; "" where this is the mean of one.
        lines: lines that it is of, rated or not.
        conversations: those that its rated lines come from.
        alone: the same by the ratings alone.
        power: how much of the gap between the scores of the rated lines and of all lines was taken off; 0 where the
            scorer did not help.
        shared: whether that is the power of all systems together.
        worth: how many ratings alone would give as narrow an interval; NaN where there is none.
        p_adjusted: p of a difference by Holm for the number of all differences; NaN of a mean.
        verdict: "higher" or "lower" where a difference is shown, else "".
        plan: how many ratings would do; None where nobody asked.
    """

    system: str
    minus: str = ""
    lines: int
    conversations: int
    alone: Figure = NOTHING
    power: float = 0.0
    shared: bool = False
    worth: float = NONE
    p_adjusted: float = NONE
    verdict: str = ""
    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class Estimates:
    """What people's mean ratings are likely to be.

    Attributes:
        answer: what was found, in sentences.
        scorer: name of the scorer.
        signature: where its scores came from.
        systems: one a system, the highest first, those without a rating last.
        differences: of each system less each below it; of over 20 systems, of the highest less each.
        dimension: which ratings.
        scale: the lowest and highest possible rating; None where no line says.
        given: rated lines that were given by themselves.
        matched: how many of them are among the lines.
        nameless: lines that do not say their system, where others do; they are left out.
        unscored: lines without a score, by reason; they count as a middling one.
        fitted: the data sets among these that the scorer was fitted on.
        own: ratings that are the scorer's own scores.
        unlike: systems whose rated lines have scores so far from those of all lines that chance hardly chose them.
    """

    answer: tuple[str, ...]
    scorer: str
    signature: Signature
    systems: tuple[Estimate, ...]
    differences: tuple[Estimate, ...]
    dimension: str
    scale: Scale | None
    given: int
    matched: int
    nameless: int
    unscored: Mapping[str, int]
    fitted: Sequence[str]
    own: int
    unlike: Sequence[str]

    @property
    def ratings(self) -> int:
        """Rated lines that count."""
        return sum(one.n for one in self.systems)

    @property
    def lines(self) -> int:
        """Lines that count, rated or not."""
        return sum(one.lines for one in self.systems)

    def to_pandas(self) -> Any:
        """The results as a `pandas.DataFrame`, a row each; the signature stands in its `attrs`."""
        return results_frame(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values: numbers that do not exist are None, never NaN."""
        return {
            "version": FORMAT_VERSION,
            "answer": list(self.answer),
            "results": [_result(one, self.scorer) for one in (*self.systems, *self.differences)],
            "signature": {self.scorer: plain(self.signature.fields)},
            "options": {"dimension": self.dimension, "scale": plain(self.scale)},
            "counts": {
                "lines": self.lines,
                "ratings": self.ratings,
                "given": self.given,
                "matched": self.matched,
                "nameless": self.nameless,
                "own": self.own,
                "unscored": dict(self.unscored),
            },
            "fitted": list(self.fitted),
            "unlike": list(self.unlike),
        }


def _result(one: Estimate, scorer: str) -> dict[str, Any]:
    """One result: what it is of, the estimate, and beside it that by ratings alone."""
    said = plain(one)
    plan = said.pop("plan") or {"half": None, "alone": None, "scored": None}
    about = {"statistic": "difference" if one.minus else "mean", "scorer": scorer, **said}
    needed = {"half": plan["half"], "needed": plan["scored"], "needed_alone": plan["alone"]}
    return {**about, **needed}
