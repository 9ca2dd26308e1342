"""Whether a correlation is shown to be more than chance, or only looks like it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import NormalDist
from typing import Literal

import numpy as np

from rejoinder.meta.agreement import Agreement
from rejoinder.scorer import FloatArray
from rejoinder.stats.permutation import adjusted

Verdict = Literal["agrees", "not shown", "reversed", "no correlation", "out of domain"]
LEVEL = 0.05
IF_HIGH_IS_GOOD = ", if high ratings are the good ones"
"""What a sentence holds only under, where a scorer that agrees with people elsewhere runs against the ratings."""
TURN_RATINGS = (
    "Where low ratings are the good ones, as school grades may be, turn them round first: the lowest and the highest "
    "possible rating together, less each"
)
SCORES_FOR_RATINGS = "If scores were taken for people's ratings, say where those are: --map rating=NAME"
FEWEST_OWN = 3
"""Ratings that are a scorer's own scores, for that to be said: fewer may be chance."""
_SAME, _NO_MEAN = 1e-8, 1e-4
FARTHEST = 1_000_000  # lines; a forecast of more says nothing but that there is hardly a correlation
_NORMAL = NormalDist()
_EDGE = _NORMAL.inv_cdf(1 - LEVEL / 2)  # standard deviations to the edge of a chance band
_POWER = _NORMAL.inv_cdf(0.8)


def own_scores(scores: FloatArray, ratings: FloatArray) -> int:
    """How many of N ratings are scores of a scorer, taken for people's: the same number, which no mean of a few is.

    Args:
        scores: [N] by the scorer.
        ratings: [N], NaN where nobody rated.
    """
    parts = 60 * ratings  # whole, where up to six people gave whole numbers
    odd = np.abs(parts - np.round(parts)) > _NO_MEAN
    return int((odd & np.isclose(scores, ratings, rtol=0, atol=_SAME)).sum())


def verdicts_of(rows: Iterable[Agreement], chance: Mapping[str, float]) -> dict[str, Verdict]:
    """By scorer, whether its correlation with people is shown.

    It is where the interval leaves out zero and the value lies beyond what chance gives the best of as many scorers
    (Holm, 5 %): the highest of a dozen scorers that have nothing to do with the ratings looks like something. Near the
    edge of the band the normal distribution stands for Student's, which makes no less of few contexts than is due.

    Args:
        rows: Pearson correlations, one a scorer; all that were asked for together.
        chance: 95 % of scorers that have nothing to do with the ratings fall between -`chance` and `chance`.
    """
    given = list(rows)
    beyond = [_p(row.value, chance.get(row.scorer, math.nan)) for row in given]
    return {row.scorer: _verdict(row, p) for row, p in zip(given, adjusted(beyond, "holm").tolist(), strict=True)}


def verdicts_apart(
    rows: Sequence[Agreement], chance: Mapping[str, float], asked: Collection[str], outside: Collection[str] = ()
) -> dict[str, Verdict]:
    """What is shown of the scorers asked for, and by themselves of those that came along.

    The scorers in `outside` cannot judge the lines: they have no verdict and are not among those tried.
    """
    judged = [row for row in rows if row.scorer not in outside]
    groups = [[row for row in judged if (row.scorer in asked) is wanted] for wanted in (True, False)]
    verdicts = {name: verdict for group in groups for name, verdict in verdicts_of(group, chance).items()}
    return {row.scorer: verdicts.get(row.scorer, "out of domain") for row in rows}


def needed(row: Agreement, chance: float, tried: int) -> int | None:
    """About how many lines would show a correlation as high as this one with probability 0.8, were it true.

    None where it is not positive or has no chance band, and where that many lines are there already or nobody rates so
    many.

    Args:
        row: the correlation.
        chance: its chance band.
        tried: how many scorers it is the best of.
    """
    if not row.value > 0 or math.isnan(chance):
        return None
    beyond = _NORMAL.inv_cdf(1 - LEVEL / 2 / tried) + _POWER
    count = math.ceil(min(row.n * (beyond / _EDGE * chance / row.value) ** 2, 2 * FARTHEST))
    return count if row.n < count <= FARTHEST else None


def _p(value: float, chance: float) -> float:
    """Two-sided, of no correlation."""
    return math.erfc(_EDGE * abs(value) / chance / math.sqrt(2)) if chance > 0 else math.nan


def _verdict(row: Agreement, p: float) -> Verdict:
    """What is shown; where there is no interval, nothing is."""
    if not row.known:
        return "no correlation"
    if p < LEVEL and row.low > 0:
        return "agrees"
    return "reversed" if p < LEVEL and row.high < 0 else "not shown"
