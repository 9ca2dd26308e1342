"""Fitting a bilinear judge: principal components of raw vectors, then the head.

The head is fitted with Adam on squared error, and stopped early on validation (Lowe et al. 2017, section 5). Shapes: N
examples, D width of a raw vector, K of a projected one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from rejoinder.errors import UsageError
from rejoinder.judges.adem.head import MATRICES, Head, Penalty, Terms, Vectors, gradient, initial_head
from rejoinder.judges.adem.oversample import Lengths, oversample, oversample_release
from rejoinder.judges.learner import Rows
from rejoinder.models.encoders import Projection, fit_projection
from rejoinder.scorer import Advance, FloatArray, ignore

Normalise = Literal["none", "l2"]
Oversample = Literal["words", "release"]
# Adam (Kingma and Ba 2015) with the constants of its paper.
_FAST, _SLOW, _TINY = 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class FitOptions:
    """How a judge is fitted.

    Loss, norm, batch size, epochs and the choice of the best one are those of the released program. Its step .001 and
    weight .075 were tuned for its encoder; over averaged word vectors they leave M and N at the identity. The defaults
    here are a compromise from a small trial, not a search: `docs/lab-notes.md` says what was tried and what was seen.

    Attributes:
        components: K, at most D and the number of distinct training vectors; None leaves the vectors as they are.
        epochs: passes over the training part; the weights of the best one by validation error are kept.
        batch_size: examples a step.
        learning_rate: Adam's step size.
        penalty: which norm of M and N is held against them.
        penalty_weight: its weight.
        oversample: training rows repeated, so that length does not tell the score: by `words`, or as the `release` does
            (by characters); None takes each once.
        normalise: `l2` sets the length of every raw vector to 1 before anything else.
    """

    components: int | None = 50
    epochs: int = 200
    batch_size: int = 32
    learning_rate: float = 0.003
    penalty: Penalty = "frobenius"
    penalty_weight: float = 0.003
    oversample: Oversample | None = None
    normalise: Normalise = "none"

    def __post_init__(self) -> None:
        """Refuse what nothing can be fitted with.

        Raises:
            UsageError: a value is out of its range, or there is none of that name.
        """
        counts = {"components": (self.components, 1), "epochs": (self.epochs, 0), "batch_size": (self.batch_size, 1)}
        for name, (count, least) in counts.items():
            if count is not None and count < least:
                raise UsageError(f"{name} is {count}, expected {least} or more")
        if not (0 < self.learning_rate < math.inf):
            raise UsageError(f"the step (learning_rate) is {self.learning_rate:g}, expected a number over 0")
        if not (0 <= self.penalty_weight < math.inf):
            raise UsageError(f"penalty_weight is {self.penalty_weight:g}, expected 0 or more")
        choices = {
            "penalty": get_args(Penalty),
            "oversample": (*get_args(Oversample), None),
            "normalise": get_args(Normalise),
        }
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise UsageError(f"{name} is {getattr(self, name)!r}, expected {' or '.join(map(str, known))}")


@dataclass(frozen=True)
class FitResult:
    """The fitted head and how it came about.

    Attributes:
        head: the head of the best epoch.
        validation_errors: [epochs + 1] root mean squared error on validation before training and after each epoch.
        best_epoch: the epoch whose head was kept; 0 is the head before training.
    """

    head: Head
    validation_errors: list[float]
    best_epoch: int


@dataclass(frozen=True)
class BilinearFit(FitResult):
    """A fitted head with what stands between it and the encoder.

    Attributes:
        projection: raw vectors to K components, or None where there is none.
        normalise: what happens to raw vectors before that.
        rows: what the head was fitted on: the training rows, repeated and left out as over-sampling has it.
    """

    projection: Projection | None
    normalise: Normalise
    rows: Rows

    def predict(self, raw: Vectors) -> FloatArray:
        """[N] predicted ratings from raw vectors, nominally 1 to 5; NaN where a vector that counts is NaN."""
        return self.head(project(raw, self.projection, self.normalise))


def project(raw: Vectors, projection: Projection | None, normalise: Normalise) -> Vectors:
    """The vectors that the head sees: raw ones [N, D] normalised, then projected to [N, K]."""
    sides = raw if normalise == "none" else (_unit(side) for side in raw)
    return Vectors(*(side if projection is None or not side.shape[-1] else projection(side) for side in sides))


def fit_bilinear(
    raw: Vectors,
    ratings: FloatArray,
    lengths: Lengths,
    train: Rows,
    validation: Rows,
    terms: Terms,
    options: FitOptions,
    rng: np.random.Generator,
    advance: Advance = ignore,
) -> BilinearFit:
    """A judge fitted on raw vectors that were encoded once, so that many can be fitted on one encoding.

    Over-sampling touches training alone. The components are fitted on each distinct training vector once, after
    normalisation; alpha and beta on the over-sampled rows, as in the release.

    Args:
        raw: vectors of N examples; no NaN in the rows of `train` and `validation`.
        ratings: [N] on the scale 1 to 5.
        lengths: of the N responses.
        train: rows to fit on.
        validation: rows that decide which epoch is kept.
        terms: which terms of equation 1 count.
        options: see `FitOptions`.
        rng: decides the order of the examples.
        advance: called with 1 after each epoch.

    Raises:
        DataError: the training examples look alike to the judge, or over-sampling leaves none.
    """
    from threadpoolctl import threadpool_limits

    # These matrices are small: threads that wait for each other cost more than they save, up to ten times as much.
    with threadpool_limits(limits=1, user_api="blas"):
        raw = project(_only(raw, terms), None, options.normalise)
        projection = None
        if options.components is not None:
            projection = fit_projection([side for side in raw if side.shape[1]], options.components, train)
        rows = train
        if options.oversample == "words":
            rows = train[oversample(ratings[train], lengths.words[train])]
        elif options.oversample == "release":
            rows = train[oversample_release(ratings[train], lengths.characters[train])]
        # Projected before rows are taken, because raw vectors are wide and copies of them are what takes time.
        projected = project(raw, projection, "none")
        vectors, other = take(projected, rows), take(projected, validation)
        fit = fit_head(vectors, ratings[rows], other, ratings[validation], terms, options, rng, advance)
        return BilinearFit(fit.head, fit.validation_errors, fit.best_epoch, projection, options.normalise, rows)


def fit_head(
    train: Vectors,
    train_ratings: FloatArray,
    validation: Vectors,
    validation_ratings: FloatArray,
    terms: Terms,
    options: FitOptions,
    rng: np.random.Generator,
    advance: Advance = ignore,
) -> FitResult:
    """The head that predicts ratings best on validation, over all epochs.

    Items are shuffled each epoch. The released program shuffles fixed slices that over-sampling has made nearly
    single-score, which is no part of the method.

    Args:
        train: vectors of n training examples.
        train_ratings: [n] on the scale 1 to 5.
        validation: vectors of the examples that decide when to stop.
        validation_ratings: theirs.
        terms: which terms of equation 1 count.
        options: see `FitOptions`.
        rng: decides the order of the examples.
        advance: called with 1 after each epoch.
    """
    head = best = initial_head(train, terms)
    errors = [_root_mean_square(head(validation) - validation_ratings)]
    names = [MATRICES[term] for term in terms]
    mean, square = np.zeros((2, len(names), *head.M.shape))  # [terms, K, K] each
    count = best_epoch = 0
    for epoch in range(1, options.epochs + 1):
        order = rng.permutation(len(train_ratings))
        for start in range(0, len(order), options.batch_size):
            rows = order[start : start + options.batch_size]
            batch = take(train, rows)
            both = gradient(head, batch, train_ratings[rows], options.penalty, options.penalty_weight)
            slope, count = np.stack([both["MN".index(name)] for name in names]), count + 1
            mean += (1 - _FAST) * (slope - mean)
            square += (1 - _SLOW) * (slope * slope - square)
            corrected = np.sqrt(square / (1 - _SLOW**count)) + _TINY
            step = options.learning_rate / (1 - _FAST**count) * mean / corrected
            head = replace(head, **{name: getattr(head, name) - step[place] for place, name in enumerate(names)})
        errors.append(_root_mean_square(head(validation) - validation_ratings))
        if errors[epoch] < errors[best_epoch]:
            best, best_epoch = head, epoch
        advance(1)
    return FitResult(best, errors, best_epoch)


def take(vectors: Vectors, rows: Rows) -> Vectors:
    """The given rows of every side."""
    return Vectors(*(side[rows] for side in vectors))


def _only(raw: Vectors, terms: Terms) -> Vectors:
    """The vectors with width 0 on a side that the terms leave out, so that nothing is spent on it."""
    unused = {side: np.empty((len(raw.response), 0)) for side in MATRICES if side not in terms}
    return raw._replace(**unused)


def _unit(vectors: FloatArray) -> FloatArray:
    """[..., D] the vectors with length 1; a vector of zeros stays one."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: FloatArray = vectors / np.where(lengths == 0, 1.0, lengths)
    return unit


def _root_mean_square(differences: FloatArray) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.square(differences).mean()))
