"""Models of raters over the lines of a data set: the likeliest rating of each line, and whom to trust.

Shapes: N lines, L labels (the values that occur).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from rejoinder.errors import DataError
from rejoinder.humans.raters import NOBODY, Raters
from rejoinder.stats.rater_models import Labelled, Model
from rejoinder.stats.resamples import FloatArray

MOST_LABELS = 101


class Believed(NamedTuple):
    """What a model of raters believes.

    Attributes:
        values: [N] the likeliest rating of each line, NaN where nobody rated.
        expected: [N] the mean of the belief.
        entropy: [N] of the belief, in nats.
        competence: by rater, 0 to 1; who rated nothing is not there.
    """

    values: FloatArray
    expected: FloatArray
    entropy: FloatArray
    competence: Mapping[str, float]


def believed(raters: Raters, model: Callable[[Labelled], Model]) -> Believed:
    """What a model makes of the ratings of a data set.

    Args:
        raters: who rated what.
        model: of `stats.rater_models`.

    Raises:
        DataError: ratings are no categories, or nobody rated.
    """
    lines, places = np.nonzero(raters.raters != NOBODY)
    if not len(lines):
        raise DataError("nobody's ratings are left to aggregate", "Leave fewer raters out")
    values, labels = np.unique(raters.ratings[lines, places], return_inverse=True)
    if len(values) > MOST_LABELS:
        problem = f"ratings take {len(values):,} values, and a model of raters takes {MOST_LABELS} at most"
        raise DataError(problem, "Aggregate by mean, median or z-score")
    rated, line = np.unique(lines, return_inverse=True)
    people, who = np.unique(raters.raters[lines, places], return_inverse=True)
    shape = (len(rated), len(people), len(values))
    found = model(Labelled(line, who, labels, shape))
    likeliest, expected, entropy = (np.full(len(raters.ratings), np.nan) for _ in range(3))
    likeliest[rated] = values[found.belief.argmax(axis=1)]
    expected[rated] = found.belief @ values
    logs = np.log(np.maximum(found.belief, np.finfo(np.float64).tiny))
    entropy[rated] = -(found.belief * logs).sum(axis=1)
    names = [raters.names[number] for number in people.tolist()]
    return Believed(likeliest, expected, entropy, dict(zip(names, found.competence.tolist(), strict=True)))
