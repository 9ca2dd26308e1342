"""The head over all features: boosted trees averaged with a smooth part, fitted to ratings of many data sets at once.

People of one study use a scale otherwise than those of another. So a head is fitted to ratings that are standardised
within their data set, and every set weighs by the square root of its size: a set of ten thousand lines is not to drown
ten of five hundred. Shapes: N lines, F features, C contrasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rejoinder.judges.regression.contrasts import Written, fit_contrasts, said_of, shared_out
from rejoinder.judges.regression.kernel import Kernel, fit_kernel
from rejoinder.judges.regression.linear import Linear, fit_linear
from rejoinder.judges.regression.trees import FULL, Growth, Trees, grow, joined
from rejoinder.scorer import Advance, FloatArray, ignore

TREES = 0.5  # what the trees weigh, against the smooth part
PROBE = 0.3  # what the probe weighs, against both
PENALTY = 1000.0  # of a probe
SEEDS = 2  # forests, each grown with other draws of features: their mean is steadier than one
USUAL_SIZE = 500  # lines of a data set whose lines weigh 1


@dataclass(frozen=True)
class Head:
    """Predicts ratings in standard deviations of a data set.

    It reads F features, one that is 1 of a reply without sense and 0 of others, and the W numbers of a long vector.

    Attributes:
        kernel: the smooth part, over the F features and what the contrasts say.
        trees: all forests, each leaf divided by their number; over these too.
        probe: a straight line over the W numbers; None where there are none.
        nonsense: how much less a reply without sense is worth.
        contrasts: straight lines over the F features and the W numbers.
    """

    kernel: Kernel
    trees: Trees
    probe: Linear | None = None
    nonsense: float = 0.0
    contrasts: tuple[Linear, ...] = ()

    @property
    def plain(self) -> int:
        """F."""
        return len(self.kernel.centre) - len(self.contrasts)

    def predict(self, features: NDArray[np.floating]) -> FloatArray:
        """[N] predictions for [N, F + 1 + W], each the same to the last bit whatever stands beside it."""
        return self.mixed(features, (TREES,))[0]

    def mixed(self, features: NDArray[np.floating], shares: Sequence[float]) -> list[FloatArray]:
        """[N] predictions for [N, F + 1 + W], one for each share that the trees have; the smooth part has the rest."""
        own, senseless, vector = self._parted(features)
        smooth, trees = self.kernel.predict(own), self.trees.predict(own)
        each = [(1 - share) * smooth + share * trees for share in shares]
        if self.probe is not None:
            straight = PROBE * self.probe.predict(vector)
            each = [(1 - PROBE) * found + straight for found in each]
        return [found - self.nonsense * senseless for found in each]

    @property
    def expected(self) -> float:
        """The prediction before any feature has moved it."""
        found = (1 - TREES) * self.kernel.expected + TREES * self.trees.expected
        return found if self.probe is None else (1 - PROBE) * found + PROBE * self.probe.base

    def told_from(self, features: NDArray[np.floating], weights: FloatArray) -> Head:
        """The same head; `expected` is what it says of the average line of [N, F + 1 + W] features with [N] weights."""
        own, _, vector = self._parted(features)
        return replace(
            self,
            kernel=self.kernel.told_from(own, weights),
            trees=self.trees.told_from(own, weights),
            probe=self.probe and self.probe.told_from(vector, weights),
        )

    def moved(self, features: NDArray[np.floating]) -> FloatArray:
        """[N, F + 1 + W] what each feature adds to `expected`; together they add up to the prediction."""
        own, senseless, vector = self._parted(features)
        found = (1 - TREES) * self.kernel.moved(own) + TREES * self.trees.moved(own)
        added = np.zeros(vector.shape)
        if self.contrasts:
            shares = shared_out(self.contrasts, _linear(features, self.plain), found[:, self.plain :])
            found, added = found[:, : self.plain] + shares[:, : self.plain], shares[:, self.plain :]
        if self.probe is not None:
            found, added = (1 - PROBE) * found, (1 - PROBE) * added + PROBE * self.probe.moved(vector)
        return np.hstack([found, -self.nonsense * senseless[:, None], added])

    def _parted(self, features: NDArray[np.floating]) -> tuple[NDArray[np.floating], FloatArray, NDArray[np.floating]]:
        """[N, F + C], [N] and [N, W]: the features by what reads them."""
        own = np.ascontiguousarray(features[:, : self.plain])
        if self.contrasts:
            own = np.hstack([own, said_of(self.contrasts, _linear(features, self.plain))])
        return own, np.asarray(features[:, self.plain], np.float64), features[:, self.plain + 1 :]


def fit_head(
    features: NDArray[np.floating],
    targets: FloatArray,
    weights: FloatArray,
    rng: np.random.Generator,
    *,
    written: Written | None = None,
    vector: int = 0,
    nonsense: float = 0.0,
    growth: Growth = FULL,
    seeds: int = SEEDS,
    advance: Advance = ignore,
) -> Head:
    """A head fitted to targets.

    Args:
        features: [N, F + 1 + W] of lines.
        targets: [N] what they deserve.
        weights: [N] what each line counts.
        rng: decides what is random.
        written: which lines are replies that people wrote to fit, or that do not fit; contrasts are fitted to these.
        vector: W.
        nonsense: see `Head`. No rating teaches it: people were hardly ever shown code or gibberish.
        growth: how trees are grown.
        seeds: how many forests.
        advance: called with 1 after each.
    """
    plain = features.shape[1] - 1 - vector
    own = features[:, :plain]
    contrasts: tuple[Linear, ...] = ()
    if written is not None:
        contrasts, said = fit_contrasts(_linear(features, plain), written)
        own = np.hstack([own, said]) if contrasts else own
    kernel = fit_kernel(own, targets, weights, rng)
    forests = []
    for _ in range(seeds):
        forests.append(grow(own, targets, weights, growth, rng))
        advance(1)
    probe = fit_linear(features[:, plain + 1 :], targets, weights, PENALTY) if vector else None
    return Head(kernel, joined(forests), probe, nonsense, contrasts)


def _linear(features: NDArray[np.floating], plain: int) -> NDArray[np.floating]:
    """[N, F + W] of [N, F + 1 + W]: what a contrast reads."""
    return features[:, :plain] if features.shape[1] == plain + 1 else np.delete(features, plain, axis=1)


def standardised(ratings: FloatArray, sets: NDArray[np.intp]) -> FloatArray:
    """[N] ratings in standard deviations from the mean of their own data set; `sets` numbers these from 0."""
    counts = np.maximum(np.bincount(sets), 1)
    means = np.bincount(sets, ratings) / counts
    spreads = np.sqrt(np.bincount(sets, (ratings - means[sets]) ** 2) / counts)
    return (ratings - means[sets]) / np.where(spreads > 0, spreads, 1.0)[sets]


def weights_of(sets: NDArray[np.intp]) -> FloatArray:
    """[N] what each line weighs."""
    return np.sqrt(USUAL_SIZE / np.bincount(sets)[sets])
