"""Models of raters: the true label of each line and the competence of each rater, estimated together from ratings.

And a test that needs no model: which raters are further from the others than chance explains.

Shapes: N lines, J raters, L labels, M ratings.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rejoinder.stats.resamples import BLOCK, FloatArray, IntArray, blocks

STRATEGY = 10.0  # prior of each label in the strategy of a spammer
KNOWING = 0.5  # prior of knowing, and of spamming
_ENOUGH = 1e-9  # gain in log-likelihood per rating below which Dawid and Skene's model has converged
_TINY = 1e-10
_FEWEST_OF_LINE = 3  # two ratings of a line are equally far from each other


class Labelled(NamedTuple):
    """Single ratings: line in [0, N), rater in [0, J) and label in [0, L) of each [M], and the shape N, J, L."""

    lines: IntArray
    raters: IntArray
    labels: IntArray
    shape: tuple[int, int, int]

    def by_line(self, weights: FloatArray) -> FloatArray:
        """Return [N, L] the weights [M] of ratings summed by line and label."""
        return self._summed(self.lines, weights, self.shape[0])

    def by_rater(self, weights: FloatArray) -> FloatArray:
        """Return [J, L] the weights [M] of ratings summed by rater and label."""
        return self._summed(self.raters, weights, self.shape[1])

    def _summed(self, rows: IntArray, weights: FloatArray, size: int) -> FloatArray:
        cells = np.bincount(rows * self.shape[2] + self.labels, weights=weights, minlength=size * self.shape[2])
        return cells.astype(np.float64).reshape(size, self.shape[2])


class Model(NamedTuple):
    """A fitted model: probability of each label [N, L], competence of each rater [J], logarithm of the likelihood."""

    belief: FloatArray
    competence: FloatArray
    likelihood: float


def mace(
    ratings: Labelled, rng: np.random.Generator, *, restarts: int = 10, iterations: int = 50, noise: float = 0.5
) -> Model:
    """Return MACE by variational Bayes: a rater knows and gives the true label, or spams from a strategy.

    Competence is the weight of knowing; the weights of knowing and spamming sum to a little under 1.

    Every line and rater has a rating. The most likely of the `restarts` is kept; without `noise` all raters start with
    the same values.

    Source: Hovy, Berg-Kirkpatrick, Vaswani and Hovy (2013), Learning Whom to Trust with MACE, with the priors of the
    program that its authors published.
    """
    runs = [_mace(ratings, rng, iterations, noise) for _ in range(restarts)]
    return max(runs, key=lambda run: run.likelihood)


def _mace(ratings: Labelled, rng: np.random.Generator, iterations: int, noise: float) -> Model:
    _, raters, labels = ratings.shape
    states = _normalised(1 + noise * rng.random((raters, 2)))
    strategies = _normalised(1 + noise * rng.random((raters, labels)))
    for step in range(iterations + 1):
        spams = states[ratings.raters, 0] * strategies[ratings.raters, ratings.labels]
        knows = states[ratings.raters, 1]
        # A rating of the label t is by a rater who knows or spams under t, and by one who spams under other labels.
        gains = ratings.by_line(np.log1p(knows / spams))
        whole = np.logaddexp.reduce(gains, axis=1)
        belief = np.exp(gains - whole[:, None])
        if step < iterations:
            knew = belief[ratings.lines, ratings.labels] * knows / (spams + knows)
            spammed = ratings.by_rater(1 - knew)
            states = _variational(np.stack([spammed.sum(axis=1), ratings.by_rater(knew).sum(axis=1)], axis=1), KNOWING)
            strategies = _variational(spammed, STRATEGY)
    all_spam = np.bincount(ratings.lines, weights=np.log(spams), minlength=ratings.shape[0])
    return Model(belief, states[:, 1], float((all_spam + whole - np.log(labels)).sum()))


def _variational(counts: FloatArray, prior: float) -> FloatArray:
    """Return rows of counts as sub-normalised weights."""
    from scipy.special import digamma

    with_prior = counts + prior
    weights: FloatArray = np.exp(digamma(with_prior) - digamma(with_prior.sum(axis=1, keepdims=True)))
    return weights


def dawid_skene(ratings: Labelled, *, iterations: int = 500) -> Model:
    """Return Dawid and Skene's model: each rater has a table of how often each true label is rated as which.

    Every line and rater has a rating. It starts at the shares of votes. Competence is the expected share of true labels
    among the ratings of a rater.

    Source: Dawid and Skene (1979), Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm.
    """
    belief, likelihood = _normalised(ratings.by_line(np.ones(len(ratings.lines)))), -np.inf
    for _ in range(iterations):
        logs = np.log(np.maximum(_tables(ratings, belief), _TINY))[ratings.raters, :, ratings.labels]  # [M, T]
        evidence = [np.bincount(ratings.lines, weights=part, minlength=ratings.shape[0]) for part in logs.T]
        joint = np.log(np.maximum(belief.mean(axis=0), _TINY)) + np.stack(evidence, axis=1)
        whole = np.logaddexp.reduce(joint, axis=1)
        belief, gain = np.exp(joint - whole[:, None]), float(whole.sum()) - likelihood
        likelihood = float(whole.sum())
        if gain < _ENOUGH * len(ratings.lines):
            break
    competence = np.einsum("jtt,t->j", _tables(ratings, belief), belief.mean(axis=0))
    return Model(belief, competence, likelihood)


def _tables(ratings: Labelled, belief: FloatArray) -> FloatArray:
    """Return [J, T, L] how often each rater gives each label if T is true; rows without a rating are 0."""
    counts = np.stack([ratings.by_rater(true[ratings.lines]) for true in belief.T], axis=1)
    total = counts.sum(axis=2, keepdims=True)
    tables: FloatArray = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    return tables


def _normalised(table: FloatArray) -> FloatArray:
    shares: FloatArray = table / table.sum(axis=1, keepdims=True)
    return shares


# raters further from the others than chance explains


class Distances(NamedTuple):
    """Of raters [J'] by number: lines, mean squared distance to the mean of the other ratings of a line, and p."""

    raters: IntArray
    lines: IntArray
    values: FloatArray
    p: FloatArray


def distances(
    ratings: FloatArray, raters: IntArray, rng: np.random.Generator, *, least: int, shuffles: int = 2000
) -> Distances:
    """Return the distance of each rater with `least` lines to the others, with p by permutation.

    If no rater were better than another, each of the `ratings` [N, R] of a line (NaN for none) could be that of any of
    its `raters` [N, R]. So p is the share of shuffles inside lines in which the rater is as far away as observed, the
    observed arrangement counted in. Lines with two ratings are left out.

    Source: Good (2005), Permutation, Parametric and Bootstrap Tests of Hypotheses, section 3.7; Phipson and Smyth
    (2010) for counting the observed arrangement.
    """
    present = np.isfinite(ratings)
    present &= (present.sum(axis=1) >= _FEWEST_OF_LINE)[:, None]
    sizes = present.sum(axis=1)
    known = np.where(present, ratings, 0.0)
    scale = float(np.ptp(ratings[present])) or 1.0 if present.any() else 1.0
    with np.errstate(invalid="ignore", divide="ignore"):
        others = (known.sum(axis=1, keepdims=True) - known) / (sizes - 1)[:, None]
    squares = ((ratings - others)[present] / scale) ** 2
    lines, counts = np.nonzero(present)[0], np.bincount(raters[present])
    people = np.flatnonzero(counts >= least)
    tested = np.isin(raters[present], people)
    places = np.searchsorted(people, raters[present][tested])
    # A rater has one rating of a line, so a shuffle gives it any of the squares of the line with the same chance.
    first, size = (np.cumsum(sizes) - sizes)[lines[tested]], sizes[lines[tested]]
    observed, as_far = np.bincount(places, squares[tested], len(people)), np.ones(len(people))
    for block in blocks(shuffles, len(places), BLOCK):
        width = block.stop - block.start
        drawn = squares[first + (rng.random((width, len(places))) * size).astype(np.int64)]
        cells = (places + len(people) * np.arange(width)[:, None]).ravel()
        sums = np.bincount(cells, drawn.ravel(), width * len(people)).reshape(width, -1)
        as_far += (sums >= observed - _ENOUGH * counts[people]).sum(axis=0)
    return Distances(people, counts[people], observed / counts[people] * scale**2, as_far / (1 + shuffles))
