"""The alternative annotator test: may a scorer stand in for a rater?

One rater after the other is left out, and both, rater and scorer, are set beside the other raters of each line: whoever
lies nearer to them, by root mean square, has the advantage there; alike, both have. The scorer beats a rater where that
rater has the advantage on fewer lines more than `epsilon` further, which is what a person is worth less for being slow
and dear. It may stand in where it beats half of them.

Scores are brought to the raters' scale first: by the straight line from scores to mean ratings, fitted on the lines of
other contexts, five parts of them, and then to the nearest value that raters give, since they too can say nothing
between. So a scorer that knows nothing says what is nearest to the mean rating of other contexts; that stands beside
each scorer, because by root mean square what stays in the middle is hard to beat for a single person.

Source: Calderon, Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge, section 3, and the
defaults of its program: 30 lines a rater, two raters a line, a false discovery rate of .05.

Shapes: N lines, R ratings of a line, J raters tested, G contexts, B resamples, M ratings of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rejoinder.data.values import is_number
from rejoinder.errors import UsageError
from rejoinder.humans.agreeing import MOST_VALUES
from rejoinder.humans.raters import Raters
from rejoinder.stats.correlation import SMALLEST_P
from rejoinder.stats.figure import Figure, written_as
from rejoinder.stats.permutation import adjusted
from rejoinder.stats.resamples import (
    BoolArray,
    FloatArray,
    IntArray,
    Sampling,
    number_of,
    numbers_of,
    percentile_interval,
    renumbered,
)
from rejoinder.stats.splits import fold_groups

EPSILON = 0.1
LEAST_LINES = 30
FDR = 0.05
HALF = 0.5
MEAN_RATING = "the mean rating"
_FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstRater(Figure):
    """A scorer against one rater, over n lines: the share on which it lies as near to the others, or nearer.

    p is of the rater being at least `epsilon` further ahead, by a t-test one-sided.

    Attributes:
        rater: the name.
        rater_share: the share on which the rater lies as near, or nearer.
        p_adjusted: p by Benjamini and Yekutieli for the number of raters.
        beaten: whether the scorer is shown to be no worse but for `epsilon`.
    """

    rater: str
    rater_share: float
    p_adjusted: float
    beaten: bool

    @property
    def statistic(self) -> str:
        """What is measured."""
        return f"advantage over {self.rater}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Whether a scorer may stand in for a rater.

    Attributes:
        scorer: its name.
        epsilon: what a rater is worth less.
        winning: the share of raters that it beats; `n` is how many there are.
        advantage: the mean over raters of the share of lines on which it lies as near to the others, or nearer.
        passes: whether it beats half of them.
        by_rater: one a rater.
        skipped: raters who share fewer than 30 scored lines with others.
        seed: of what is drawn.
        reason: why nothing can be said, else "".
    """

    scorer: str
    epsilon: float
    winning: Figure = written_as(value="winning_rate", n="raters", called="winning rate", default=Figure())
    advantage: Figure = written_as("advantage", called="average advantage probability", default=Figure())
    passes: bool = False
    by_rater: tuple[AgainstRater, ...] = ()
    skipped: int = 0
    seed: int = 0
    reason: str = ""

    method: ClassVar = "alternative annotator test"


def alternative(
    raters: Raters, scores: FloatArray, scorer: str, sampling: Sampling, *, epsilon: float = EPSILON
) -> Alternative:
    """Whether a scorer may stand in for a rater.

    Args:
        raters: who rated what.
        scores: [N] of its lines, on the raters' scale (see `on_scale`); NaN where there is none.
        scorer: its name.
        sampling: of the intervals.
        epsilon: what a rater is worth less: the paper has .2 for experts, .15 for trained people, .1 for crowds.

    Raises:
        UsageError: `epsilon` is none.
    """
    if not is_number(epsilon) or not 0 <= epsilon <= 1:
        raise UsageError(f"epsilon is {epsilon!r}, expected a number from 0 to 1")
    met = _compared(raters, scores)
    counts = np.bincount(met.raters, minlength=len(raters.names))
    tested = np.flatnonzero(counts >= LEAST_LINES)
    skipped = int(((counts > 0) & (counts < LEAST_LINES)).sum())
    about: dict[str, Any] = {"scorer": scorer, "epsilon": epsilon, "skipped": skipped, "seed": sampling.seed}
    if len(tested) < 2:
        shared = f"{len(tested)} of {len(raters.names)} raters share {LEAST_LINES} scored lines with others"
        return Alternative(**about, reason=f"{shared}; two or more are needed")
    own = met.at(np.isin(met.raters, tested))
    rows, advantage = _by_rater(raters, own, epsilon, sampling)
    winning = Figure(value=float(np.mean([row.beaten for row in rows])), n=len(rows))
    return Alternative(**about, winning=winning, advantage=advantage, passes=winning.value >= HALF, by_rater=rows)


class _Compared(NamedTuple):
    """Ratings of lines that others rated too and the scorer scored.

    Attributes:
        lines: [M] the line of each.
        raters: [M] who gave it.
        scorer: [M] 1 where the scorer lies as near to the others, or nearer.
        rater: [M] 1 where the rater does.
    """

    lines: IntArray
    raters: IntArray
    scorer: FloatArray
    rater: FloatArray

    def at(self, rows: BoolArray) -> _Compared:
        """Some of them."""
        return _Compared(self.lines[rows], self.raters[rows], self.scorer[rows], self.rater[rows])


