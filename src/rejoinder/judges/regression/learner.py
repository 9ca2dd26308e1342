"""How judges over views are learnt. Shapes: N rated lines, F features."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rejoinder.data.scales import Scale
from rejoinder.errors import DataError
from rejoinder.example import Example
from rejoinder.judges.augmentation import augment
from rejoinder.judges.features.added import load_source
from rejoinder.judges.features.resources import Resources, default_resources
from rejoinder.judges.features.table import FeatureSet
from rejoinder.judges.learner import Choices, Rows, Side
from rejoinder.judges.lines import UNREAD
from rejoinder.judges.regression.fit import STEPS, Part, Way, fit_parts, parts_used
from rejoinder.judges.regression.judge import ViewsJudge
from rejoinder.judges.regression.lines import Spoilt, ViewLines, encode
from rejoinder.judges.regression.trees import FULL, Growth
from rejoinder.scorer import Advance, FloatArray, ignore

NAME = "judge"
_SECONDS = 6e-3  # of one core of 2026 a line, for all heads of a fit
Spoiler = Callable[[Sequence[Example]], Sequence[Spoilt]]
"""Makes worse replies of examples, for a judge to learn what is no good reply."""


@dataclass(frozen=True)
class FittedViews:
    """Fitted heads, before they are a judge.

    Attributes:
        material: what their views are made of.
        parts: the heads, by way.
    """

    material: Resources
    parts: Mapping[Way, Part]

    @property
    def record(self) -> Mapping[str, Any]:
        """What was fitted."""
        return {
            "features": {way: len(part.columns) for way, part in self.parts.items()},
            "fitted_lines": {way: part.lines for way, part in self.parts.items()},
        }

    @property
    def account(self) -> Sequence[str]:
        """The same in words."""
        return [
            f"fitted on {part.lines} lines by {len(part.columns)} features "
            + ("that need no reference" if way == "context" else "with those of references")
            for way, part in self.parts.items()
        ]

    def predict(self, encoded: ViewLines, rows: Rows) -> FloatArray:
        """[n] scores of the ascending `rows`; NaN where no head reads them."""
        found = np.full(len(rows), np.nan)
        for part, own in self.shared(encoded, rows):
            features = encoded.features[np.ix_(own, part.columns)]
            found[np.searchsorted(rows, own)] = part.calibration.answers(part.head.predict(features))[0]
        return found

    def shared(self, encoded: ViewLines, rows: Rows) -> list[tuple[Part, Rows]]:
        """Each part, with those of the ascending `rows` that it reads."""
        used = np.array(parts_used(self.parts, encoded.context[rows], encoded.reference[rows]), object)
        return [(part, rows[used == way]) for way, part in self.parts.items()]

    def judge(self, training: Mapping[str, Any], scale: Scale) -> ViewsJudge:
        """The judge."""
        return ViewsJudge(material=self.material, heads=self.parts, training=training, scale=scale)


@dataclass(frozen=True)
class ViewsLearner:
    """Learns judges over views.

    Attributes:
        material: what their views are made of.
        spoiler: what makes worse replies of the rated ones; None does without such a defence.
        growth: how trees are grown.
        name: what its judges are called.
        stops: see `judges.train`: nothing is stopped by validation lines, these are fitted on too.
    """

    material: Resources
    spoiler: Spoiler | None = None
    growth: Growth = FULL
    name: str = NAME
    stops: bool = False

    @property
    def views(self) -> FeatureSet:
        """What they read."""
        return self.material.features

    @property
    def needs(self) -> tuple[Side, ...]:
        """Nothing that all lines must have: one of context and reference."""
        return ()

    @property
    def options(self) -> Mapping[str, Any]:
        """The views, and whether spoilt replies are added."""
        return {**self.material.options, "defended": self.spoiler is not None}

    @property
    def steps(self) -> int:
        """Fits of a head."""
        return STEPS

    def encode(self, examples: Sequence[Example]) -> ViewLines:
        """Features of examples, and of what the spoiler makes of them."""
        return encode(self.views, examples, self.spoiler(examples) if self.spoiler else ())

    def unusable(self, encoded: ViewLines) -> list[str]:
        """[N] which lines have neither context nor reference."""
        return ["" if there else UNREAD for there in encoded.context | encoded.reference]

    def seconds(self, lines: float) -> float:
        """About how long a fit takes."""
        return 3 + _SECONDS * lines

    def fit(
        self,
        encoded: ViewLines,
        ratings: FloatArray,
        train: Rows,
        validation: Rows,
        rng: np.random.Generator,
        advance: Advance = ignore,
    ) -> FittedViews:
        """See `Learner.fit`. Nothing is stopped by `validation`: these lines are fitted on too."""
        rows = np.sort(np.concatenate([train, validation]))
        parts = fit_parts(encoded, ratings, rows, self.views, self.growth, rng, advance)
        if not parts:
            raise DataError(f"{len(rows)} lines suffice for no head", "Rate more responses")
        return FittedViews(self.material, parts)


def learner(name: str, choices: Choices) -> ViewsLearner:
    """The learner of judges over the views of the judge in the box, and those that a user adds.

    Raises:
        UsageError: something was chosen that has no effect, or is no view.
        DataError, MissingAsset, MissingExtra: a view cannot be loaded (see `added.load_source`).
    """
    choices.only(name, "views")
    added = tuple(map(load_source, choices.views))
    return ViewsLearner(replace(default_resources(), added=added), augment)
