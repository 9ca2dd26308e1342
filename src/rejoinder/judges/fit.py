"""Fitting the ADEM head: Adam on squared error with early stopping on validation (Lowe et al. 2017, section 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rejoinder.judges.head import Head, Penalty, Terms, Vectors, gradient, initial_head
from rejoinder.scorer import Advance, FloatArray, ignore

# Adam (Kingma and Ba 2015) with the constants of its paper.
_FAST, _SLOW, _TINY = 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class FitOptions:
    """How the head is fitted.

    Loss, norm, batch size, epochs and the choice of the best one are those of the released program. Its step .001 and
    weight .075 were tuned for its encoder; over averaged word vectors they leave M and N at the identity. The defaults
    here are a compromise from a small trial, not a search: `docs/lab-notes.md` says what was tried and what was seen.

    Attributes:
        epochs: passes over the training part; the weights of the best one by validation error are kept.
        batch_size: examples a step.
        learning_rate: Adam's step size.
        penalty: which norm of M and N is held against them.
        penalty_weight: its weight.
    """

    epochs: int = 200
    batch_size: int = 32
    learning_rate: float = 0.003
    penalty: Penalty = "frobenius"
    penalty_weight: float = 0.003


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
    mean = square = np.zeros((2, *head.M.shape))  # [2, K, K], of M and of N
    count = best_epoch = 0
    for epoch in range(1, options.epochs + 1):
        order = rng.permutation(len(train_ratings))
        for start in range(0, len(order), options.batch_size):
            rows = order[start : start + options.batch_size]
            batch = Vectors(*(side[rows] for side in train))
            slope = np.stack(gradient(head, batch, train_ratings[rows], options.penalty, options.penalty_weight))
            mean, square, count = _FAST * mean + (1 - _FAST) * slope, _SLOW * square + (1 - _SLOW) * slope**2, count + 1
            corrected = np.sqrt(square / (1 - _SLOW**count)) + _TINY
            step = options.learning_rate * mean / (1 - _FAST**count) / corrected
            head = replace(head, M=head.M - step[0], N=head.N - step[1])
        errors.append(_root_mean_square(head(validation) - validation_ratings))
        if errors[epoch] < errors[best_epoch]:
            best, best_epoch = head, epoch
        advance(1)
    return FitResult(best, errors, best_epoch)


def _root_mean_square(differences: FloatArray) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.square(differences).mean()))
