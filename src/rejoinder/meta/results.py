"""The records that a study returns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from rejoinder.frames import results_frame
from rejoinder.scorer import Signature

Level = Literal["turn", "system"]
FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with the ends of its 95 % interval; NaN where there is none."""

    value: float
    low: float
    high: float


NOTHING = Figure(float("nan"), float("nan"), float("nan"))


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far one scorer agrees with people on one data set, by one statistic.

    Attributes:
        dataset: name of the data set, or "pooled" for all of them together.
        scorer: name of the scorer.
        level: "turn" correlates lines, "system" correlates the means of systems.
        statistic: "pearson", "spearman" or "kendall" (tau-b).
        n: what was correlated: lines at turn level, systems at system level.
        unscored: rated lines that the scorer gave no score and that are therefore not in.
        contexts: clusters that the resampling drew from.
        value: the correlation in [-1, 1]; NaN where there is none.
        low: lower end of the 95 % interval; NaN where there is none.
        high: upper end of the 95 % interval; NaN where there is none.
        p: two-sided p-value of no correlation, which takes lines (or systems) as independent; NaN without a value.
        method: how value, interval and p were worked out.
        seed: seed of the resampling.
        reason: why the value or the interval is missing, else "".
    """

    dataset: str
    scorer: str
    level: Level
    statistic: str
    n: int
    unscored: int
    contexts: int
    value: float
    low: float
    high: float
    p: float
    method: str
    seed: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Study:
    """The agreement of scorers with people.

    Attributes:
        agreements: one per data set, scorer, level and statistic, in that order.
        signatures: where the scores came from, by scorer.
        dimension: the dimension of the ratings.
        resamples: number of resamples behind each interval.
        seed: seed of the resampling.
        drop_copies: whether responses that copy a reference were left out.
        examples: number of lines given.
        rated: lines with a rating that were used (copies left out are not among them).
        copies: lines whose response equals one of its references word for word.
        notes: by scorer, how many lines each note stands at.
    """

    agreements: tuple[Agreement, ...]
    signatures: Mapping[str, Signature]
    dimension: str
    resamples: int
    seed: int
    drop_copies: bool
    examples: int
    rated: int
    copies: int
    notes: Mapping[str, Mapping[str, int]]

    def to_pandas(self) -> Any:
        """The results as a `pandas.DataFrame`, a row each; the signatures stand in its `attrs`."""
        return results_frame(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The study as plain JSON values: numbers that do not exist are None, never NaN.

        Keys: `version` of this form, `results` (one mapping an agreement), `signature` (a mapping by scorer),
        `options`, `counts` and `notes`.
        """
        return {
            "version": FORMAT_VERSION,
            "results": [plain(asdict(agreement)) for agreement in self.agreements],
            "signature": {name: plain(signature.fields) for name, signature in self.signatures.items()},
            "options": {
                "dimension": self.dimension,
                "resamples": self.resamples,
                "seed": self.seed,
                "drop_copies": self.drop_copies,
            },
            "counts": {"examples": self.examples, "rated": self.rated, "copies": self.copies},
            "notes": {name: dict(notes) for name, notes in self.notes.items()},
        }


def plain(value: Any) -> Any:
    """`value` as JSON knows it: None for numbers that are not finite, lists for tuples, text for anything else."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int)) else str(value)
