"""Simulated judges with known truth: three versions of a system, a judge lax on long replies, labels of some replies.

About 82 % of 800 replies are good; the judge passes about 93 % of the good and catches 66 % of the bad ones, hardly any
of the long. Version v3 writes the longest replies, so the judge prefers it where nothing differs. Seeds are fixed.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

SIZES = (200, 300, 300)
RATES = (0.79, 0.83, 0.83)
"""True pass rates of the versions; v2 and v3 are equal."""
LENGTHS = (3.4, 3.6, 4.25)
"""Mean logarithm of the number of words, by version."""
TPR, TNR = 0.93, 0.66
_SLOPES = {1: 1.0, 0: 1.3}  # of the judge on standardised length, by truth


class World(NamedTuple):
    """M replies.

    Attributes:
        versions: [M] 0, 1 or 2.
        truth: [M] 1 for a good reply.
        verdicts: [M] 1 if the judge passes it.
        words: [M] the length.
    """

    versions: NDArray[np.int64]
    truth: NDArray[np.int64]
    verdicts: NDArray[np.int64]
    words: NDArray[np.int64]

    @property
    def rate(self) -> float:
        """The true pass rate of such replies."""
        return float(np.average(RATES, weights=SIZES))

    def by_chance(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the replies that are labelled, drawn by chance."""
        return np.sort(rng.choice(len(self.truth), count, replace=False))

    def by_verdict(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the replies that are labelled, half of them failed by the judge."""
        parts = [rng.choice(np.flatnonzero(self.verdicts == kind), count // 2, replace=False) for kind in (0, 1)]
        return np.sort(np.concatenate(parts))


def world(rng: np.random.Generator, copies: int = 1) -> World:
    """Draw the replies of all versions, `copies` times as many."""
    versions = np.repeat([0, 1, 2], np.array(SIZES) * copies)
    truth = (rng.random(len(versions)) < np.array(RATES)[versions]).astype(np.int64)
    logs = np.array(LENGTHS)[versions] + rng.normal(0, 0.55, len(versions))
    middle = np.array(_middles())[truth]
    verdicts = rng.random(len(versions)) < expit(middle + np.array([_SLOPES[0], _SLOPES[1]])[truth] * _standard(logs))
    return World(versions, truth, verdicts.astype(np.int64), np.clip(np.exp(logs), 8, 220).astype(np.int64))


def wrong_labels(truth: NDArray[np.int64], error: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return labels, each wrong with probability `error`."""
    return np.where(rng.random(len(truth)) < error, 1 - truth, truth).astype(np.float64)


def _standard(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logarithms of lengths, standardised."""
    return (logs - 3.79) / 0.66


@cache
def _middles() -> tuple[float, float]:
    """Return the judge's intercepts for bad and for good replies that give its rates."""
    rng = np.random.default_rng(5)
    logs = np.concatenate([rng.normal(middle, 0.55, 200 * size) for middle, size in zip(LENGTHS, SIZES, strict=True)])
    result = []
    for truth, target in ((0, 1 - TNR), (1, TPR)):
        low, high = -8.0, 8.0
        for _ in range(50):
            middle = (low + high) / 2
            passes = expit(middle + _SLOPES[truth] * _standard(logs)).mean()
            low, high = (middle, high) if passes < target else (low, middle)
        result.append(low)
    return result[0], result[1]
