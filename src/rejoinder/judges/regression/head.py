"""The head over all features: boosted trees averaged with a smooth part, fitted to ratings of many data sets at once.

Shapes: N lines, F features, W numbers of a long vector, C probes.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rejoinder.example import Example
from rejoinder.judges.domain import TrainingCloud
from rejoinder.judges.protocol import Side
from rejoinder.judges.regression.calibration import Calibration
from rejoinder.judges.regression.correction import Correction
from rejoinder.judges.regression.kernel import Kernel, fit_kernel
from rejoinder.judges.regression.linear import (
    Linear,
    Written,
    fit_linear,
    fit_probes,
    probe_outputs,
    share_contributions,
)
from rejoinder.judges.regression.trees import DEFAULT, TreeOptions, Trees, grow_trees
from rejoinder.scorer import Advance, FloatArray, ignore
from rejoinder.text.normalize import visible

SIDES: tuple[Side, ...] = ("context", "reference")
"""A judge has a head for lines with references and one for lines without."""
Flags = NDArray[np.bool_]
TREES = 0.5  # weight of the trees; the smooth part has the rest
VECTOR_LINE = 0.3  # weight of the linear function of a long vector; the others have the rest
FORESTS = 2  # each grown with other draws of features: their mean varies less than one
_VECTOR_PENALTY = 1000.0


@dataclass(frozen=True)
class Head:
    """Predicts ratings in standard deviations of a data set.

    It reads [N, F + 1 + W]: F features, whether the reply is nonsense (1 or 0), and the W numbers of a long vector.
    """

    kernel: Kernel  # the smooth part, over the F features and the outputs of the probes
    trees: Trees  # all forests joined, over the same
    vector_line: Linear | None = None  # a linear function of the W numbers; None without any
    nonsense_penalty: float = 0.0  # how much lower nonsense is rated
    probes: tuple[Linear, ...] = ()  # linear functions of the F features and the W numbers

    @property
    def plain(self) -> int:
        """F."""
        return len(self.kernel.centre) - len(self.probes)

    def predict(self, features: NDArray[np.floating]) -> FloatArray:
        """Return [N] predictions."""
        own, nonsense, vector = self._split(features)
        mixture = (1 - TREES) * self.kernel.predict(own) + TREES * self.trees.predict(own)
        if self.vector_line is not None:
            mixture = (1 - VECTOR_LINE) * mixture + VECTOR_LINE * self.vector_line.predict(vector)
        return mixture - self.nonsense_penalty * nonsense

    @property
    def expected(self) -> float:
        """The prediction before any feature has moved it."""
        mixture = (1 - TREES) * self.kernel.expected + TREES * self.trees.expected
        line = self.vector_line
        return mixture if line is None else (1 - VECTOR_LINE) * mixture + VECTOR_LINE * line.base

    def with_baseline(self, features: NDArray[np.floating], weights: FloatArray) -> Head:
        """Return the same head with its mean prediction for these features with [N] weights as `expected`."""
        own, _, vector = self._split(features)
        return replace(
            self,
            kernel=self.kernel.with_baseline(own, weights),
            trees=self.trees.with_baseline(own, weights),
            vector_line=self.vector_line and self.vector_line.with_baseline(vector, weights),
        )

    def contributions(self, features: NDArray[np.floating]) -> FloatArray:
        """Return [N, F + 1 + W] what each feature adds to `expected`; they add up to the prediction."""
        own, nonsense, vector = self._split(features)
        added = (1 - TREES) * self.kernel.contributions(own) + TREES * self.trees.contributions(own)
        of_vector = np.zeros(vector.shape)
        if self.probes:
            shares = share_contributions(self.probes, _without_rule(features, self.plain), added[:, self.plain :])
            added, of_vector = added[:, : self.plain] + shares[:, : self.plain], shares[:, self.plain :]
        if self.vector_line is not None:
            added, of_vector = (1 - VECTOR_LINE) * added, (1 - VECTOR_LINE) * of_vector
            of_vector = of_vector + VECTOR_LINE * self.vector_line.contributions(vector)
        return np.hstack([added, -self.nonsense_penalty * nonsense[:, None], of_vector])

    def _split(self, features: NDArray[np.floating]) -> tuple[NDArray[np.floating], FloatArray, NDArray[np.floating]]:
        """Return [N, F + C], [N] and [N, W]: the features by what reads them."""
        own = features[:, : self.plain]
        if self.probes:
            own = np.hstack([own, probe_outputs(self.probes, _without_rule(features, self.plain))])
        return own, np.asarray(features[:, self.plain], np.float64), features[:, self.plain + 1 :]


class FittedHead(NamedTuple):
    """What is fitted for replies with references, or for those without."""

    columns: NDArray[np.intp]  # indices of the features that the head reads, in the order of the head
    head: Head  # predicts standard deviations of a data set
    calibration: Calibration  # turns predictions into ratings
    cloud: TrainingCloud  # the lines that it was fitted on
    lines: int  # their number
    correction: Correction | None = None  # what was learned later from a user's ratings, or None

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
        """Return [N] whether a line is out of the domain of the training lines."""
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


def fit_head(
    features: NDArray[np.floating],
    targets: FloatArray,
    weights: FloatArray,
    rng: np.random.Generator,
    *,
    written: Written | None = None,
    vector: int = 0,
    nonsense_penalty: float = 0.0,
    options: TreeOptions = DEFAULT,
    forests: int = FORESTS,
    advance: Advance = ignore,
) -> Head:
    """Fit a head to [N] targets of [N, F + 1 + W] features; lines count by [N] weights, and `vector` is W.

    Probes are fitted to lines `written` to fit, or not to fit; `advance` is called with 1 after each forest. Ratings
    cannot determine the `nonsense_penalty`: raters rarely saw code or gibberish.
    """
    plain = features.shape[1] - 1 - vector
    own = features[:, :plain]
    probes: tuple[Linear, ...] = ()
    if written is not None:
        probes, outputs = fit_probes(_without_rule(features, plain), written)
        own = np.hstack([own, outputs])
    kernel = fit_kernel(own, targets, weights, rng)
    trees = grow_trees(own, targets, weights, options, rng, forests, advance)
    line = fit_linear(features[:, plain + 1 :], targets, weights, _VECTOR_PENALTY) if vector else None
    return Head(kernel, trees, line, nonsense_penalty, probes)


def _without_rule(features: NDArray[np.floating], plain: int) -> NDArray[np.floating]:
    """Return [N, F + W] of [N, F + 1 + W] features: what probes read."""
    return np.delete(features, plain, axis=1)
