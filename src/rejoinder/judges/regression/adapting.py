"""How an adaptation is fitted: to a user's ratings by ridge regression, to choices between replies by a logistic one.

How strongly the correction is held back is chosen among a few penalties by cross-validation over contexts, and whatever
is reported comes from folds in which that choice was made without them. Under an infinite penalty there is no
correction at all, but a straight line over the head's prediction: for ratings it is one of the choices; choices between
replies are corrected always. Shapes: N lines or pairs, C columns of a table (`adapt.table_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rejoinder.judges.learner import Rows
from rejoinder.judges.regression.adapt import RAW
from rejoinder.judges.regression.linear import SILENT, Linear, fit_linear
from rejoinder.scorer import FloatArray
from rejoinder.stats.splits import fold_groups

NO_CORRECTION = float("inf")
FEWEST_FOLDS = 5
_INNER = 4
_OF_HEAD = 3.0  # the penalty of the head's own prediction, which has shown elsewhere that it tells something
_OF_RAW = 0.3  # how much less features of the raw text are held back: answers of language models differ in these
_FLATTEST = 0.05  # of the spread: a line over the head's prediction alone never turns its order round


class Adapting(Protocol):
    """What can be fitted on some rows and asked of others."""

    @property
    def penalties(self) -> Sequence[float]:
        """Those to choose among."""
        ...

    @property
    def groups(self) -> Rows:
        """[N] number of the conversation."""
        ...

    def fit(self, rows: Rows, penalty: float) -> Linear:
        """The correction fitted on some rows."""
        ...

    def predict(self, linear: Linear, rows: Rows) -> FloatArray:
        """[n] what it says of others."""
        ...

    def loss(self, said: FloatArray, rows: Rows) -> float:
        """How far that is off."""
        ...


@dataclass(frozen=True)
class Ratings:
    """N rated lines.

    Attributes:
        table: [N, C].
        targets: [N] ratings.
        groups: [N] conversations.
    """

    table: FloatArray
    targets: FloatArray
    groups: Rows
    penalties: Sequence[float] = (100.0, 300.0, 1000.0, 3000.0, NO_CORRECTION)

    def fit(self, rows: Rows, penalty: float) -> Linear:
        """See `Adapting`."""
        table, targets = self.table[rows], self.targets[rows]
        held = np.full(table.shape[1], min(penalty, SILENT))
        held[0] = _OF_HEAD
        found = fit_linear(table, targets, np.ones(len(rows)), held)
        if penalty < NO_CORRECTION:
            return found
        slope = max(float(found.weights[0]), _FLATTEST * float(targets.std()))
        return _line(found, slope, base=float(targets.mean()))

    def predict(self, linear: Linear, rows: Rows) -> FloatArray:
        """[n] ratings."""
        return linear.predict(self.table[rows])

    def loss(self, said: FloatArray, rows: Rows) -> float:
        """The mean squared error."""
        return float(np.square(said - self.targets[rows]).mean())


@dataclass(frozen=True)
class Choices:
    """N pairs of replies, one of which people prefer.

    Attributes:
        preferred: [N, C] the table of the preferred replies.
        other: [N, C] that of the others.
        weights: [N] see `balanced`.
        groups: [N] conversations.
    """

    preferred: FloatArray
    other: FloatArray
    weights: FloatArray
    groups: Rows
    penalties: Sequence[float] = (30.0, 100.0, 300.0)

    def fit(self, rows: Rows, penalty: float) -> Linear:
        """See `Adapting`."""
        preferred, other, weights = self.preferred[rows], self.other[rows], self.weights[rows]
        gap = np.nan_to_num(preferred - other)
        spread = np.sqrt(weights @ np.square(gap) / weights.sum())
        both = np.concatenate([preferred, other])
        known = np.isfinite(both)
        centre = np.where(known, both, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        start = Linear(centre, np.where(spread > 1e-9, spread, SILENT), np.zeros(len(spread)), 0.0)
        gap = start.standardised(preferred) - start.standardised(other)
        if penalty == NO_CORRECTION:
            slope = logistic(gap[:, :1], weights, np.array([_OF_HEAD]))[0]
            return _line(start, max(float(slope), _FLATTEST), base=0.0)
        held = np.full(len(spread), penalty)
        held[0], held[-len(RAW) :] = _OF_HEAD, _OF_RAW * penalty
        return Linear(centre, start.spread, logistic(gap, weights, held), 0.0)

    def predict(self, linear: Linear, rows: Rows) -> FloatArray:
        """[n] by how much the preferred reply is ahead."""
        return linear.predict(self.preferred[rows]) - linear.predict(self.other[rows])

    def loss(self, said: FloatArray, rows: Rows) -> float:
        """The mean logistic loss, longer and shorter replies balanced."""
        return float(np.average(np.logaddexp(0.0, -said), weights=self.weights[rows]))


def balanced(longer: FloatArray) -> FloatArray:
    """[N] weights by which pairs whose longer reply is preferred count as much as those whose shorter one is.

    Args:
        longer: [N] 1 where the longer is preferred, -1 where the shorter, 0 where both are as long.
    """
    weights = np.ones(len(longer))
    counts = {sign: int((longer == sign).sum()) for sign in (1.0, -1.0)}
    if all(counts.values()):
        for sign, count in counts.items():
            weights[longer == sign] = sum(counts.values()) / (2 * count)
    return weights


def logistic(gaps: FloatArray, weights: FloatArray, penalties: FloatArray) -> FloatArray:
    """[C] weights of a logistic ridge regression by which [N, C] `gaps` come out above 0."""
    from scipy.optimize import minimize

    def objective(found: FloatArray) -> tuple[float, FloatArray]:
        margin = gaps @ found
        wrong = weights / (1.0 + np.exp(np.clip(margin, -500.0, 500.0)))
        value = weights @ np.logaddexp(0.0, -margin) + penalties @ np.square(found) / 2
        return float(value), penalties * found - gaps.T @ wrong

    found: Any = minimize(objective, np.zeros(gaps.shape[1]), jac=True, method="L-BFGS-B", options={"gtol": 1e-8})
    return np.asarray(found.x, np.float64)


def folds_of(groups: Rows, folds: int, rng: np.random.Generator) -> Rows:
    """[N] folds of whole conversations, as many as are asked for where there are so many of these."""
    return fold_groups(groups, min(folds, len(np.unique(groups))), rng)


def chosen(task: Adapting, rows: Rows, rng: np.random.Generator) -> float:
    """The penalty under which lines of `rows` that are left out come out best."""
    folds = folds_of(task.groups[rows], _INNER, rng)
    if len(np.unique(folds)) < 2:
        return task.penalties[-1]
    losses = np.zeros(len(task.penalties))
    for fold in np.unique(folds):
        inside, left = rows[folds != fold], rows[folds == fold]
        for place, penalty in enumerate(task.penalties):
            losses[place] += len(left) * task.loss(task.predict(task.fit(inside, penalty), left), left)
    return task.penalties[int(np.argmin(losses))]


def fit_chosen(task: Adapting, rows: Rows, rng: np.random.Generator) -> Linear:
    """The correction fitted on `rows` under the penalty that these choose."""
    return task.fit(rows, chosen(task, rows, rng))


def left_out(task: Adapting, folds: NDArray[np.intp], rows: Rows, fit: Callable[[Rows], Linear]) -> FloatArray:
    """[N] what is said of each line by the correction that `fit` makes of those of `rows` that stand in other folds."""
    found = np.full(len(folds), np.nan)
    for fold in np.unique(folds):
        inside, asked = rows[folds[rows] != fold], np.flatnonzero(folds == fold)
        if len(inside):
            found[asked] = task.predict(fit(inside), asked)
    return found


def _line(start: Linear, slope: float, base: float) -> Linear:
    """A straight line over the head's prediction alone."""
    weights = np.zeros(len(start.weights))
    weights[0] = slope
    return Linear(start.centre, start.spread, weights, base)
