"""What came of an adaptation: the judge, figures before and after, and what fewer ratings would have bought."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rejoinder.judges.views.judge import ViewsJudge
from rejoinder.meta.frames import FORMAT_VERSION
from rejoinder.stats.figure import Figure, plain

Kind = Literal["ratings", "choices"]


@dataclass(frozen=True, slots=True)
class Gain:
    """One figure before and after.

    Attributes:
        name: `spearman`, `pearson`, and where lines name several systems the same with ` within systems`; of pairs
            `accuracy`, also where the longer and where the shorter reply is preferred.
        n: items that it was measured on.
        before: of the judge as it was.
        after: of judges that were adapted to other conversations.
        gain: how much more that is.
        method: how the figures were worked out.
    """

    name: str
    n: int
    before: Figure
    after: Figure
    gain: Figure
    method: str


@dataclass(frozen=True, slots=True)
class Point:
    """One point of the learning curve.

    Attributes:
        items: ratings or pairs that were fitted on.
        value: what the first of the gains measures, after, mean over draws of so many.
    """

    items: int
    value: float


@dataclass(frozen=True)
class Fit:
    """An adapted judge and what the adaptation bought.

    Attributes:
        answer: what it bought, in words.
        judge: ready to score or save.
        kind: what it was fitted to.
        n: ratings, or pairs with a preferred reply.
        contexts: conversations that they come from.
        left_out: lines that nothing was learnt from, by reason.
        gains: figures before and after, by cross-validation; the first decides what is kept.
        curve: the first of them by how much was fitted on.
        corrected: whether the judge was corrected, as it is unless that is shown to lose; else its scores were only
            brought to the scale of the ratings.
        seed: of folds and resampling.
    """

    answer: tuple[str, ...]
    judge: ViewsJudge
    kind: Kind
    n: int
    contexts: int
    left_out: Mapping[str, int]
    gains: tuple[Gain, ...]
    curve: tuple[Point, ...]
    corrected: bool
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values; keys: `version`, `answer`, `results` (one mapping a figure), what it was made of."""
        return {
            "version": FORMAT_VERSION,
            "answer": list(self.answer),
            "results": [plain(gain) for gain in self.gains],
            "curve": [plain(point) for point in self.curve],
            "fitted_to": self.kind,
            "n": self.n,
            "contexts": self.contexts,
            "left_out": dict(self.left_out),
            "corrected": self.corrected,
            "scale": list(self.judge.scale),
            "seed": self.seed,
        }
