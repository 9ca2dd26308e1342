"""Fitting an ADEM head: options, the recipes of the papers, over-sampling, and Adam with the best epoch kept.

Lowe et al. 2017 (ADEM): paper and released program disagree, and where they do `lowe2017` is the program, because it
made the published judge.

| | paper | released program | `lowe2017` |
| --- | --- | --- | --- |
| penalty | squared norm (equation 2) | norm, not squared, times .075 | the program's, whose weight belongs to it |
| data term | sum of squared errors | mean | mean, here always |
| Adam's step | .01 (supplement) | .001 | .001 |
| batch, epochs | not printed | 32, 200; the best by validation error | the program's |
| components | 50 | 50 | 50 |
| over-sampling | by words | by characters; 1 to 20 and over 140 left out of training | the program's |

Deriu and Cieliebak 2019 (AutoJudge) print step and batch of `deriu2019`, but neither penalty nor components nor when
training stops. Shapes: N examples, n rows of them, D width of a raw vector, K of a projected one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from rejoinder.errors import DataError, UsageError
from rejoinder.judges.adem.head import (
    MATRICES,
    AdemHead,
    Normalise,
    Penalty,
    Projection,
    Terms,
    Vectors,
    fit_projection,
    gradient,
    initial_head,
    project,
)
from rejoinder.judges.protocol import Rows
from rejoinder.scorer import Advance, FloatArray, ignore

Oversample = Literal["words", "release"]
_Rated = tuple[Vectors, FloatArray]
_FAST, _SLOW, _TINY = 0.9, 0.999, 1e-8  # Adam's constants (Kingma and Ba 2015)
_CHOICES: dict[str, tuple[Any, ...]] = {
    "penalty": get_args(Penalty),
    "oversample": (*get_args(Oversample), None),
    "normalise": get_args(Normalise),
}


@dataclass(frozen=True)
class AdemOptions:
    """How a judge of the ADEM family is fitted.

    Loss, norm, batch size, epochs and the choice of the best one are those of the released program. Its step .001 and
    weight .075 were tuned for its encoder; over averaged word vectors they leave M and N at the identity. The defaults
    are a compromise from a small trial, not a search (docs/lab-notes.md).

    Attributes:
        components: K, at most D and the number of distinct training vectors; None keeps the vectors as they are.
        epochs: passes over the training part; the head of the best one by validation error is kept.
        batch_size: examples a step.
        learning_rate: Adam's step size.
        penalty: the norm of M and N that is added to the loss, times `penalty_weight`.
        oversample: repeats training rows, so that length does not predict the score: by `words`, or as the `release`
            does (by characters); None uses each row once.
        normalise: `l2` sets the length of every raw vector to 1 first.

    A value that is out of its range or unknown raises `UsageError`.
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
        for name, least in (("components", 1), ("epochs", 0), ("batch_size", 1)):
            if (count := getattr(self, name)) is not None and count < least:
                raise UsageError(f"{name} is {count}, expected {least} or more")
        if not (0 < self.learning_rate < math.inf):
            raise UsageError(f"the step (learning_rate) is {self.learning_rate:g}, expected a number over 0")
        if not (0 <= self.penalty_weight < math.inf):
            raise UsageError(f"penalty_weight is {self.penalty_weight:g}, expected 0 or more")
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise UsageError(f"{name} is {getattr(self, name)!r}, expected {' or '.join(map(str, known))}")

    @classmethod
    def preset(cls, name: str, **changes: Any) -> AdemOptions:
        """Return the recipe of a paper, `lowe2017` or `deriu2019`, with single options changed."""
        if name not in PRESETS:
            raise UsageError(f"no preset is called {name!r}. There are: {', '.join(PRESETS)}")
        return replace(PRESETS[name], **changes)


PRESETS: Mapping[str, AdemOptions] = {
    "lowe2017": AdemOptions(learning_rate=0.001, penalty_weight=0.075, oversample="release"),
    "deriu2019": AdemOptions(components=None, batch_size=512, learning_rate=0.001, penalty_weight=0.0),
}


class Lengths(NamedTuple):
    """Lengths of N responses: [N] words; [N] characters, with the five of the release's ` </s>`."""

    words: Rows
    characters: Rows

    def at(self, rows: Rows) -> Lengths:
        """Return those of some responses."""
        return Lengths(self.words[rows], self.characters[rows])


