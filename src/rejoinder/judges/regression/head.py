"""The head over all features: boosted trees averaged with a smooth part, fitted to ratings of many data sets at once.

Shapes: N lines, F features, W numbers of a long vector, C probes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rejoinder.judges.regression.kernel import Kernel, fit_kernel
from rejoinder.judges.regression.linear import (
    Linear,
    Written,
    fit_linear,
    fit_probes,
    probe_outputs,
    share_contributions,
)
from rejoinder.judges.regression.trees import DEFAULT, TreeOptions, Trees, grow_trees, join
from rejoinder.scorer import Advance, FloatArray, ignore

TREES = 0.5  # weight of the trees; the smooth part has the rest
VECTOR_LINE = 0.3  # weight of the linear function of a long vector; the others have the rest
FORESTS = 2  # each grown with other draws of features: their mean varies less than one
_VECTOR_PENALTY = 1000.0


@dataclass(frozen=True)
class Head:
    """Predicts ratings in standard deviations of a data set.

    It reads [N, F + 1 + W]: F features, whether the reply is nonsense (1 or 0), and the W numbers of a long vector.

    Attributes:
        kernel: the smooth part, over the F features and the outputs of the probes.
        trees: all forests joined, over the same.
        vector_line: a linear function of the W numbers; None without any.
        nonsense_penalty: how much lower nonsense is rated.
        probes: linear functions of the F features and the W numbers.
    """

    kernel: Kernel
    trees: Trees
    vector_line: Linear | None = None
    nonsense_penalty: float = 0.0
    probes: tuple[Linear, ...] = ()

    @property
    def plain(self) -> int:
        """F."""
        return len(self.kernel.centre) - len(self.probes)

    def predict(self, features: NDArray[np.floating]) -> FloatArray:
        """Return [N] predictions."""
        return self.mixed(features, (TREES,))[0]

    def mixed(self, features: NDArray[np.floating], shares: Sequence[float]) -> list[FloatArray]:
        """Return [N] predictions for each weight of the trees."""
        own, nonsense, vector = self._split(features)
        smooth, trees = self.kernel.predict(own), self.trees.predict(own)
        mixtures = [(1 - share) * smooth + share * trees for share in shares]
        if self.vector_line is not None:
            straight = VECTOR_LINE * self.vector_line.predict(vector)
            mixtures = [(1 - VECTOR_LINE) * mixture + straight for mixture in mixtures]
        return [mixture - self.nonsense_penalty * nonsense for mixture in mixtures]

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
    """Fit a head to [N] targets of [N, F + 1 + W] features; lines count by [N] weights.

    Args:
        features: of the lines.
        targets: of the lines.
        weights: of the lines.
        rng: decides what is random.
        written: which lines are replies that people wrote to fit, or not to fit; probes are fitted to these.
        vector: W.
        nonsense_penalty: see `Head`. No rating teaches it: people were hardly ever shown code or gibberish.
        options: how trees are grown.
        forests: their number.
        advance: called with 1 after each.
    """
    plain = features.shape[1] - 1 - vector
    own = features[:, :plain]
    probes: tuple[Linear, ...] = ()
    if written is not None:
        probes, outputs = fit_probes(_without_rule(features, plain), written)
        own = np.hstack([own, outputs])
    kernel = fit_kernel(own, targets, weights, rng)
    grown = []
    for _ in range(forests):
        grown.append(grow_trees(own, targets, weights, options, rng))
        advance(1)
    line = fit_linear(features[:, plain + 1 :], targets, weights, _VECTOR_PENALTY) if vector else None
    return Head(kernel, join(grown), line, nonsense_penalty, probes)


def _without_rule(features: NDArray[np.floating], plain: int) -> NDArray[np.floating]:
    """Return [N, F + W] of [N, F + 1 + W] features: what probes read."""
    return np.delete(features, plain, axis=1)