def on_scale(raters: Raters, scores: FloatArray, sampling: Sampling) -> FloatArray:
    """[N] scores as ratings, each by the line that is fitted to other contexts; NaN where it cannot be.

    Args:
        raters: who rated what.
        scores: [N] of its lines, on any scale.
        sampling: of the parts.
    """
    rated = raters.rated
    known = np.flatnonzero(np.isfinite(raters.ratings).any(axis=1) & np.isfinite(scores))
    contexts = renumbered(rated.contexts[known])
    brought = np.full(len(scores), np.nan)
    if number_of(contexts) < _FOLDS:
        return brought
    folds = fold_groups(contexts, _FOLDS, sampling.generator(rated.name, "stand-in"))
    means = np.nanmean(raters.ratings[known], axis=1)
    for fold in range(_FOLDS):
        own, rest = folds == fold, folds != fold
        brought[known[own]] = _line(scores[known[rest]], means[rest])(scores[known[own]])
    low, high = rated.scale or (means.min(), means.max())
    clipped: FloatArray = np.clip(brought, low, high)
    values = np.unique(raters.ratings[np.isfinite(raters.ratings)])
    return clipped if len(values) > MOST_VALUES else _nearest(clipped, values)


def _nearest(given: FloatArray, values: FloatArray) -> FloatArray:
    """[N] the nearest of ascending `values` to each number, of two as near the lower; NaN stays."""
    middles = (values[1:] + values[:-1]) / 2
    return np.where(np.isnan(given), np.nan, values[np.searchsorted(middles, given)])


def _line(x: FloatArray, y: FloatArray) -> np.polynomial.Polynomial:
    """The straight line through points, by least squares; level where all have one place."""
    if np.ptp(x) == 0:
        return np.polynomial.Polynomial([y.mean()])
    return np.polynomial.Polynomial.fit(x, y, 1)


def _compared(raters: Raters, scores: FloatArray) -> _Compared:
    """Who lies nearer to the others, rating by rating."""
    known = np.isfinite(raters.ratings)
    n, given = known.sum(axis=1), np.where(known, raters.ratings, 0.0)
    lines, places = np.nonzero(known & (n[:, None] >= 2) & np.isfinite(scores)[:, None])
    own, others = raters.ratings[lines, places], n[lines] - 1
    mean = (given.sum(axis=1)[lines] - own) / others
    square = ((given**2).sum(axis=1)[lines] - own**2) / others

    def apart(values: FloatArray) -> FloatArray:
        # Rounded, so that what is as near from the other side is alike.
        distance: FloatArray = (values**2 - 2 * values * mean + square).round(9)
        return distance

    scorer, rater = apart(scores[lines]), apart(own)
    return _Compared(
        lines, raters.raters[lines, places], (scorer <= rater).astype(np.float64), (rater <= scorer).astype(np.float64)
    )


def _by_rater(
    raters: Raters, met: _Compared, epsilon: float, sampling: Sampling
) -> tuple[tuple[AgainstRater, ...], Figure]:
    """The scorer against each rater, and the mean advantage over them."""
    numbers, groups = np.unique(met.raters, return_inverse=True)
    p = np.array([_p(met.rater[groups == row] - met.scorer[groups == row], epsilon) for row in range(len(numbers))])
    p_adjusted = adjusted(p, "benjamini-yekutieli")
    draws = _shares(met, groups.astype(np.int64), raters, sampling)
    contexts = raters.rated.contexts[met.lines]
    of_each = numbers_of(contexts, groups.astype(np.int64)).tolist()

    rows = tuple(
        AgainstRater.of(
            percentile_interval(draws[row], of_each[row]),
            rater=raters.names[number],
            n=int((groups == row).sum()),
            rater_share=float(met.rater[groups == row].mean()),
            p=float(p[row]),
            p_adjusted=float(p_adjusted[row]),
            beaten=bool(p_adjusted[row] <= FDR),
        )
        for row, number in enumerate(numbers.tolist())
    )
    return rows, replace(percentile_interval(np.nanmean(draws, axis=0), len(np.unique(contexts))), n=len(met.lines))


def _shares(met: _Compared, groups: IntArray, raters: Raters, sampling: Sampling) -> FloatArray:
    """[J, 1 + B] the share of each rater's lines on which the scorer has the advantage: of the data, then resamples."""
    return sampling.draw(raters.rated.contexts, raters.rated.name, "stand-in").at(met.lines).means(met.scorer, groups)


def _p(ahead: FloatArray, epsilon: float) -> float:
    """The p of the rater being ahead by `epsilon` or more on average, where `ahead` [n] is 1, 0 or -1 on each line."""
    from scipy.stats import ttest_1samp

    if np.ptp(ahead) == 0:
        return SMALLEST_P if ahead[0] < epsilon else 1.0
    return max(float(ttest_1samp(ahead, epsilon, alternative="less").pvalue), SMALLEST_P)