def oversample(ratings: FloatArray, lengths: Lengths, way: Oversample) -> Rows:
    """Return the n rows, some repeated, in which each score is equally frequent among responses of like length.

    Lowe et al. 2017, section 5, call it sub-sampling and count words: bins of 5, the last is open, and every row
    occurs. The `release` has bins of 20 characters and discards responses under 21 and over 140; unlike it, a score
    that a bin lacks is passed over here (the program crashes). Ratings [n] from 1 to 5 are rounded to scores.
    Raises `DataError` if every response is discarded.
    """
    if way == "words":
        bins = np.clip((lengths.words - 1) // 5 * 5, 0, 30)
        scores, kept = np.floor(ratings + 0.5), np.arange(len(ratings))  # halves go up, not to the even score
    else:
        bins = (lengths.characters - 1) // 20 * 20
        scores, kept = np.rint(ratings), np.flatnonzero((bins >= 20) & (bins <= 120))  # to even, as the release rounds
    if not len(kept):
        problem = "no response has 21 to 140 characters, and the release discards all others"
        raise DataError(problem, "Over-sample by words")
    rows = []
    for bin_ in np.unique(bins[kept]):
        inside = kept[bins[kept] == bin_]
        groups = [inside[scores[inside] == score] for score in np.unique(scores[inside])]
        rows += [np.resize(group, max(map(len, groups))) for group in groups]
    return np.concatenate(rows)


@dataclass(frozen=True)
class AdemFit:
    """The head of the best epoch, what is applied to raw vectors before it, and how the fit went."""

    head: AdemHead
    validation_errors: list[float]  # root mean squared, before training and after each epoch
    best_epoch: int  # 0 is the head before training
    projection: Projection | None
    normalise: Normalise
    rows: Rows  # of training, repeated and left out as over-sampling has it

    def predict(self, raw: Vectors) -> FloatArray:
        """Return [N] predicted ratings, nominally 1 to 5; NaN if a vector that the head uses is NaN."""
        return self.head(project(raw, self.projection, self.normalise))


def fit_adem(
    raw: Vectors,
    ratings: FloatArray,
    lengths: Lengths,
    train: Rows,
    validation: Rows,
    terms: Terms,
    options: AdemOptions,
    rng: np.random.Generator,
    advance: Advance = ignore,
) -> AdemFit:
    """Return a head fitted on the rows `train` of N examples; the rows `validation` decide which epoch is kept.

    Over-sampling repeats training rows alone. The components are fitted on each distinct training vector once, after
    normalisation; alpha and beta on the over-sampled rows, as in the release. These rows of `raw` hold no NaN, ratings
    are from 1 to 5, `rng` decides the order of the examples, and `advance` is called with 1 after each epoch.

    Raises:
        DataError: the judge gives all training examples the same score, or over-sampling leaves none.
    """
    from threadpoolctl import threadpool_limits

    # These matrices are small: threads that wait for each other cost up to ten times what they save.
    with threadpool_limits(limits=1, user_api="blas"):
        unused = {side: np.empty((len(ratings), 0)) for side in MATRICES if side not in terms}
        raw = project(raw._replace(**unused), None, options.normalise)
        projection, rows = None, train
        if options.components is not None:
            projection = fit_projection([side for side in raw if side.shape[1]], options.components, train)
        if options.oversample is not None:
            rows = train[oversample(ratings[train], lengths.at(train), options.oversample)]
        # Projected before rows are taken: raw vectors are wide, and copying them takes long.
        vectors = project(raw, projection, "none")
        parts = (vectors.at(rows), ratings[rows]), (vectors.at(validation), ratings[validation])
        return AdemFit(*_optimize(*parts, terms, options, rng, advance), projection, options.normalise, rows)


def _optimize(
    train: _Rated, validation: _Rated, terms: Terms, options: AdemOptions, rng: np.random.Generator, advance: Advance
) -> tuple[AdemHead, list[float], int]:
    """Return the head with the lowest validation error of all epochs, the errors, and the epoch."""

    def error(head: AdemHead) -> float:
        return float(np.sqrt(np.square(head(validation[0]) - validation[1]).mean()))

    vectors, ratings = train
    head = best = initial_head(vectors, terms)
    errors, best_epoch, count = [error(head)], 0, 0
    mean, square = np.zeros((2, len(terms), *head.M.shape))  # [terms, K, K] each
    for epoch in range(1, options.epochs + 1):
        # Items are shuffled. The release shuffles fixed slices, which over-sampling has made nearly single-score.
        order = rng.permutation(len(ratings))
        for start in range(0, len(order), options.batch_size):
            rows = order[start : start + options.batch_size]
            slopes = gradient(head, vectors.at(rows), ratings[rows], options.penalty, options.penalty_weight)
            slope, count = np.stack([slopes[term] for term in terms]), count + 1
            mean += (1 - _FAST) * (slope - mean)
            square += (1 - _SLOW) * (slope * slope - square)
            corrected = np.sqrt(square / (1 - _SLOW**count)) + _TINY
            step = options.learning_rate / (1 - _FAST**count) * mean / corrected
            head = replace(head, **{MATRICES[term]: head.matrix(term) - step[row] for row, term in enumerate(terms)})
        errors.append(error(head))
        if errors[epoch] < errors[best_epoch]:  # strictly: the first of equal epochs
            best, best_epoch = head, epoch
        advance(1)
    return best, errors, best_epoch
