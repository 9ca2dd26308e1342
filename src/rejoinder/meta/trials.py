"""The records of a trial: a new judge beside what is there already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rejoinder.stats.figure import Figure

Role = Literal["new", "box", "metric", "baseline"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One scorer on trial. Correlations are means over folds (and inside data sets, where there are several).

    Attributes:
        name: of the scorer; of a chosen one that which all ratings together would choose.
        role: `new`, the judge that was fitted; `box`, the judge in the box; the best `metric`; the best `baseline`.
        spearman: its correlation with the ratings.
        pearson: the same, Pearson.
        p: two-sided, of no correlation by Spearman, by Holm for all candidates; NaN where there is none.
        agrees: whether it is shown to agree with people: p below .05, the interval above 0.
        beats_trivial: whether it is shown to be ahead of the best baseline; of that itself False.
        behind: Spearman of the new judge less its own, over the same resamples; of the new judge itself NaN.
        behind_pearson: the same, Pearson.
        chosen: what each fold chose, for `metric` and `baseline`; else empty.
        lower: whether lower scores are taken as better; the figures are after that.
    """

    name: str
    role: Role
    spearman: Figure
    pearson: Figure
    p: float
    agrees: bool
    beats_trivial: bool
    behind: Figure
    behind_pearson: Figure
    chosen: tuple[str, ...] = ()
    lower: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """What cross-validation says of a new judge.

    Attributes:
        candidates: the new judge first; none where there is a `reason`.
        recommended: those that may be used, the highest Spearman first: shown to agree with people, and no candidate
            is shown to be ahead of them; baselines are never among them. Empty where there is none.
        n: lines that all candidates score.
        unscored: lines of the folds that one of them does not score, which are left out.
        contexts: contexts that the lines come from; these are resampled.
        copies: lines whose response equals a reference.
        folds: how many.
        needed: rated lines in all that would tell the first two recommended apart; None where that is not the
            question, or they are too much alike.
        absent: what else could have stood beside the new judge, and why it does not.
        method: how the figures were worked out.
        seed: of folds, fits and resampling.
        reason: why there is no trial, else "".
    """

    candidates: tuple[Candidate, ...] = ()
    recommended: tuple[Role, ...] = ()
    n: int = 0
    unscored: int = 0
    contexts: int = 0
    copies: int = 0
    folds: int = 0
    needed: int | None = None
    absent: Mapping[str, str] = field(default_factory=dict)
    method: str = "none"
    seed: int = 0
    reason: str = ""

    def of(self, role: Role) -> Candidate | None:
        """The candidate with this role, or None."""
        return next((one for one in self.candidates if one.role == role), None)
