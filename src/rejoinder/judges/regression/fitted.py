"""A head with its calibration, the lines that it was fitted on, and a later correction; and which head reads a line.

Shapes: N lines, F features, W numbers of a long vector, R features of the raw text.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.judges.learner import Side
from rejoinder.judges.regression.calibration import Calibration
from rejoinder.judges.regression.cloud import TrainingCloud
from rejoinder.judges.regression.correction import Correction
from rejoinder.judges.regression.head import Head
from rejoinder.scorer import FloatArray
from rejoinder.text.normalize import visible

SIDES: tuple[Side, ...] = ("context", "reference")
"""A judge has a head for lines with references and one for lines without."""
Flags = NDArray[np.bool_]


class FittedHead(NamedTuple):
    """What is fitted for replies with references, or for those without.

    Attributes:
        columns: which of all features the head reads, in its order.
        head: predicts standard deviations of a data set.
        calibration: turns predictions into ratings.
        cloud: the lines that it was fitted on.
        lines: their number.
        correction: what was learned later from a user's ratings, or None.
    """

    columns: NDArray[np.intp]
    head: Head
    calibration: Calibration
    cloud: TrainingCloud
    lines: int
    correction: Correction | None = None

    def predict(self, features: NDArray[np.floating], examples: Sequence[Example]) -> FloatArray:
        """Return [N] predictions, which the calibration reads, for [N, F + 1 + W] features of N examples."""
        base = self.head.predict(features)
        return base if self.correction is None else self.correction.predict(base, self.plain(features), examples)

    def plain(self, features: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return [N, F] of [N, F + 1 + W] features: those that trees and kernel read."""
        return features[:, : self.head.plain]

    @property
    def expected(self) -> float:
        """The prediction before any feature has moved it."""
        base = self.head.expected
        return base if self.correction is None else self.correction.expected(base)

    def contributions(self, features: NDArray[np.floating], examples: Sequence[Example]) -> FloatArray:
        """Return [N, F + 1 + W] what each feature adds to that; with a correction, then R of the raw text."""
        added = self.head.contributions(features)
        if self.correction is None:
            return added
        base = self.head.predict(features)
        return self.correction.contributions(base, self.head.expected, added, self.plain(features), examples)

    def out_of_domain(self, features: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Return [N] whether a line is unlike all that this was fitted on."""
        own = self.plain(features)
        is_far = self.cloud.out_of_domain(own)
        return is_far if self.correction is None else is_far & self.correction.cloud.out_of_domain(own)


def sides_present(examples: Sequence[Example]) -> tuple[Flags, Flags]:
    """Return [N] whether an example has a visible context, and [N] whether it has a visible reference."""
    context = [any(map(visible, example.context)) for example in examples]
    reference = [any(map(visible, example.references)) for example in examples]
    return np.array(context, np.bool_), np.array(reference, np.bool_)


def heads_used(heads: Container[Side], context: Flags, reference: Flags) -> list[Side | None]:
    """Return [N] the head that reads each line: that for references if there are any and it was fitted."""
    used: list[Side | None] = []
    for has_context, has_reference in zip(context.tolist(), reference.tolist(), strict=True):
        if has_reference and "reference" in heads:
            used.append("reference")
        else:
            used.append("context" if has_context and "context" in heads else None)
    return used
