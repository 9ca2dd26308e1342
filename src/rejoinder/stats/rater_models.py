"""Models of raters: what is true of each line and whom to trust, found together from ratings alone.

Shapes: N lines, J raters, L labels, M ratings.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rejoinder.stats.resamples import FloatArray, IntArray

RESTARTS = 10
ITERATIONS = 50
NOISE = 0.5  # of the starts
STRATEGY = 10.0  # prior of each label in what a spammer says
KNOWING = 0.5  # prior of knowing, and of spamming
MOST_ITERATIONS = 500  # of Dawid and Skene
_ENOUGH = 1e-9  # of the logarithm of the likelihood a rating; gaining less ends them
_TINY = 1e-10


class Labelled(NamedTuple):
    """Ratings one by one.

    Attributes:
        lines: [M] the line of each, in [0, N).
        raters: [M] who gave it, in [0, J).
        labels: [M] what was given, in [0, L).
        shape: N, J and L.
    """

    lines: IntArray
    raters: IntArray
    labels: IntArray
    shape: tuple[int, int, int]

    def by_line(self, weights: FloatArray) -> FloatArray:
        """[N, L] a weight [M] of each rating summed by line and label."""
        return _summed(self.lines, self.labels, weights, (self.shape[0], self.shape[2]))

    def by_rater(self, weights: FloatArray) -> FloatArray:
        """[J, L] the same by rater and label."""
        return _summed(self.raters, self.labels, weights, self.shape[1:])


class Model(NamedTuple):
    """What a model of raters believes.

    Attributes:
        belief: [N, L] how likely each label is; rows sum to 1.
        competence: [J] of each rater, 0 to 1.
        likelihood: logarithm of the marginal likelihood.
    """

    belief: FloatArray
    competence: FloatArray
    likelihood: float


def mace(
    given: Labelled,
    rng: np.random.Generator,
    *,
    restarts: int = RESTARTS,
    iterations: int = ITERATIONS,
    noise: float = NOISE,
) -> Model:
    """MACE by variational Bayes: a rater either knows, and gives the true label, or spams from a strategy of their own.

    Competence is the weight of knowing; weights of knowing and spamming sum to a little under 1.

    Args:
        given: the ratings; every line and rater has one.
        rng: decides the starts.
        restarts: how many; the likeliest is kept.
        iterations: of each.
        noise: 0 starts all raters alike.

    Source: Hovy, Berg-Kirkpatrick, Vaswani and Hovy (2013), Learning Whom to Trust with MACE, with the priors of the
    program that its authors published.
    """
    found = [_mace(given, rng, iterations, noise) for _ in range(restarts)]
    return max(found, key=lambda one: one.likelihood)


def _mace(given: Labelled, rng: np.random.Generator, iterations: int, noise: float) -> Model:
    """One run of MACE."""
    _, raters, labels = given.shape
    states = _normal(1 + noise * rng.random((raters, 2)))
    strategies = _normal(1 + noise * rng.random((raters, labels)))
    for _ in range(iterations):
        belief, _ = _believed(given, states, strategies)
        spams, knows = _counts(given, belief, states, strategies)
        states = _variational(np.stack([spams.sum(axis=1), knows.sum(axis=1)], axis=1), KNOWING)
        strategies = _variational(spams, STRATEGY)
    belief, likelihood = _believed(given, states, strategies)
    return Model(belief, states[:, 1], likelihood)


def _weights(given: Labelled, states: FloatArray, strategies: FloatArray) -> tuple[FloatArray, FloatArray]:
    """[M] how likely each rating is from a spammer, and [M] how likely its rater knows."""
    return states[given.raters, 0] * strategies[given.raters, given.labels], states[given.raters, 1]


def _believed(given: Labelled, states: FloatArray, strategies: FloatArray) -> tuple[FloatArray, float]:
    """[N, L] the belief, and the logarithm of the likelihood.

    Under the label t a rating of t is from who knows or spams, any other from who spams; so what a line's ratings add
    to t beyond what they all add is what those of t gain by knowing.
    """
    spams, knows = _weights(given, states, strategies)
    apart = given.by_line(np.log1p(knows / spams))
    all_spam = np.bincount(given.lines, weights=np.log(spams), minlength=given.shape[0])
    whole = np.logaddexp.reduce(apart, axis=1)
    return np.exp(apart - whole[:, None]), float((all_spam + whole - np.log(given.shape[2])).sum())


def _counts(
    given: Labelled, belief: FloatArray, states: FloatArray, strategies: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """[J, L] how often each rater is expected to have given a label spamming, and knowing."""
    spams, knows = _weights(given, states, strategies)
    knew = belief[given.lines, given.labels] * knows / (spams + knows)
    return given.by_rater(1 - knew), given.by_rater(knew)


def _variational(counts: FloatArray, prior: float) -> FloatArray:
    """Rows of counts as sub-normalised weights."""
    from scipy.special import digamma

    with_prior = counts + prior
    weights: FloatArray = np.exp(digamma(with_prior) - digamma(with_prior.sum(axis=1, keepdims=True)))
    return weights


def dawid_skene(given: Labelled, *, iterations: int = MOST_ITERATIONS) -> Model:
    """Dawid and Skene's model: each rater has a table of how often each true label is taken for which.

    Begins at the shares of votes. Competence is how often a rater is expected to give the true label.

    Args:
        given: the ratings; every line and rater has one.
        iterations: at most; it ends before where nothing is gained.

    Source: Dawid and Skene (1979), Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm.
    """
    belief = _normal(given.by_line(np.ones(len(given.lines))))
    likelihood = -np.inf
    for _ in range(iterations):
        often, tables = belief.mean(axis=0), _tables(given, belief)
        joint = np.log(np.maximum(often, _TINY)) + _evidence(given, tables)
        whole = np.logaddexp.reduce(joint, axis=1)
        belief, gained = np.exp(joint - whole[:, None]), float(whole.sum()) - likelihood
        likelihood = float(whole.sum())
        if gained < _ENOUGH * len(given.lines):
            break
    right = np.einsum("jtt,t->j", _tables(given, belief), belief.mean(axis=0))
    return Model(belief, right, likelihood)


def _tables(given: Labelled, belief: FloatArray) -> FloatArray:
    """[J, T, L] how often each rater gives each label where T is true; rows that never were are 0."""
    _, raters, labels = given.shape
    counts = np.zeros((raters, labels, labels))
    for true in range(labels):
        counts[:, true] = given.by_rater(belief[given.lines, true])
    total = counts.sum(axis=2, keepdims=True)
    tables: FloatArray = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    return tables


def _evidence(given: Labelled, tables: FloatArray) -> FloatArray:
    """[N, T] the logarithm of how likely a line's ratings are where T is true."""
    logs = np.log(np.maximum(tables, _TINY))
    columns = [
        np.bincount(given.lines, weights=logs[given.raters, true, given.labels], minlength=given.shape[0])
        for true in range(given.shape[2])
    ]
    return np.stack(columns, axis=1)


def _summed(rows: IntArray, columns: IntArray, weights: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """Weights summed into a table."""
    cells = np.bincount(rows * shape[1] + columns, weights=weights, minlength=shape[0] * shape[1])
    return cells.astype(np.float64).reshape(shape)


def _normal(table: FloatArray) -> FloatArray:
    """Rows that sum to 1."""
    shares: FloatArray = table / table.sum(axis=1, keepdims=True)
    return shares
